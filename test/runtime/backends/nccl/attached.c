/* attached WHAT: one rank of backend nccl that a launcher started, on the emulated machine, which
 * FAKE_NCCL_SHARED shares among all processes. WHAT: cases, those of all backends; parts, failures;
 * die, rank 1 is killed and the others continue. */
#define _GNU_SOURCE 1
#include "machine.h"
#include "test/runtime/harness/cases.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int me, n, ordinal;

/* ---- Memory: on this rank's device on its host ---- */

static void *take(tprt_comm *comm, size_t bytes) {
  (void)comm;
  return machine_alloc(ordinal, bytes);
}

static void give(tprt_comm *comm, void *block) {
  (void)comm;
  machine_free(ordinal, block);
}

static void copy(tprt_comm *comm, void *to, const void *from, size_t bytes) {
  (void)comm;
  memcpy(to, from, bytes);
}

/* ---- Cases ---- */

static int cases(tprt_comm *comm) {
  static const scenario_place place = {take, give, copy, copy};
  uint64_t stride = cases_stride(n) / (cases_are_long() ? 1 : 8) + 1;
  scenario_set_place(&place);
  int errors = cases_types(comm, &stride);
  errors += cases_sizes(comm, &stride);
  errors += cases_groups(comm, &stride);
  CHECK(errors, scenario_count() > 0);
  return errors;
}

/* ---- Failures: each on its own communicator ---- */

static void nap_ms(int ms) {
  const struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  nanosleep(&time, NULL);
}

/* Sums over ranks: element i of a rank is its world rank + i. */
static tprt_status sum(tprt_comm *comm, void *stream, float *result) {
  enum { COUNT = 1000 };
  float *data = machine_alloc(ordinal, COUNT * sizeof *data);
  tprt_work *work = NULL;
  for (int i = 0; i < COUNT; i++)
    data[i] = (float)(me + i);
  tprt_status status =
      tprt_all_reduce(comm, data, data, COUNT, TPRT_F32, TPRT_SUM, stream, stream ? &work : NULL);
  if (!status && work)
    status = tprt_work_wait(work, 0);
  tprt_work_destroy(work);
  *result = data[0];
  for (int i = 0; i < COUNT && !status; i++)
    status = data[i] == data[0] + (float)(i * tprt_comm_size(comm)) ? TPRT_OK : TPRT_INTERNAL;
  machine_free(ordinal, data);
  return status;
}

static int all_sum(tprt_comm *comm) {
  int errors = 0;
  float result;
  CHECK_STATUS(errors, sum(comm, NULL, &result), TPRT_OK);
  CHECK(errors, result == (float)(n * (n - 1) / 2));
  return errors;
}

static int in_stream(tprt_comm *comm) {
  int errors = 0;
  float result;
  void *stream = machine_stream(ordinal);
  CHECK_STATUS(errors, sum(comm, stream, &result), TPRT_OK);
  CHECK(errors, result == (float)(n * (n - 1) / 2));
  machine_stream_destroy(ordinal, stream);
  return errors;
}

/* Rank 1 differs: detected where operations are compared, which is when a schedule is created. */
static int differ(tprt_comm *comm) {
  int errors = 0;
  float *data = machine_alloc(ordinal, 64);
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_REDUCE, data, data, me == 1 ? 3 : 4, TPRT_F32, NULL);
  tprt_schedule *schedule;
  op.reduction = TPRT_SUM;
  CHECK_STATUS(errors, tprt_schedule_create(comm, &op, 1, &schedule), TPRT_MISMATCH);
  machine_free(ordinal, data);
  return errors;
}

static int aborted(tprt_comm *comm) {
  int errors = 0;
  float result;
  if (me == 0) {
    CHECK_STATUS(errors, tprt_comm_abort(comm), TPRT_OK);
  } else {
    CHECK_STATUS(errors, sum(comm, NULL, &result), TPRT_ABORTED);
    CHECK(errors, strstr(tprt_last_error(), "rank 0 aborted the communicator"));
  }
  return errors;
}

