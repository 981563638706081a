/* Sites that reduce rows, given or products, in programs of virtual ranks on a driver that is none: every layout, norm and type against sums in f64; tables
 * that are wrong; calls that fail. */
#define _GNU_SOURCE 1
#include "fake_blaslt.h"
#include "fake_stream.h"

#include "table.h"
#include "tprt/cuda.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
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
  ROWS = 8,
  HIDDEN = 24,
  N = BLOCKS * ROWS * HIDDEN,
  MOST_RANKS = 4,
  MOST_K = 8,
}; /* [2, 8, 24], cut along the second dimension */
static fake_streams_of_thread_fn *streams_of_thread;
static fake_blaslt_begin_fn *blaslt_begin;
static fake_blaslt_look_fn *blaslt_look;
static const float epsilon = 1e-5f;

typedef struct shape_case {
  tprt_dtype dtype;
  int64_t layout, operands, norm;
  int64_t k, transposed; /* rows that are a product; k 0: they are given */
} shape_case;

enum { ALL = TPRT_ROWS_RESIDUAL | TPRT_ROWS_BIAS | TPRT_ROWS_GAMMA | TPRT_ROWS_RESIDUAL_OUT };
static const shape_case cases[] = {
    {TPRT_F32, TPRT_ROWS_WHOLE, ALL, TPRT_CUDA_RMS_NORM, 0, 0},
    {TPRT_F32, TPRT_ROWS_WHOLE, TPRT_ROWS_RESIDUAL, TPRT_CUDA_NO_NORM, 0, 0},
    {TPRT_BF16, TPRT_ROWS_WHOLE, ALL | TPRT_ROWS_BETA, TPRT_CUDA_LAYER_NORM, 0, 0},
    {TPRT_F32, TPRT_ROWS_SCATTERED, ALL, TPRT_CUDA_RMS_NORM, 0, 0},
    {TPRT_BF16, TPRT_ROWS_SCATTERED, TPRT_ROWS_BIAS, TPRT_CUDA_NO_NORM, 0, 0},
    {TPRT_F32, TPRT_ROWS_GATHERED, ALL | TPRT_ROWS_BETA, TPRT_CUDA_LAYER_NORM, 0, 0},
    {TPRT_F32, TPRT_ROWS_GATHERED, TPRT_ROWS_GAMMA, TPRT_CUDA_RMS_NORM, 0, 0},
    {TPRT_F32, TPRT_ROWS_GATHERED, 0, TPRT_CUDA_NO_NORM, 0, 0},
    {TPRT_F32, TPRT_ROWS_SCATTERED, ALL, TPRT_CUDA_RMS_NORM, 8, 0},
    {TPRT_BF16, TPRT_ROWS_SCATTERED, 0, TPRT_CUDA_NO_NORM, 8, 1},
    {TPRT_F32, TPRT_ROWS_GATHERED, ALL | TPRT_ROWS_BETA, TPRT_CUDA_LAYER_NORM, 4, 1},
    {TPRT_BF16, TPRT_ROWS_WHOLE, TPRT_ROWS_RESIDUAL, TPRT_CUDA_NO_NORM, 8, 0},
    {TPRT_F32, TPRT_ROWS_SCATTERED, TPRT_ROWS_RESIDUAL, TPRT_CUDA_NO_NORM, 3, 0}, /* of four ranks, slices are not aligned */
};
enum { N_CASES = sizeof cases / sizeof *cases };

static int64_t bits(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}

