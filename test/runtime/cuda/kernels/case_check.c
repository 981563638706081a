/* The oracles of the cases. Sums must be bitwise equal. Results with a norm, an exponential or a
 * division are compared with sums in f64, within the rounding of the result and of a few f32
 * operations. */
#include "cases.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong(const fused_case *c, int n, int rank, const char *what, int64_t i, double got,
                 double expected) {
  char text[160];
  fprintf(stderr, "wrong: %s, %d ranks: %s[%lld] of rank %d is %.9g, expected %.9g\n",
          case_name(c, text), n, what, (long long)i, rank, got, expected);
  return 1;
}

static float load(tprt_dtype dtype, const unsigned char *from, int64_t i) {
  float x;
  uint16_t half;
  if (dtype == TPRT_F32) {
    memcpy(&x, from + 4 * i, 4);
    return x;
  }
  memcpy(&half, from + 2 * i, 2);
  return dtype == TPRT_BF16 ? tprt_bf16_to_f32(half) : tprt_f16_to_f32(half);
}

/* ---- Rows ---- */

static float expected_sum(const fused_case *c, int n, uint64_t turn, int64_t i) {
  float sum = case_input(c, turn, 0, BUFFER_INPUT, i);
  for (int r = 1; r < n; r++)
    sum += case_input(c, turn, r, BUFFER_INPUT, i);
  if (c->match_unfused)
    sum = case_rounded(c->dtype, sum);
  if (c->bias) {
    sum += case_constant(c, CONSTANT_BIAS, i % c->hidden);
    if (c->match_unfused)
      sum = case_rounded(c->dtype, sum);
  }
  if (c->residual)
    sum += case_input(c, turn, 0, BUFFER_RESIDUAL, i);
  return case_rounded(c->dtype, sum);
}

static void expected_norm(const fused_case *c, const float *sum, double *y) {
  double mean = 0, variance = 0;
  for (int64_t i = 0; i < c->hidden; i++)
    mean += sum[i];
  mean = c->norm == TPRT_CUDA_LAYER_NORM ? mean / (double)c->hidden : 0;
  for (int64_t i = 0; i < c->hidden; i++)
    variance += (sum[i] - mean) * (sum[i] - mean);
  double factor = 1 / sqrt(variance / (double)c->hidden + (double)1e-5f);
  for (int64_t i = 0; i < c->hidden; i++) {
    y[i] = (sum[i] - mean) * factor * case_constant(c, CONSTANT_GAMMA, i);
    if (c->norm == TPRT_CUDA_LAYER_NORM)
      y[i] += case_constant(c, CONSTANT_BETA, i);
  }
}

static double f8e4m3(int byte) {
  int exponent = byte >> 3 & 15, mantissa = byte & 7;
  double magnitude = exponent ? ldexp(8 + mantissa, exponent - 10) : ldexp(mantissa, -9);
  return byte & 0x80 ? -magnitude : magnitude;
}

/* Returns true if the byte is a number, and no adjacent number is closer to x. */
static bool is_nearest(int byte, double x) {
  int magnitude = byte & 0x7f, sign = byte & 0x80;
  double distance = fabs(f8e4m3(byte) - x), slack = 1e-6 * fabs(x);
  int below = magnitude > 0 ? sign | (magnitude - 1) : (sign ^ 0x80) | 1,
      above = magnitude < 0x7e ? sign | (magnitude + 1) : byte;
  return magnitude != 0x7f && distance <= fabs(f8e4m3(below) - x) + slack &&
         distance <= fabs(f8e4m3(above) - x) + slack;
}

/* Returns the byte of the number nearest to x, which is clamped; ties to even. */
static int f8e4m3_byte(float x) {
  int best = 0, sign = signbit(x) ? 0x80 : 0;
  double magnitude = fmin(fabs((double)x), 448);
  for (int byte = 1; byte < 0x7f; byte++) {
    double nearer = fabs(f8e4m3(best) - magnitude) - fabs(f8e4m3(byte) - magnitude);
    best = nearer > 0 || (nearer == 0 && byte % 2 == 0) ? byte : best;
  }
  return sign | best;
}

static float expected_scale(const fused_case *c, float largest) {
  bool has_least = c->least_largest > 0 || c->least_scale > 0;
  return largest == 0 && !has_least
             ? 1
             : fmaxf(fmaxf(largest, c->least_largest) / 448.0f, c->least_scale);
}

