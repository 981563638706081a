/* Tests failures in backend nccl: each call fails in turn; ranks differ, are late, leave or abort.
 * The backend must not crash, hang, leak, or make a forbidden call. TP_LONG=1: more cases. */
#define _GNU_SOURCE 1
#include "everything.h"
#include "test/runtime/harness/cases.h"
#include "tprt/nccl.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = N_EVERYTHING };

/* ---- Every call ---- */

/* Releases, which happen even if the call fails. They may make a context current. */
static bool is_harmless(const char *call) {
  static const char *const names[] = {"cuDevicePrimaryCtxRelease",
                                      "cuStreamDestroy",
                                      "cuEventDestroy",
                                      "cuMemFree",
                                      "ncclCommAbort",
                                      "ncclRedOpDestroy",
                                      "ncclMemFree",
                                      "cuCtxPushCurrent",
                                      "ncclCommDestroy",
                                      "ncclCommDeregister",
                                      "ncclCommWindowDeregister"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(call, names[i]) == 0)
      return true;
  }
  return false;
}

/* Counts the failures of ends, which no caller can be given. */
static _Atomic int n_logged;
static void count_log(void *user, const char *text) {
  (void)user;
  n_logged += strstr(text, "before what it has sent has arrived: NCCL: ") != NULL;
}

/* Runs a world in which one call fails or hangs; returns the number of calls. */
static long run_planned(fake_plan plan, int64_t timeout_ns) {
  everything result;
  const tprt_logger logger = {count_log, NULL};
  take_buffers(N);
  machine_begin(plan);
  n_logged = 0;
  tprt_set_logger(&logger);
  run_everything(timeout_ns, &result);
  tprt_set_logger(NULL);
  fake_report report = machine_look();
  machine_begin((fake_plan){.most_delay_us = 0});
  give_buffers(N);
  if (report.n_violations)
    fail_msg("call %ld (%s): %s", plan.fail_at + plan.hang_at, report.failed, report.violation);
  fake_report after = machine_look();
  if (after.n_allocations + after.n_streams + after.n_events + after.n_contexts + after.n_comms +
      after.n_factors)
    print_error("call %ld (%s) leaves something behind\n", plan.fail_at + plan.hang_at,
                report.failed);
  machine_expect_clean();
  if (*report.failed && !plan.hang_at && !is_harmless(report.failed) && !result.n_failed &&
      !n_logged)
    fail_msg("call %ld (%s) failed, and nobody said so", plan.fail_at, report.failed);
  if (!*report.failed && !plan.hang_at && result.n_failed)
    fail_msg("a failure without a cause: %s", result.status ? result.text : result.members[0].text);
  return report.n_calls;
}

static void test_every_call(void **state) {
  (void)state;
  const int64_t timeout_ns = INT64_C(20000000000);
  long n_calls = run_planned((fake_plan){.fail_at = 0}, timeout_ns);
  assert_true(n_calls > 100);
  const int step = cases_are_long() ? 1 : 3;
  for (long i = 1; i <= n_calls; i += step) {
    run_planned((fake_plan){.fail_at = i}, timeout_ns);
    if (cases_are_long() || i / step % 5 == 0)
      run_planned((fake_plan){.fail_at = i, .most_delay_us = 50}, timeout_ns);
  }
  print_message("one of %d of %ld calls failed in turn\n", step, n_calls);
}

static void test_every_hang(void **state) {
  (void)state;
  long n_calls = run_planned((fake_plan){.fail_at = 0}, INT64_C(20000000000));
  for (long i = 1; i <= n_calls; i += cases_are_long() ? 1 : 10)
    run_planned((fake_plan){.hang_at = i}, 100000000);
}

