/* Tests schedules, cost estimates, hooks, the NaN check, the flight recorder, hints and
 * capabilities. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Schedules ---- */

/* Runs sums, ring permutes and gathers, three times; once with another operation on rank 1. */
static int schedules(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  int32_t value = 0, sum = 0, from_left = 0, all[8];
  tprt_op ops[4] = {tprt_op_flat(TPRT_OP_ALL_REDUCE, &value, &sum, 1, TPRT_I32, NULL),
                    tprt_op_send(&sum, 1, TPRT_I32, (me + 1) % n, 3),
                    tprt_op_recv(&from_left, 1, TPRT_I32, (me + n - 1) % n, 3),
                    tprt_op_flat(TPRT_OP_ALL_GATHER, &from_left, all, 1, TPRT_I32, NULL)};
  ops[0].reduction = TPRT_SUM;
  tprt_schedule *schedule, *other = NULL;
  CHECK_STATUS(errors, tprt_schedule_create(comm, ops, 4, &schedule), TPRT_OK);
  if (errors)
    return errors;
  uint64_t hash = tprt_schedule_hash(schedule), first = hash;
  CHECK_STATUS(errors, tprt_broadcast(comm, &first, &first, 1, TPRT_U64, 0, NULL, NULL), TPRT_OK);
  CHECK(errors, hash == first);
  for (int round = 1; round <= 3; round++) {
    tprt_work *work = NULL;
    value = round;
    CHECK_STATUS(errors, tprt_schedule_run(schedule, round % 2 ? &work : NULL), TPRT_OK);
    if (work)
      CHECK_STATUS(errors, tprt_work_wait(work, 0), TPRT_OK);
    tprt_work_destroy(work);
    for (int i = 0; i < n; i++)
      CHECK(errors, all[i] == round * n);
  }
  tprt_schedule_destroy(schedule);
  if (n == 1)
    return errors;
  ops[3].shape[0] = me == 1 ? 0 : 1;
  CHECK_STATUS(errors, tprt_schedule_create(comm, ops, 4, &other), TPRT_MISMATCH);
  CHECK(errors, strstr(tprt_last_error(),
                       "schedule: rank 1 records different operations than rank 0") != NULL);
  CHECK_STATUS(errors, tprt_comm_status(comm), TPRT_OK);
  return errors;
}

static void test_schedules(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int n = 1; n <= 4; n++)
    assert_int_equal(run_threads(n, &config, schedules, NULL), 0);
}

/* ---- Cost estimates ---- */

static int costs(tprt_comm *comm, void *argument) {
  int errors = 0, n = tprt_comm_size(comm);
  const struct {
    int64_t count;
    const char *algorithm;
  } cases[] = {{100, "one shot"}, {1 << 20, argument}};
  tprt_estimate small = {.size = sizeof small}, large = small, list = small;
  tprt_op ops[2];
  for (int i = 0; i < 2; i++) {
    ops[i] = tprt_op_flat(TPRT_OP_ALL_REDUCE, NULL, NULL, cases[i].count, TPRT_F32, NULL);
    ops[i].reduction = TPRT_SUM;
    CHECK_STATUS(errors, tprt_estimate_ops(comm, &ops[i], 1, i ? &large : &small), TPRT_OK);
    CHECK(errors, strcmp((i ? large : small).algorithm, n == 1 ? "copy" : cases[i].algorithm) == 0);
  }
  CHECK_STATUS(errors, tprt_estimate_ops(comm, ops, 2, &list), TPRT_OK);
  CHECK(errors,
        list.n_steps == small.n_steps + large.n_steps && list.bytes == small.bytes + large.bytes);
  CHECK(errors, large.ns >= small.ns && list.ns >= large.ns && list.ns <= small.ns + large.ns + 1);
  CHECK(errors, list.ns == (list.n_steps * list.alpha_ps + list.bytes / 1024 * list.beta_ps_per_kb +
                            list.bytes % 1024 * list.beta_ps_per_kb / 1024) /
                               1000);
  ops[0] = tprt_op_flat(TPRT_OP_ALL_GATHER_V, NULL, NULL, 10, TPRT_F32, NULL);
  CHECK_STATUS(errors, tprt_estimate_ops(comm, ops, 1, &list), TPRT_OK);
  ops[0].kind = (tprt_op_kind)99;
  CHECK_STATUS(errors, tprt_estimate_ops(comm, ops, 1, &list), TPRT_INVALID_ARGUMENT);
  void *memory;
  CHECK_STATUS(errors, tprt_mem_alloc(comm, 4 << 20, &memory), TPRT_OK);
  ops[0] = ops[1];
  ops[0].send = ops[0].recv = memory;
  CHECK_STATUS(errors, tprt_estimate_ops(comm, ops, 1, &list), TPRT_OK);
  CHECK(errors, n == 1 || strcmp(list.algorithm, "in place") == 0);
  tprt_mem_free(comm, memory);
  CHECK_STATUS(errors, tprt_comm_calibrate(comm), TPRT_OK);
  CHECK_STATUS(errors, tprt_estimate_ops(comm, &ops[1], 1, &list), TPRT_OK);
  int64_t mine[2] = {list.alpha_ps, list.beta_ps_per_kb}, all[16];
  CHECK_STATUS(errors, tprt_all_gather(comm, mine, all, 2, TPRT_I64, NULL, NULL), TPRT_OK);
  for (int i = 0; i < n; i++)
    CHECK(errors, all[2 * i] == mine[0] && all[2 * i + 1] == mine[1] && mine[0] > 0 && mine[1] > 0);
  return errors;
}

