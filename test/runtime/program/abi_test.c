/* Tests programs on contexts: the results of sites, statistics, failures, and truncated or damaged
 * tables. */
#define _POSIX_C_SOURCE 200809L
#include "test/runtime/harness/harness.h"
#include "test/runtime/harness/table.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

enum { AR, AG, RS, AA, PM, BC, CT, ONE, WHOLE, N_SITES };

/* Creates a program on a 2x3 mesh: groups over its axes, one site of each kind, an all-reduce over
 * no axes and one over the whole mesh. */
static test_table make_program(void) {
  static const int64_t sizes[] = {2, 3}, first[] = {0}, second[] = {1}, both[] = {0, 1};
  static const int64_t flat[] = {10}, matrix[] = {4, 6}, large[] = {30000};
  static const int64_t pairs[] = {0, 1, 1, 2, 2, 0, 4, 3},
                       loops[] = {2, 3, 0, 2, 2, 0, 1, 1, 3, 1, 2, 0};
  test_table t = table_make(2, sizes);
  table_site(&t, TPRT_SITE_ALL_REDUCE, TPRT_F32, TPRT_SUM, 1, second, 1, large, NULL, 0);
  table_site(&t, TPRT_SITE_ALL_GATHER, TPRT_I32, TPRT_NO_REDUCTION, 1, first, 2, matrix, NULL, 0)
      ->dim = 1;
  table_site(&t, TPRT_SITE_REDUCE_SCATTER, TPRT_I32, TPRT_MAX, 1, second, 2, matrix, NULL, 0)->dim =
      1;
  tprt_abi_site *site = table_site(&t, TPRT_SITE_ALL_TO_ALL, TPRT_I32, TPRT_NO_REDUCTION, 1, second,
                                   2, matrix, NULL, 0);
  site->dim = 0;
  site->split_dim = 1;
  table_site(&t, TPRT_SITE_PERMUTE, TPRT_I32, TPRT_NO_REDUCTION, 1, second, 1, flat, pairs, 8);
  table_site(&t, TPRT_SITE_BROADCAST, TPRT_I32, TPRT_NO_REDUCTION, 2, both, 1, flat, NULL, 0)
      ->root = 5;
  table_contract(&t, TPRT_F32, 3, loops);
  table_site(&t, TPRT_SITE_ALL_REDUCE, TPRT_I32, TPRT_SUM, 0, NULL, 1, flat, NULL, 0);
  table_site(&t, TPRT_SITE_ALL_REDUCE, TPRT_I32, TPRT_SUM, 2, both, 0, NULL, NULL, 0);
  table_header(&t)->private_bytes = 1000;
  table_header(&t)->registered_bytes = 300000;
  return t;
}

static int check_sites(tprt_context *context, int me) {
  int errors = 0, row = me / 3, column = me % 3;
  float *in = tprt_abi_registered(context), *out = in + 35000;
  for (int i = 0; i < 30000; i++)
    in[i] = (float)(me + i);
  CHECK(errors, tprt_abi_collective(context, AR, in, out) == TPRT_OK);
  for (int i = 0; i < 30000; i++)
    errors += out[i] != (float)(3 * i + 9 * row + 3);
  int32_t m[24], r[48];
  for (int i = 0; i < 24; i++)
    m[i] = 100 * me + i;
  CHECK(errors, tprt_abi_collective(context, AG, m, r) == TPRT_OK);
  for (int i = 0; i < 48; i++)
    errors += r[i] != 100 * (i % 12 / 6 * 3 + column) + i / 12 * 6 + i % 6;
  CHECK(errors, tprt_abi_collective(context, RS, m, r) == TPRT_OK);
  for (int i = 0; i < 8; i++)
    errors += r[i] != 100 * (row * 3 + 2) + i / 2 * 6 + column * 2 + i % 2;
  CHECK(errors, tprt_abi_collective(context, AA, m, r) == TPRT_OK);
  for (int i = 0; i < 24; i++)
    errors += r[i] != 100 * (row * 3 + i / 8) + i / 2 % 4 * 6 + column * 2 + i % 2;
  static const int source[] = {2, 0, 1, 4, -1, -1};
  CHECK(errors, tprt_abi_collective(context, PM, m, r) == TPRT_OK);
  for (int i = 0; i < 10; i++)
    errors += r[i] != (source[me] < 0 ? 0 : 100 * source[me] + i);
  CHECK(errors, tprt_abi_collective(context, BC, m, r) == TPRT_OK);
  for (int i = 0; i < 10; i++)
    errors += r[i] != 500 + i;
  const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 2, 3, 4, 5, 6}, expected[] = {23, 29, 50, 65};
  float c[] = {1, 1, 1, 1};
  CHECK(errors, tprt_abi_contract(context, CT, a, b, c) == TPRT_OK);
  for (int i = 0; i < 4; i++)
    errors += c[i] != expected[i];
  CHECK(errors, tprt_abi_collective(context, ONE, m, m) == TPRT_OK);
  int32_t sum;
  CHECK(errors, tprt_abi_collective(context, WHOLE, m, &sum) == TPRT_OK && sum == 1500);
  CHECK(errors, errors == 0);
  return errors;
}

