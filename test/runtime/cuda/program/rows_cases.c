/* Programs of sites that reduce rows, with checks against f64. */
#define _GNU_SOURCE 1
#include "rows_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* the scale makes the largest values exceed the range */
static const float epsilon = 1e-5f, static_scale = 0.005f;

const shape_case shape_cases[] = {
    {TPRT_F32, TPRT_ROWS_WHOLE, ALL, TPRT_CUDA_RMS_NORM, .k = 0},
    {TPRT_F32, TPRT_ROWS_WHOLE, ROWS_RESIDUAL, TPRT_CUDA_NO_NORM, .k = 0},
    {TPRT_BF16, TPRT_ROWS_WHOLE, ALL | ROWS_BETA, TPRT_CUDA_LAYER_NORM, .k = 0},
    {TPRT_F32, TPRT_ROWS_SCATTERED, ALL, TPRT_CUDA_RMS_NORM, .k = 0},
    {TPRT_BF16, TPRT_ROWS_SCATTERED, ROWS_BIAS, TPRT_CUDA_NO_NORM, .k = 0},
    {TPRT_F32, TPRT_ROWS_GATHERED, ALL | ROWS_BETA, TPRT_CUDA_LAYER_NORM, .k = 0},
    {TPRT_F32, TPRT_ROWS_GATHERED, ROWS_GAMMA, TPRT_CUDA_RMS_NORM, .k = 0},
    {TPRT_F32, TPRT_ROWS_GATHERED, 0, TPRT_CUDA_NO_NORM, .k = 0},
    {TPRT_F32, TPRT_ROWS_SCATTERED, ALL, TPRT_CUDA_RMS_NORM, .k = 8, .transposed = 0},
    {TPRT_BF16, TPRT_ROWS_SCATTERED, 0, TPRT_CUDA_NO_NORM, .k = 8, .transposed = 1},
    {TPRT_F32, TPRT_ROWS_GATHERED, ALL | ROWS_BETA, TPRT_CUDA_LAYER_NORM, .k = 4, .transposed = 1},
    {TPRT_BF16, TPRT_ROWS_WHOLE, ROWS_RESIDUAL, TPRT_CUDA_NO_NORM, .k = 8, .transposed = 0},
    {TPRT_F32, TPRT_ROWS_SCATTERED, ROWS_RESIDUAL, TPRT_CUDA_NO_NORM, .k = 3,
     .transposed = 0}, /* of four ranks, slices are not aligned */
    {TPRT_F32, TPRT_ROWS_WHOLE, ALL | ROWS_OUT, TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_PER_TOKEN,
     .divides = 1, .least_largest = 1},
    {TPRT_BF16, TPRT_ROWS_GATHERED, ALL, TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_PER_TOKEN,
     .least_scale = 0.004f},
    {TPRT_F32, TPRT_ROWS_GATHERED, ALL | ROWS_BETA | ROWS_OUT, TPRT_CUDA_LAYER_NORM,
     .quantize = TPRT_CUDA_PER_GROUP},
    {TPRT_BF16, TPRT_ROWS_SCATTERED, ROWS_RESIDUAL | ROWS_OUT, TPRT_CUDA_NO_NORM,
     .quantize = TPRT_CUDA_PER_TOKEN, .divides = 1, .least_scale = 0.004f},
    {TPRT_F32, TPRT_ROWS_WHOLE, ALL, TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_STATIC, .divides = 1,
     .algorithm = TPRT_CUDA_SLICES},
    {TPRT_BF16, TPRT_ROWS_WHOLE, ALL | ROWS_OUT, TPRT_CUDA_RMS_NORM,
     .quantize = TPRT_CUDA_PER_TOKEN, .algorithm = TPRT_CUDA_SLICES},
    {TPRT_F32, TPRT_ROWS_SCATTERED, ALL, TPRT_CUDA_RMS_NORM, .quantize = TPRT_CUDA_PER_GROUP,
     .divides = 1},
    {TPRT_F32, TPRT_ROWS_GATHERED, ALL | ROWS_OUT, TPRT_CUDA_RMS_NORM, .k = 8, .transposed = 1,
     .quantize = TPRT_CUDA_PER_GROUP, .divides = 1, .least_largest = 1},
    {TPRT_BF16, TPRT_ROWS_SCATTERED, ROWS_RESIDUAL | ROWS_OUT, TPRT_CUDA_NO_NORM, .k = 8,
     .transposed = 0, .quantize = TPRT_CUDA_PER_TOKEN, .divides = 1, .least_scale = 0.004f},
    {TPRT_F32, TPRT_ROWS_WHOLE, ALL | ROWS_OUT, TPRT_CUDA_RMS_NORM, .k = 8, .transposed = 0,
     .quantize = TPRT_CUDA_STATIC},
};
const int n_shape_cases = sizeof shape_cases / sizeof *shape_cases;