static void add_case(test_table *t, const shape_case *c) {
  static const int64_t axis[] = {0}, shape[] = {BLOCKS, ROWS, HIDDEN};
  int64_t extra[TPRT_MULTIPLY_WORDS] = {[TPRT_ROWS_LAYOUT] = c->layout,
                                        [TPRT_ROWS_OPERANDS] = c->operands,
                                        [TPRT_ROWS_NORM] = c->norm,
                                        [TPRT_ROWS_EPSILON] = c->norm ? bits(epsilon) : 0,
                                        [TPRT_ROWS_ALGORITHM] = c->k ? TPRT_CUDA_SLICES : TPRT_CUDA_AUTO,
                                        [TPRT_MULTIPLY_K] = c->k,
                                        [TPRT_MULTIPLY_TRANSPOSED] = c->transposed};
  tprt_site_kind kind = c->k ? TPRT_SITE_MULTIPLY_ROWS : TPRT_SITE_REDUCE_ROWS;
  table_site(t, kind, c->dtype, TPRT_SUM, 1, axis, 3, shape, extra, c->k ? TPRT_MULTIPLY_WORDS : TPRT_ROWS_WORDS)[27] =
      c->layout != TPRT_ROWS_WHOLE;
}

static test_table make_program(int64_t n_devices) {
  test_table t = table_make(1, &n_devices);
  for (int i = 0; i < N_CASES; i++)
    add_case(&t, &cases[i]);
  t.words[16] = TPRT_TARGET_CUDA;
  return t;
}

/* ---- Numbers ---- */

enum { INPUT, RESIDUAL = 8, BIAS, GAMMA, BETA, LEFT = 16, RIGHT = 24 }; /* input, left, right + rank */

static float number(int what, int64_t i) { return (float)((i * 7 + what * 13 + i / 11) % 17 - 8) / 8; }

/* What a rank adds to the sum. */
static double term(const shape_case *c, int rank, int64_t row, int64_t h) {
  double sum = 0;
  if (!c->k)
    return (double)number(INPUT + rank, row * HIDDEN + h);
  for (int64_t k = 0; k < c->k; k++)
    sum += (double)number(LEFT + rank, row * c->k + k) *
           (double)number(RIGHT + rank, c->transposed ? h * c->k + k : k * HIDDEN + h);
  return sum;
}

/* A row of the sum with bias and residual, and of what comes out. */
static void expected_row(const shape_case *c, int n_ranks, int64_t row, double *sum, double *out) {
  double mean = 0, square = 0;
  for (int64_t h = 0; h < HIDDEN; h++) {
    sum[h] = c->operands & TPRT_ROWS_BIAS ? (double)number(BIAS, h) : 0;
    if (c->operands & TPRT_ROWS_RESIDUAL)
      sum[h] += (double)number(RESIDUAL, row * HIDDEN + h);
    for (int r = 0; r < n_ranks; r++)
      sum[h] += term(c, r, row, h);
    mean += sum[h] / HIDDEN;
  }
  mean = c->norm == TPRT_CUDA_LAYER_NORM ? mean : 0;
  for (int64_t h = 0; h < HIDDEN; h++)
    square += (sum[h] - mean) * (sum[h] - mean) / HIDDEN;
  for (int64_t h = 0; h < HIDDEN; h++) {
    out[h] = c->norm ? (sum[h] - mean) / sqrt(square + (double)epsilon) * (double)number(GAMMA, h) : sum[h];
    out[h] += c->operands & TPRT_ROWS_BETA ? (double)number(BETA, h) : 0;
  }
}

static float load(tprt_dtype dtype, const void *from, int64_t i) {
  return dtype == TPRT_F32 ? ((const float *)from)[i] : tprt_bf16_to_f32(((const uint16_t *)from)[i]);
}

/* ---- Ranks ---- */

typedef struct player {
  tprt_comm *world;
  const test_table *program;
  int errors;
  long n_launches; /* of this rank's thread */
} player;

/* The row of the whole that is row `i` of a rank's slice. */
static int64_t row_of_slice(int n_ranks, int rank, int64_t i) {
  int64_t each = ROWS / n_ranks;
  return i / each * ROWS + rank * each + i % each;
}