/* All calls are recorded in their order; those that do not fit are counted. */
static int check_record(tprt_context *context, int me) {
  tprt_call calls[N_SITES];
  memset(calls, 0, sizeof calls);
  tprt_context_record(context, calls, N_SITES - 1);
  int errors = check_sites(context, me);
  CHECK(errors, tprt_context_recorded(context) == N_SITES);
  static const int order[N_SITES] = {AR, AG, RS, AA, PM, BC, CT, ONE, WHOLE};
  for (int i = 0; i < N_SITES - 1; i++)
    CHECK(errors, calls[i].site == order[i] && calls[i].kind == TPRT_CALL_RUN &&
                      calls[i].begin_ns <= calls[i].end_ns &&
                      (i == 0 || calls[i - 1].end_ns <= calls[i].begin_ns));
  CHECK(errors, calls[1].what == TPRT_SITE_ALL_GATHER && calls[1].bytes == 24 * 4);
  CHECK(errors, calls[N_SITES - 1].end_ns == 0);
  tprt_context_record(context, NULL, 0);
  CHECK(errors, tprt_context_recorded(context) == N_SITES);
  return errors;
}

static int check_stats(tprt_context *context) {
  static const int64_t bytes[N_SITES] = {
      2 * 2 * 10000 * 4, 24 * 4, 2 * 8 * 4, 2 * 8 * 4, 40, 40, 0, 0, 2 * 5 * 4};
  int errors = 0;
  for (int i = 0; i < N_SITES; i++) {
    tprt_site_stats stats;
    CHECK_STATUS(errors, tprt_context_site_stats(context, i, &stats), TPRT_OK);
    CHECK(errors, stats.calls == 2 && stats.bytes == 2 * bytes[i] && stats.seconds > 0);
  }
  tprt_site_stats stats;
  tprt_context_reset_stats(context);
  CHECK_STATUS(errors, tprt_context_site_stats(context, 0, &stats), TPRT_OK);
  CHECK(errors, stats.calls == 0 && stats.bytes == 0);
  CHECK_STATUS(errors, tprt_context_site_stats(context, N_SITES, &stats), TPRT_INVALID_ARGUMENT);
  return errors;
}

/* Starts several collectives at once, in one group and in several, with a synchronous one between
 * them, and waits in another order. */
