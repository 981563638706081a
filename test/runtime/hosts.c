/* One rank of two that a launcher started on different hosts: hosts.sh runs it and compares what it prints. */
#include "tprt/tprt.h"

#include <stdio.h>
#include <string.h>

static int say(const char *what, tprt_status status) {
  printf("%s: %s%s%s\n", what, tprt_status_name(status), status ? ": " : "", status ? tprt_last_error() : "");
  fflush(stdout);
  return status != TPRT_OK;
}

/* Every rank reads what the other wrote. */
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

int main(int argc, char **argv) {
  tprt_launch launch = {.size = sizeof launch};
  tprt_store *store;
  if (say("launch", tprt_launch_find(&launch)))
    return 1;
  tprt_store_config config = {
      .size = sizeof config, .n_ranks = launch.n_ranks, .rank = launch.rank, .job = launch.job, .epoch = launch.epoch};
  if (say("store", tprt_store_open(launch.store, &config, &store)))
    return 1;
  int failed = say("exchange", exchange(store, &launch));
  if (!failed && argc > 1 && strcmp(argv[1], "wait") == 0) { /* for something that does not come */
    say("wait", tprt_store_wait(store, "never", 0));
  } else if (!failed) {
    tprt_config world_config = {.size = sizeof world_config, .store = store};
    tprt_comm *comm;
    if (!say("world", tprt_world_create(launch.n_ranks, launch.rank, &world_config, &comm)))
      tprt_comm_destroy(comm);
  }
  tprt_store_destroy(store);
  return failed;
}