/* Out of memory keeps its status; a remote exit that NCCL detects is not a device failure. */
static void test_statuses(void **state) {
  (void)state;
  static const struct {
    int cuda_code, nccl_code;
    const char *text;
  } rows[] = {
      {2, 2, "CUDA_ERROR_OUT_OF_MEMORY"}, {999, 1, "NCCL: "}, {999, 6, "remote process exited"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    bool found = false;
    for (long call = 1; call < 60 && !found; call++) {
      tprt_config config = machine_config();
      tprt_comm *comms[1];
      machine_begin((fake_plan){
          .fail_at = call, .cuda_code = rows[i].cuda_code, .nccl_code = rows[i].nccl_code});
      if (tprt_world_create_threads(1, &config, comms))
        found = strstr(tprt_last_error(), rows[i].text) != NULL;
      else
        tprt_comm_destroy(comms[0]);
    }
    assert_true(found);
    machine_expect_clean();
  }
}

/* ---- Ranks that differ ---- */

typedef int part_fn(tprt_comm *comm, int me);

static int run_parts(int n, int64_t timeout_ns, part_fn *part, rank_fn *call) {
  tprt_config config = machine_config();
  config.timeout_ns = timeout_ns;
  machine_begin((fake_plan){.most_delay_us = 20});
  take_buffers(n);
  int errors = run_threads(n, &config, call, (void *)(uintptr_t)&part);
  give_buffers(n);
  fake_report report = machine_look();
  if (report.n_violations)
    print_error("%s\n", report.violation);
  return errors + (report.n_violations != 0);
}

static int call_part(tprt_comm *comm, void *argument) {
  return (*(part_fn **)argument)(comm, tprt_comm_rank(comm));
}

static int differ(tprt_comm *comm, int me) {
  int errors = 0;
  CHECK_STATUS(
      errors,
      tprt_all_reduce(comm, sends[me], recvs[me], COUNT - me / 2, TPRT_F32, TPRT_SUM, NULL, NULL),
      TPRT_MISMATCH);
  CHECK(errors, strstr(tprt_last_error(), "all_reduce f32 sum of 96") &&
                    strstr(tprt_last_error(), "all_reduce f32 sum of 95"));
  /* unchanged contents of new memory */
  CHECK(errors, recvs[me][0] != recvs[me][1] || recvs[me][0] < 0);
  return errors;
}

static int differ_in_pieces(tprt_comm *comm, int me) {
  int errors = 0;
  int64_t sent[] = {1, 2, 3}, expected[] = {1, 2, 3};
  /* rank i sends to j what j expects, except that 1 sends one element more to 2 */
  for (int i = 0; i < 3; i++) {
    sent[i] = 1 + me + 2 * i + (me == 1 && i == 2);
    expected[i] = 1 + i + 2 * me;
  }
  CHECK_STATUS(errors,
               tprt_all_to_all_v(comm, sends[me], sent, NULL, recvs[me], expected, NULL, TPRT_F32,
                                 NULL, NULL),
               TPRT_MISMATCH);
  CHECK(errors, strstr(tprt_last_error(), "rank 1 sends 7 elements to rank 2, which expects 6"));
  return errors;
}

static int hang_alone(tprt_comm *comm, int me) {
  int errors = 0;
  struct timespec later = {.tv_nsec = 600000000};
  if (me == 1) {
    nanosleep(&later, NULL);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_TIMEOUT);
  } else {
    CHECK_STATUS(errors,
                 tprt_all_reduce(comm, sends[me], recvs[me], 1, TPRT_F32, TPRT_SUM, NULL, NULL),
                 TPRT_TIMEOUT);
  }
  CHECK(errors,
        strstr(tprt_last_error(), getenv("TPRT_NCCL_CHECK") ? "rank 1 did not arrive in time"
                                                            : "did not finish in time"));
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_TIMEOUT); /* sticky */
  return errors;
}

/* NCCL does not detect it, and hangs. */
static int differ_unseen(tprt_comm *comm, int me) {
  int errors = 0;
  CHECK_STATUS(
      errors,
      tprt_all_reduce(comm, sends[me], recvs[me], COUNT - me, TPRT_F32, TPRT_SUM, NULL, NULL),
      TPRT_TIMEOUT);
  return errors;
}