static int check_started(tprt_context *context, int me) {
  int errors = 0, row = me / 3, column = me % 3;
  float *in = tprt_abi_registered(context), *out = in + 35000;
  for (int i = 0; i < 30000; i++)
    in[i] = (float)(me + i);
  int32_t m[24], gathered[48], scattered[8], moved[24], sum;
  for (int i = 0; i < 24; i++)
    m[i] = 100 * me + i;
  CHECK(errors, tprt_abi_start(context, AR, in, out) == TPRT_OK);
  CHECK(errors, tprt_abi_start(context, AG, m, gathered) == TPRT_OK);
  CHECK(errors, tprt_abi_start(context, RS, m, scattered) == TPRT_OK);
  CHECK(errors, tprt_abi_start(context, AA, m, moved) == TPRT_OK);
  CHECK(errors, tprt_abi_collective(context, WHOLE, m, &sum) == TPRT_OK && sum == 1500);
  CHECK(errors, tprt_abi_wait(context, RS, m, scattered) == TPRT_OK);
  for (int i = 0; i < 8; i++)
    errors += scattered[i] != 100 * (row * 3 + 2) + i / 2 * 6 + column * 2 + i % 2;
  CHECK(errors, tprt_abi_start(context, RS, m, scattered) == TPRT_OK);
  CHECK(errors, tprt_abi_wait(context, AR, in, out) == TPRT_OK);
  for (int i = 0; i < 30000; i++)
    errors += out[i] != (float)(3 * i + 9 * row + 3);
  CHECK(errors, tprt_abi_wait(context, AG, m, gathered) == TPRT_OK);
  for (int i = 0; i < 48; i++)
    errors += gathered[i] != 100 * (i % 12 / 6 * 3 + column) + i / 12 * 6 + i % 6;
  CHECK(errors, tprt_abi_wait(context, AA, m, moved) == TPRT_OK);
  for (int i = 0; i < 24; i++)
    errors += moved[i] != 100 * (row * 3 + i / 8) + i / 2 % 4 * 6 + column * 2 + i % 2;
  CHECK(errors, tprt_abi_wait(context, RS, m, scattered) == TPRT_OK);
  CHECK(errors, errors == 0);
  return errors;
}

static int run_started(tprt_comm *comm, void *argument) {
  const test_table *program = argument;
  static const int64_t bytes[] = {2 * 2 * 10000 * 4, 24 * 4, 2 * 2 * 8 * 4, 2 * 8 * 4},
                       calls[] = {1, 1, 2, 1};
  enum { N_TURNS = 20 };
  int errors = 0;
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  for (int turn = 0; turn < N_TURNS && !errors; turn++) {
    CHECK(errors, tprt_abi_enter(context, program->words) == TPRT_OK);
    errors += check_started(context, tprt_comm_rank(comm));
  }
  for (int i = AR; i <= AA && !errors; i++) {
    tprt_site_stats stats;
    CHECK_STATUS(errors, tprt_context_site_stats(context, i, &stats), TPRT_OK);
    CHECK(errors, stats.calls == N_TURNS * calls[i] && stats.bytes == N_TURNS * bytes[i] &&
                      stats.seconds > 0);
  }
  /* A collective that is never waited for ends with the context. */
  int32_t m[24] = {0}, r[48];
  CHECK(errors, tprt_abi_start(context, AG, m, r) == TPRT_OK);
  tprt_context_destroy(context);
  return errors;
}

/* Started collectives progress in a thread, or in the waiting thread. */
static const char *const progress[] = {"0", "1"};

static void test_started(void **state) {
  (void)state;
  tprt_config config = test_config();
  test_table program = make_program();
  for (int i = 0; i < 2; i++) {
    setenv("TPRT_PROGRESS", progress[i], 1);
    if (test_on_shm())
      assert_int_equal(run_processes(6, &config, run_started, &program, NULL), 0);
    assert_int_equal(run_threads(6, &config, run_started, &program), 0);
  }
  unsetenv("TPRT_PROGRESS");
  table_free(&program);
}

/* A rank that has started a collective serves the others while it computes: they detect that it
 * started a different one. */
typedef struct begun {
  const test_table *program;
  _Atomic bool found;
} begun;

