/* Tests sites of softmaxes whose columns are sharded, in programs of virtual ranks on the fake
 * driver: every type, target and pick against f64, infinite logits and NaN; invalid tables; failing
 * calls. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/table.h"
#include "tprt/cuda.h"
#include "tprt/tprt.h"

#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum {
  BLOCKS = 2,
  ROWS = 5,
  TOKENS = BLOCKS * ROWS,
  COLUMNS = 24,
  MOST_RANKS = 4,
  N = TOKENS * COLUMNS
};

typedef struct site_case {
  tprt_dtype dtype, target;
  int64_t results, pick, own, finite;
} site_case;

/* Results of a case, as bits. */
enum { RESULT_MAX = 1, RESULT_SUM = 2, RESULT_PICKED = 4, ALL = 7 };
static const tprt_operand output_of[] = {TPRT_OUT_MAX, TPRT_OUT_SUM, TPRT_OUT_PICKED};
static const site_case cases[] = {
    {TPRT_F32, TPRT_I32, ALL, TPRT_CUDA_LESS_LARGEST, 0, 0},
    {TPRT_F32, TPRT_I64, ALL, TPRT_CUDA_LOG_PROBABILITY, 0, 1},
    {TPRT_BF16, TPRT_I32, ALL, TPRT_CUDA_LOGIT, 1, 0},
    {TPRT_F16, 0, RESULT_MAX | RESULT_SUM, 0, 0, 1},
    {TPRT_F32, 0, RESULT_SUM, 0, 0, 0},
    {TPRT_BF16, TPRT_I64, RESULT_PICKED, TPRT_CUDA_LESS_LARGEST, 1, 0},
};
enum { N_CASES = sizeof cases / sizeof *cases };

static tprt_abi_operands operands_of(const site_case *c) {
  tprt_abi_operands made = {0};
  add_input(&made, TPRT_IN_TENSOR);
  if (c->target)
    add_input(&made, TPRT_IN_TARGET);
  for (int k = 0; k < 3; k++)
    if (c->results >> k & 1)
      add_output(&made, output_of[k]);
  return made;
}

static void add_site(test_table *t, const site_case *c, int n_dims, const int64_t *shape) {
  static const int64_t axis[] = {0};
  const tprt_abi_fused_softmax extra = {.operands = operands_of(c),
                                        .target = c->target,
                                        .pick = c->pick,
                                        .own = c->own,
                                        .finite = c->finite};
  table_site(t, TPRT_SITE_FUSED_SOFTMAX, c->dtype, TPRT_NO_REDUCTION, 1, axis, n_dims, shape,
             &extra, N_WORDS_OF(tprt_abi_fused_softmax));
  table_header(t)->target = TPRT_TARGET_CUDA;
}

static void add_case(test_table *t, const site_case *c) {
  static const int64_t shape[] = {BLOCKS, ROWS, COLUMNS};
  add_site(t, c, 3, shape);
}