static void *upload(tprt_context *context, tprt_dtype dtype, int what, int64_t n, int n_ranks, int rank) {
  float host[N];
  uint16_t narrow[N];
  void *memory = NULL;
  for (int64_t i = 0; i < n; i++) { /* n_ranks: of slices, the rows of this rank */
    int64_t at = n_ranks > 1 ? row_of_slice(n_ranks, rank, i / HIDDEN) * HIDDEN + i % HIDDEN : i;
    host[i] = number(what, at);
    narrow[i] = tprt_f32_to_bf16(host[i]);
  }
  size_t bytes = (size_t)n * tprt_dtype_size(dtype);
  if (tprt_context_alloc(context, bytes, &memory) == TPRT_OK)
    (void)tprt_context_upload(context, memory, dtype == TPRT_F32 ? (const void *)host : narrow, bytes);
  return memory;
}

static int check(const shape_case *c, int n_ranks, int rank, const void *got, bool is_out) {
  bool sliced = c->layout == TPRT_ROWS_SCATTERED || (c->layout == TPRT_ROWS_GATHERED && !is_out);
  int64_t n_rows = BLOCKS * ROWS / (sliced ? n_ranks : 1);
  double unit = c->dtype == TPRT_BF16 ? 0x1p-5 : 1e-5;
  for (int64_t i = 0; i < n_rows; i++) {
    double sum[HIDDEN], out[HIDDEN];
    expected_row(c, n_ranks, sliced ? row_of_slice(n_ranks, rank, i) : i, sum, out);
    for (int64_t h = 0; h < HIDDEN; h++) {
      double wanted = is_out ? out[h] : sum[h], x = (double)load(c->dtype, got, i * HIDDEN + h);
      if (fabs(x - wanted) <= unit * (1 + fabs(wanted)))
        continue;
      fprintf(stderr, "wrong: case %d, rank %d of %d, %s[%lld, %lld] is %g, expected %g\n", (int)(c - cases), rank, n_ranks,
              is_out ? "out" : "residual_out", (long long)i, (long long)h, x, wanted);
      return 1;
    }
  }
  return 0;
}