static void test_differ(void **state) {
  (void)state;
  setenv("TPRT_NCCL_CHECK", "1", 1);
  assert_int_equal(run_parts(3, INT64_C(20000000000), differ, call_part), 0);
  assert_int_equal(run_parts(3, INT64_C(20000000000), differ_in_pieces, call_part), 0);
  assert_int_equal(run_parts(3, 200000000, hang_alone, call_part), 0);
  unsetenv("TPRT_NCCL_CHECK");
  assert_int_equal(run_parts(3, 200000000, hang_alone, call_part), 0);
  assert_int_equal(run_parts(3, 200000000, differ_unseen, call_part), 0);
}

/* ---- Ranks that leave ---- */

static int go(tprt_comm *comm, int me) {
  int errors = 0;
  if (me == 2) {
    CHECK_STATUS(errors, tprt_comm_finalize(comm), TPRT_OK);
    return errors;
  }
  CHECK_STATUS(errors,
               tprt_all_reduce(comm, sends[me], recvs[me], 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_PEER_DEAD);
  CHECK(errors, strstr(tprt_last_error(), "rank 2 ended or destroyed its communicator"));
  return errors;
}

static void *abort_soon(void *comm) {
  struct timespec soon = {.tv_nsec = 50000000};
  nanosleep(&soon, NULL);
  tprt_comm_abort(comm);
  tprt_comm_abort(comm);
  return NULL;
}

static int stop(tprt_comm *comm, int me) {
  int errors = 0;
  pthread_t thread;
  if (me == 0) {
    if (pthread_create(&thread, NULL, abort_soon, comm) != 0)
      abort();
    pthread_join(thread, NULL);
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_INVALID_STATE);
  } else {
    CHECK_STATUS(errors,
                 tprt_all_reduce(comm, sends[me], recvs[me], 1, TPRT_F32, TPRT_SUM, NULL, NULL),
                 TPRT_ABORTED);
    CHECK(errors, strstr(tprt_last_error(), "rank 0 aborted the communicator"));
  }
  return errors;
}

/* Two continue without the third. */
static int go_on(tprt_comm *comm, int me) {
  int errors = 0;
  tprt_comm *child = NULL;
  if (me == 1) {
    tprt_comm_abort(comm);
    CHECK_STATUS(errors, tprt_comm_finalize(comm), TPRT_INVALID_STATE);
    return errors;
  }
  CHECK_STATUS(errors,
               tprt_all_reduce(comm, sends[me], recvs[me], 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_ABORTED);
  CHECK_STATUS(errors, tprt_comm_shrink(comm, 300000000, &child), TPRT_OK);
  if (errors)
    return errors;
  CHECK(errors, tprt_comm_size(child) == 2 && tprt_comm_world_rank(child, 1) == 2);
  CHECK_STATUS(errors,
               tprt_all_reduce(child, sends[me], recvs[me], 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_OK);
  CHECK(errors, recvs[me][0] == 2);
  tprt_comm_destroy(child);
  return errors;
}

static void test_go(void **state) {
  (void)state;
  assert_int_equal(run_parts(3, INT64_C(20000000000), go, call_part), 0);
  assert_int_equal(run_parts(3, INT64_C(20000000000), stop, call_part), 0);
  assert_int_equal(run_parts(3, INT64_C(20000000000), go_on, call_part), 0);
  machine_expect_clean();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_call), cmocka_unit_test(test_every_hang),
      cmocka_unit_test(test_statuses), cmocka_unit_test(test_differ), cmocka_unit_test(test_go)};
  machine_start();
  tprt_nccl_info info;
  if (tprt_nccl_probe(&info)) /* loads the libraries once, before calls are counted */
    return 1;
  return cmocka_run_group_tests(tests, NULL, NULL);
}