static void test_costs(void **state) {
  (void)state;
  NEEDS_SHM();
  tprt_config config = test_config();
  assert_int_equal(run_threads(2, &config, costs, "in place"), 0);
  assert_int_equal(run_threads(4, &config, costs, "in place"), 0);
  assert_int_equal(run_processes(2, &config, costs, "two phases", NULL), 0);
  config.backend = "self";
  assert_int_equal(run_threads(1, &config, costs, NULL), 0);
}

/* ---- Hooks ---- */

typedef struct seen {
  int n_pre, n_post, n_failed, n_wrong;
  uint32_t last;
} seen;

static void on_pre(void *user, tprt_comm *comm, const tprt_op_info *op) {
  seen *s = user;
  (void)comm;
  s->n_pre++;
  s->n_wrong += op->sequence < s->last;
  s->last = op->sequence;
}

static void on_post(void *user, tprt_comm *comm, const tprt_op_info *op, tprt_status status,
                    int64_t ns) {
  seen *s = user;
  (void)comm;
  s->n_post++;
  s->n_wrong += op->sequence != s->last || ns < 0 ||
                (status != TPRT_OK && status != TPRT_TIMEOUT && status != TPRT_ABORTED);
  s->n_wrong += op->kind == TPRT_OP_ALL_REDUCE &&
                (op->bytes != 400 || op->dtype != TPRT_F32 || op->reduction != TPRT_MAX);
  s->n_wrong += op->kind == TPRT_OP_RECV && (op->tag != 6 || op->bytes != 40);
}

static void on_failure(void *user, tprt_comm *comm, tprt_status status, const char *text) {
  (void)comm;
  ((seen *)user)->n_failed +=
      status == TPRT_ABORTED && strstr(text, "aborted the communicator") != NULL;
}

static void on_any(void *user, tprt_comm *comm, const tprt_op_info *op) {
  (void)comm;
  (void)op;
  ++*(int *)user;
}