static int run_case(tprt_context *context, tprt_comm *world, int i) {
  const shape_case *c = &cases[i];
  int n = tprt_comm_size(world), rank = tprt_comm_rank(world), errors = 0;
  int n_slices = c->layout == TPRT_ROWS_WHOLE ? 1 : n;
  bool keeps = c->operands & TPRT_ROWS_RESIDUAL_OUT;
  void *input = c->k ? NULL : upload(context, c->dtype, INPUT + rank, N, 1, 0), *results[2] = {NULL};
  void *left = c->k ? upload(context, c->dtype, LEFT + rank, BLOCKS * ROWS * c->k, 1, 0) : NULL;
  void *right = c->k ? upload(context, c->dtype, RIGHT + rank, c->k * HIDDEN, 1, 0) : NULL;
  void *residual = c->operands & TPRT_ROWS_RESIDUAL ? upload(context, c->dtype, RESIDUAL, N / n_slices, n_slices, rank) : NULL;
  void *row[3];
  for (int k = 0; k < 3; k++)
    row[k] = c->operands & TPRT_ROWS_BIAS << k ? upload(context, c->dtype, BIAS + k, HIDDEN, 1, 0) : NULL;
  for (int k = keeps ? 0 : 1; k < 2; k++)
    errors += tprt_context_alloc(context, N * sizeof(float), &results[k]) != TPRT_OK;
  for (int turn = 0; turn < 2; turn++) {
    char host[N * sizeof(float)];
    int32_t got =
        c->k ? tprt_abi_multiply_rows(context, i, left, right, residual, row[0], row[1], row[2], results[0], results[1])
             : tprt_abi_reduce_rows(context, i, input, residual, row[0], row[1], row[2], results[0], results[1]);
    errors += got != TPRT_OK;
    for (int k = keeps ? 0 : 1; k < 2; k++) {
      errors += tprt_context_download(context, host, results[k], sizeof host) != TPRT_OK;
      errors += check(c, n, rank, host, k == 1);
    }
  }
  void *all[] = {input, left, right, residual, row[0], row[1], row[2], results[0], results[1]};
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

/* Bytes of a reduce_scatter of the rows, of which an all_reduce and a gather have twice and once as many. */
static int check_bytes(tprt_context *context, int n_ranks) {
  int errors = 0;
  for (int i = 0; i < N_CASES; i++) {
    tprt_site_stats stats;
    int64_t slice = N / n_ranks * (int64_t)tprt_dtype_size(cases[i].dtype);
    errors += tprt_context_site_stats(context, i, &stats) != TPRT_OK;
    errors += stats.calls != 2 || stats.bytes != 2 * (n_ranks - 1) * slice * (cases[i].layout == TPRT_ROWS_SCATTERED ? 1 : 2);
  }
  return errors;
}

static void *play(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  p->errors = !context || tprt_abi_enter(context, p->program->words) != TPRT_OK;
  streams_of_thread()->n_launches = 0;
  for (int i = 0; i < N_CASES && !p->errors; i++)
    p->errors += run_case(context, p->world, i);
  if (context && *tprt_context_error(context))
    fprintf(stderr, "wrong: %s\n", tprt_context_error(context));
  if (!p->errors)
    p->errors += check_bytes(context, tprt_comm_size(p->world));
  p->n_launches = streams_of_thread()->n_launches;
  (void)tprt_barrier(p->world, NULL, NULL);
  tprt_context_destroy(context);
  return NULL;
}

/* Whether the slices of a product begin where cuBLASLt takes them. */
static bool is_sliced(const shape_case *c, int n_ranks) {
  return ROWS / n_ranks * c->k * (int64_t)tprt_dtype_size(c->dtype) % 16 == 0;
}

/* together: there is one launch a call, for all ranks, and so many products a call as there are slices of all ranks. */
static int play_all(int n_ranks, const char *backend, bool together) {
  tprt_comm *worlds[MOST_RANKS];
  player players[MOST_RANKS];
  pthread_t threads[MOST_RANKS];
  test_table program = make_program(n_ranks);
  const tprt_config config = {.size = sizeof config, .backend = backend};
  const fake_blaslt_plan none = {0};
  int errors = 0;
  long n_launches = 0, n_products = 0;
  blaslt_begin(&none);
  assert_int_equal(tprt_world_create_threads(n_ranks, &config, worlds), TPRT_OK);
  for (int r = 0; r < n_ranks; r++) {
    players[r] = (player){.world = worlds[r], .program = &program};
    assert_int_equal(pthread_create(&threads[r], NULL, play, &players[r]), 0);
  }
  for (int r = 0; r < n_ranks; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < n_ranks; r++) {
    errors += players[r].errors;
    n_launches += players[r].n_launches;
    tprt_comm_destroy(worlds[r]);
  }
  table_free(&program);
  for (int i = 0; i < N_CASES; i++)
    n_products += cases[i].k ? 2 * n_ranks * (together && is_sliced(&cases[i], n_ranks) ? n_ranks : 1) : 0;
  fake_blaslt_report report;
  blaslt_look(&report);
  assert_int_equal(report.n_violations, 0);
  assert_int_equal(report.n_products, n_products);
  assert_true(together ? n_launches == 2 * N_CASES : n_launches >= 2 * N_CASES * n_ranks);
  return errors;
}

static void test_ranks(void **state) {
  static const char *const late[] = {"0", "3"};
  (void)state;
  for (int l = 0; l < 2; l++) { /* streams that do what is waited for, and nothing else */
    setenv("FAKE_LATE", late[l], 1);
    assert_int_equal(play_all(1, "self", true), 0);
    assert_int_equal(play_all(2, "loopback", true), 0);
    assert_int_equal(play_all(4, "loopback", true), 0);
    assert_int_equal(play_all(2, "shm", false), 0);
  }
  setenv("FAKE_LATE", "0", 1);
  /* Ranks of several GPUs have kernels of their own. */
  setenv("FAKE_NO_CONTEXT", "1", 1);
  setenv("FAKE_DEVICES", "2", 1);
  assert_int_equal(play_all(2, "loopback", false), 0);
  assert_int_equal(play_all(4, "loopback", false), 0);
  setenv("FAKE_DEVICES", "1", 1);
  unsetenv("FAKE_NO_CONTEXT");
}

/* A cuBLASLt that has no algorithm: products are computed by kernels of the runtime, before the rows are reduced. */
static void test_no_algorithm(void **state) {
  enum { FIRST = 8 };
  const fake_blaslt_plan plan = {.knows_nothing = true};
  tprt_comm *world;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  test_table program = make_program(1);
  (void)state;
  blaslt_begin(&plan);
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
  tprt_context *context = make_context(world);
  assert_int_equal(tprt_abi_enter(context, program.words), TPRT_OK);
  for (int i = FIRST; i < N_CASES; i++)
    assert_int_equal(run_case(context, world, i), 0);
  fake_blaslt_report report;
  blaslt_look(&report);
  assert_int_equal(report.n_products, 0);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

/* ---- Tables that are wrong ---- */

static void test_tables(void **state) {
  (void)state;
  enum { SITE = TPRT_ABI_HEADER_WORDS, EXTRA = SITE + TPRT_SITE_WORDS };
  static const struct {
    int word;
    int64_t value;
    const char *text;
    int of; /* case; 0: that of a norm */
  } rows[] = {
      {16, TPRT_TARGET_HOST, "rows are reduced in programs for GPUs only", 0},
      {SITE + 1, TPRT_F64, "rows: reduction sum of f64; there are sums of f32, f16 and bf16", 0},
      {SITE + 2, TPRT_MAX, "rows: reduction max of f32", 0},
      {SITE + 12, 0, "shape: word 13 is unused and must be 0", 0},
      {SITE + 15, 23, "rows: 23 elements of f32 are no multiple of 16 bytes", 0},
      {SITE + 15, 0, "rows: 0 elements of f32", 0},
      {SITE + 15, 16388, "rows of 16388 elements; at most 16384", 0},
      {SITE + 27, 2, "rows: dimension 2 of a tensor of rank 3 is scattered", 0},
      {SITE + 31, TPRT_ROWS_WORDS - 1, "rows: 4 words of extra data, not 5", 0},
      {EXTRA + TPRT_ROWS_LAYOUT, 3, "layout of rows is 3; it must be from 0 to 2", 0},
      {EXTRA + TPRT_ROWS_LAYOUT, TPRT_ROWS_WHOLE, "rows: dimension 1 of a tensor of rank 3 is scattered", 0},
      {EXTRA + TPRT_ROWS_OPERANDS, 32, "operands of rows is 32", 0},
      {EXTRA + TPRT_ROWS_OPERANDS, 0, "rows: norm 1 without gamma and without beta", 0},
      {EXTRA + TPRT_ROWS_OPERANDS, ALL | TPRT_ROWS_BETA, "rows: norm 1 with gamma and with beta", 0},
      {EXTRA + TPRT_ROWS_NORM, 3, "norm of rows is 3", 0},
      {EXTRA + TPRT_ROWS_NORM, 0, "epsilon is", 0},
      {EXTRA + TPRT_ROWS_EPSILON, -1, "epsilon is -1", 0},
      {EXTRA + TPRT_ROWS_ALGORITHM, TPRT_CUDA_N_ALGORITHMS, "algorithm of rows is 4", 0},
      {SITE + 31, TPRT_ROWS_WORDS, "rows: 5 words of extra data, not 7", 8},
      {SITE, TPRT_SITE_REDUCE_ROWS, "rows: 7 words of extra data, not 5", 8},
      {EXTRA + TPRT_MULTIPLY_K, 0, "k of a product is 0", 8},
      {EXTRA + TPRT_MULTIPLY_K, INT64_C(1) << 60, "contraction: loop 0 of size 16 has stride", 8},
      {EXTRA + TPRT_MULTIPLY_TRANSPOSED, 2, "transposed factor is 2", 8},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t two = 2;
    test_table t = table_make(1, &two);
    add_case(&t, &cases[rows[i].of ? rows[i].of : 3]);
    t.words[16] = TPRT_TARGET_CUDA;
    assert_int_equal(tprt_abi_check(t.words, t.n_words), TPRT_OK);
    t.words[rows[i].word] = rows[i].value;
    assert_int_equal(tprt_abi_check(t.words, t.n_words), TPRT_INVALID_ARGUMENT);
    if (!strstr(tprt_last_error(), rows[i].text))
      fail_msg("row %zu: \"%s\" does not say \"%s\"", i, tprt_last_error(), rows[i].text);
    table_free(&t);
  }
  /* More rows than there are numbers, of which none has elements. */
  static const int64_t axis[] = {0}, shape[] = {INT64_C(1) << 31, INT64_C(1) << 31, 4, 0, 24}, extra[TPRT_ROWS_WORDS] = {0};
  int64_t two = 2;
  test_table t = table_make(1, &two);
  table_site(&t, TPRT_SITE_REDUCE_ROWS, TPRT_F32, TPRT_SUM, 1, axis, 5, shape, extra, TPRT_ROWS_WORDS);
  t.words[16] = TPRT_TARGET_CUDA;
  assert_int_equal(tprt_abi_check(t.words, t.n_words), TPRT_INVALID_ARGUMENT);
  table_free(&t);
}

/* ---- Calls that fail ---- */

/* One rank, whose context is made anew for each. */
static void expect_failure(const char *mode, int site, bool has_out, tprt_status status, const char *text) {
  tprt_comm *world;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  test_table program = make_program(1);
  assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
  tprt_context *context = make_context(world);
  float *memory = NULL;
  assert_int_equal(tprt_context_alloc(context, 4 * N * sizeof(float), (void **)&memory), TPRT_OK);
  bool at_call = strcmp(mode, "launch") == 0 || !*mode;
  setenv("FAKE_CUDA", at_call ? "" : mode, 1);
  int32_t got = tprt_abi_enter(context, program.words);
  setenv("FAKE_CUDA", mode, 1);
  if (!got)
    got = tprt_abi_reduce_rows(context, site, memory, memory + N, NULL, NULL, NULL, NULL, has_out ? memory + 2 * N : NULL);
  setenv("FAKE_CUDA", "", 1);
  assert_int_equal(got, status);
  if (!strstr(tprt_context_error(context), text))
    fail_msg("%s: \"%s\" does not say \"%s\"", mode, tprt_context_error(context), text);
  assert_int_equal(tprt_abi_reduce_rows(context, 1, memory, memory, NULL, NULL, NULL, NULL, memory), status);
  tprt_context_free(context, memory);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

static void test_failures(void **state) {
  (void)state;
  expect_failure("", 1, false, TPRT_INVALID_ARGUMENT, "site 1: out is (nil), and the site has one");
  expect_failure("", 4, true, TPRT_INVALID_ARGUMENT, "site 4: residual is 0x");
  expect_failure("", N_CASES, true, TPRT_INVALID_ARGUMENT, "site 13 of the bound program is no reduction of rows");
  expect_failure("launch", 1, true, TPRT_DEVICE, "tprt_reduce_rows_f32");
  expect_failure("not cooperative", 1, true, TPRT_UNSUPPORTED, "virtual ranks need cooperative launches");
  expect_failure("full", 1, true, TPRT_UNSUPPORTED, "have to run at the same time");
  expect_failure("attributes", 1, true, TPRT_DEVICE, "attributes of the device");
  expect_failure("load", 1, true, TPRT_DEVICE, "loading the fused kernels");
}

static void *play_other(void *argument) {
  player *p = argument;
  tprt_context *context = make_context(p->world);
  float *memory = NULL;
  int site = tprt_comm_rank(p->world) ? 1 : 7; /* with a residual, and without */
  (void)tprt_context_alloc(context, 3 * N * sizeof(float), (void **)&memory);
  p->errors = tprt_abi_enter(context, p->program->words) != TPRT_OK;
  int32_t got =
      tprt_abi_reduce_rows(context, site, memory, site == 1 ? memory + N : NULL, NULL, NULL, NULL, NULL, memory + 2 * N);
  p->errors +=
      got != TPRT_MISMATCH || !strstr(tprt_context_error(context), "ranks 0 and 1 of the group reduce rows at different sites");
  if (p->errors)
    fprintf(stderr, "wrong: status %d: %s\n", (int)got, tprt_context_error(context));
  tprt_context_free(context, memory);
  tprt_context_destroy(context);
  return NULL;
}

/* Ranks that come with different sites, as after a branch that only one of them took. */
static void test_different_sites(void **state) {
  tprt_comm *worlds[2];
  player players[2];
  pthread_t threads[2];
  test_table program = make_program(2);
  const tprt_config config = {.size = sizeof config, .backend = "loopback"};
  (void)state;
  assert_int_equal(tprt_world_create_threads(2, &config, worlds), TPRT_OK);
  for (int r = 0; r < 2; r++) {
    players[r] = (player){.world = worlds[r], .program = &program};
    assert_int_equal(pthread_create(&threads[r], NULL, play_other, &players[r]), 0);
  }
  for (int r = 0; r < 2; r++)
    pthread_join(threads[r], NULL);
  for (int r = 0; r < 2; r++) {
    assert_int_equal(players[r].errors, 0);
    tprt_comm_destroy(worlds[r]);
  }
  table_free(&program);
}

/* A site of rows is no collective, one of given rows has no factors, and the other way round. */
static void test_other_calls(void **state) {
  static const char *const texts[] = {"site 0 of the bound program is no collective",
                                      "site 0 of the bound program is no reduction of rows of a product",
                                      "site 8 of the bound program is no reduction of rows"};
  tprt_config config = {.size = sizeof config, .backend = "self"};
  test_table program = make_program(1);
  (void)state;
  for (int i = 0; i < 3; i++) {
    tprt_comm *world;
    assert_int_equal(tprt_world_create_threads(1, &config, &world), TPRT_OK);
    tprt_context *context = make_context(world);
    void *any = context;
    assert_int_equal(tprt_abi_enter(context, program.words), TPRT_OK);
    int32_t got = i == 0   ? tprt_abi_collective(context, 0, any, any)
                  : i == 1 ? tprt_abi_multiply_rows(context, 0, any, any, NULL, NULL, NULL, NULL, NULL, any)
                           : tprt_abi_reduce_rows(context, 8, any, NULL, NULL, NULL, NULL, NULL, any);
    assert_int_equal(got, TPRT_INVALID_ARGUMENT);
    assert_non_null(strstr(tprt_context_error(context), texts[i]));
    tprt_context_destroy(context);
    tprt_comm_destroy(world);
  }
  table_free(&program);
}

int main(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
  void *library = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL),
       *found = library ? dlsym(library, "fake_streams_of_thread") : NULL;
  memcpy(&streams_of_thread, &found, sizeof found);
  void *blaslt = dlopen(FAKE_BLASLT, RTLD_NOW | RTLD_LOCAL), *begin = blaslt ? dlsym(blaslt, "fake_blaslt_begin") : NULL,
       *look = blaslt ? dlsym(blaslt, "fake_blaslt_look") : NULL;
  memcpy(&blaslt_begin, &begin, sizeof begin);
  memcpy(&blaslt_look, &look, sizeof look);
  if (!found || !begin || !look)
    return 1;
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranks),           cmocka_unit_test(test_no_algorithm),
                                     cmocka_unit_test(test_tables),          cmocka_unit_test(test_failures),
                                     cmocka_unit_test(test_different_sites), cmocka_unit_test(test_other_calls)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