static test_table make_program(int64_t n_devices) {
  test_table t = table_make(1, &n_devices);
  for (int i = 0; i < N_CASES; i++)
    add_case(&t, &cases[i]);
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

/* ---- Numbers ---- */

/* Row 1 is -inf except for one column, row 2 is all -inf, row 3 has an infinite logit, row 4 a
 * NaN. */
static float logit(int64_t t, int64_t column) {
  if (t == 1 || t == 2)
    return t == 1 && column == 3 ? 1.5f : -INFINITY;
  if (t > 2 && t < 5 && column == 7)
    return t == 3 ? INFINITY : NAN;
  return (float)((t * 13 + column * 7 + column / 11) % 29 - 14) / 4;
}

/* Row 6 has no target; that of row 7 is beyond the last rank. */
static int64_t target_of(int64_t t) {
  return t == 6 ? -1 : t == 7 ? MOST_RANKS * COLUMNS : t * 5 % COLUMNS;
}

static bool close_to(double got, double wanted) {
  return (isnan(got) && isnan(wanted)) || got == wanted ||
         fabs(got - wanted) <= 1e-5 * fmax(1, fabs(wanted));
}

static int check(const site_case *c, int n_ranks, int rank, float results[3][TOKENS]) {
  for (int64_t t = 0; t < TOKENS; t++) {
    double largest = -INFINITY, sum = 0;
    for (int64_t v = 0; v < n_ranks * COLUMNS; v++)
      largest = isnan(logit(t, v)) || isnan(largest) ? NAN : fmax(largest, logit(t, v));
    double shift = c->finite && isinf(largest) ? 0 : largest;
    for (int64_t v = 0; v < n_ranks * COLUMNS; v++)
      sum += exp(logit(t, v) - shift);
    int64_t target = target_of(t);
    bool picks = target >= 0 && target < n_ranks * COLUMNS && (!c->own || target / COLUMNS == rank);
    double picked = picks ? (double)logit(t, target) : 0;
    if (picks && c->pick != TPRT_CUDA_LOGIT)
      picked -= shift;
    if (picks && c->pick == TPRT_CUDA_LOG_PROBABILITY)
      picked -= log(sum);
    const double wanted[] = {largest, sum, picked};
    for (int k = 0; k < 3; k++)
      if (c->results >> k & 1 && !close_to((double)results[k][t], wanted[k])) {
        fprintf(stderr, "wrong: case %d, rank %d of %d, result %d of row %d is %g, expected %g\n",
                (int)(c - cases), rank, n_ranks, k, (int)t, (double)results[k][t], wanted[k]);
        return 1;
      }
  }
  return 0;
}

/* ---- Ranks ---- */

typedef struct player {
  tprt_comm *world;
  const test_table *program;
  int errors;
} player;

static void *upload(tprt_context *context, const void *from, size_t bytes) {
  void *memory = NULL;
  if (tprt_context_alloc(context, bytes, &memory) == TPRT_OK)
    (void)tprt_context_upload(context, memory, from, bytes);
  return memory;
}

static void *upload_logits(tprt_context *context, tprt_dtype dtype, int rank) {
  float wide[N];
  uint16_t narrow[N];
  for (int64_t i = 0; i < N; i++) {
    wide[i] = logit(i / COLUMNS, rank * COLUMNS + i % COLUMNS);
    narrow[i] = dtype == TPRT_F16 ? tprt_f32_to_f16(wide[i]) : tprt_f32_to_bf16(wide[i]);
  }
  return dtype == TPRT_F32 ? upload(context, wide, sizeof wide)
                           : upload(context, narrow, sizeof narrow);
}

static void *upload_targets(tprt_context *context, tprt_dtype dtype) {
  int64_t wide[TOKENS];
  int32_t narrow[TOKENS];
  for (int64_t t = 0; t < TOKENS; t++)
    narrow[t] = (int32_t)(wide[t] = target_of(t));
  return !dtype              ? NULL
         : dtype == TPRT_I64 ? upload(context, wide, sizeof wide)
                             : upload(context, narrow, sizeof narrow);
}

static int run_case(tprt_context *context, tprt_comm *world, int i) {
  const site_case *c = &cases[i];
  int rank = tprt_comm_rank(world), errors = 0;
  void *results[3] = {NULL}, *logits = upload_logits(context, c->dtype, rank),
       *target = upload_targets(context, c->target);
  float host[3][TOKENS] = {{0}};
  for (int k = 0; k < 3; k++)
    if (c->results >> k & 1)
      errors += tprt_context_alloc(context, sizeof host[k], &results[k]) != TPRT_OK;
  const tprt_abi_operands operands = operands_of(c);
  fused_pointers pointers = {{[TPRT_IN_TENSOR] = {logits}, [TPRT_IN_TARGET] = {target}}};
  for (int k = 0; k < 3; k++)
    pointers.of[output_of[k]][0] = results[k];
  for (int turn = 0; turn < 2; turn++) {
    errors += call_fused(context, i, &operands, &pointers) != TPRT_OK;
    for (int k = 0; k < 3 && !errors; k++)
      errors += results[k] &&
                tprt_context_download(context, host[k], results[k], sizeof host[k]) != TPRT_OK;
    errors += errors || check(c, tprt_comm_size(world), rank, host);
  }
  tprt_site_stats stats;
  errors += tprt_context_site_stats(context, i, &stats) != TPRT_OK || stats.calls != 2 ||
            stats.bytes != INT64_C(2) * (tprt_comm_size(world) - 1) * 16 * TOKENS;
  void *all[] = {logits, target, results[0], results[1], results[2]};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    tprt_context_free(context, all[k]);
  return errors;
}

static tprt_context *make_context(tprt_comm *world) {
  tprt_context *context = NULL;
  tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  if (tprt_context_create(world, &config, &context) != TPRT_OK)
    fprintf(stderr, "wrong: %s\n", tprt_last_error());
  return context;
}

static void *play(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  p->errors = !context || tprt_abi_enter(context, p->program->words) != TPRT_OK;
  for (int i = 0; i < N_CASES && !p->errors; i++)
    p->errors += run_case(context, p->world, i);
  if (context && *tprt_context_error(context))
    fprintf(stderr, "wrong: %s\n", tprt_context_error(context));
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

static void play_all(int n_ranks, const char *backend) {
  tprt_comm *worlds[MOST_RANKS];
  player players[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  test_table program = make_program(n_ranks);
  const tprt_config config = {.size = sizeof config, .backend = backend};
  assert_int_equal(tprt_world_create_threads(n_ranks, &config, worlds), TPRT_OK);
  for (int r = 0; r < n_ranks; r++) {
    players[r] = (player){.world = worlds[r], .program = &program};
    assert_int_equal(pthread_create(&threads[r], NULL, play, &players[r]), 0);
  }
  for (int r = 0; r < n_ranks; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < n_ranks; r++) {
    assert_int_equal(players[r].errors, 0);
    tprt_comm_destroy(worlds[r]);
  }
  table_free(&program);
}

static void test_ranks(void **state) {
  static const char *const late[] = {"0", "3"};
  (void)state;
  for (int l = 0; l < 2; l++) { /* streams whose work runs only when it is waited for */
    setenv("FAKE_LATE", late[l], 1);
    play_all(1, "self");
    play_all(2, "loopback");
    play_all(4, "loopback");
    play_all(2, "shm");
  }
  setenv("FAKE_LATE", "0", 1);
}

/* ---- Invalid tables ---- */

static void test_tables(void **state) {
  (void)state;
#define SOFTMAX_WORD(member) EXTRA_WORD(tprt_abi_fused_softmax, member)
  static const struct {
    size_t word;
    int64_t value;
    const char *text;
  } rows[] = {
      {HEADER_WORD(target), TPRT_TARGET_HOST,
       "fused softmax: fused sites are supported in GPU programs only"},
      {SITE_WORD(dtype), TPRT_F64, "fused softmax: reduction none of a tensor of f64 of rank 3"},
      {SITE_WORD(reduction), TPRT_SUM, "fused softmax: reduction sum of a tensor of f32"},
      {SITE_WORD(shape[2]), 23, "fused softmax: 23 elements of f32 are not a multiple of 16 bytes"},
      {SITE_WORD(shape[2]), 0, "fused softmax: 0 elements of f32"},
      {SITE_WORD(shape[1]), INT64_C(1) << 32, "number of rows is 8589934592"},
      {SITE_WORD(shape[1]), INT64_MAX, "there are more than 2^63 rows"},
      {SITE_WORD(dim), 1, "dim is 1"},
      {SITE_WORD(n_extra), 21, "fused softmax: has 21 words of extra data, expected 26"},
      {SOFTMAX_WORD(target), TPRT_F32, "fused softmax: a target of f32; it must be i32 or i64"},
      {SOFTMAX_WORD(target), TPRT_N_DTYPES, "type of the target is"},
      {SOFTMAX_WORD(target), 0, "a target, its type and the picked column must be given together"},
      {SOFTMAX_WORD(operands.outputs[0]), TPRT_OUT_TENSOR, "fused softmax: operands 0x"},
      {SOFTMAX_WORD(operands.inputs[0]), TPRT_IN_RESIDUAL, "fused softmax: operands 0x"},
      {SOFTMAX_WORD(pick), 3, "pick is 3"},
      {SOFTMAX_WORD(own), 2, "own is 2"},
      {SOFTMAX_WORD(finite), -1, "finite is -1"},
  };
  int64_t two = 2;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    test_table t = table_make(1, &two);
    add_case(&t, &cases[0]);
    assert_true(table_refused(&t, rows[i].word, rows[i].value, rows[i].text));
    table_free(&t);
  }
  /* Words of a pick without a picked column, a target by which nothing is picked, no results. */
  static const struct {
    site_case of;
    const char *text;
  } wrong[] = {
      {{TPRT_F32, 0, RESULT_SUM, TPRT_CUDA_LESS_LARGEST, 0, 0},
       "pick is 1; it must be from 0 to 0"},
      {{TPRT_F32, 0, RESULT_SUM, 0, 1, 0}, "own is 1; it must be from 0 to 0"},
      {{TPRT_F32, TPRT_I32, RESULT_SUM, 0, 0, 0},
       "a target, its type and the picked column must be given together"},
      {{TPRT_F32, 0, 0, 0, 0, 0}, "number of outputs is 0"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    static const int64_t shape[] = {4, 8};
    test_table t = table_make(1, &two);
    add_site(&t, &wrong[i].of, 2, shape);
    assert_int_equal(tprt_abi_check(t.words, t.n_words), TPRT_INVALID_ARGUMENT);
    assert_non_null(strstr(tprt_last_error(), wrong[i].text));
    table_free(&t);
  }
}

/* ---- Failing calls ---- */

/* Runs one rank, with a new context per failure. */
static void expect_failure(const char *mode, int site, bool has_picked, tprt_status status,
                           const char *text) {
  tprt_comm *world;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  test_table program = make_program(1);
  float *memory = NULL;
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
  tprt_context *context = make_context(world);
  assert_int_equal(tprt_context_alloc(context, 8 * N * sizeof(float), (void **)&memory), TPRT_OK);
  assert_int_equal(tprt_abi_enter(context, program.words), TPRT_OK);
  setenv("FAKE_CUDA", mode, 1);
  const tprt_abi_operands operands = operands_of(&cases[0]);
  fused_pointers pointers = {{[TPRT_IN_TENSOR] = {memory},
                              [TPRT_IN_TARGET] = {memory + N},
                              [TPRT_OUT_MAX] = {memory + 2 * N},
                              [TPRT_OUT_SUM] = {memory + 3 * N},
                              [TPRT_OUT_PICKED] = {has_picked ? memory + 4 * N : NULL}}};
  int32_t got = call_fused(context, site, &operands, &pointers);
  setenv("FAKE_CUDA", "", 1);
  assert_int_equal(got, status);
  if (!strstr(tprt_context_error(context), text))
    fail_msg("%s: \"%s\" does not say \"%s\"", mode, tprt_context_error(context), text);
  pointers.of[TPRT_OUT_PICKED][0] = memory;
  assert_int_equal(call_fused(context, 0, &operands, &pointers), status);
  tprt_context_free(context, memory);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

static void test_failures(void **state) {
  (void)state;
  expect_failure("", 0, false, TPRT_INVALID_ARGUMENT, "site 0: output 2 of the site is NULL");
  expect_failure("", N_CASES, true, TPRT_INVALID_ARGUMENT,
                 "site 6 of the bound program is not of kind fused site");
  expect_failure("launch", 0, true, TPRT_DEVICE, "tprt_cross_entropy_f32");
}

/* Without rows there are no buffers. */
static void test_no_rows(void **state) {
  (void)state;
  static const int64_t one = 1, shape[] = {0, 8};
  static const site_case none = {TPRT_F32, 0, RESULT_MAX | RESULT_SUM, 0, 0, 0};
  tprt_comm *world;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  test_table t = table_make(1, &one);
  add_site(&t, &none, 2, shape);
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
  tprt_context *context = make_context(world);
  assert_int_equal(tprt_abi_enter(context, t.words), TPRT_OK);
  const tprt_abi_operands operands = operands_of(&none);
  const fused_pointers pointers = {{{NULL}}};
  assert_int_equal(call_fused(context, 0, &operands, &pointers), TPRT_OK);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&t);
}

int main(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks), cmocka_unit_test(test_tables),
                                     cmocka_unit_test(test_failures),
                                     cmocka_unit_test(test_no_rows)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
