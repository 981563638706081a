/* Tests handles of work: elapsed time, callbacks, streams, and the hooks and the flight recorder of
 * operations that begin and end. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LATE_MS = 60 };

typedef struct ended {
  _Atomic int n, status;
  char text[256];
} ended;

static void on_end(void *user, tprt_status status) {
  ended *at = user;
  snprintf(at->text, sizeof at->text, "%s", status ? tprt_last_error() : "");
  atomic_store(&at->status, (int)status);
  atomic_fetch_add(&at->n, 1);
}

/* Rank 1 comes late, so the operation of rank 0 takes as long. */
static int elapsed(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  tprt_work *work, *next;
  ended first = {0}, second = {0};
  if (me == 1)
    usleep(LATE_MS * 1000);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, &work), TPRT_OK);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, &next), TPRT_OK);
  if (me == 0)
    CHECK(errors, tprt_work_elapsed(next) == 0); /* it begins after the first one */
  CHECK_STATUS(errors, tprt_work_on_end(work, on_end, &first), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_on_end(work, on_end, &first), TPRT_INVALID_STATE);
  CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
  int64_t ns = tprt_work_elapsed(work);
  CHECK(errors, ns > 0 && (me == 1 || ns > LATE_MS * 500000));
  usleep(1000);
  CHECK(errors, tprt_work_elapsed(work) == ns);                      /* does not count on */
  CHECK_STATUS(errors, tprt_work_wait_stream(work, &work), TPRT_OK); /* nothing to wait for */
  CHECK_STATUS(errors, tprt_work_wait(next, 0), TPRT_OK);
  CHECK(errors, atomic_load(&first.n) == 1 && atomic_load(&first.status) == TPRT_OK);
  CHECK_STATUS(errors, tprt_work_on_end(next, on_end, &second), TPRT_OK); /* at once */
  CHECK(errors, atomic_load(&second.n) == 1);
  tprt_work_destroy(work);
  tprt_work_destroy(next);
  return errors;
}

/* Callbacks get failures with their text, also if the handle is gone. */
static int failing(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  tprt_work *work;
  ended first = {0}, second = {0};
  tprt_op op = tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, (tprt_dtype)0, NULL);
  op.timeout_ns = LATE_MS * 1000000;
  if (tprt_comm_rank(comm) == 1)
    return 0;
  CHECK_STATUS(errors, tprt_submit(comm, &op, &work), TPRT_OK);
  CHECK_STATUS(errors, tprt_work_wait_stream(work, &work), TPRT_UNSUPPORTED);
  CHECK(errors, strstr(tprt_last_error(), "takes no stream") != NULL);
  CHECK_STATUS(errors, tprt_work_on_end(work, on_end, &first), TPRT_OK);
  tprt_work_destroy(work);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, &work), TPRT_OK);
  CHECK(errors, tprt_work_wait(work, 0) != TPRT_OK);
  CHECK_STATUS(errors, tprt_work_on_end(work, on_end, &second), TPRT_OK);
  tprt_work_destroy(work);
  CHECK(errors, atomic_load(&first.n) == 1 && atomic_load(&first.status) != TPRT_OK);
  CHECK(errors, strstr(first.text, "rank 1") != NULL && strstr(second.text, "rank 1") != NULL);
  return errors;
}

static void test_works(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(2, &config, elapsed, NULL), 0);
  assert_int_equal(run_threads(2, &config, failing, NULL), 0);
}

/* ---- Hooks ---- */

typedef struct seen {
  int n_pre, n_post, n_start, n_end, n_abort, n_failed, n_replay, n_wrong, aborted_by;
  uint64_t hash, run;
} seen;

static void on_pre(void *user, tprt_comm *comm, const tprt_op_info *op) {
  seen *s = user;
  (void)comm;
  (void)op;
  s->n_pre++;
}

static void on_start(void *user, tprt_comm *comm, const tprt_op_info *op) {
  seen *s = user;
  (void)comm;
  (void)op;
  s->n_wrong += s->n_pre <= s->n_start; /* after its `pre` */
  s->n_start++;
}

static void on_finish(void *user, tprt_comm *comm, const tprt_op_info *op, tprt_status status,
                      int64_t ns) {
  seen *s = user;
  (void)comm;
  s->n_end++;
  s->n_wrong += s->n_end > s->n_start || ns < 0 || !tprt_op_kind_name(op->kind);
  s->n_wrong += status != TPRT_OK && status != TPRT_ABORTED;
}

