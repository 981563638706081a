/* Products of matrices through the public interface, over a cuBLASLt that is none: every type, transpose, layout and epilogue against an
 * oracle in f64; what is kept by shape; graphs; everything that is refused, and every call that fails. */
#define _GNU_SOURCE 1
#include "fake_blaslt.h"

#include "cuda/driver.h"
#include "tprt/cuda_gemm.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BYTES = 1 << 16, WORKSPACE = 4096 };

static fake_blaslt_begin_fn *begin;
static fake_blaslt_look_fn *look;
static void *driver; /* the driver of the tests */

static fake_blaslt_report report(void) {
  fake_blaslt_report r;
  look(&r);
  if (r.n_violations)
    fail_msg("%s", r.violation);
  return r;
}

static const fake_blaslt_plan no_faults = {0};

/* ---- Numbers ---- */

static float load(tprt_dtype dtype, const void *from, int64_t i) {
  return dtype == TPRT_F32   ? ((const float *)from)[i]
         : dtype == TPRT_F16 ? tprt_f16_to_f32(((const uint16_t *)from)[i])
                             : tprt_bf16_to_f32(((const uint16_t *)from)[i]);
}

static void store(tprt_dtype dtype, void *to, int64_t i, float x) {
  if (dtype == TPRT_F32)
    ((float *)to)[i] = x;
  else
    ((uint16_t *)to)[i] = dtype == TPRT_F16 ? tprt_f32_to_f16(x) : tprt_f32_to_bf16(x);
}

/* Multiples of 1/8 between -1 and 1: exact in every type; so are the sums of their products in f32. */
static void fill(tprt_dtype dtype, void *to, int seed) {
  for (int64_t i = 0; i < BYTES / 4; i++)
    store(dtype, to, i, (float)((i * 7 + seed * 13 + i / 11) % 17 - 8) / 8);
}

typedef struct buffers {
  unsigned char *a, *b, *c, *out, *bias, *gradient, *aux, *workspace;
} buffers;

static void *block(void) {
  void *made = aligned_alloc(256, BYTES);
  assert_non_null(made);
  return memset(made, 0xff, BYTES);
}

static buffers make_buffers(tprt_dtype dtype, tprt_dtype out_dtype) {
  buffers s = {block(), block(), block(), block(), block(), block(), block(), block()};
  fill(dtype, s.a, 1);
  fill(dtype, s.b, 2);
  fill(out_dtype, s.c, 3);
  fill(out_dtype, s.bias, 4);
  return s;
}

static void free_buffers(buffers *s) {
  unsigned char *all[] = {s->a, s->b, s->c, s->out, s->bias, s->gradient, s->aux, s->workspace};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    free(all[i]);
}

static tprt_cuda_blas *make_blas(const buffers *s) {
  const tprt_cuda_blas_config config = {.size = sizeof config, .workspace = s->workspace, .workspace_bytes = WORKSPACE};
  tprt_cuda_blas *blas = NULL;
  if (tprt_cuda_blas_create(&config, &blas) != TPRT_OK)
    fail_msg("%s", tprt_last_error());
  return blas;
}

/* ---- Products against the oracle ---- */

typedef struct product {
  tprt_dtype dtype, out_dtype;
  int64_t m, n, k, batch;
  bool transpose_a, transpose_b, tf32, bias, gradient, aux, has_c, shared_b;
  int pad; /* of each row */
  float alpha, beta;
  tprt_cuda_epilogue epilogue;
} product;

