/* Tests the configuration of worlds, children and operations: hints, names, the policy for
 * failures, structs of other versions of the library, and what the flight recorder prints of them.
 * */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_BYTES = 1 << 16 };

static void append(void *user, const char *text, size_t n) {
  char *all = user;
  size_t length = strlen(all);
  if (length + n < TEXT_BYTES)
    memcpy(all + length, text, n);
}

/* Returns true if the flight recorder prints `text`. */
static bool flight_has(tprt_comm *comm, const char *text) {
  char *all = calloc(1, TEXT_BYTES);
  bool found =
      tprt_comm_flight(comm, TPRT_FLIGHT_JSON, append, all) == TPRT_OK && strstr(all, text) != NULL;
  if (!found)
    fprintf(stderr, "the flight recorder does not have %s: %s\n", text, all);
  free(all);
  return found;
}

static tprt_comm_config with_hints(const tprt_hint *hints, size_t n) {
  return (tprt_comm_config){.size = sizeof(tprt_comm_config),
                            .version = TPRT_COMM_CONFIG_VERSION,
                            .hints = hints,
                            .n_hints = n};
}

/* Creates a world of one rank with backend self. */
static tprt_status alone(const tprt_comm_config *of_comm, tprt_comm **comm) {
  tprt_config config = {.size = sizeof config, .backend = "self", .comm = of_comm};
  return tprt_world_create(1, 0, &config, comm);
}

static bool refused(const tprt_comm_config *config, tprt_status status, const char *text) {
  tprt_comm *comm;
  tprt_status got = alone(config, &comm);
  if (got == TPRT_OK)
    tprt_comm_destroy(comm);
  bool right = got == status && strstr(tprt_last_error(), text);
  if (!right)
    fprintf(stderr, "%s: %s\n", tprt_status_name(got), tprt_last_error());
  return right;
}

static bool refused_hint(const char *key, const char *value, tprt_status status, const char *text) {
  const tprt_hint hint = {key, value};
  tprt_comm_config config = with_hints(&hint, 1);
  return refused(&config, status, text);
}

/* ---- What is refused ---- */

static void test_unknown(void **state) {
  (void)state;
  assert_true(refused_hint("timeuot", "5", TPRT_INVALID_ARGUMENT,
                           "there is no hint \"timeuot\"; did you mean timeout?"));
  assert_true(refused_hint("trafic_clas", "5", TPRT_INVALID_ARGUMENT,
                           "there is no hint \"trafic_clas\"; did you mean traffic_class?"));
  assert_true(refused_hint("color", "red", TPRT_INVALID_ARGUMENT,
                           "there is no hint \"color\"; known: timeout, deterministic, nan_check, "
                           "flight, priority, traffic_class, min_ctas, max_ctas, device"));
  assert_true(refused_hint("timeout", "soon", TPRT_INVALID_ARGUMENT,
                           "hint timeout is \"soon\"; it must be a number of seconds"));
  assert_true(refused_hint("priority", "highest", TPRT_INVALID_ARGUMENT,
                           "hint priority is \"highest\"; it must be low, normal or high"));
  assert_true(refused_hint("traffic_class", "256", TPRT_INVALID_ARGUMENT,
                           "hint traffic_class is \"256\"; it must be an integer from 0 to 255"));
  assert_true(refused_hint(NULL, "5", TPRT_INVALID_ARGUMENT, "the key is NULL"));
  assert_true(refused_hint("timeout", NULL, TPRT_INVALID_ARGUMENT, "the value is NULL"));
}