static int check_quantized(const fused_case *c, int n, int rank, int64_t row,
                           const unsigned char *block, size_t bytes, const unsigned char *y) {
  int64_t group = c->quantize == TPRT_CUDA_PER_GROUP ? FUSED_GROUP : c->hidden;
  for (int64_t g = 0; g < c->hidden / group; g++) {
    float largest = 0, scale = case_constant(c, CONSTANT_STATIC, 0);
    for (int64_t i = 0; i < group; i++)
      largest = fmaxf(largest, fabsf(load(c->dtype, y, row * c->hidden + g * group + i)));
    if (c->quantize != TPRT_CUDA_STATIC) {
      int64_t at = row * (c->hidden / group) + g;
      memcpy(&scale, block + BUFFER_SCALE * bytes + 4 * at, 4);
      if (scale != expected_scale(c, largest))
        return wrong(c, n, rank, "scale", at, scale, expected_scale(c, largest));
    }
    for (int64_t i = 0; i < group; i++) {
      int64_t at = row * c->hidden + g * group + i;
      float divided = load(c->dtype, y, at) / scale;
      double x = (double)load(c->dtype, y, at) / scale;
      int byte = block[BUFFER_QUANTIZED * bytes + (size_t)at];
      if (c->divides && byte != f8e4m3_byte(divided))
        return wrong(c, n, rank, "divided", at, f8e4m3(byte), divided);
      if (!is_nearest(byte, x > 448 ? 448 : x < -448 ? -448 : x))
        return wrong(c, n, rank, "quantized", at, f8e4m3(byte), x);
    }
  }
  return 0;
}

/* Checks row `token`, which is row `at` of the outputs and row `residual_at` of the residual. */
static int check_row(const fused_case *c, int n, int rank, uint64_t turn,
                     const unsigned char *block, size_t bytes, int64_t token, int64_t at,
                     int64_t residual_at, float *sum, double *y) {
  const unsigned char *out = block + (c->in_place ? BUFFER_INPUT : BUFFER_OUT) * bytes;
  const unsigned char *residual = block + BUFFER_RESIDUAL_OUT * bytes;
  double unit = c->dtype == TPRT_BF16 ? 0x1p-8 : c->dtype == TPRT_F16 ? 0x1p-11 : 0x1p-24;
  for (int64_t i = 0; i < c->hidden; i++)
    y[i] = sum[i] = expected_sum(c, n, turn, token * c->hidden + i);
  for (int64_t i = 0; c->residual && residual_at >= 0 && i < c->hidden; i++) {
    float got = load(c->dtype, residual, residual_at * c->hidden + i);
    if (got != sum[i])
      return wrong(c, n, rank, "residual_out", residual_at * c->hidden + i, got, sum[i]);
  }
  if (c->norm)
    expected_norm(c, sum, y);
  for (int64_t i = 0; at >= 0 && i < c->hidden; i++) {
    double got = load(c->dtype, out, at * c->hidden + i);
    double most = c->norm ? unit * fabs(y[i]) + 0x1p-19 * (fabs(y[i]) + 1) : 0;
    if (!(fabs(got - y[i]) <= most))
      return wrong(c, n, rank, "out", at * c->hidden + i, got, y[i]);
  }
  return c->quantize && at >= 0 ? check_quantized(c, n, rank, at, block, bytes, out) : 0;
}

static int check_rows(const fused_case *c, int n, int rank, uint64_t turn,
                      const unsigned char *block, size_t bytes) {
  float *sum = malloc((size_t)c->hidden * sizeof *sum);
  double *y = malloc((size_t)c->hidden * sizeof *y);
  int errors = 0;
  for (int64_t token = 0; token < c->tokens && !errors; token++) {
    int64_t in_slice = case_place(c, n, rank, token);
    errors = check_row(c, n, rank, turn, block, bytes, token, c->out_sharded ? in_slice : token,
                       c->residual_sharded ? in_slice : token, sum, y);
  }
  free(sum);
  free(y);
  return errors;
}

/* ---- Data exchange, bytewise ---- */

/* Returns the source of element (i, j, k) of the result: a rank and an element of its send, of
 * shape s. */
static int64_t source_of(const fused_case *c, int n, int rank, const int64_t *s, int64_t place,
                         int *source) {
  int64_t result[3] = {s[0], s[1], s[2]}, at[3];
  if (c->kind == CASE_ALL_TO_ALL)
    result[c->split_dim] /= n;
  result[c->concat_dim] *= n;
  at[2] = place % result[2];
  at[1] = place / result[2] % result[1];
  at[0] = place / result[2] / result[1];
  int64_t piece = result[c->concat_dim] / n;
  *source = (int)(at[c->concat_dim] / piece);
  at[c->concat_dim] %= piece;
  if (c->kind == CASE_ALL_TO_ALL)
    at[c->split_dim] += rank * (s[c->split_dim] / n);
  return (at[0] * s[1] + at[1]) * s[2] + at[2];
}