static const product products[] = {
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 5, .n = 7, .k = 9},
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 5, .n = 7, .k = 9, .tf32 = true},
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 5, .n = 7, .k = 9, .transpose_a = true},
    {.dtype = TPRT_BF16, .out_dtype = TPRT_BF16, .m = 8, .n = 3, .k = 5, .transpose_b = true},
    {.dtype = TPRT_F16, .out_dtype = TPRT_F16, .m = 4, .n = 6, .k = 2, .transpose_a = true, .transpose_b = true, .pad = 3},
    {.dtype = TPRT_BF16, .out_dtype = TPRT_F32, .m = 1, .n = 16, .k = 8, .pad = 1},
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 3, .n = 4, .k = 5, .batch = 3},
    {.dtype = TPRT_BF16,
     .out_dtype = TPRT_BF16,
     .m = 3,
     .n = 4,
     .k = 5,
     .batch = 4,
     .transpose_b = true,
     .shared_b = true,
     .pad = 2},
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 5, .n = 7, .k = 3, .alpha = 0.5f, .beta = 2, .has_c = true},
    {.dtype = TPRT_F16, .out_dtype = TPRT_F32, .m = 5, .n = 7, .k = 3, .beta = 1},
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 6, .n = 5, .k = 3, .bias = true},
    {.dtype = TPRT_BF16, .out_dtype = TPRT_BF16, .m = 6, .n = 5, .k = 3, .bias = true, .epilogue = TPRT_CUDA_RELU},
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 6, .n = 5, .k = 3, .epilogue = TPRT_CUDA_RELU, .aux = true},
    {.dtype = TPRT_F16, .out_dtype = TPRT_F16, .m = 6, .n = 130, .k = 3, .bias = true, .epilogue = TPRT_CUDA_RELU, .aux = true},
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 6, .n = 5, .k = 3, .epilogue = TPRT_CUDA_GELU},
    {.dtype = TPRT_BF16, .out_dtype = TPRT_BF16, .m = 6, .n = 9, .k = 3, .bias = true, .epilogue = TPRT_CUDA_GELU, .aux = true},
    {.dtype = TPRT_F32,
     .out_dtype = TPRT_F32,
     .m = 2,
     .n = 5,
     .k = 3,
     .batch = 2,
     .bias = true,
     .epilogue = TPRT_CUDA_GELU,
     .aux = true},
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 6, .n = 5, .k = 3, .epilogue = TPRT_CUDA_RELU_GRADIENT, .aux = true},
    {.dtype = TPRT_BF16,
     .out_dtype = TPRT_F32,
     .m = 6,
     .n = 5,
     .k = 3,
     .epilogue = TPRT_CUDA_RELU_GRADIENT,
     .aux = true,
     .gradient = true},
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 6, .n = 5, .k = 3, .epilogue = TPRT_CUDA_GELU_GRADIENT, .aux = true},
    {.dtype = TPRT_F16,
     .out_dtype = TPRT_F16,
     .m = 6,
     .n = 5,
     .k = 3,
     .epilogue = TPRT_CUDA_GELU_GRADIENT,
     .aux = true,
     .gradient = true},
    {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 4, .n = 5, .k = 6, .transpose_a = true, .gradient = true},
};
enum { N_PRODUCTS = sizeof products / sizeof *products };

static int64_t batch_of(const product *p) { return p->batch ? p->batch : 1; }

static tprt_cuda_gemm gemm_of(const product *p, const buffers *s) {
  tprt_cuda_gemm g = {.size = sizeof g,
                      .dtype = p->dtype,
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
                      .a = s->a,
                      .b = s->b,
                      .c = p->has_c ? s->c : NULL,
                      .out = s->out,
                      .bias = p->bias ? s->bias : NULL,
                      .bias_gradient = p->gradient ? s->gradient : NULL,
                      .aux = p->aux ? s->aux : NULL};
  int64_t rows_a = p->transpose_a ? p->k : p->m, rows_b = p->transpose_b ? p->n : p->k;
  int64_t row_a = (p->transpose_a ? p->m : p->k) + p->pad, row_b = (p->transpose_b ? p->k : p->n) + p->pad;
  if (p->pad) {
    g.row_a = row_a;
    g.row_b = row_b;
    g.row_out = p->n + p->pad;
  }
  if (p->batch) {
    g.step_a = rows_a * row_a;
    g.step_b = p->shared_b ? 0 : rows_b * row_b;
    g.step_out = p->m * (p->n + p->pad) + 8;
  }
  return g;
}