static int start_and_compute(tprt_comm *comm, void *argument) {
  begun *b = argument;
  int errors = 0;
  int32_t data[24] = {0}, gathered[48];
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  CHECK(errors, tprt_abi_enter(context, b->program->words) == TPRT_OK);
  if (tprt_comm_rank(comm) == 0) {
    double end = test_seconds() + 10; /* the timeout of the others is 20 s */
    CHECK(errors, tprt_abi_start(context, WHOLE, data, gathered) == TPRT_OK);
    while (!atomic_load(&b->found) && test_seconds() < end)
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    CHECK(errors, atomic_load(&b->found));
    CHECK(errors, tprt_abi_wait(context, WHOLE, data, gathered) == TPRT_MISMATCH);
  } else {
    CHECK(errors, tprt_abi_collective(context, BC, data, gathered) == TPRT_MISMATCH);
    atomic_store(&b->found, true);
  }
  tprt_context_destroy(context);
  return errors;
}

static void test_begun(void **state) {
  (void)state;
  tprt_config config = test_config();
  test_table program = make_program();
  begun b = {.program = &program};
  setenv("TPRT_PROGRESS", "0", 1);
  assert_int_equal(run_threads(6, &config, start_and_compute, &b), 0);
  unsetenv("TPRT_PROGRESS");
  table_free(&program);
}

static void count_log(void *user, const char *text) {
  bool told =
      strstr(text, "the file /dev/null/trace-") && strstr(text, "-of-6.json cannot be written");
  atomic_fetch_add((_Atomic int *)user, told);
}

/* A trace that cannot be written is reported and causes no failure. */
static void test_trace(void **state) {
  (void)state;
  _Atomic int n_told = 0;
  const tprt_logger logger = {count_log, &n_told};
  tprt_config config = test_config();
  test_table program = make_program();
  setenv("TPRT_TRACE", "/dev/null/trace", 1);
  tprt_set_logger(&logger);
  assert_int_equal(run_threads(6, &config, run_started, &program), 0);
  tprt_set_logger(NULL);
  unsetenv("TPRT_TRACE");
  assert_int_equal(n_told, 6);
  table_free(&program);
}

static int run_program(tprt_comm *comm, void *argument) {
  const test_table *program = argument;
  int errors = 0;
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  for (int turn = 0; turn < 2 && !errors; turn++) {
    CHECK(errors, tprt_abi_enter(context, program->words) == TPRT_OK);
    CHECK(errors, tprt_abi_device(context) == tprt_comm_rank(comm));
    CHECK(errors, (uintptr_t)tprt_abi_private(context) % 64 == 0 &&
                      (uintptr_t)tprt_abi_registered(context) % 64 == 0);
    memset(tprt_abi_private(context), 1, 1000);
    errors += check_sites(context, tprt_comm_rank(comm));
  }
  if (!errors)
    errors += check_stats(context);
  if (!errors)
    errors += check_record(context, tprt_comm_rank(comm));
  CHECK(errors, strcmp(tprt_context_error(context), "") == 0);
  tprt_context_destroy(context);
  return errors;
}

static void test_program(void **state) {
  (void)state;
  tprt_config config = test_config();
  test_table program = make_program();
  assert_int_equal(tprt_abi_check(program.words, program.n_words), TPRT_OK);
  if (test_on_shm())
    assert_int_equal(run_processes(6, &config, run_program, &program, NULL), 0);
  assert_int_equal(run_threads(6, &config, run_program, &program), 0);
  table_free(&program);
}

/* ---- Failure ---- */

enum { FAILS, DIES, MISUSES, ABORTS, N_WAYS };
static const tprt_status outcome_of_failure[N_WAYS] = {TPRT_PROGRAM, TPRT_PEER_DEAD,
                                                       TPRT_INVALID_ARGUMENT, TPRT_ABORTED};

typedef struct failing {
  test_table program;
  int how; /* one of the above, or a number specific to the test */
  /* number of ranks that got the error text; the others may learn of it before they detect it
   * themselves */
  _Atomic int n_told;
} failing;