/* A tensor of a case on a rank. */
typedef enum buffer_kind {
  RESULT_RESIDUAL,
  RESULT_OUT,
  RESULT_QUANTIZED,
  RESULT_SCALE,
  N_RESULTS
} result;
static const tprt_operand output_of[] = {[RESULT_RESIDUAL] = TPRT_OUT_RESIDUAL,
                                         [RESULT_OUT] = TPRT_OUT_TENSOR,
                                         [RESULT_QUANTIZED] = TPRT_OUT_QUANTIZED,
                                         [RESULT_SCALE] = TPRT_OUT_SCALE};

static int64_t bits(float value) {
  uint32_t word;
  memcpy(&word, &value, sizeof word);
  return word;
}

static int64_t hidden_of(const shape_case *c) {
  return c->quantize == TPRT_CUDA_PER_GROUP ? HIDDEN_OF_GROUPS : HIDDEN;
}

static int64_t elements_of(const shape_case *c) { return BLOCKS * ROWS * hidden_of(c); }

static bool has_result(const shape_case *c, result which) {
  const bool has[] = {[RESULT_RESIDUAL] = c->operands & ROWS_RESIDUAL_OUT,
                      [RESULT_OUT] = !c->quantize || c->operands & ROWS_OUT,
                      [RESULT_QUANTIZED] = c->quantize,
                      [RESULT_SCALE] = c->quantize > TPRT_CUDA_STATIC};
  return has[which];
}

tprt_abi_operands operands_of(const shape_case *c) {
  const struct {
    tprt_operand operand;
    bool has;
  } inputs[] = {{TPRT_IN_TENSOR, !c->k},
                {TPRT_IN_A, c->k},
                {TPRT_IN_B, c->k},
                {TPRT_IN_RESIDUAL, c->operands & ROWS_RESIDUAL},
                {TPRT_IN_BIAS, c->operands & ROWS_BIAS},
                {TPRT_IN_GAMMA, c->operands & ROWS_GAMMA},
                {TPRT_IN_BETA, c->operands & ROWS_BETA},
                {TPRT_IN_STATIC_SCALE, c->quantize == TPRT_CUDA_STATIC}};
  tprt_abi_operands made = {0};
  for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++)
    if (inputs[i].has)
      add_input(&made, inputs[i].operand);
  for (int i = 0; i < N_RESULTS; i++)
    if (has_result(c, i))
      add_output(&made, output_of[i]);
  return made;
}

void add_case(test_table *t, const shape_case *c) {
  static const int64_t axis[] = {0};
  const int64_t shape[] = {BLOCKS, ROWS, hidden_of(c)};
  const tprt_abi_fused_reduce extra = {.operands = operands_of(c),
                                       .layout = c->layout,
                                       .norm = c->norm,
                                       .epsilon = c->norm ? bits(epsilon) : 0,
                                       .algorithm = c->k ? TPRT_CUDA_SLICES : c->algorithm,
                                       .k = c->k,
                                       .transpose_b = c->transposed,
                                       .quantize = c->quantize,
                                       .least_max = bits(c->least_largest),
                                       .least_scale = bits(c->least_scale),
                                       .divides = c->divides};
  table_site(t, TPRT_SITE_FUSED_REDUCE, c->dtype, TPRT_SUM, 1, axis, 3, shape, &extra,
             N_WORDS_OF(tprt_abi_fused_reduce))
      ->dim = c->layout != TPRT_ROWS_WHOLE;
}

bool is_possible(const shape_case *c, int64_t n_devices) {
  return c->layout == TPRT_ROWS_WHOLE || ROWS % n_devices == 0;
}