static const double ROOT = 0.7978845608028654, CUBE = 0.044715;
static double gelu(double x) { return 0.5 * x * (1 + tanh(ROOT * (x + CUBE * x * x * x))); }
static double gelu_slope(double x) { return (gelu(x + 1e-5) - gelu(x - 1e-5)) / 2e-5; }

static double term(const product *p, const tprt_cuda_gemm *g, int64_t batch, int64_t i, int64_t j, int64_t l) {
  int64_t row_a = g->row_a         ? g->row_a
                  : p->transpose_a ? p->m
                                   : p->k,
          row_b = g->row_b         ? g->row_b
                  : p->transpose_b ? p->k
                                   : p->n;
  double a = (double)load(p->dtype, g->a, batch * g->step_a + (p->transpose_a ? l * row_a + i : i * row_a + l));
  double b = (double)load(p->dtype, g->b, batch * g->step_b + (p->transpose_b ? j * row_b + l : l * row_b + j));
  return i < 0 ? b : a * b;
}

/* Sets bit or value `at` of aux for a gradient to read: the same for every run. */
static bool was_positive(int64_t at) { return at % 3 == 0; }
static float was(int64_t at) { return (float)(at % 13 - 6) / 4; }

static void fill_aux(const product *p, buffers *s) {
  int64_t row = tprt_cuda_aux_row(p->epilogue, p->n);
  for (int64_t at = 0; at < row * p->m; at++)
    if (p->epilogue == TPRT_CUDA_RELU_GRADIENT)
      s->aux[at / 8] = (unsigned char)((s->aux[at / 8] & ~(1 << at % 8)) | was_positive(at) << at % 8);
    else if (p->epilogue == TPRT_CUDA_GELU_GRADIENT)
      store(p->out_dtype, s->aux, at, was(at));
}

static void expect_near(const product *p, const char *what, int64_t at, double got, double expected) {
  double unit = p->out_dtype == TPRT_BF16 ? 0x1p-8 : p->out_dtype == TPRT_F16 ? 0x1p-11 : 0x1p-20;
  if (!(fabs(got - expected) <= unit * fabs(expected) + 1e-6))
    fail_msg("product %d: %s[%lld] is %.9g, expected %.9g", (int)(p - products), what, (long long)at, got, expected);
}

static void check_product(const product *p, const tprt_cuda_gemm *g, const buffers *s, const unsigned char *old) {
  int64_t row = g->row_out ? g->row_out : p->n, aux_row = tprt_cuda_aux_row(p->epilogue, p->n);
  for (int64_t batch = 0; batch < batch_of(p); batch++)
    for (int64_t j = 0; j < p->n; j++) {
      double gradient = 0, sum_of_b = 0;
      for (int64_t l = 0; l < p->k; l++)
        sum_of_b += term(p, g, batch, -1, j, l);
      for (int64_t i = 0; i < p->m; i++) {
        int64_t at = batch * g->step_out + i * row + j, aux = batch * aux_row * p->m + i * aux_row + j;
        double x = 0;
        for (int64_t l = 0; l < p->k; l++)
          x += term(p, g, batch, i, j, l);
        x = (double)g->alpha * x + (p->beta != 0 ? (double)p->beta * (double)load(p->out_dtype, p->has_c ? s->c : old, at) : 0);
        x += p->bias ? (double)load(p->out_dtype, s->bias, j) : 0;
        if (p->aux && p->epilogue == TPRT_CUDA_RELU && (s->aux[aux / 8] >> aux % 8 & 1) != (x > 0))
          fail_msg("product %d: bit %lld of aux", (int)(p - products), (long long)aux);
        if (p->aux && p->epilogue == TPRT_CUDA_GELU)
          expect_near(p, "aux", aux, (double)load(p->out_dtype, s->aux, aux), x);
        x = p->epilogue == TPRT_CUDA_RELU            ? fmax(x, 0)
            : p->epilogue == TPRT_CUDA_GELU          ? gelu(x)
            : p->epilogue == TPRT_CUDA_RELU_GRADIENT ? (was_positive(aux) ? x : 0)
            : p->epilogue == TPRT_CUDA_GELU_GRADIENT ? x * gelu_slope((double)was(aux))
                                                     : x;
        gradient += x;
        expect_near(p, "out", at, (double)load(p->out_dtype, s->out, at), x);
      }
      if (p->gradient)
        expect_near(p, "bias_gradient", j, (double)load(p->out_dtype, s->gradient, j), p->epilogue ? gradient : sum_of_b);
    }
}

