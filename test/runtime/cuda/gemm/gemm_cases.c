/* The GEMM cases and their expected results, in f64. */
#include "gemm_cases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tprt/tprt.h"

/* A row: the types of the inputs and of the output, m, n, k, and what differs from the default. */
#define CASE(in, out, rows, columns, depth, ...)                                                   \
  {.dtype = TPRT_##in, .out_dtype = TPRT_##out, .m = rows, .n = columns, .k = depth, __VA_ARGS__}

const product products[] = {
    CASE(F32, F32, 5, 7, 9, .tf32 = false),
    CASE(F32, F32, 5, 7, 9, .tf32 = true),
    CASE(F32, F32, 5, 7, 9, .transpose_a = true),
    CASE(BF16, BF16, 8, 3, 5, .transpose_b = true),
    CASE(F16, F16, 4, 6, 2, .transpose_a = true, .transpose_b = true, .pad = 3),
    CASE(BF16, F32, 1, 16, 8, .pad = 1),
    CASE(F32, F32, 3, 4, 5, .batch = 3),
    CASE(BF16, BF16, 3, 4, 5, .batch = 4, .transpose_b = true, .shared_b = true, .pad = 2),
    CASE(F32, F32, 5, 7, 3, .alpha = 0.5f, .beta = 2, .has_c = true),
    CASE(F16, F32, 5, 7, 3, .beta = 1),
    CASE(F32, F32, 6, 5, 3, .bias = true),
    CASE(BF16, BF16, 6, 5, 3, .bias = true, .epilogue = TPRT_CUDA_RELU),
    CASE(F32, F32, 6, 5, 3, .epilogue = TPRT_CUDA_RELU, .aux = true),
    CASE(F16, F16, 6, 130, 3, .bias = true, .epilogue = TPRT_CUDA_RELU, .aux = true),
    CASE(F32, F32, 6, 5, 3, .epilogue = TPRT_CUDA_GELU),
    CASE(BF16, BF16, 6, 9, 3, .bias = true, .epilogue = TPRT_CUDA_GELU, .aux = true),
    CASE(F32, F32, 2, 5, 3, .batch = 2, .bias = true, .epilogue = TPRT_CUDA_GELU, .aux = true),
    CASE(F32, F32, 6, 5, 3, .epilogue = TPRT_CUDA_RELU_GRADIENT, .aux = true),
    CASE(BF16, F32, 6, 5, 3, .epilogue = TPRT_CUDA_RELU_GRADIENT, .aux = true, .gradient = true),
    CASE(F32, F32, 6, 5, 3, .epilogue = TPRT_CUDA_GELU_GRADIENT, .aux = true),
    CASE(F16, F16, 6, 5, 3, .epilogue = TPRT_CUDA_GELU_GRADIENT, .aux = true, .gradient = true),
    CASE(F32, F32, 4, 5, 6, .transpose_a = true, .gradient = true),
    CASE(F32, F32, 6, 5, 3, .bias = true, .nan = true, .epilogue = TPRT_CUDA_RELU),
    CASE(F16, F16, 6, 5, 3, .bias = true, .nan = true, .epilogue = TPRT_CUDA_RELU),
    CASE(BF16, BF16, 6, 8, 3, .bias = true, .nan = true, .epilogue = TPRT_CUDA_RELU),
    CASE(F16, F16, 6, 5, 3, .bias = true, .nan = true, .epilogue = TPRT_CUDA_RELU, .aux = true),
    CASE(F8E4M3, F32, 5, 16, 32, .transpose_b = true),
    CASE(F8E4M3, BF16, 16, 32, 16, .transpose_b = true, .dtype_b = TPRT_F8E5M2, .beta = 1),
    CASE(F8E5M2, F16, 3, 16, 48, .transpose_b = true, .dtype_b = TPRT_F8E4M3, .batch = 2,
         .pad = 16),
    CASE(F64, F64, 5, 7, 9, .transpose_b = true),
    CASE(F64, F64, 3, 4, 5, .batch = 3, .transpose_a = true, .alpha = 0.5f, .beta = 2, .pad = 2),
};
const int n_products = sizeof products / sizeof *products;

double product_load(tprt_dtype dtype, const void *from, int64_t i) {
  if (dtype == TPRT_F64)
    return ((const double *)from)[i];
  return (double)(dtype == TPRT_F32      ? ((const float *)from)[i]
                  : dtype == TPRT_F8E4M3 ? tprt_f8e4m3_to_f32(((const uint8_t *)from)[i])
                  : dtype == TPRT_F8E5M2 ? tprt_f8e5m2_to_f32(((const uint8_t *)from)[i])
                  : dtype == TPRT_F16    ? tprt_f16_to_f32(((const uint16_t *)from)[i])
                                         : tprt_bf16_to_f32(((const uint16_t *)from)[i]));
}

void product_store(tprt_dtype dtype, void *to, int64_t i, double x) {
  if (dtype == TPRT_F64)
    ((double *)to)[i] = x;
  else if (dtype == TPRT_F32)
    ((float *)to)[i] = (float)x;
  else if (dtype == TPRT_F8E4M3)
    ((uint8_t *)to)[i] = tprt_f32_to_f8e4m3((float)x);
  else if (dtype == TPRT_F8E5M2)
    ((uint8_t *)to)[i] = tprt_f32_to_f8e5m2((float)x);
  else
    ((uint16_t *)to)[i] =
        dtype == TPRT_F16 ? tprt_f32_to_f16((float)x) : tprt_f32_to_bf16((float)x);
}

void product_numbers(tprt_dtype dtype, void *to, int seed) {
  for (int64_t i = 0; i < GEMM_BYTES / (int64_t)tprt_dtype_size(dtype); i++)
    product_store(dtype, to, i, (double)((i * 7 + seed * 13 + i / 11) % 17 - 8) / 8);
}

/* The contents of aux that gradient epilogues read. */
static bool was_positive(int64_t at) { return at % 3 == 0; }
static double was(int64_t at) { return (double)(at % 13 - 6) / 4; }

static tprt_dtype dtype_of_b(const product *p) { return p->dtype_b ? p->dtype_b : p->dtype; }

void product_fill(const product *p, unsigned char *const host[N_PRODUCT_BUFFERS]) {
  static const int seeds[N_PRODUCT_BUFFERS] = {
      [OF_A] = 1, [OF_B] = 2, [OF_C] = 3, [OF_OUT] = 5, [OF_BIAS] = 4};
  for (int b = 0; b < N_PRODUCT_BUFFERS; b++) {
    memset(host[b], 0xff, GEMM_BYTES);
    if (seeds[b])
      product_numbers(b == OF_A   ? p->dtype
                      : b == OF_B ? dtype_of_b(p)
                                  : p->out_dtype,
                      host[b], seeds[b]);
  }
  if (p->nan)
    product_store(p->out_dtype, host[OF_BIAS], 0, NAN);
  int64_t row = tprt_cuda_aux_row(p->epilogue, p->n);
  unsigned char *aux = host[OF_AUX];
  for (int64_t at = 0; at < row * p->m; at++)
    if (p->epilogue == TPRT_CUDA_RELU_GRADIENT)
      aux[at / 8] = (unsigned char)((aux[at / 8] & ~(1 << at % 8)) | was_positive(at) << at % 8);
    else if (p->epilogue == TPRT_CUDA_GELU_GRADIENT)
      product_store(p->out_dtype, aux, at, was(at));
}

static int64_t batch_of(const product *p) { return p->batch ? p->batch : 1; }

tprt_cuda_gemm product_gemm(const product *p, unsigned char *const s[N_PRODUCT_BUFFERS]) {
  tprt_cuda_gemm g = {.size = sizeof g,
                      .dtype = p->dtype,
                      .dtype_b = p->dtype_b,
                      .out_dtype = p->out_dtype,
                      .m = p->m,
                      .n = p->n,
                      .k = p->k,
                      .batch = p->batch,
                      .transpose_a = p->transpose_a,
                      .transpose_b = p->transpose_b,
                      .tf32 = p->tf32,
                      .alpha = p->alpha != 0 ? p->alpha : 1,
                      .beta = p->beta,
                      .epilogue = p->epilogue,
                      .a = s[OF_A],
                      .b = s[OF_B],
                      .c = p->has_c ? s[OF_C] : NULL,
                      .out = s[OF_OUT],
                      .bias = p->bias ? s[OF_BIAS] : NULL,
                      .bias_gradient = p->gradient ? s[OF_GRADIENT] : NULL,
                      .aux = p->aux ? s[OF_AUX] : NULL};
  int64_t rows_a = p->transpose_a ? p->k : p->m, rows_b = p->transpose_b ? p->n : p->k;
  int64_t row_a = (p->transpose_a ? p->m : p->k) + p->pad,
          row_b = (p->transpose_b ? p->k : p->n) + p->pad;
  if (p->pad) {
    g.row_a = row_a;
    g.row_b = row_b;
    g.row_out = p->n + p->pad;
  }
  if (p->batch) {
    g.step_a = rows_a * row_a;
    g.step_b = p->shared_b ? 0 : rows_b * row_b;
    g.step_out = p->m * (p->n + p->pad) + 16;
  }
  return g;
}

static const double ROOT = 0.7978845608028654, CUBE = 0.044715;
static double gelu(double x) { return 0.5 * x * (1 + tanh(ROOT * (x + CUBE * x * x * x))); }
static double gelu_slope(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

double product_term(const product *p, unsigned char *const host[N_PRODUCT_BUFFERS], int64_t batch,
                    int64_t i, int64_t j, int64_t l) {
  tprt_cuda_gemm gemm = product_gemm(p, host), *g = &gemm;
  int64_t row_a = g->row_a         ? g->row_a
                  : p->transpose_a ? p->m
                                   : p->k,
          row_b = g->row_b         ? g->row_b
                  : p->transpose_b ? p->k
                                   : p->n;
  double b = product_load(dtype_of_b(p), g->b,
                          batch * g->step_b + (p->transpose_b ? j * row_b + l : l * row_b + j));
  if (i < 0)
    return b;
  double a = product_load(p->dtype, g->a,
                          batch * g->step_a + (p->transpose_a ? l * row_a + i : i * row_a + l));
  return a * b;
}

/* ReLU of NaN is NaN or 0: the one of them that was computed is right. */
static double relu(double x, double got) { return !isnan(x) ? fmax(x, 0) : isnan(got) ? x : 0; }

static int near(const product *p, const char *what, int64_t at, double got, double expected,
                double slack) {
  double unit = p->out_dtype == TPRT_BF16  ? 0x1p-8
                : p->out_dtype == TPRT_F16 ? 0x1p-11
                : p->out_dtype == TPRT_F64 ? 0x1p-50
                                           : 0x1p-20;
  if (isnan(got) && isnan(expected))
    return 0;
  if (fabs(got - expected) <= unit * fabs(expected) + (p->out_dtype == TPRT_F64 ? 0 : 1e-6) + slack)
    return 0;
  fprintf(stderr, "wrong: product %d: %s[%lld] is %.9g, expected %.9g\n", (int)(p - products), what,
          (long long)at, got, expected);
  return 1;
}

int product_check(const product *p, unsigned char *const s[N_PRODUCT_BUFFERS],
                  const unsigned char *old, double slack) {
  tprt_cuda_gemm gemm = product_gemm(p, s), *g = &gemm;
  bool gelu_here = p->epilogue == TPRT_CUDA_GELU || p->epilogue == TPRT_CUDA_GELU_GRADIENT;
  double of_sum = gelu_here ? slack * (double)p->m : 0;
  int errors = 0;
  slack = gelu_here ? slack : 0;
  int64_t row = g->row_out ? g->row_out : p->n, aux_row = tprt_cuda_aux_row(p->epilogue, p->n);
  for (int64_t batch = 0; batch < batch_of(p); batch++)
    for (int64_t j = 0; j < p->n; j++) {
      double gradient = 0, sum_of_b = 0;
      for (int64_t l = 0; l < p->k; l++)
        sum_of_b += product_term(p, s, batch, -1, j, l);
      for (int64_t i = 0; i < p->m; i++) {
        int64_t at = batch * g->step_out + i * row + j,
                aux = batch * aux_row * p->m + i * aux_row + j;
        double x = 0, got = product_load(p->out_dtype, s[OF_OUT], at);
        for (int64_t l = 0; l < p->k; l++)
          x += product_term(p, s, batch, i, j, l);
        x = (double)g->alpha * x +
            (p->beta != 0
                 ? (double)p->beta * product_load(p->out_dtype, p->has_c ? s[OF_C] : old, at)
                 : 0);
        x += p->bias ? product_load(p->out_dtype, s[OF_BIAS], j) : 0;
        if (p->aux && p->epilogue == TPRT_CUDA_RELU && !isnan(x) &&
            (s[OF_AUX][aux / 8] >> aux % 8 & 1) != (x > 0))
          errors += near(p, "bits of aux", aux, x <= 0, x > 0, 0);
        if (p->aux && p->epilogue == TPRT_CUDA_GELU)
          errors += near(p, "aux", aux, product_load(p->out_dtype, s[OF_AUX], aux), x, 0);
        x = p->epilogue == TPRT_CUDA_RELU            ? relu(x, got)
            : p->epilogue == TPRT_CUDA_GELU          ? gelu(x)
            : p->epilogue == TPRT_CUDA_RELU_GRADIENT ? (was_positive(aux) ? x : 0)
            : p->epilogue == TPRT_CUDA_GELU_GRADIENT ? x * gelu_slope(was(aux))
                                                     : x;
        gradient += x;
        errors += near(p, "out", at, got, x, slack);
      }
      if (p->gradient)
        errors += near(p, "bias_gradient", j, product_load(p->out_dtype, s[OF_GRADIENT], j),
                       p->epilogue ? gradient : sum_of_b, of_sum);
    }
  /* Padding between rows must not be modified. */
  for (int64_t k = 0; p->pad && k < p->pad; k++)
    errors += near(p, "what lies behind a row", k, product_load(p->out_dtype, s[OF_OUT], p->n + k),
                   product_load(p->out_dtype, old, p->n + k), 0);
  return errors != 0;
}
