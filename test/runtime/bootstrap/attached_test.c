/* attached_test [BACKEND]: one rank of a world that a launcher started. Tests that failures end
 * with the right status on all ranks, in time; recovery; and messages beyond MPI's maximum
 * count. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int me, n;

static int sum_of_ranks(tprt_comm *comm) {
  int errors = 0, sum = 0;
  CHECK_STATUS(errors, tprt_all_reduce(comm, &me, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, sum == n * (n - 1) / 2);
  return errors;
}

/* Rank 1 runs another operation as operation 1. */
static int mismatch(tprt_comm *comm) {
  int errors = 0;
  int32_t data[100] = {0};
  errors += sum_of_ranks(comm);
  CHECK_STATUS(
      errors, tprt_all_reduce(comm, data, data, me == 1 ? 99 : 100, TPRT_I32, TPRT_SUM, NULL, NULL),
      TPRT_MISMATCH);
  CHECK(errors, strstr(tprt_last_error(), "operation 2 differs") != NULL);
  CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_MISMATCH);
  return errors;
}

/* Rank 1 does not arrive in time. */
static int timeout(tprt_comm *comm) {
  int errors = 0;
  double begin = test_seconds();
  if (me == 1) { /* arrives after the others have given up */
    usleep(1000000);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_TIMEOUT);
    return errors;
  }
  tprt_op op = tprt_op_flat(TPRT_OP_BROADCAST, &errors, &n, 0, TPRT_I32, NULL);
  op.timeout_ns = 200000000;
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_TIMEOUT);
  CHECK(errors, strstr(tprt_last_error(), "rank 1 did not arrive in time") != NULL);
  CHECK(errors, test_seconds() - begin < 10);
  return errors;
}

/* Rank 0 aborts while the others wait. */
static int aborted(tprt_comm *comm) {
  int errors = 0;
  if (me == 0)
    CHECK_STATUS(errors, tprt_comm_abort(comm), TPRT_OK);
  else
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_ABORTED);
  return errors;
}

/* Rank 1 leaves. */
static int left(tprt_comm *comm) {
  int errors = 0;
  if (me == 1) {
    CHECK_STATUS(errors, tprt_comm_finalize(comm), TPRT_OK);
    return errors;
  }
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_PEER_DEAD);
  CHECK(errors, strstr(tprt_last_error(), "rank 1 ended or destroyed its communicator") != NULL);
  return errors;
}

/* A recv with a type that differs from the send's, and a recv without a send. */
static int transfers(tprt_comm *comm) {
  int errors = 0;
  int32_t data[5] = {0};
  if (me == 0) {
    CHECK_STATUS(errors, tprt_send(comm, data, 5, TPRT_I32, 1, 9, NULL, NULL), TPRT_MISMATCH);
    CHECK(errors, strstr(tprt_last_error(),
                         "rank 0 sends 5 i32 to rank 1 with tag 9, which expects 5 f32") != NULL);
  } else if (me == 1) {
    CHECK_STATUS(errors, tprt_recv(comm, data, 5, TPRT_F32, 0, 9, NULL, NULL), TPRT_MISMATCH);
  }
  return errors;
}

/* One rank reacts late to a failure, and then one leaves: the others continue each time. A dying
 * process is not tested, because MPI launchers end the job in that case. */
