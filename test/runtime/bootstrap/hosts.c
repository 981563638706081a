/* One rank of two that a launcher started on different hosts; hosts.sh runs it and compares its
 * output. */
#define _GNU_SOURCE 1
#include "tprt/tprt.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int say(const char *what, tprt_status status) {
  printf("%s: %s%s%s\n", what, tprt_status_name(status), status ? ": " : "",
         status ? tprt_last_error() : "");
  fflush(stdout);
  return status != TPRT_OK;
}

/* Every rank reads the value that the other wrote. */
static tprt_status exchange(tprt_store *store, const tprt_launch *launch) {
  char key[2][16], value[64];
  size_t bytes = sizeof value;
  snprintf(key[0], sizeof key[0], "of %d", launch->rank);
  snprintf(key[1], sizeof key[1], "of %d", 1 - launch->rank);
  tprt_status status = tprt_store_set(store, key[0], key[0], strlen(key[0]));
  if (!status)
    status = tprt_store_get(store, key[1], value, &bytes, 0);
  if (!status && (bytes != strlen(key[1]) || memcmp(value, key[1], bytes) != 0))
    status = TPRT_INTERNAL;
  return status ? status : tprt_store_barrier(store, "exchanged", launch->n_ranks, 0);
}

/* 3 bytes more than fit in one packet, so that the data is split. */
static tprt_status sum(tprt_comm *comm) {
  enum { COUNT = 100003 };
  static int32_t data[COUNT];
  int me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  for (int32_t i = 0; i < COUNT; i++)
    data[i] = i * (me + 1);
  tprt_status status = tprt_all_reduce(comm, data, data, COUNT, TPRT_I32, TPRT_SUM, NULL, NULL);
  for (int32_t i = 0; i < COUNT && !status; i++)
    status = data[i] == i * (n * (n + 1) / 2) ? TPRT_OK : TPRT_INTERNAL;
  return status;
}

/* Waits until the other rank ends. */
static tprt_status survive(tprt_comm *comm) {
  tprt_status status = TPRT_OK;
  while (!status)
    status = tprt_barrier(comm, NULL, NULL);
  return status;
}

/* The first process begins alone and serves an open store; the one on the other host joins. */
static int join_later(const tprt_launch *launch) {
  tprt_store_config config = {.size = sizeof config, .rank = launch->rank, .job = launch->job};
  tprt_config world_config = {.size = sizeof world_config};
  tprt_comm *first = NULL, *comm = NULL;
  if (say("store", tprt_store_open(launch->store, &config, &world_config.store)))
    return 1;
  tprt_status status;
  if (launch->rank == 0) {
    status = tprt_world_create(1, 0, &world_config, &first);
    if (!status)
      status = tprt_comm_reconfigure(first, NULL, 2, &world_config, 0, &comm);
  } else {
    status = tprt_comm_join(&world_config, 0, &comm);
  }
  int failed = say("join", status);
  if (comm)
    failed |= say("sum", sum(comm));
  tprt_comm_destroy(comm);
  tprt_comm_destroy(first);
  tprt_store_destroy(world_config.store);
  return failed;
}

int main(int argc, char **argv) {
  tprt_launch launch = {.size = sizeof launch};
  tprt_store *store;
  if (say("launch", tprt_launch_find(&launch)))
    return 1;
  if (argc > 1 && strcmp(argv[1], "join") == 0)
    return join_later(&launch);
  tprt_store_config config = {.size = sizeof config,
                              .n_ranks = launch.n_ranks,
                              .rank = launch.rank,
                              .job = launch.job,
                              .epoch = launch.epoch};
  if (say("store", tprt_store_open(launch.store, &config, &store)))
    return 1;
  int failed = say("exchange", exchange(store, &launch));
  if (!failed && argc > 1 && strcmp(argv[1], "wait") == 0) { /* waits for a missing value */
    say("wait", tprt_store_wait(store, "never", 0));
  } else if (!failed) {
    tprt_config world_config = {.size = sizeof world_config, .store = store};
    tprt_comm *comm;
    if (!say("world", tprt_world_create(launch.n_ranks, launch.rank, &world_config, &comm))) {
      printf("ranks here: %d\n", tprt_comm_host_ranks(comm));
      say("sum", sum(comm));
      if (argc > 1 && strcmp(argv[1], "die") == 0) {
        if (launch.rank == 1)
          _exit(0);
        say("alone", survive(comm));
      }
      tprt_comm_destroy(comm);
    }
  }
  tprt_store_destroy(store);
  return failed;
}