/* Rank 4 fails while the others enter collectives of several groups; all return its status. */
static int fail_program(tprt_comm *comm, void *argument) {
  const failing *f = argument;
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  CHECK(errors, tprt_abi_enter(context, f->program.words) == TPRT_OK);
  int32_t m[24] = {0}, r[48];
  for (int turn = 0; turn < 1000 && !tprt_abi_status(context); turn++) {
    if (turn == 20 && me == 4) {
      if (f->how == FAILS)
        tprt_abi_fail(context, TPRT_PROGRAM, "x > 0");
      if (f->how == DIES)
        raise(SIGKILL);
      if (f->how == MISUSES)
        tprt_abi_collective(context, CT, m, r);
      if (f->how == ABORTS)
        tprt_comm_abort(comm);
    }
    tprt_abi_collective(context, AG, m, r);
    tprt_abi_collective(context, RS, m, r);
  }
  CHECK(errors, tprt_abi_status(context) == (int32_t)outcome_of_failure[f->how]);
  CHECK(errors, strlen(tprt_context_error(context)) > 0);
  /* returns at once */
  CHECK(errors, tprt_abi_collective(context, AG, m, r) == (int32_t)outcome_of_failure[f->how]);
  CHECK(errors, tprt_abi_contract(context, CT, m, m, r) == (int32_t)outcome_of_failure[f->how]);
  CHECK(errors, tprt_abi_enter(context, f->program.words) == (int32_t)outcome_of_failure[f->how]);
  CHECK(errors, tprt_abi_device(context) == 0);
  if (errors)
    print_error("rank %d: %s\n", me, tprt_context_error(context));
  tprt_context_destroy(context);
  return errors;
}

/* Runs all kinds of failure: death with processes, the others with threads. */
static void run_failures(rank_fn *fn) {
  tprt_config config = test_config();
  failing f = {.program = make_program(), .how = DIES};
  int status[6];
  if (test_on_shm()) {
    assert_int_equal(run_processes(6, &config, fn, &f, status), 1);
    assert_true(WIFSIGNALED(status[4]));
  }
  for (f.how = 0; f.how < N_WAYS; f.how++) {
    if (f.how != DIES)
      assert_int_equal(run_threads(6, &config, fn, &f), 0);
  }
  table_free(&f.program);
}

static void test_failure(void **state) {
  (void)state;
  run_failures(fail_program);
}

/* Rank 4 fails while all ranks have collectives in flight; the buffers of a returned collective are
 * not accessed any more. */
static int fail_started(tprt_comm *comm, void *argument) {
  const failing *f = argument;
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  CHECK(errors, tprt_abi_enter(context, f->program.words) == TPRT_OK);
  int32_t *m = calloc(24, sizeof *m), *r = calloc(48, sizeof *r), *s = calloc(8, sizeof *s);
  for (int turn = 0; turn < 1000 && !tprt_abi_status(context); turn++) {
    tprt_abi_start(context, AG, m, r);
    tprt_abi_start(context, RS, m, s);
    if (turn == 20 && me == 4) {
      if (f->how == FAILS)
        tprt_abi_fail(context, TPRT_PROGRAM, "x > 0");
      if (f->how == DIES)
        raise(SIGKILL);
      if (f->how == MISUSES)
        tprt_abi_start(context, AG, m, r); /* started twice */
      if (f->how == ABORTS)
        tprt_comm_abort(comm);
    }
    tprt_abi_wait(context, RS, m, s);
    tprt_abi_wait(context, AG, m, r);
  }
  free(m);
  free(r);
  free(s);
  CHECK(errors, tprt_abi_status(context) == (int32_t)outcome_of_failure[f->how]);
  CHECK(errors, strlen(tprt_context_error(context)) > 0);
  /* returns at once */
  CHECK(errors, tprt_abi_start(context, AG, NULL, NULL) == (int32_t)outcome_of_failure[f->how]);
  CHECK(errors, tprt_abi_wait(context, AG, NULL, NULL) == (int32_t)outcome_of_failure[f->how]);
  tprt_context_destroy(context);
  return errors;
}

static void test_failure_started(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    setenv("TPRT_PROGRESS", progress[i], 1);
    run_failures(fail_started);
  }
  unsetenv("TPRT_PROGRESS");
}

