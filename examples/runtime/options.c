/* Options of a world and of one communicator: deadlines, hooks, the check for NaNs, the flight
 * recorder. */
#include "ranks.h"

#include <math.h>
#include <string.h>

static void after(void *user, tprt_comm *comm, const tprt_op_info *op, tprt_status status,
                  int64_t ns) {
  int *n_ops = user;
  (void)comm, (void)status, (void)ns;
  *n_ops += op->kind == TPRT_OP_ALL_REDUCE;
}

/* The flight recorder writes its text in pieces; here only the failed operation is looked for in
 * it. */
typedef struct text {
  char bytes[4096];
  size_t n;
} text;

static void append(void *user, const char *piece, size_t n) {
  text *all = user;
  if (n > sizeof all->bytes - 1 - all->n)
    n = sizeof all->bytes - 1 - all->n;
  memcpy(all->bytes + all->n, piece, n);
  all->n += n;
}

static void *play(void *argument) {
  tprt_comm *comm = argument;
  int n_ops = 0, rank = tprt_comm_rank(comm);
  float mine = (float)rank, sum;
  const tprt_hooks hooks = {.size = sizeof hooks, .post = after, .user = &n_ops};
  expect(tprt_comm_set_hooks(comm, &hooks));
  expect(tprt_comm_set_hint(comm, "timeout", "2")); /* seconds, of each operation from now on */
  expect(tprt_comm_set_hint(comm, "flight", "16")); /* the last 16 operations are kept */
  expect(tprt_comm_set_hint(comm, "nan_check", "1"));
  if (tprt_comm_set_hint(comm, "color", "red") == TPRT_INVALID_ARGUMENT && rank == 0)
    printf("an unknown hint is refused\n");

  expect(tprt_all_reduce(comm, &mine, &sum, 1, TPRT_F32, TPRT_SUM, NULL, NULL));
  if (rank == 2)
    /* a result that went wrong is found where it is sent, and all ranks are told whose it is */
    mine = NAN;
  tprt_status status = tprt_all_reduce(comm, &mine, &sum, 1, TPRT_F32, TPRT_SUM, NULL, NULL);

  text flight = {.n = 0};
  expect(tprt_comm_flight(comm, TPRT_FLIGHT_JSON, append, &flight));
  if (rank == 2) {
    printf("%d all-reduces, the last one: %s; %s\n", n_ops, tprt_status_name(status),
           tprt_last_error());
    printf("the flight recorder has the failure: %s\n",
           strstr(flight.bytes, "program failed") ? "yes" : "no");
  }
  return NULL;
}

int main(void) {
  /* What is left 0 is taken from the environment, where it has it, or is the default: tprt_env()
   * and docs/reference/environment.md. */
  tprt_config config = {.size = sizeof config,
                        .backend = "shm",
                        .timeout_ns = 10000000000,
                        .arena_bytes = 64 << 20,
                        .max_comms = 4};
  run_ranks_with(&config, play);
  return 0;
}