static void test_products(void **state) {
  (void)state;
  for (int i = 0; i < N_PRODUCTS; i++) {
    const product *p = &products[i];
    buffers s = make_buffers(p->dtype, p->out_dtype);
    unsigned char *old = block();
    begin(&no_faults);
    tprt_cuda_blas *blas = make_blas(&s);
    tprt_cuda_gemm g = gemm_of(p, &s);
    fill_aux(p, &s);
    fill(p->out_dtype, s.out, 5);
    memcpy(old, s.out, BYTES);
    if (tprt_cuda_multiply(blas, &g, NULL) != TPRT_OK)
      fail_msg("product %d: %s", i, tprt_last_error());
    report();
    check_product(p, &g, &s, old);
    /* Nothing between the rows is touched. */
    for (int64_t k = 0; p->pad && k < p->pad; k++)
      assert_true(load(p->out_dtype, s.out, p->n + k) == load(p->out_dtype, old, p->n + k));
    tprt_cuda_blas_destroy(blas);
    assert_int_equal(report().n_alive, 0);
    free(old);
    free_buffers(&s);
  }
}

/* TF32 is asked for, and only then. */
static void test_tf32(void **state) {
  (void)state;
  for (int tf32 = 0; tf32 < 2; tf32++) {
    product p = {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 1, .n = 1, .k = 1, .tf32 = tf32};
    buffers s = make_buffers(p.dtype, p.out_dtype);
    tprt_cuda_blas *blas = make_blas(&s);
    tprt_cuda_gemm g = gemm_of(&p, &s);
    store(TPRT_F32, s.a, 0, 1 + 0x1p-20f);
    store(TPRT_F32, s.b, 0, 1);
    assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
    assert_true(load(TPRT_F32, s.out, 0) == (tf32 ? 1 : 1 + 0x1p-20f));
    tprt_cuda_blas_destroy(blas);
    free_buffers(&s);
  }
}

/* An algorithm is chosen once for each shape; handles that see many give up the oldest. */
static void test_kept(void **state) {
  enum { SHAPES = 600 };
  product p = {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 2, .n = 3, .k = 1, .bias = true};
  buffers s = make_buffers(p.dtype, p.out_dtype);
  (void)state;
  begin(&no_faults);
  tprt_cuda_blas *blas = make_blas(&s);
  tprt_cuda_gemm g = gemm_of(&p, &s);
  for (int i = 0; i < 3; i++) {
    g.bias = s.bias + 16 * i; /* addresses are no part of it */
    assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
    assert_true(load(TPRT_F32, s.out, 1) == load(TPRT_F32, s.a, 0) * load(TPRT_F32, s.b, 1) + load(TPRT_F32, g.bias, 1));
  }
  fake_blaslt_report r = report();
  assert_int_equal(r.n_choices, 1);
  assert_int_equal(r.n_products, 3);
  g.bias = NULL;
  assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
  assert_int_equal(report().n_choices, 2);
  for (int i = 1; i <= SHAPES; i++) {
    g.k = i;
    g.row_b = 0;
    assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
  }
  assert_int_equal(report().n_choices, 2 + SHAPES - 1);
  assert_true(report().n_alive <= 1 + 4 * 512);
  g.k = SHAPES;
  assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
  assert_int_equal(report().n_choices, 2 + SHAPES - 1);
  g.k = 2;
  assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
  assert_int_equal(report().n_choices, 2 + SHAPES);
  g.m = 0;
  assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
  assert_int_equal(report().n_products, 5 + SHAPES + 1);
  tprt_cuda_blas_destroy(blas);
  tprt_cuda_blas_destroy(NULL);
  assert_int_equal(report().n_alive, 0);
  free_buffers(&s);
}

