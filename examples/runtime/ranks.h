/* What the examples share: four ranks, as threads of this process, and an end at the first failure.
 * A rank may as well be a process: see all_reduce.c. */
#ifndef RANKS_H
#define RANKS_H

#include <tprt/tprt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N_RANKS = 4 };

static inline void expect(tprt_status status) {
  if (status == TPRT_OK)
    return;
  fprintf(stderr, "%s: %s\n", tprt_status_name(status), tprt_last_error());
  exit(1);
}

/* Runs `play` once for each rank and waits for all. `config` may be NULL. */
static inline void run_ranks_with(const tprt_config *config, void *(*play)(void *comm)) {
  tprt_comm *comms[N_RANKS];
  pthread_t threads[N_RANKS];
  expect(tprt_world_create_threads(N_RANKS, config, comms));
  for (int i = 0; i < N_RANKS; i++) {
    if (pthread_create(&threads[i], NULL, play, comms[i]) != 0)
      exit(1);
  }
  for (int i = 0; i < N_RANKS; i++)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < N_RANKS; i++)
    tprt_comm_destroy(comms[i]);
}
static inline void run_ranks(void *(*play)(void *comm)) { run_ranks_with(NULL, play); }

#endif