static int check_exchange(const fused_case *c, int n, int rank, uint64_t turn,
                          const unsigned char *block, size_t bytes) {
  int64_t shape[3] = {c->tokens, 2 * n, c->hidden}, size = (int64_t)tprt_dtype_size(c->dtype);
  int64_t count = shape[0] * shape[1] * shape[2] * (c->kind == CASE_GATHER ? n : 1);
  for (int64_t i = 0; i < count; i++) {
    int source;
    int64_t from = source_of(c, n, rank, shape, i, &source);
    for (int64_t b = 0; b < size; b++) {
      unsigned char got = block[BUFFER_OUT * bytes + (size_t)(i * size + b)],
                    expected = case_byte(turn, source, from * size + b);
      if (got != expected)
        return wrong(c, n, rank, "recv", i, got, expected);
    }
  }
  return 0;
}

/* ---- Cross entropy ---- */

static int check_number(const fused_case *c, int n, int rank, const char *what, int64_t t,
                        const unsigned char *block, double expected) {
  float got;
  memcpy(&got, block + 4 * t, 4);
  return fabs(got - expected) <= 1e-5 * fmax(1, fabs(expected)) || (isnan(expected) && isnan(got))
             ? 0
             : wrong(c, n, rank, what, t, got, expected);
}

static int check_entropy(const fused_case *c, int n, int rank, uint64_t turn,
                         const unsigned char *block, size_t bytes) {
  int errors = 0;
  for (int64_t t = 0; t < c->tokens && !errors; t++) {
    double sum = 0, largest = -INFINITY, of_target = NAN;
    int64_t target = case_target(c, n, turn, t);
    for (int r = 0; r < n; r++)
      for (int64_t i = 0; i < c->hidden; i++) {
        double x =
            case_rounded(c->dtype, 4 * case_input(c, turn, r, BUFFER_INPUT, t * c->hidden + i));
        sum += exp(x); /* at most 8 */
        largest = fmax(largest, x);
        of_target = r * c->hidden + i == target ? x : of_target;
      }
    double log_sum = log(sum), loss = target == CASE_IGNORED ? 0 : log_sum - of_target;
    double shift[] = {[TPRT_CUDA_LOGIT] = 0,
                      [TPRT_CUDA_LESS_LARGEST] = largest,
                      [TPRT_CUDA_LOG_PROBABILITY] = log_sum};
    bool picks = !isnan(of_target) && (!c->own_picks || target / c->hidden == rank);
    errors = check_number(c, n, rank, "loss", t, block + BUFFER_LOSS * bytes, loss) ||
             check_number(c, n, rank, "log_sum", t, block + BUFFER_LOG_SUM * bytes, log_sum) ||
             check_number(c, n, rank, "largest", t, block + BUFFER_LARGEST * bytes, largest) ||
             check_number(c, n, rank, "sum", t, block + BUFFER_SUM * bytes, sum / exp(largest)) ||
             check_number(c, n, rank, "picked", t, block + BUFFER_PICKED * bytes,
                          picks ? of_target - shift[c->pick] : 0);
  }
  return errors;
}

int case_check(const fused_case *c, int n, int rank, uint64_t turn, const unsigned char *block,
               size_t bytes) {
  switch (c->kind) {
  case CASE_ROWS:
    return check_rows(c, n, rank, turn, block, bytes);
  case CASE_ENTROPY:
    return check_entropy(c, n, rank, turn, block, bytes);
  default:
    return check_exchange(c, n, rank, turn, block, bytes);
  }
}

/* ---- Bits ---- */

uint64_t case_digest(const fused_case *c, int n, const unsigned char *block, size_t bytes) {
  bool rows = c->kind == CASE_ROWS, entropy = c->kind == CASE_ENTROPY;
  bool whole = rows && !c->out_sharded, gathered = c->kind == CASE_GATHER;
  bool same[N_BUFFERS] = {[BUFFER_RESIDUAL_OUT] = rows && c->residual && !c->residual_sharded,
                          [BUFFER_OUT] = (whole && !c->in_place) || gathered,
                          [BUFFER_INPUT] = whole && c->in_place,
                          [BUFFER_QUANTIZED] = whole,
                          [BUFFER_SCALE] = whole,
                          [BUFFER_LOSS] = entropy,
                          [BUFFER_LOG_SUM] = entropy,
                          [BUFFER_LARGEST] = entropy,
                          [BUFFER_SUM] = entropy,
                          [BUFFER_PICKED] = entropy && !c->own_picks};
  uint64_t digest = 14695981039346656037u;
  for (int buffer = 0; buffer < N_BUFFERS; buffer++)
    for (size_t i = 0; same[buffer] && i < case_buffer_bytes(c, n); i++)
      digest = (digest ^ block[(size_t)buffer * bytes + i]) * 1099511628211u;
  return digest;
}