static void test_disobeyed(void **state) {
  (void)state;
  assert_true(refused_hint("priority", "high", TPRT_UNSUPPORTED,
                           "hint priority: backend self cannot obey it; these can: nccl"));
  assert_true(
      refused_hint("traffic_class", "8", TPRT_UNSUPPORTED,
                   "hint traffic_class: backend self cannot obey it; these can: tcp, nccl"));
  assert_true(refused_hint("max_ctas", "8", TPRT_UNSUPPORTED, "these can: nccl"));
  assert_true(refused_hint("device", "0", TPRT_UNSUPPORTED, "these can: nccl"));
  assert_true(refused_hint("independent", "1", TPRT_INVALID_ARGUMENT,
                           "hint independent is one of an operation, in tprt_op.hints"));
  const tprt_hint crossed[] = {{"min_ctas", "8"}, {"max_ctas", "4"}};
  tprt_comm_config config = with_hints(crossed, 2);
  assert_true(refused(&config, TPRT_INVALID_ARGUMENT, "hint min_ctas is 8, but max_ctas is 4"));
  config = with_hints(NULL, 2);
  assert_true(refused(&config, TPRT_INVALID_ARGUMENT, "tprt_comm_config has 2 hints at NULL"));
  config = with_hints(NULL, 0);
  config.stream = &config;
  assert_true(refused(&config, TPRT_UNSUPPORTED, "backend self works on host memory"));
  config = with_hints(NULL, 0);
  config.on_failure = (tprt_failure_policy)3;
  assert_true(refused(&config, TPRT_INVALID_ARGUMENT, "tprt_comm_config.on_failure is 3"));
  config = with_hints(NULL, 0);
  config.name = "a name that is longer than the sixty-three bytes that a name may have at most";
  assert_true(refused(&config, TPRT_INVALID_ARGUMENT, "tprt_comm_config.name has 77 bytes"));
}

/* Every hint is in the table with a type and a meaning, and with backends that obey it. */
static void test_table(void **state) {
  (void)state;
  size_t n = 0;
  for (const char *type, *help; tprt_hint_key(n, &type, &help); n++) {
    char names[128];
    tprt_hint_backends(n, names, sizeof names);
    assert_true(*type && *help && strstr(names, "nccl"));
    assert_true(strcmp(tprt_hint_key(n, NULL, NULL), "priority") != 0 ||
                strcmp(names, "nccl") == 0);
    tprt_hint_backends(n, names, 4); /* truncated to whole bytes */
    assert_true(strlen(names) < 4);
  }
  assert_int_equal(n, 10);
  char names[8] = "x";
  tprt_hint_backends(n, names, sizeof names);
  assert_string_equal(names, "");
}

/* ---- Structs of other versions ---- */

/* The structs before hints were added to them: the new fields behind them are never read. */
static int old_op(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, n = tprt_comm_size(comm);
  int32_t data = 1;
  struct {
    tprt_op op;
    char behind[64];
  } ops[1];
  memset(ops, 0xee, sizeof ops);
  ops[0].op = tprt_op_flat(TPRT_OP_ALL_REDUCE, &data, &data, 1, TPRT_I32, NULL);
  ops[0].op.reduction = TPRT_SUM;
  ops[0].op.size = offsetof(tprt_op, hints);
  memset((char *)&ops[0].op + offsetof(tprt_op, hints), 0xee,
         sizeof(tprt_op) - offsetof(tprt_op, hints));
  CHECK_STATUS(errors, tprt_submit(comm, &ops[0].op, NULL), TPRT_OK);
  CHECK(errors, data == n);
  CHECK_STATUS(errors, tprt_submit_batch(comm, &ops[0].op, 1, NULL), TPRT_OK);
  CHECK(errors, data == n * n);
  return errors;
}

static void test_old_structs(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.size = offsetof(tprt_config, comm);
  config.comm = (const tprt_comm_config *)(uintptr_t)1; /* not part of the old struct */
  assert_int_equal(run_threads(2, &config, old_op, NULL), 0);

  tprt_comm *comm;
  tprt_comm_config old = with_hints((const tprt_hint *)(uintptr_t)1, 1);
  old.name = "old";
  old.stream = &config;
  old.size = offsetof(tprt_comm_config, stream);
  assert_int_equal(alone(&old, &comm), TPRT_OK);
  assert_string_equal(tprt_comm_name(comm), "old");
  tprt_comm_destroy(comm);

  struct {
    tprt_comm_config config;
    uint64_t later;
  } newer = {with_hints(NULL, 0), 0};
  newer.config.size = sizeof newer;
  assert_int_equal(alone(&newer.config, &comm), TPRT_OK);
  tprt_comm_destroy(comm);
  newer.later = 1;
  assert_true(refused(&newer.config, TPRT_UNSUPPORTED, "has a field at byte"));
  newer.later = 0;
  newer.config.version = TPRT_COMM_CONFIG_VERSION + 1;
  assert_true(refused(&newer.config, TPRT_UNSUPPORTED,
                      "tprt_comm_config.version is 2; this library knows 1 to 1"));
  newer.config.version = 0;
  assert_true(refused(&newer.config, TPRT_INVALID_ARGUMENT, "tprt_comm_config.version is 0"));
  newer.config.size = 4;
  assert_true(refused(&newer.config, TPRT_INVALID_ARGUMENT, "tprt_comm_config.size is 4"));
}