static int left(tprt_comm *comm) {
  int errors = 0;
  float result;
  if (me == 1) {
    CHECK_STATUS(errors, tprt_comm_finalize(comm), TPRT_OK);
  } else {
    CHECK_STATUS(errors, sum(comm, NULL, &result), TPRT_PEER_DEAD);
    CHECK(errors, strstr(tprt_last_error(), "rank 1 ended or destroyed its communicator"));
  }
  return errors;
}

/* Rank 1 arrives after the others have given up; then all continue. */
static int late(tprt_comm *comm) {
  int errors = 0;
  float *data = machine_alloc(ordinal, 64), result;
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_REDUCE, data, data, 4, TPRT_F32, NULL);
  tprt_comm *again;
  op.reduction = TPRT_SUM;
  op.timeout_ns = 200000000;
  if (me == 1)
    nap_ms(800);
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_TIMEOUT);
  CHECK_STATUS(errors, tprt_comm_rebuild(comm, 0, &again), TPRT_OK);
  if (!errors) {
    CHECK_STATUS(errors, sum(again, NULL, &result), TPRT_OK);
    CHECK(errors, result == (float)(n * (n - 1) / 2));
    tprt_comm_destroy(again);
  }
  machine_free(ordinal, data);
  return errors;
}

static int parts(tprt_comm *world) {
  static int (*const all[])(tprt_comm *) = {all_sum, in_stream, differ, aborted, left, late};
  int errors = 0;
  for (size_t i = 0; i < sizeof all / sizeof *all && !errors; i++) {
    tprt_comm *child;
    CHECK_STATUS(errors, tprt_comm_split(world, 0, 0, &child), TPRT_OK);
    if (errors)
      break;
    errors += all[i](child);
    tprt_comm_destroy(child);
    errors += all_sum(world); /* it is unchanged */
    if (errors)
      print_error("rank %d of %d: part %zu\n", me, n, i);
  }
  return errors;
}

/* ---- The death of a process ---- */

static int die(tprt_comm *world) {
  int errors = all_sum(world);
  float result;
  tprt_comm *rest;
  if (me == 1)
    raise(SIGKILL);
  double begin = test_seconds();
  CHECK_STATUS(errors, sum(world, NULL, &result), TPRT_PEER_DEAD);
  CHECK(errors, strstr(tprt_last_error(), "rank 1 "));
  CHECK_STATUS(errors, tprt_comm_shrink(world, 0, &rest), TPRT_OK);
  if (errors)
    return errors;
  CHECK(errors, tprt_comm_size(rest) == n - 1);
  CHECK_STATUS(errors, sum(rest, NULL, &result), TPRT_OK);
  CHECK(errors, result == (float)(n * (n - 1) / 2 - 1));
  CHECK(errors, test_seconds() - begin < 15); /* earlier than the deadline */
  tprt_comm_destroy(rest);
  return errors;
}

int main(int argc, char **argv) {
  static const struct {
    const char *name;
    int (*run)(tprt_comm *comm);
  } all[] = {{"cases", cases}, {"parts", parts}, {"die", die}};
  enum { N_ALL = sizeof all / sizeof *all };
  size_t what = 0;
  int errors = 0;
  tprt_launch launch = {.size = sizeof launch};
  tprt_comm *world;
  while (argc > 1 && what < N_ALL && strcmp(argv[1], all[what].name) != 0)
    what++;
  if (argc < 2 || what == N_ALL)
    return 2;
  machine_start();
  tprt_config config = machine_config();
  config.timeout_ns = INT64_C(20000000000);
  CHECK_STATUS(errors, tprt_launch_find(&launch), TPRT_OK);
  CHECK_STATUS(errors, tprt_world_create(0, 0, &config, &world), TPRT_OK);
  if (errors)
    return 1;
  me = launch.rank;
  n = launch.n_ranks;
  ordinal = launch.local_rank;
  errors += all[what].run(world);
  int host_ranks = tprt_comm_host_ranks(world);
  tprt_comm_destroy(world);
  fake_report report = machine_look();
  CHECK(errors, report.n_violations == 0 && report.n_comms == 0 && report.n_allocations == 0);
  if (report.n_violations)
    print_error("%s\n", report.violation);
  if (me == 0 && !errors)
    print_message("nccl %s, %d ranks, %d of them here: all right\n", argv[1], n, host_ranks);
  return errors > 0;
}