/* Adjacent independent operations of a kind are one, up to 64 KiB. */
static int coalesced(tprt_comm *comm, void *argument) {
  (void)argument;
  enum { LARGE = 12 * 1024 };
  static const tprt_hint hint = {"independent", "1"};
  static float in[8][LARGE];
  int errors = 0, n_seen = 0;
  float (*out)[LARGE] = calloc(8, sizeof *out);
  tprt_hooks mine = {.size = sizeof mine, .pre = on_any, .user = &n_seen};
  static const struct {
    int counts[8], n_without, n; /* n_without: the first ops without the hint */
  } cases[] = {
      {{1, 2, 3, 4, 5, 6, 7, 8}, 0, 1},
      {{1, 2, 3, 4, 5, 6, 7, 8}, 3, 4},
      {{1, LARGE, 1, 1, LARGE, 1, 1, 1}, 0, 2},
      {{1, 2, 3, 4, 5, 6, 7, 8}, 8, 8},
  };
  CHECK(errors, out != NULL);
  CHECK_STATUS(errors, tprt_comm_set_hooks(comm, &mine), TPRT_OK);
  for (size_t c = 0; c < sizeof cases / sizeof *cases && !errors; c++) {
    tprt_op ops[8];
    for (int i = 0; i < 8; i++) {
      ops[i] = tprt_op_flat(TPRT_OP_ALL_REDUCE, in[i], out[i], cases[c].counts[i], TPRT_F32, NULL);
      ops[i].reduction = TPRT_SUM;
      ops[i].hints = &hint;
      ops[i].n_hints = i >= cases[c].n_without;
    }
    n_seen = 0;
    CHECK_STATUS(errors, tprt_submit_batch(comm, ops, 8, NULL), TPRT_OK);
    CHECK(errors, n_seen == cases[c].n);
  }
  tprt_op chain[2] = {tprt_op_flat(TPRT_OP_ALL_REDUCE, in[0], out[0], 4, TPRT_F32, NULL),
                      tprt_op_flat(TPRT_OP_ALL_REDUCE, out[0] + 3, out[1], 4, TPRT_F32, NULL)};
  for (int i = 0; i < 2; i++) {
    chain[i].reduction = TPRT_SUM;
    chain[i].hints = &hint;
    chain[i].n_hints = 1;
  }
  CHECK_STATUS(errors, tprt_submit_batch(comm, chain, 2, NULL), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "op 1 reads what op 0 writes") != NULL);
  chain[1].send = in[1];
  chain[1].recv = out[0] + 3;
  CHECK_STATUS(errors, tprt_submit_batch(comm, chain, 2, NULL), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(), "op 1 writes what op 0 writes") != NULL);
  free(out);
  return errors;
}

static void test_coalesced(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(3, &config, coalesced, NULL), 0);
}

/* `argument` counts the ranks that have left the last barrier, because an abort may otherwise
 * overtake it. */
static int hooks(tprt_comm *comm, void *argument) {
  _Atomic int *n_out = argument;
  int errors = 0, n = tprt_comm_size(comm), me = tprt_comm_rank(comm);
  float data[100] = {0}, in[10];
  seen s = {0};
  tprt_hooks mine = {
      .size = sizeof mine, .pre = on_pre, .post = on_post, .failed = on_failure, .user = &s};
  CHECK_STATUS(errors, tprt_comm_set_hooks(comm, &mine), TPRT_OK);
  for (int i = 0; i < 3; i++)
    CHECK_STATUS(errors, tprt_all_reduce(comm, data, data, 100, TPRT_F32, TPRT_MAX, NULL, NULL),
                 TPRT_OK);
  tprt_op ops[] = {tprt_op_send(data, 10, TPRT_F32, (me + 1) % n, 6),
                   tprt_op_recv(in, 10, TPRT_F32, (me + n - 1) % n, 6)};
  CHECK_STATUS(errors, tprt_submit_batch(comm, ops, 2, NULL), TPRT_OK);
  CHECK(errors, s.n_pre == 5 && s.n_post == 5 && s.n_failed == 0);
  CHECK_STATUS(errors, tprt_comm_set_hooks(comm, NULL), TPRT_OK);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  CHECK(errors, s.n_pre == 5);
  CHECK_STATUS(errors, tprt_comm_set_hooks(comm, &mine), TPRT_OK);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  atomic_fetch_add(n_out, 1);
  while (me == 0 && atomic_load(n_out) < n)
    usleep(100);
  if (me == 0)
    tprt_comm_abort(comm);
  else
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_ABORTED);
  CHECK(errors, s.n_failed == 1 && s.n_wrong == 0 && s.n_post == s.n_pre);
  mine.size = 3;
  CHECK_STATUS(errors, tprt_comm_set_hooks(comm, &mine), TPRT_INVALID_ARGUMENT);
  return errors;
}

/* ---- NaNs and hints ---- */