static void on_abort(void *user, tprt_comm *comm, int rank) {
  seen *s = user;
  (void)comm;
  s->n_wrong += s->n_failed != 0;
  s->n_abort++;
  s->aborted_by = rank;
}

static void on_failed(void *user, tprt_comm *comm, tprt_status status, const char *text) {
  (void)comm;
  (void)text;
  ((seen *)user)->n_failed += status == TPRT_ABORTED;
}

static void on_replay(void *user, tprt_comm *comm, uint64_t hash, uint64_t run) {
  seen *s = user;
  (void)comm;
  s->n_replay++;
  s->hash = hash;
  s->run = run;
}

static int hooks(tprt_comm *comm, void *argument) {
  _Atomic int *n_out = argument;
  int errors = 0, me = tprt_comm_rank(comm), n = tprt_comm_size(comm);
  int32_t data = 1;
  float nan_value;
  seen s = {.aborted_by = -1};
  const tprt_hooks mine = {.size = sizeof mine,
                           .pre = on_pre,
                           .start = on_start,
                           .end = on_finish,
                           .abort = on_abort,
                           .failed = on_failed,
                           .replay = on_replay,
                           .user = &s};
  tprt_op ops[] = {tprt_op_flat(TPRT_OP_ALL_REDUCE, &data, &data, 1, TPRT_I32, NULL),
                   tprt_op_send(&data, 1, TPRT_I32, (me + 1) % n, 0),
                   tprt_op_recv(&data, 1, TPRT_I32, (me + n - 1) % n, 0)};
  ops[0].reduction = TPRT_MAX;
  tprt_schedule *schedule;
  CHECK_STATUS(errors, tprt_schedule_create(comm, ops, 3, &schedule), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_set_hooks(comm, &mine), TPRT_OK);
  for (uint64_t run = 1; run <= 3; run++) {
    CHECK_STATUS(errors, tprt_schedule_run(schedule, NULL), TPRT_OK);
    CHECK(errors, s.run == run && s.hash == tprt_schedule_hash(schedule));
  }
  CHECK(errors, s.n_pre == 9 && s.n_start == 9 && s.n_end == 9 && s.n_replay == 3);
  tprt_schedule_destroy(schedule);
  /* an operation that a check stops has not started */
  tprt_comm *child;
  CHECK_STATUS(errors, tprt_comm_split(comm, me, 0, &child), TPRT_OK);
  seen own = {0};
  tprt_hooks of_child = mine;
  of_child.user = &own;
  memset(&nan_value, 0xff, sizeof nan_value);
  CHECK_STATUS(errors, tprt_comm_set_hooks(child, &of_child), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_set_hint(child, "nan_check", "1"), TPRT_OK);
  CHECK_STATUS(errors,
               tprt_all_reduce(child, &nan_value, &nan_value, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_PROGRAM);
  CHECK(errors, own.n_pre == 1 && own.n_start == 0 && own.n_end == 0 && own.n_abort == 0);
  tprt_comm_destroy(child);
  /* rank 0 aborts when all have left the barrier */
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  atomic_fetch_add(n_out, 1);
  while (me == 0 && atomic_load(n_out) < n)
    usleep(100);
  if (me == 0)
    tprt_comm_abort(comm);
  else
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_ABORTED);
  CHECK(errors, s.n_abort == 1 && s.n_failed == 1 && s.aborted_by == 0);
  CHECK(errors, s.n_wrong == 0 && s.n_start == s.n_end);
  return errors;
}

static void test_hooks(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int n = 2; n <= 3; n++) {
    _Atomic int n_out = 0;
    assert_int_equal(run_threads(n, &config, hooks, &n_out), 0);
  }
  /* the struct without the later members */
  tprt_hooks old = {.size = offsetof(tprt_hooks, start), .start = on_start};
  tprt_comm *comm;
  config.backend = "self";
  assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_OK);
  assert_int_equal(tprt_comm_set_hooks(comm, &old), TPRT_OK);
  assert_int_equal(tprt_barrier(comm, NULL, NULL), TPRT_OK); /* does not call on_start(NULL) */
  tprt_comm_destroy(comm);
}

/* ---- Files of the flight recorder ---- */