/* Rank 4 is missing: started collectives end by their deadline, which counts from the start. */
static int late_started(tprt_comm *comm, void *argument) {
  const failing *f = argument;
  int errors = 0;
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  CHECK(errors, tprt_abi_enter(context, f->program.words) == TPRT_OK);
  int32_t *m = calloc(24, sizeof *m), *sum = calloc(1, sizeof *sum);
  double begin = test_seconds();
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "timeout", "0.3"), TPRT_OK);
  if (tprt_comm_rank(comm) == 4) {
    nanosleep(&(struct timespec){.tv_sec = 1}, NULL);
  } else {
    CHECK(errors, tprt_abi_start(context, WHOLE, m, sum) == TPRT_OK);
    CHECK(errors, tprt_abi_wait(context, WHOLE, m, sum) == TPRT_TIMEOUT);
  }
  free(m);
  free(sum);
  CHECK(errors, test_seconds() < begin + 15);
  tprt_context_destroy(context);
  return errors;
}

static void test_late_started(void **state) {
  (void)state;
  tprt_config config = test_config();
  failing f = {.program = make_program()};
  for (int i = 0; i < 2; i++) {
    setenv("TPRT_PROGRESS", progress[i], 1);
    assert_int_equal(run_threads(6, &config, late_started, &f), 0);
  }
  unsetenv("TPRT_PROGRESS");
  table_free(&f.program);
}

/* Waits without a start or with other buffers; starts of a site that is not a collective. */
static int wrong_wait(tprt_comm *comm, void *argument) {
  failing *f = argument;
  int errors = 0;
  int32_t m[24] = {0}, r[48], other[48];
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  tprt_abi_enter(context, f->program.words);
  if (f->how < 3)
    tprt_abi_start(context, AG, m, r);
  int32_t status = f->how == 0   ? tprt_abi_wait(context, RS, m, r)
                   : f->how == 1 ? tprt_abi_wait(context, AG, other, r)
                   : f->how == 2 ? tprt_abi_wait(context, AG, m, other)
                   : f->how == 3 ? tprt_abi_wait(context, CT, m, r)
                                 : tprt_abi_start(context, CT, m, r);
  CHECK(errors, status == TPRT_INVALID_ARGUMENT);
  const char *text = f->how < 3 ? "not started with these buffers" : "not of kind";
  f->n_told += strstr(tprt_context_error(context), text) != NULL;
  tprt_context_destroy(context);
  return errors;
}

static void test_wrong_waits(void **state) {
  (void)state;
  tprt_config config = test_config();
  failing f = {.program = make_program()};
  for (f.how = 0; f.how < 5; f.how++) {
    f.n_told = 0;
    assert_int_equal(run_threads(6, &config, wrong_wait, &f), 0);
    assert_in_range(f.n_told, 1, 6);
  }
  table_free(&f.program);
}

static int wrong_program(tprt_comm *comm, void *argument) {
  const test_table *programs = argument;
  int errors = 0;
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  CHECK(errors,
        tprt_abi_enter(context, programs[tprt_comm_rank(comm) == 2].words) == TPRT_MISMATCH);
  CHECK(errors, strstr(tprt_context_error(context), "rank 2") &&
                    strstr(tprt_context_error(context), "different programs"));
  tprt_context_destroy(context);
  return errors;
}

static int wrong_mesh(tprt_comm *comm, void *argument) {
  const test_table *program = argument;
  int errors = 0;
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  /* no program is bound */
  CHECK(errors, tprt_abi_collective(context, 0, NULL, NULL) == TPRT_INVALID_ARGUMENT);
  tprt_context_destroy(context);
  (void)program;
  return errors;
}

static void test_schedules(void **state) {
  (void)state;
  tprt_config config = test_config();
  test_table programs[2] = {make_program(), make_program()};
  /* Any difference of one rank's program is detected, if the program is still valid. */
  int n_different = 0;
  for (size_t i = 0; i < programs[1].n_words; i++) {
    int64_t good = programs[1].words[i];
    for (int64_t other = good - 1; other <= good + 1; other += 2) {
      programs[1].words[i] = other;
      if (tprt_abi_check(programs[1].words, programs[1].n_words))
        continue;
      n_different++;
      assert_int_equal(run_threads(6, &config, wrong_program, programs), 0);
    }
    programs[1].words[i] = good;
  }
  print_message("%d programs that differ in a word from that of the other ranks\n", n_different);
  assert_in_range(n_different, 50, 1000);
  assert_int_equal(run_threads(2, &config, wrong_mesh, programs), 0);
  table_free(&programs[0]);
  table_free(&programs[1]);
}