/* ---- Graphs ---- */

static void *symbol(const char *name) {
  void *found = dlsym(driver, name);
  assert_non_null(found);
  return found;
}

static void test_graph(void **state) {
  cuda_result (*capture)(cuda_stream, int), (*end)(cuda_stream, void **), (*instantiate)(void **, void *, unsigned long long);
  cuda_result (*replay)(void *, cuda_stream), (*destroy)(void *), (*destroy_graph)(void *);
  void *from[] = {symbol("cuStreamBeginCapture_v2"), symbol("cuStreamEndCapture"), symbol("cuGraphInstantiateWithFlags"),
                  symbol("cuGraphLaunch"),           symbol("cuGraphExecDestroy"), symbol("cuGraphDestroy")},
       *graph, *program;
  (void)state;
  memcpy(&capture, &from[0], sizeof capture);
  memcpy(&end, &from[1], sizeof end);
  memcpy(&instantiate, &from[2], sizeof instantiate);
  memcpy(&replay, &from[3], sizeof replay);
  memcpy(&destroy, &from[4], sizeof destroy);
  memcpy(&destroy_graph, &from[5], sizeof destroy_graph);
  product p = {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 5, .n = 7, .k = 3, .beta = 1};
  buffers s = make_buffers(p.dtype, p.out_dtype);
  begin(&no_faults);
  tprt_cuda_blas *blas = make_blas(&s);
  tprt_cuda_gemm g = gemm_of(&p, &s);
  fill(TPRT_F32, s.out, 5);
  float first = load(TPRT_F32, s.out, 8);
  assert_int_equal(capture(NULL, 0), 0);
  assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
  assert_int_equal(end(NULL, &graph), 0);
  assert_true(load(TPRT_F32, s.out, 8) == first);
  assert_int_equal(instantiate(&program, graph, 0), 0);
  double x = 0;
  for (int64_t l = 0; l < p.k; l++)
    x += term(&p, &g, 0, 1, 1, l);
  for (int i = 1; i <= 3; i++) {
    assert_int_equal(replay(program, NULL), 0);
    assert_true((double)load(TPRT_F32, s.out, 8) == (double)first + i * x);
  }
  assert_int_equal(destroy(program), 0);
  assert_int_equal(destroy_graph(graph), 0);
  tprt_cuda_blas_destroy(blas);
  report();
  free_buffers(&s);
}

/* ---- What is refused ---- */

static void expect(tprt_status got, tprt_status status, const char *text) {
  if (got != status || !strstr(tprt_last_error(), text))
    fail_msg("%s: \"%s\"; expected %s: \"%s\"", tprt_status_name(got), tprt_last_error(), tprt_status_name(status), text);
}