static int nans(tprt_comm *comm, void *argument) {
  tprt_dtype t = *(tprt_dtype *)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  double wide[600] = {0};
  unsigned char *bytes = (unsigned char *)wide;
  size_t size = tprt_dtype_size(t), part = t == TPRT_C64 ? 4 : t == TPRT_C128 ? 8 : size;
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "nan_check", "1"), TPRT_OK);
  CHECK_STATUS(errors, tprt_all_reduce(comm, wide, wide, 280, t, TPRT_SUM, NULL, NULL), TPRT_OK);
  if (me == 1) {
    float narrow = NAN;
    double full = (double)NAN;
    if (part == 8)
      memcpy(bytes + 270 * size + size - 8, &full, 8);
    else if (part == 4)
      memcpy(bytes + 270 * size + size - 4, &narrow, 4);
    else
      memset(bytes + 270 * size, 0xff, size); /* a NaN in each of these types */
  }
  CHECK_STATUS(errors, tprt_all_reduce(comm, wide, wide, 280, t, TPRT_SUM, NULL, NULL),
               TPRT_PROGRAM);
  CHECK(errors,
        strstr(tprt_last_error(), me == 1 ? "nan_check: element 270 of the tensor of rank 1 is NaN"
                                          : "rank 1") != NULL);
  return errors;
}

static int hints(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0;
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "color", "1"), TPRT_INVALID_ARGUMENT);
  CHECK(errors,
        strstr(tprt_last_error(),
               "there is no hint \"color\"; known: timeout, deterministic, nan_check, flight") !=
            NULL);
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "timeout", "soon"), TPRT_INVALID_ARGUMENT);
  CHECK(errors, strstr(tprt_last_error(),
                       "hint timeout is \"soon\"; it must be a number of seconds") != NULL);
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "flight", "99999999"), TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "timeout", "0.03"), TPRT_OK);
  if (tprt_comm_rank(comm) == 0)
    CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_TIMEOUT);
  return errors;
}

static void test_observers(void **state) {
  (void)state;
  tprt_config config = test_config();
  for (int n = 2; n <= 3; n++) {
    _Atomic int n_out = 0;
    assert_int_equal(run_threads(n, &config, hooks, &n_out), 0);
  }
  static const tprt_dtype types[] = {TPRT_F32, TPRT_F64,  TPRT_F16,    TPRT_BF16,
                                     TPRT_C64, TPRT_C128, TPRT_F8E4M3, TPRT_F8E5M2};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    tprt_dtype type = types[i];
    assert_int_equal(run_threads(2, &config, nans, &type), 0);
  }
  assert_int_equal(run_threads(2, &config, hints, NULL), 0);
}

/* ---- Flight recorder ---- */

static void append(void *user, const char *text, size_t n) {
  char *all = user;
  size_t length = strlen(all);
  if (length + n < 16384)
    memcpy(all + length, text, n + 1 < 16384 - length ? n : 0);
}

/* Returns true if brackets and quotes are balanced as in JSON. */
static bool looks_like_json(const char *text) {
  int depth = 0;
  bool quoted = false;
  for (; *text; text++) {
    quoted ^= *text == '"';
    depth += quoted ? 0 : (*text == '{' || *text == '[') - (*text == '}' || *text == ']');
    if (depth < 0)
      return false;
  }
  return depth == 0 && !quoted;
}