static int recovered(tprt_comm *comm) {
  int errors = 0;
  tprt_comm *all, *fewer, *none;
  if (me == 0)
    CHECK_STATUS(errors, tprt_comm_abort(comm), TPRT_OK);
  else
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_ABORTED);
  CHECK_STATUS(errors, tprt_comm_rebuild(comm, 0, &all), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_shrink(comm, 0, &none), TPRT_INVALID_STATE);
  if (errors)
    return errors;
  errors += sum_of_ranks(all);
  if (me == 0) { /* rank 0 coordinates the recovery, and then leaves */
    CHECK_STATUS(errors, tprt_comm_finalize(all), TPRT_OK);
  } else {
    CHECK_STATUS(errors, tprt_barrier(all, NULL, NULL), TPRT_PEER_DEAD);
    CHECK_STATUS(errors, tprt_comm_shrink(all, 0, &fewer), TPRT_OK);
    if (errors)
      return errors;
    int sum = 0;
    CHECK_STATUS(errors, tprt_all_reduce(fewer, &me, &sum, 1, TPRT_I32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
    CHECK(errors, sum == n * (n - 1) / 2 && tprt_comm_size(fewer) == n - 1);
    tprt_comm_destroy(fewer);
  }
  tprt_comm_destroy(all);
  return errors;
}

/* Rank 0 is in no call when the others give up and continue without it. */
static int late(tprt_comm *comm) {
  int errors = 0;
  tprt_comm *child;
  if (me == 0) {
    usleep(700000);
    CHECK_STATUS(errors, tprt_comm_shrink(comm, 0, &child), TPRT_INVALID_STATE);
    CHECK(errors, strstr(tprt_last_error(), "rank 0 arrived too late") != NULL);
    return errors;
  }
  CHECK_STATUS(errors, tprt_comm_shrink(comm, 100000000, &child), TPRT_OK);
  if (!errors) {
    CHECK(errors, tprt_comm_size(child) == n - 1);
    tprt_comm_destroy(child);
  }
  return errors;
}

/* Rank 0 is stopped. On shared memory the others continue without it. On backends where rank 0
 * would coordinate, they get an error instead of waiting forever. */
static int stopped(tprt_comm *comm) {
  int errors = 0, pid = (int)getpid();
  tprt_comm *child;
  CHECK_STATUS(errors, tprt_broadcast(comm, &pid, &pid, 1, TPRT_I32, 0, NULL, NULL), TPRT_OK);
  /* rank 0 has sent its process id */
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (me == 0) {
    raise(SIGSTOP); /* continued by the last rank */
    return errors;
  }
  double begin = test_seconds();
  tprt_status status = tprt_comm_shrink(comm, 100000000, &child);
  if (strcmp(tprt_comm_backend(comm), "shm") == 0) {
    CHECK_STATUS(errors, status, TPRT_OK);
    CHECK(errors, tprt_comm_size(child) == n - 1);
    tprt_comm_destroy(child);
  } else {
    CHECK_STATUS(errors, status, TPRT_TIMEOUT);
    CHECK(errors,
          strstr(tprt_last_error(),
                 "rank 0, which decides which ranks continue, did not arrive in time") != NULL);
  }
  CHECK(errors, test_seconds() - begin < 10);
  if (me == n - 1) {
    usleep(300000); /* by then all others have waited as long */
    CHECK(errors, kill(pid, SIGCONT) == 0);
  }
  return errors;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(tprt_comm *comm);
  } cases[] = {{"mismatch", mismatch}, {"timeout", timeout},     {"aborted", aborted},
               {"left", left},         {"transfers", transfers}, {"recovered", recovered},
               {"late", late},         {"stopped", stopped}};
  int errors = 0;
  tprt_launch launch = {.size = sizeof launch};
  tprt_config config = {.size = sizeof config,
                        .backend = argc > 1 ? argv[1] : "shm",
                        .timeout_ns = INT64_C(20000000000)};
  tprt_comm *world, *child;
  CHECK_STATUS(errors, tprt_launch_find(&launch), TPRT_OK);
  n = launch.n_ranks;
  me = launch.rank;
  if (strcmp(config.backend, "mpi") == 0) /* not the number of ranks that was started */
    CHECK_STATUS(errors, tprt_world_create(n + 1, me, &config, &world), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_world_create(0, 0, &config, &world), TPRT_OK);
  if (errors)
    return 1;
  for (size_t i = 0; i < sizeof cases / sizeof *cases && !errors; i++) {
    CHECK_STATUS(errors, tprt_comm_split(world, 0, 0, &child), TPRT_OK);
    if (errors)
      break;
    errors += cases[i].run(child);
    tprt_comm_destroy(child);
    CHECK_STATUS(errors, tprt_barrier(world, NULL, NULL), TPRT_OK); /* the world is unchanged */
    if (errors)
      print_error("rank %d of %d: %s\n", me, n, cases[i].name);
  }
  errors += sum_of_ranks(world);
  tprt_comm_destroy(world);
  CHECK_STATUS(errors, tprt_world_create(0, 0, &config, &world), TPRT_OK); /* a second world */
  if (!errors) {
    errors += sum_of_ranks(world);
    tprt_comm_destroy(world);
  }
  if (me == 0 && !errors)
    print_message("%s, %d attached ranks of %s: all right\n", config.backend, n, launch.launcher);
  return errors > 0;
}