static void test_refused(void **state) {
#define OF(type, out, rows, terms)                                                                                             \
  .size = sizeof(tprt_cuda_gemm), .dtype = TPRT_##type, .out_dtype = TPRT_##out, .m = (rows), .n = 4, .k = (terms), .alpha = 1
#define BASE OF(F32, F32, 4, 4)
  static const struct {
    tprt_cuda_gemm gemm;
    tprt_status status;
    const char *text;
  } rows[] = {
      {{.size = 3}, TPRT_INVALID_ARGUMENT, "tprt_cuda_gemm.size is 3"},
      {{OF(F64, F32, 4, 4)}, TPRT_UNSUPPORTED, "a product of f64 to f32"},
      {{OF(F32, BF16, 4, 4)}, TPRT_UNSUPPORTED, "a product of f32 to bf16"},
      {{OF(BF16, BF16, 4, 4), .tf32 = true}, TPRT_INVALID_ARGUMENT, "tf32 with factors of bf16"},
      {{OF(F32, F32, -1, 4)}, TPRT_INVALID_ARGUMENT, "1 products of -1 x 4 x 4"},
      {{BASE, .batch = -1}, TPRT_INVALID_ARGUMENT, "-1 products of 4 x 4 x 4"},
      {{OF(F32, F32, 4, 0)}, TPRT_UNSUPPORTED, "k is 0"},
      {{BASE, .row_a = 3}, TPRT_INVALID_ARGUMENT, "rows of a are 3 elements apart, but have 4"},
      {{BASE, .row_b = 3}, TPRT_INVALID_ARGUMENT, "rows of b are 3 elements apart, but have 4"},
      {{BASE, .row_out = 3}, TPRT_INVALID_ARGUMENT, "rows of out are 3 elements apart, but have 4"},
      {{BASE, .row_out = INT64_MAX / 4}, TPRT_INVALID_ARGUMENT, "out of 4 rows that are"},
      {{BASE, .batch = 2}, TPRT_INVALID_ARGUMENT, "matrices out are 0 elements apart, but take 16"},
      {{BASE, .batch = 2, .step_out = 16, .step_a = -1}, TPRT_INVALID_ARGUMENT, "matrices a are -1 elements apart"},
      {{BASE, .epilogue = 5}, TPRT_INVALID_ARGUMENT, "epilogue 5 does not exist"},
      {{BASE, .epilogue = TPRT_CUDA_GELU_GRADIENT}, TPRT_INVALID_ARGUMENT, "a gradient needs aux"},
      {{BASE, .aux = (void *)256}, TPRT_INVALID_ARGUMENT, "aux without a function"},
      {{BASE, .epilogue = TPRT_CUDA_RELU_GRADIENT, .aux = (void *)256, .bias = (void *)256},
       TPRT_INVALID_ARGUMENT,
       "a bias with a gradient"},
      {{BASE, .bias_gradient = (void *)256, .bias = (void *)256}, TPRT_INVALID_ARGUMENT, "a bias gradient with a bias"},
      {{BASE, .bias_gradient = (void *)256, .epilogue = TPRT_CUDA_RELU}, TPRT_INVALID_ARGUMENT, "a bias gradient with a bias"},
      {{BASE, .batch = 2, .step_out = 16, .bias_gradient = (void *)256}, TPRT_UNSUPPORTED, "a bias gradient of 2 products"},
      {{BASE}, TPRT_INVALID_ARGUMENT, "a is NULL"},
      {{BASE, .a = (void *)256, .b = (void *)256}, TPRT_INVALID_ARGUMENT, "out is NULL"},
      {{BASE, .a = (void *)256, .b = (void *)264}, TPRT_INVALID_ARGUMENT, "b is at 0x108; addresses are multiples of 16"},
      {{BASE, .a = (void *)256, .b = (void *)256, .out = (void *)256, .bias = (void *)4},
       TPRT_INVALID_ARGUMENT,
       "bias is at 0x4"},
  };
  buffers s = make_buffers(TPRT_F32, TPRT_F32);
  (void)state;
  begin(&no_faults);
  tprt_cuda_blas *blas = make_blas(&s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect(tprt_cuda_multiply(blas, &rows[i].gemm, NULL), rows[i].status, rows[i].text);
  assert_int_equal(report().n_calls, 1);
  fake_blaslt_plan nothing = {.knows_nothing = true};
  begin(&nothing);
  tprt_cuda_gemm g = gemm_of(&products[0], &s);
  expect(tprt_cuda_multiply(blas, &g, NULL), TPRT_UNSUPPORTED,
         "it has no algorithm for 1 products of 5 x 9 x 7 with epilogue 1");
  tprt_cuda_blas_destroy(blas);
  assert_int_equal(report().n_alive, 0);
  tprt_cuda_blas_config config = {.size = sizeof config, .workspace = s.workspace + 16, .workspace_bytes = 64};
  expect(tprt_cuda_blas_create(&config, &blas), TPRT_INVALID_ARGUMENT, "a workspace of 64 bytes at");
  config.size = 1;
  expect(tprt_cuda_blas_create(&config, &blas), TPRT_INVALID_ARGUMENT, "tprt_cuda_blas_config.size is 1");
  free_buffers(&s);
}

/* Every call fails once: the product says so, nothing is left over, and the next one works. */
static void test_faults(void **state) {
  enum { STATUS = 14, NOT_SUPPORTED = 15 };
  const product *p = &products[16]; /* with everything: a batch, a bias, aux */
  (void)state;
  buffers s = make_buffers(p->dtype, p->out_dtype);
  for (long at = 1;; at++) {
    fake_blaslt_plan fault = {.fail_at = at, .status = STATUS};
    const tprt_cuda_blas_config config = {.size = sizeof config, .workspace = s.workspace, .workspace_bytes = WORKSPACE};
    tprt_cuda_blas *blas = NULL;
    tprt_cuda_gemm g = gemm_of(p, &s);
    begin(&fault);
    tprt_status status = tprt_cuda_blas_create(&config, &blas);
    if (!status)
      status = tprt_cuda_multiply(blas, &g, NULL);
    fake_blaslt_report r = report();
    if (status)
      expect(status, TPRT_DEVICE, ": made up (14)");
    bool matters = r.failed[0] && !strstr(r.failed, "Destroy");
    assert_int_equal(status != TPRT_OK, matters);
    begin(&no_faults);
    if (blas) {
      fill(p->out_dtype, s.out, 5);
      assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
      check_product(p, &g, &s, s.out);
    }
    tprt_cuda_blas_destroy(blas);
    assert_int_equal(report().n_alive, 0);
    if (!r.failed[0]) {
      assert_true(at > 20);
      break;
    }
  }
  fake_blaslt_plan fault = {.status = NOT_SUPPORTED};
  for (fault.fail_at = 1;; fault.fail_at++) { /* that there is no algorithm is no failure of the device */
    tprt_cuda_blas *blas;
    tprt_cuda_gemm g = gemm_of(p, &s);
    begin(&no_faults);
    blas = make_blas(&s);
    begin(&fault);
    tprt_status status = tprt_cuda_multiply(blas, &g, NULL);
    fake_blaslt_report r = report();
    tprt_cuda_blas_destroy(blas);
    if (strcmp(r.failed, "cublasLtMatmulAlgoGetHeuristic") == 0) {
      expect(status, TPRT_UNSUPPORTED, "it has no algorithm for 2 products of 2 x 3 x 5");
      break;
    }
    assert_true(r.failed[0]);
  }
  free_buffers(&s);
}

/* Before anything has loaded it. */
static void test_no_library(void **state) {
  const tprt_cuda_blas_config config = {.size = sizeof config};
  tprt_cuda_blas *blas = NULL;
  (void)state;
  setenv("TPRT_BLASLT_LIBRARY", "/nowhere/libcublasLt.so", 1);
  expect(tprt_cuda_blas_create(&config, &blas), TPRT_UNSUPPORTED, "cuBLASLt: /nowhere/libcublasLt.so: cannot open");
  setenv("TPRT_BLASLT_LIBRARY", FAKE_DRIVER, 1);
  expect(tprt_cuda_blas_create(&config, &blas), TPRT_UNSUPPORTED, "has no cublasLtGetStatusString");
  assert_null(blas);
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
}

int main(void) {
  setenv("TPRT_CUDA_LIBRARY", FAKE_DRIVER, 1);
  void *fake = dlopen(FAKE_BLASLT, RTLD_NOW | RTLD_LOCAL);
  driver = dlopen(FAKE_DRIVER, RTLD_NOW | RTLD_LOCAL);
  void *found = fake ? dlsym(fake, "fake_blaslt_begin") : NULL;
  memcpy(&begin, &found, sizeof found);
  found = fake ? dlsym(fake, "fake_blaslt_look") : NULL;
  memcpy(&look, &found, sizeof found);
  if (!driver || !begin || !look) {
    fprintf(stderr, "wrong: %s\n", dlerror());
    return 1;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_library), cmocka_unit_test(test_products), cmocka_unit_test(test_tf32),
      cmocka_unit_test(test_kept),       cmocka_unit_test(test_graph),    cmocka_unit_test(test_refused),
      cmocka_unit_test(test_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