/* ---- Damaged tables ---- */

/* Checks a prefix in exactly n words of memory, so that a sanitizer detects every read beyond
 * it. */
static tprt_status check_prefix(const test_table *program, size_t n, bool admit) {
  int64_t *words = malloc(n * sizeof *words + (n == 0));
  memcpy(words, program->words, n * sizeof *words);
  if (admit && n > 2)
    words[HEADER_WORD(n_words)] = (int64_t)n;
  tprt_status status = tprt_abi_check(words, n);
  free(words);
  return status;
}

static void test_truncation(void **state) {
  (void)state;
  test_table program = make_program();
  for (size_t n = 0; n < program.n_words; n++) {
    assert_int_equal(check_prefix(&program, n, false), TPRT_INVALID_ARGUMENT);
    assert_int_equal(check_prefix(&program, n, true), TPRT_INVALID_ARGUMENT);
  }
  assert_int_equal(tprt_abi_check(NULL, 0), TPRT_INVALID_ARGUMENT);
  table_free(&program);
}

/* A program of another ABI, as an object has it that an older compiler made: refused with both
 * versions, by the checks and by a context. */
static void test_version(void **state) {
  (void)state;
  int64_t one = 1;
  test_table program = table_make(1, &one);
  tprt_comm *world;
  const tprt_config config = {.size = sizeof config, .backend = "self"};
  char text[128];
  snprintf(text, sizeof text, "the program has ABI version 1, this library %d; compile it again",
           TPRT_ABI_VERSION);
  table_header(&program)->version = 1;
  assert_int_equal(tprt_abi_check(program.words, program.n_words), TPRT_MISMATCH);
  assert_string_equal(tprt_last_error(), text);
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
  tprt_context *context;
  assert_int_equal(tprt_context_create(world, NULL, &context), TPRT_OK);
  assert_int_equal(tprt_abi_enter(context, program.words), TPRT_MISMATCH);
  assert_string_equal(tprt_context_error(context), text);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

/* Every word takes values that are wrong in every place; then words take values that may be
 * right. */
static void test_mutation(void **state) {
  (void)state;
  static const int64_t values[] = {-1, INT64_MIN, INT64_MAX};
  test_table program = make_program();
  int n_accepted = 0;
  for (size_t i = 0; i < program.n_words; i++) {
    int64_t good = program.words[i];
    for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
      program.words[i] = values[v];
      n_accepted += tprt_abi_check(program.words, program.n_words) == TPRT_OK;
    }
    program.words[i] = good;
  }
  assert_int_equal(n_accepted, 0);
  uint64_t seed = 7;
  /* changes several words at once to small values: must not crash */
  for (int i = 0; i < 200000; i++) {
    int64_t saved[3];
    size_t at[3];
    for (int k = 0; k < 3; k++) {
      at[k] = test_random(&seed) % program.n_words;
      saved[k] = program.words[at[k]];
      program.words[at[k]] = (int64_t)(test_random(&seed) % 70) - 2;
    }
    (void)!tprt_abi_check(program.words, program.n_words);
    for (int k = 2; k >= 0; k--)
      program.words[at[k]] = saved[k];
  }
  table_free(&program);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_program),      cmocka_unit_test(test_failure),
      cmocka_unit_test(test_schedules),    cmocka_unit_test(test_truncation),
      cmocka_unit_test(test_mutation),     cmocka_unit_test(test_started),
      cmocka_unit_test(test_begun),        cmocka_unit_test(test_failure_started),
      cmocka_unit_test(test_wrong_waits),  cmocka_unit_test(test_trace),
      cmocka_unit_test(test_late_started), cmocka_unit_test(test_version),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