static int flight(tprt_comm *comm, void *argument) {
  (void)argument;
  int errors = 0, me = tprt_comm_rank(comm);
  float data[10] = {0};
  char *text = calloc(1, 16385);
  tprt_comm *child;
  static const int ranks[] = {0, 1};
  /* set by the environment */
  CHECK_STATUS(errors, tprt_comm_flight(comm, TPRT_FLIGHT_JSON, append, text), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_flight(comm, (tprt_flight_format)7, append, text),
               TPRT_INVALID_ARGUMENT);
  CHECK_STATUS(errors, tprt_comm_named(comm, "a \"b\"\\", ranks, 2, &child), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_set_hint(child, "flight", "3"), TPRT_OK);
  for (int i = 0; i < 5; i++)
    CHECK_STATUS(errors, tprt_all_reduce(child, data, data, 10, TPRT_F32, TPRT_SUM, NULL, NULL),
                 TPRT_OK);
  tprt_op op = tprt_op_flat(TPRT_OP_BARRIER, NULL, NULL, 0, (tprt_dtype)0, NULL);
  op.timeout_ns = 30000000;
  if (me == 0)
    CHECK_STATUS(errors, tprt_submit(child, &op, NULL), TPRT_TIMEOUT);
  CHECK_STATUS(errors, tprt_barrier(comm, NULL, NULL), TPRT_OK);
  memset(text, 0, 16385);
  CHECK_STATUS(errors, tprt_comm_flight(child, TPRT_FLIGHT_JSON, append, text), TPRT_OK);
  CHECK(errors,
        looks_like_json(text) && strstr(text, "\"comm\": \"a \\u0022b\\u0022\\u005c\"") != NULL);
  CHECK(errors, strstr(text, "\"sequence\": 3") == NULL || me == 1); /* keeps three operations */
  CHECK(
      errors,
      strstr(
          text,
          "\"kind\": \"all_reduce\", \"sequence\": 5, \"dtype\": \"f32\", \"reduction\": \"sum\", "
          "\"bytes\": 40, \"timeout_ns\": 20000000000, \"status\": \"ok\"") != NULL);
  if (me == 0)
    CHECK(errors, strstr(text, "\"error\": \"rank 1 did not arrive in time") &&
                      strstr(text, "\"status\": \"timeout\", \"begin_ns\""));
  memset(text, 0, 16385);
  CHECK_STATUS(errors, tprt_comm_flight(child, TPRT_FLIGHT_TRACE, append, text), TPRT_OK);
  CHECK(errors, looks_like_json(text) && strstr(text, "\"ph\": \"X\", \"name\": \"all_reduce\"") &&
                    strstr(text, "\"dur\": "));
  CHECK_STATUS(errors, tprt_comm_set_hint(comm, "flight", "0"), TPRT_OK);
  CHECK_STATUS(errors, tprt_comm_flight(comm, TPRT_FLIGHT_JSON, append, text), TPRT_INVALID_STATE);
  CHECK(errors, strstr(tprt_last_error(), "TPRT_FLIGHT") != NULL);
  free(text);
  return errors;
}

static void test_flight(void **state) {
  (void)state;
  tprt_config config = test_config();
  setenv("TPRT_FLIGHT", "8", 1);
  assert_int_equal(run_threads(2, &config, flight, NULL), 0);
  setenv("TPRT_FLIGHT", "many", 1);
  tprt_comm *comm;
  config.backend = "self";
  assert_int_equal(tprt_world_create(1, 0, &config, &comm), TPRT_INVALID_ARGUMENT);
  unsetenv("TPRT_FLIGHT");
}

/* A backend gives a reason for each capability that it lacks. */
static void test_capabilities(void **state) {
  (void)state;
  size_t n = 0;
  while (tprt_backend_name(n)) {
    const char *summary = NULL;
    uint32_t has = tprt_backend_capabilities(n, &summary);
    assert_true(has && summary && *summary);
    int bit = 0;
    for (; tprt_capability_name(bit, NULL); bit++) {
      const char *why = tprt_backend_lack(n, bit);
      if ((has >> bit & 1) != (why == NULL))
        fail_msg("backend %s, %s: %s", tprt_backend_name(n), tprt_capability_name(bit, NULL),
                 why ? why : "no reason");
    }
    assert_null(tprt_backend_lack(n, -1));
    assert_null(tprt_backend_lack(n, bit));
    tprt_status here = tprt_backend_probe(n);
    assert_true(here == TPRT_OK || (here == TPRT_UNSUPPORTED && *tprt_last_error()));
    n++;
  }
  assert_true(n >= 6);
  assert_int_equal(tprt_backend_probe(0), TPRT_OK);
  assert_int_equal(tprt_backend_probe(n), TPRT_INVALID_ARGUMENT);
  assert_null(tprt_backend_lack(n, 0));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_capabilities), cmocka_unit_test(test_schedules),
      cmocka_unit_test(test_costs),        cmocka_unit_test(test_observers),
      cmocka_unit_test(test_flight),       cmocka_unit_test(test_coalesced),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
