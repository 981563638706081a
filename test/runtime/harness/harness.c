/* Runs worlds of ranks, as threads or processes, for the runtime's tests. */
#define _GNU_SOURCE 1
#include "ranks.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

tprt_config test_config(void) {
  return (tprt_config){.size = sizeof(tprt_config),
                       .timeout_ns = 20000000000,
                       .slot_bytes = 8192,
                       .arena_bytes = 16 << 20};
}

bool test_on_shm(void) {
  const char *backend = getenv("TPRT_BACKEND");
  return !backend || strcmp(backend, "shm") == 0;
}

typedef struct rank_thread {
  pthread_t thread;
  tprt_comm *comm;
  rank_fn *fn;
  void *argument;
  int errors;
} rank_thread;

static void *thread_main(void *argument) {
  rank_thread *rank = argument;
  rank->errors = rank->fn(rank->comm, rank->argument);
  return NULL;
}

int run_threads(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument) {
  tprt_comm *comms[64];
  rank_thread ranks[64];
  tprt_status status = tprt_world_create_threads(n_ranks, config, comms);
  if (status) {
    fprintf(stderr, "no world of %d threads: %s\n", n_ranks, tprt_last_error());
    return 1;
  }
  for (int i = 0; i < n_ranks; i++) {
    ranks[i] = (rank_thread){.comm = comms[i], .fn = fn, .argument = argument};
    if (pthread_create(&ranks[i].thread, NULL, thread_main, &ranks[i]) != 0)
      abort();
  }
  int errors = 0;
  for (int i = 0; i < n_ranks; i++) {
    pthread_join(ranks[i].thread, NULL);
    errors += ranks[i].errors;
  }
  for (int i = 0; i < n_ranks; i++)
    tprt_comm_destroy(comms[i]);
  return errors;
}

int run_processes(int n_ranks, const tprt_config *config, rank_fn *fn, void *argument,
                  int *wait_status) {
  int fd;
  if (tprt_shm_segment_create(n_ranks, config, &fd)) {
    fprintf(stderr, "no segment: %s\n", tprt_last_error());
    return 1;
  }
  pid_t pids[64];
  for (int rank = 0; rank < n_ranks; rank++) {
    fflush(NULL);
    pids[rank] = fork();
    if (pids[rank] < 0)
      abort();
    if (pids[rank] > 0)
      continue;
    tprt_comm *comm;
    tprt_config own = *config;
    own.segment_fd = fd;
    int errors = 0;
    CHECK_STATUS(errors, tprt_world_create(n_ranks, rank, &own, &comm), TPRT_OK);
    if (!errors) {
      errors = fn(comm, argument);
      tprt_comm_destroy(comm);
    }
    fflush(NULL);
    _exit(errors > 100 ? 100 : errors);
  }
  close(fd);
  int errors = 0;
  for (int rank = 0; rank < n_ranks; rank++) {
    int status;
    waitpid(pids[rank], &status, 0);
    if (wait_status)
      wait_status[rank] = status;
    errors += !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  return errors;
}

double test_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}
