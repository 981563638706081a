/* mistake NAME: makes a mistake with the runtime's API, and prints what the runtime says. */
#include <stdio.h>
#include <string.h>
#include <tprt/comm.h>
#include <tprt/observe.h>
#include <tprt/ops.h>

static tprt_status make(const char *name, tprt_comm *comm) {
  float data[4] = {0};
  tprt_config config = {0};
  tprt_comm *other;
  if (strcmp(name, "null") == 0)
    return tprt_all_reduce(comm, NULL, data, 4, TPRT_F32, TPRT_SUM, NULL, NULL);
  if (strcmp(name, "op") == 0)
    return tprt_submit(comm, NULL, NULL);
  if (strcmp(name, "place") == 0)
    return tprt_world_create(1, 0, NULL, NULL);
  if (strcmp(name, "places") == 0)
    return tprt_world_create_threads(2, NULL, NULL);
  if (strcmp(name, "work") == 0)
    return tprt_work_wait(NULL, 0);
  if (strcmp(name, "rank") == 0)
    return tprt_world_create(2, 2, NULL, &other);
  if (strcmp(name, "struct") == 0)
    return tprt_world_create(1, 0, &config, &other);
  if (strcmp(name, "comm") == 0)
    return tprt_all_reduce(NULL, data, data, 4, TPRT_F32, TPRT_SUM, NULL, NULL);
  if (strcmp(name, "batch") == 0)
    return tprt_submit_batch(NULL, NULL, 0, NULL);
  if (strcmp(name, "hint-value") == 0)
    return tprt_comm_set_hint(comm, "timeout", NULL);
  if (strcmp(name, "hint-key") == 0)
    return tprt_comm_set_hint(comm, NULL, "5");
  if (strcmp(name, "ranks") == 0)
    return tprt_world_create_threads(0, NULL, &other);
  if (strcmp(name, "hint") == 0)
    return tprt_comm_set_hint(comm, "timeuot", "5");
  return tprt_broadcast(comm, data, data, 4, TPRT_F32, 3, NULL, NULL);
}

int main(int argc, char **argv) {
  tprt_comm *comm;
  if (argc != 2 || tprt_world_create(1, 0, NULL, &comm) != TPRT_OK)
    return 2;
  if (make(argv[1], comm) == TPRT_OK)
    return 1;
  printf("error: %s\n", tprt_last_error());
  tprt_comm_destroy(comm);
  return 0;
}