/* ---- What is obeyed ---- */

/* The world has timeout 0.05, deterministic 1 and flight 8. Rank 1 lets rank 0 wait. */
static int obeyed(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  float data[4] = {1, 2, 3, 4};
  CHECK(errors, strcmp(tprt_comm_name(comm), "trainer") == 0);
  const tprt_hint longer = {"timeout", "7"};
  tprt_op op = tprt_op_flat(TPRT_OP_ALL_REDUCE, data, data, 4, TPRT_F32, NULL);
  op.reduction = TPRT_SUM;
  op.timeout_ns = 1; /* the hint has precedence */
  op.hints = &longer;
  op.n_hints = 1;
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_OK);
  CHECK(errors,
        flight_has(comm, "\"config\": {\"on_failure\": \"return\", \"hints\": {\"timeout\": "
                         "\"20\", \"deterministic\": \"1\", \"flight\": \"8\"}}"));
  CHECK(errors, flight_has(comm, "\"timeout_ns\": 7000000000, \"deterministic\": true"));

  /* children inherit all but the name, and override */
  tprt_comm *plain, *child;
  const tprt_hint own[] = {{"timeout", "0.05"}, {"deterministic", "0"}};
  tprt_comm_config config = with_hints(own, 2);
  config.name = "pair";
  CHECK_STATUS(errors, tprt_comm_split(comm, 0, 0, &plain), TPRT_OK);
  CHECK(errors, *tprt_comm_name(plain) == 0);
  CHECK_STATUS(errors, tprt_barrier(plain, NULL, NULL), TPRT_OK);
  CHECK(errors, flight_has(plain, "\"deterministic\": \"1\"") && flight_has(plain, "barrier"));
  CHECK_STATUS(errors, tprt_comm_split_with(plain, 0, 0, &config, &child), TPRT_OK);
  CHECK(errors, strcmp(tprt_comm_name(child), "pair") == 0);
  CHECK_STATUS(errors, tprt_barrier(child, NULL, NULL), TPRT_OK);
  CHECK(errors, flight_has(child, "\"hints\": {\"timeout\": \"0.05\", \"deterministic\": \"0\""));
  if (me == 0) {
    int64_t begin = (int64_t)(test_seconds() * 1e3);
    CHECK_STATUS(errors, tprt_barrier(child, NULL, NULL), TPRT_TIMEOUT);
    CHECK(errors, (int64_t)(test_seconds() * 1e3) - begin < 10000);
  }
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  tprt_comm_destroy(child);

  static const int ranks[] = {1, 0};
  CHECK_STATUS(errors, tprt_comm_split_ranks_with(comm, ranks, 2, &config, &child), TPRT_OK);
  CHECK(errors, strcmp(tprt_comm_name(child), "pair") == 0 && tprt_comm_rank(child) == 1 - me);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  tprt_comm_destroy(child);
  const tprt_hint odd = {"priority", "high"};
  config = with_hints(&odd, 1);
  CHECK_STATUS(errors, tprt_comm_split_with(comm, 0, 0, &config, &child), TPRT_UNSUPPORTED);
  CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_OK);
  tprt_comm_destroy(plain);
  return errors;
}