static char *read_file(const char *directory, const char *name) {
  char path[512], *text = calloc(1, 1 << 16);
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "r");
  if (file) {
    text[fread(text, 1, (1 << 16) - 1, file)] = 0;
    fclose(file);
  }
  return text;
}

/* Rank 1 does not come to the second barrier. */
static int missing(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  tprt_op op = tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, (tprt_dtype)0, NULL);
  op.timeout_ns = LATE_MS * 1000000;
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  if (tprt_comm_rank(comm) == 1)
    return errors;
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_TIMEOUT);
  CHECK(errors, strstr(tprt_last_error(), "rank 1 did not arrive in time") != NULL);
  return errors;
}

/* A world that ends well writes no file. */
static int well(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_finalize(comm), TPRT_OK);
  return errors;
}

/* The directory for the recorder, `argument`, is removed before the failure. */
static int missing_without_directory(tprt_comm *comm, void *argument) {
  if (tprt_comm_rank(comm) == 0)
    rmdir(argument);
  return missing(comm, NULL);
}

static void count_log(void *user, const char *text) {
  *(int *)user += strstr(text, "the flight recorder cannot be written to /tmp/tprt-") != NULL;
}

static void test_files(void **state) {
  (void)state;
  char directory[] = "/tmp/tprt-flight-XXXXXX", name[64], command[128];
  assert_non_null(mkdtemp(directory));
  tprt_comm_config of_comm = {.size = sizeof of_comm,
                              .version = TPRT_COMM_CONFIG_VERSION,
                              .name = "step",
                              .flight_dir = directory};
  tprt_config config = test_config();
  config.comm = &of_comm;
  assert_int_equal(run_threads(2, &config, well, NULL), 0);
  assert_int_equal(rmdir(directory), 0); /* it is empty */
  assert_int_equal(mkdir(directory, 0700), 0);

  tprt_comm *probe; /* tells how many communicators there were */
  tprt_config alone = {.size = sizeof alone, .backend = "self"};
  setenv("TPRT_FLIGHT_DIR", directory, 1);
  assert_int_equal(tprt_world_create(1, 0, &alone, &probe), TPRT_OK);
  unsetenv("TPRT_FLIGHT_DIR");
  assert_int_equal(tprt_barrier(probe, NULL, NULL), TPRT_OK);
  tprt_comm_abort(probe);
  tprt_comm_destroy(probe);
  int n = 0;
  char *text = NULL;
  for (; n < 64; n++) {
    free(text);
    snprintf(name, sizeof name, "rank-0-comm-%d.json", n);
    text = read_file(directory, name);
    if (*text)
      break;
  }
  assert_non_null(strstr(text, "\"status\": \"aborted\""));
  assert_non_null(strstr(text, "\"kind\": \"barrier\""));
  free(text);

  assert_int_equal(run_threads(2, &config, missing, NULL), 0);
  snprintf(name, sizeof name, "rank-0-comm-%d.json", n + 1);
  text = read_file(directory, name);
  assert_non_null(strstr(text, "\"comm\": \"step\""));
  assert_non_null(strstr(text, "\"ranks\": [0, 1]"));
  assert_non_null(strstr(text, "\"status\": \"timeout\", \"begin_ns\""));
  assert_non_null(strstr(text, "\"error\": \"rank 1 did not arrive in time"));
  free(text);
  snprintf(command, sizeof command, "rm -r %s", directory);
  assert_int_equal(system(command), 0);

  int n_logged = 0;
  const tprt_logger logger = {count_log, &n_logged};
  tprt_set_logger(&logger);
  assert_int_equal(mkdir(directory, 0700), 0);
  /* the status is unchanged */
  assert_int_equal(run_threads(2, &config, missing_without_directory, directory), 0);
  tprt_set_logger(NULL);
  assert_int_equal(n_logged, 1);
  of_comm.flight_dir = "/nowhere";
  alone.comm = &of_comm;
  assert_int_equal(tprt_world_create(1, 0, &alone, &probe), TPRT_INVALID_ARGUMENT);
  assert_string_equal(tprt_last_error(),
                      "tprt_comm_config.flight_dir is \"/nowhere\", into which nothing can be "
                      "written: No such file or directory");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_works), cmocka_unit_test(test_hooks),
                                     cmocka_unit_test(test_files)};
  return cmocka_run_group_tests_name("work", tests, NULL, NULL);
}