test_table make_program(int64_t n_devices) {
  test_table t = table_make(1, &n_devices);
  for (int i = 0; i < n_shape_cases; i++)
    add_case(&t, &shape_cases[is_possible(&shape_cases[i], n_devices) ? i : 0]);
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

/* ---- Numbers ---- */

/* kinds of values: input, left, right + rank */
enum { INPUT, RESIDUAL = 8, BIAS, GAMMA, BETA, LEFT = 16, RIGHT = 24 };

static float number(int what, int64_t i) {
  return (float)((i * 7 + what * 13 + i / 11) % 17 - 8) / 8;
}

/* Returns a rank's summand. */
static double term(const shape_case *c, int rank, int64_t row, int64_t h) {
  double sum = 0;
  if (!c->k)
    return (double)number(INPUT + rank, row * hidden_of(c) + h);
  for (int64_t k = 0; k < c->k; k++)
    sum += (double)number(LEFT + rank, row * c->k + k) *
           (double)number(RIGHT + rank, c->transposed ? h * c->k + k : k * hidden_of(c) + h);
  return sum;
}

/* Computes a row of the sum with bias and residual, and of the result. */
static void expected_row(const shape_case *c, int n_ranks, int64_t row, double *sum, double *out) {
  int64_t hidden = hidden_of(c);
  double mean = 0, square = 0;
  for (int64_t h = 0; h < (double)hidden; h++) {
    sum[h] = c->operands & ROWS_BIAS ? (double)number(BIAS, h) : 0;
    if (c->operands & ROWS_RESIDUAL)
      sum[h] += (double)number(RESIDUAL, row * hidden_of(c) + h);
    for (int r = 0; r < n_ranks; r++)
      sum[h] += term(c, r, row, h);
    mean += sum[h] / (double)hidden;
  }
  mean = c->norm == TPRT_CUDA_LAYER_NORM ? mean : 0;
  for (int64_t h = 0; h < (double)hidden; h++)
    square += (sum[h] - mean) * (sum[h] - mean) / (double)hidden;
  for (int64_t h = 0; h < (double)hidden; h++) {
    out[h] = c->norm ? (sum[h] - mean) / sqrt(square + (double)epsilon) * (double)number(GAMMA, h)
                     : sum[h];
    out[h] += c->operands & ROWS_BETA ? (double)number(BETA, h) : 0;
  }
}

static float load(tprt_dtype dtype, const void *from, int64_t i) {
  return dtype == TPRT_F32 ? ((const float *)from)[i]
                           : tprt_bf16_to_f32(((const uint16_t *)from)[i]);
}

/* ---- A case ---- */

/* Returns the global index of row `i` of a rank's slice. */
static int64_t row_of_slice(int n_ranks, int rank, int64_t i) {
  int64_t each = ROWS / n_ranks;
  return i / each * ROWS + rank * each + i % each;
}

_Thread_local size_t factor_offset;

static void *upload(tprt_context *context, const shape_case *c, int what, int64_t n, int n_ranks,
                    int rank, size_t offset) {
  float host[MOST];
  uint16_t narrow[MOST];
  int64_t hidden = hidden_of(c);
  void *memory = NULL;
  for (int64_t i = 0; i < n; i++) { /* n_ranks: number of slices; the rows of this rank */
    int64_t at = n_ranks > 1 ? row_of_slice(n_ranks, rank, i / hidden) * hidden + i % hidden : i;
    host[i] = number(what, at);
    narrow[i] = tprt_f32_to_bf16(host[i]);
  }
  size_t bytes = (size_t)n * tprt_dtype_size(c->dtype);
  if (tprt_context_alloc(context, offset + bytes, &memory) == TPRT_OK)
    (void)tprt_context_upload(context, (char *)memory + offset,
                              c->dtype == TPRT_F32 ? (const void *)host : narrow, bytes);
  return memory;
}

static bool is_sliced_result(const shape_case *c, result which) {
  return c->layout == TPRT_ROWS_SCATTERED ||
         (c->layout == TPRT_ROWS_GATHERED && which == RESULT_RESIDUAL);
}

static int64_t group_of(const shape_case *c) {
  return c->quantize == TPRT_CUDA_PER_GROUP ? TPRT_CUDA_GROUP : hidden_of(c);
}

/* Returns the size of a result over all ranks together. */
static int64_t result_bytes(const shape_case *c, result which) {
  int64_t n = elements_of(c);
  return which == RESULT_QUANTIZED ? n
         : which == RESULT_SCALE   ? n / group_of(c) * 4
                                   : n * (int64_t)tprt_dtype_size(c->dtype);
}

typedef union tensor {
  float f32[MOST];
  unsigned char bytes[MOST * sizeof(float)];
} tensor;

static int check(const shape_case *c, int n_ranks, int rank, const tensor *got, result which) {
  bool sliced = is_sliced_result(c, which), is_out = which == RESULT_OUT;
  int64_t n_rows = BLOCKS * ROWS / (sliced ? n_ranks : 1), hidden = hidden_of(c);
  double unit = c->dtype == TPRT_BF16 ? 0x1p-5 : 1e-5;
  for (int64_t i = 0; i < n_rows; i++) {
    double sum[HIDDEN_OF_GROUPS], out[HIDDEN_OF_GROUPS];
    expected_row(c, n_ranks, sliced ? row_of_slice(n_ranks, rank, i) : i, sum, out);
    for (int64_t h = 0; h < hidden; h++) {
      double wanted = is_out ? out[h] : sum[h], x = (double)load(c->dtype, got, i * hidden + h);
      if (fabs(x - wanted) <= unit * (1 + fabs(wanted)))
        continue;
      fprintf(stderr, "wrong: case %d, rank %d of %d, %s[%lld, %lld] is %g, expected %g\n",
              (int)(c - shape_cases), rank, n_ranks, is_out ? "out" : "residual_out", (long long)i,
              (long long)h, x, wanted);
      return 1;
    }
  }
  return 0;
}

/* Returns the byte of y with a scale, bitwise, for known rows. */
static uint8_t quantized(const shape_case *c, float y, float scale) {
  float x = c->divides ? y / scale : y * (1 / scale);
  return tprt_f32_to_f8e4m3(fminf(fmaxf(x, -448), 448));
}

static float scale_of(const shape_case *c, float largest) {
  bool has_least = c->least_largest > 0 || c->least_scale > 0;
  if (c->quantize == TPRT_CUDA_STATIC)
    return static_scale;
  return largest == 0 && !has_least ? 1
                                    : fmaxf(fmaxf(largest, c->least_largest) / 448, c->least_scale);
}

/* Checks a group of elements from `at`. If out is absent, the rows are computed in f64, and the
 * byte may be an adjacent one. */
static int check_group(const shape_case *c, const double *y, bool exact, const uint8_t *bytes,
                       const float *scale) {
  double slack = exact ? 0 : c->dtype == TPRT_BF16 ? 0x1p-5 : 1e-5, largest = 0;
  for (int64_t i = 0; i < group_of(c); i++)
    largest = fmax(largest, fabs(y[i]));
  float wanted = scale_of(c, (float)largest);
  if (scale && fabs((double)*scale - (double)wanted) > slack * (double)wanted)
    return 1;
  for (int64_t i = 0; i < group_of(c); i++) {
    double unit = (double)wanted, near = fmax(fmin(y[i], 448 * unit), -448 * unit);
    double x = (double)tprt_f8e4m3_to_f32(bytes[i]) * unit;
    if (exact ? bytes[i] != quantized(c, (float)y[i], wanted)
              : !(fabs(x - near) <= (0x1p-4 + slack) * fabs(near) + 0x1p-9 * unit))
      return 1;
  }
  return 0;
}

static int check_quantized(const shape_case *c, int n_ranks, int rank, const tensor *results) {
  bool sliced = is_sliced_result(c, RESULT_QUANTIZED), exact = has_result(c, RESULT_OUT);
  int64_t n_rows = BLOCKS * ROWS / (sliced ? n_ranks : 1), hidden = hidden_of(c),
          n_groups = hidden / group_of(c);
  for (int64_t i = 0; i < n_rows; i++) {
    double sum[HIDDEN_OF_GROUPS], out[HIDDEN_OF_GROUPS];
    expected_row(c, n_ranks, sliced ? row_of_slice(n_ranks, rank, i) : i, sum, out);
    for (int64_t h = 0; h < hidden && exact; h++)
      out[h] = (double)load(c->dtype, &results[RESULT_OUT], i * hidden + h);
    for (int64_t g = 0; g < n_groups; g++) {
      const float *scale =
          has_result(c, RESULT_SCALE) ? &results[RESULT_SCALE].f32[i * n_groups + g] : NULL;
      int64_t at = g * group_of(c);
      if (!check_group(c, out + at, exact, results[RESULT_QUANTIZED].bytes + i * hidden + at,
                       scale))
        continue;
      fprintf(stderr,
              "wrong: case %d, rank %d of %d, group %lld of row %lld is quantized wrongly\n",
              (int)(c - shape_cases), rank, n_ranks, (long long)g, (long long)i);
      return 1;
    }
  }
  return 0;
}

/* Downloads the results of a call and checks them. */
static int look(tprt_context *context, const shape_case *c, int n, int rank, void *const *memory,
                uint64_t *digest) {
  tensor results[N_RESULTS];
  int errors = 0;
  for (int k = 0; k < N_RESULTS; k++) {
    if (!has_result(c, k))
      continue;
    errors +=
        tprt_context_download(context, results[k].bytes, memory[k], sizeof *results) != TPRT_OK;
    for (int64_t at = 0; digest && at < result_bytes(c, k) / (is_sliced_result(c, k) ? n : 1); at++)
      *digest = (*digest ^ results[k].bytes[at]) * UINT64_C(0x100000001b3);
    if (k <= RESULT_OUT)
      errors += check(c, n, rank, &results[k], k);
  }
  return errors + (c->quantize ? check_quantized(c, n, rank, results) : 0);
}

static int32_t call(tprt_context *context, int i, void *const *input, void *residual,
                    void *const *row, void *scale, void *const *results) {
  const tprt_abi_operands operands = operands_of(&shape_cases[i]);
  fused_pointers pointers = {{[TPRT_IN_TENSOR] = {input[0]},
                              [TPRT_IN_A] = {(char *)input[1] + (input[1] ? factor_offset : 0)},
                              [TPRT_IN_B] = {input[2]},
                              [TPRT_IN_RESIDUAL] = {residual},
                              [TPRT_IN_BIAS] = {row[0]},
                              [TPRT_IN_GAMMA] = {row[1]},
                              [TPRT_IN_BETA] = {row[2]},
                              [TPRT_IN_STATIC_SCALE] = {scale}}};
  for (int k = 0; k < N_RESULTS; k++)
    pointers.of[output_of[k]][0] = results[k];
  return call_fused(context, i, &operands, &pointers);
}

int run_case(tprt_context *context, tprt_comm *world, int i, uint64_t *digest) {
  const shape_case *c = &shape_cases[i];
  int n = tprt_comm_size(world), rank = tprt_comm_rank(world), errors = 0;
  int n_slices = c->layout == TPRT_ROWS_WHOLE ? 1 : n;
  int64_t size = elements_of(c), hidden = hidden_of(c);
  enum {
    INPUTS = 3,
    RESIDUAL_IN = INPUTS,
    ROW,
    SCALE = ROW + 3,
    RESULT,
    N_MEMORY = RESULT + N_RESULTS
  };
  void *all[N_MEMORY] = {NULL};
  if (!c->k)
    all[0] = upload(context, c, INPUT + rank, size, 1, 0, 0);
  else
    all[1] = upload(context, c, LEFT + rank, BLOCKS * ROWS * c->k, 1, 0, factor_offset);
  if (c->k)
    all[2] = upload(context, c, RIGHT + rank, c->k * hidden, 1, 0, 0);
  if (c->operands & ROWS_RESIDUAL)
    all[RESIDUAL_IN] = upload(context, c, RESIDUAL, size / n_slices, n_slices, rank, 0);
  for (int k = 0; k < 3; k++)
    all[ROW + k] =
        c->operands & ROWS_BIAS << k ? upload(context, c, BIAS + k, hidden, 1, 0, 0) : NULL;
  if (c->quantize == TPRT_CUDA_STATIC)
    errors +=
        tprt_context_alloc(context, sizeof static_scale, &all[SCALE]) != TPRT_OK ||
        tprt_context_upload(context, all[SCALE], &static_scale, sizeof static_scale) != TPRT_OK;
  for (int k = 0; k < N_RESULTS; k++)
    errors += has_result(c, k) &&
              tprt_context_alloc(context, sizeof(tensor), &all[RESULT + k]) != TPRT_OK;
  for (int turn = 0; turn < 2; turn++) {
    errors +=
        call(context, i, all, all[RESIDUAL_IN], all + ROW, all[SCALE], all + RESULT) != TPRT_OK;
    errors += look(context, c, n, rank, all + RESULT, digest);
  }
  for (int k = 0; k < N_MEMORY; k++)
    tprt_context_free(context, all[k]);
  return errors;
}

int check_bytes(tprt_context *context, int n_ranks) {
  int errors = 0;
  for (int i = 0; i < n_shape_cases; i++) {
    const shape_case *c = &shape_cases[i];
    tprt_site_stats stats;
    int64_t wanted = result_bytes(c, RESULT_RESIDUAL) * (c->layout == TPRT_ROWS_WHOLE ? 2 : 1);
    for (int k = RESULT_OUT; k < N_RESULTS && c->layout == TPRT_ROWS_GATHERED; k++)
      wanted += has_result(c, k) ? result_bytes(c, k) : 0;
    errors += tprt_context_site_stats(context, i, &stats) != TPRT_OK;
    errors += stats.calls != 2 || stats.bytes != 2 * (n_ranks - 1) * wanted / n_ranks;
  }
  return errors;
}

bool is_sliced(const shape_case *c, int n_ranks) {
  int64_t n_rows =
      c->layout == TPRT_ROWS_WHOLE ? (BLOCKS * ROWS + n_ranks - 1) / n_ranks : ROWS / n_ranks;
  return n_rows * c->k * (int64_t)tprt_dtype_size(c->dtype) % 16 == 0;
}