/* Hints that an operation does not have, and those that cannot change. */
static int places(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  tprt_hint hint = {"deterministc", "1"};
  tprt_op op = tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, (tprt_dtype)0, NULL);
  op.hints = &hint;
  op.n_hints = 1;
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "did you mean deterministic?") != NULL);
  hint.key = "color";
  CHECK_STATUS(errors, tprt_submit_batch(comm, &op, 1, NULL), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "; known: timeout, deterministic") != NULL);
  hint.key = "flight";
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_INVALID_ARGUMENT);
  CHECK(errors,
        strstr(tprt_last_error(), "hint flight is set when a communicator is created, in "
                                  "tprt_comm_config.hints, or with tprt_comm_set_hint") != NULL);
  op.hints = NULL;
  CHECK_STATUS(errors, tprt_submit(comm, &op, NULL), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "barrier has 1 hint at NULL") != NULL);
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "priority", "low"), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "hint priority is set when a communicator is created, in "
                                          "tprt_comm_config.hints") != NULL);
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "flight", "4"), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "timeout", "9"), TPRT_OK);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  CHECK(errors, flight_has(comm, "\"hints\": {\"timeout\": \"9\", \"flight\": \"4\"}"));
  CHECK(errors, flight_has(comm, "\"timeout_ns\": 9000000000"));
  return errors;
}

static int with_nan(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  float nan_value;
  memset(&nan_value, 0xff, sizeof nan_value);
  CHECK_STATUS(errors,
               tprt_all_reduce(comm, &nan_value, &nan_value, 1, TPRT_F32, TPRT_SUM, NULL, NULL),
               TPRT_PROGRAM);
  return errors;
}

static void test_obeyed(void **state) {
  (void)state;
  const tprt_hint hints[] = {
      {"timeout", "3"}, {"flight", "8"}, {"deterministic", "1"}, {"timeout", "20"}};
  tprt_comm_config of_comm = with_hints(hints, 4);
  of_comm.name = "trainer";
  tprt_config config = test_config();
  config.comm = &of_comm;
  assert_int_equal(run_threads(2, &config, obeyed, NULL), 0);
  config.comm = NULL;
  assert_int_equal(run_threads(2, &config, places, NULL), 0);
  const tprt_hint check = {"nan_check", "1"};
  of_comm = with_hints(&check, 1);
  config.comm = &of_comm;
  assert_int_equal(run_threads(2, &config, with_nan, NULL), 0);
  tprt_comm *comms[2];
  const tprt_hint device = {"device", "0"};
  of_comm = with_hints(&device, 1);
  assert_int_equal(tprt_world_create_threads(2, &config, comms), TPRT_UNSUPPORTED);
}

/* ---- Policy ---- */

/* Runs a process that fails; returns its wait status. */
static int fail_with(tprt_failure_policy policy, const char *variable) {
  pid_t child = fork();
  if (child == 0) {
    tprt_comm *comm, *part;
    tprt_comm_config config = with_hints(NULL, 0);
    config.on_failure = policy;
    if (variable)
      setenv("TPRT_ON_FAILURE", variable, 1);
    fclose(stderr);
    if (alone(&config, &comm) != TPRT_OK || tprt_comm_split(comm, 0, 0, &part) != TPRT_OK)
      _exit(3);
    tprt_comm_abort(part); /* inherits the policy */
    tprt_comm_destroy(part);
    tprt_comm_destroy(comm);
    _exit(0);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

static void test_policy(void **state) {
  (void)state;
  int status = fail_with(TPRT_FAILURE_ABORT, NULL);
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  status = fail_with(TPRT_FAILURE_INHERIT, "abort");
  assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
  assert_int_equal(fail_with(TPRT_FAILURE_RETURN, "abort"), 0);
  assert_int_equal(fail_with(TPRT_FAILURE_INHERIT, NULL), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_unknown), cmocka_unit_test(test_disobeyed),
      cmocka_unit_test(test_table),   cmocka_unit_test(test_old_structs),
      cmocka_unit_test(test_obeyed),  cmocka_unit_test(test_policy),
  };
  return cmocka_run_group_tests_name("config", tests, NULL, NULL);
}
