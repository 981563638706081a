#define _GNU_SOURCE 1
#include "rows_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const float epsilon = 1e-5f;

const shape_case shape_cases[] = {
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
const int n_shape_cases = sizeof shape_cases / sizeof *shape_cases;

static int64_t bits(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}

void add_case(test_table *t, const shape_case *c) {
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

test_table make_program(int64_t n_devices) {
  test_table t = table_make(1, &n_devices);
  for (int i = 0; i < n_shape_cases; i++)
    add_case(&t, &shape_cases[i]);
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

/* ---- A case ---- */

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
      fprintf(stderr, "wrong: case %d, rank %d of %d, %s[%lld, %lld] is %g, expected %g\n", (int)(c - shape_cases), rank,
              n_ranks, is_out ? "out" : "residual_out", (long long)i, (long long)h, x, wanted);
      return 1;
    }
  }
  return 0;
}

/* Of a rank's out or residual_out. */
static size_t result_bytes(const shape_case *c, int n_ranks, bool is_out) {
  bool sliced = c->layout == TPRT_ROWS_SCATTERED || (c->layout == TPRT_ROWS_GATHERED && !is_out);
  return (size_t)(N / (sliced ? n_ranks : 1)) * tprt_dtype_size(c->dtype);
}

int run_case(tprt_context *context, tprt_comm *world, int i, uint64_t *digest) {
  const shape_case *c = &shape_cases[i];
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
      for (size_t at = 0; digest && at < result_bytes(c, n, k == 1); at++)
        *digest = (*digest ^ (unsigned char)host[at]) * UINT64_C(0x100000001b3);
      errors += check(c, n, rank, host, k == 1);
    }
  }
  void *all[] = {input, left, right, residual, row[0], row[1], row[2], results[0], results[1]};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++)
    tprt_context_free(context, all[k]);
  return errors;
}

tprt_context *make_context(tprt_comm *world) {
  tprt_context *context = NULL;
  tprt_context_config config = {.size = sizeof config, .target = TPRT_TARGET_CUDA};
  if (tprt_context_create(world, &config, &context) != TPRT_OK)
    fprintf(stderr, "wrong: %s\n", tprt_last_error());
  return context;
}

int check_bytes(tprt_context *context, int n_ranks) {
  int errors = 0;
  for (int i = 0; i < n_shape_cases; i++) {
    tprt_site_stats stats;
    int64_t slice = N / n_ranks * (int64_t)tprt_dtype_size(shape_cases[i].dtype);
    errors += tprt_context_site_stats(context, i, &stats) != TPRT_OK;
    errors +=
        stats.calls != 2 || stats.bytes != 2 * (n_ranks - 1) * slice * (shape_cases[i].layout == TPRT_ROWS_SCATTERED ? 1 : 2);
  }
  return errors;
}

bool is_sliced(const shape_case *c, int n_ranks) {
  return ROWS / n_ranks * c->k * (int64_t)tprt_dtype_size(c->dtype) % 16 == 0;
}
