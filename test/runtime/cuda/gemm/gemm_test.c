/* Tests GEMM through the public interface, with the fake cuBLASLt: every type, transpose, layout
 * and epilogue against an oracle in f64; the algorithm cache; graphs; rejected arguments, and
 * failures of every call. */
#define _GNU_SOURCE 1
#include "test/runtime/cuda/fake/fake_blaslt.h"

#include "cuda/driver/driver.h"
#include "gemm_cases.h"
#include "tprt/tprt.h"

#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WORKSPACE = 4096 };

static fake_blaslt_begin_fn *begin;
static fake_blaslt_look_fn *look;
static void *driver; /* the fake driver */

static fake_blaslt_report report(void) {
  fake_blaslt_report r;
  look(&r);
  if (r.n_violations)
    fail_msg("%s", r.violation);
  return r;
}

static const fake_blaslt_plan no_faults = {0};

/* ---- Buffers ---- */

typedef struct buffers {
  unsigned char *of[N_PRODUCT_BUFFERS], *workspace;
} buffers;

static void *block(void) {
  void *made = aligned_alloc(256, GEMM_BYTES);
  assert_non_null(made);
  return memset(made, 0xff, GEMM_BYTES);
}

static buffers make_buffers(const product *p) {
  buffers s = {.workspace = block()};
  for (int b = 0; b < N_PRODUCT_BUFFERS; b++)
    s.of[b] = block();
  product_fill(p, s.of);
  return s;
}

static void free_buffers(buffers *s) {
  for (int b = 0; b < N_PRODUCT_BUFFERS; b++)
    free(s->of[b]);
  free(s->workspace);
}

static tprt_cuda_blas *make_blas(const buffers *s) {
  const tprt_cuda_blas_config config = {
      .size = sizeof config, .workspace = s->workspace, .workspace_bytes = WORKSPACE};
  tprt_cuda_blas *blas = NULL;
  if (tprt_cuda_blas_create(&config, &blas) != TPRT_OK)
    fail_msg("%s", tprt_last_error());
  return blas;
}

static void test_products(void **state) {
  (void)state;
  for (int i = 0; i < n_products; i++) {
    const product *p = &products[i];
    buffers s = make_buffers(p);
    unsigned char *old = memcpy(block(), s.of[OF_OUT], GEMM_BYTES);
    begin(&no_faults);
    tprt_cuda_blas *blas = make_blas(&s);
    tprt_cuda_gemm g = product_gemm(p, s.of);
    if (tprt_cuda_multiply(blas, &g, NULL) != TPRT_OK)
      fail_msg("product %d: %s", i, tprt_last_error());
    report();
    assert_int_equal(product_check(p, s.of, old, 0), 0);
    tprt_cuda_blas_destroy(blas);
    assert_int_equal(report().n_alive, 0);
    free(old);
    free_buffers(&s);
  }
}

/* The fake keeps NaN in some shapes and makes it 0 in others, like the kernels of cuBLASLt: a
 * program that relies on either is found. */
static void test_relu_of_nan(void **state) {
  enum { SHAPES = 16 };
  int n_kept = 0;
  (void)state;
  begin(&no_faults);
  for (int m = 1; m <= SHAPES; m++) {
    product p = {.dtype = TPRT_F32,
                 .out_dtype = TPRT_F32,
                 .m = m,
                 .n = 1,
                 .k = 1,
                 .bias = true,
                 .nan = true,
                 .epilogue = TPRT_CUDA_RELU};
    buffers s = make_buffers(&p);
    tprt_cuda_blas *blas = make_blas(&s);
    tprt_cuda_gemm g = product_gemm(&p, s.of);
    assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
    assert_int_equal(product_check(&p, s.of, s.of[OF_OUT], 0), 0);
    n_kept += isnan(product_load(TPRT_F32, s.of[OF_OUT], 0)) != 0;
    tprt_cuda_blas_destroy(blas);
    free_buffers(&s);
  }
  assert_in_range(n_kept, 1, SHAPES - 1);
}

/* TF32 is used only if requested. */
static void test_tf32(void **state) {
  (void)state;
  for (int tf32 = 0; tf32 < 2; tf32++) {
    product p = {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 1, .n = 1, .k = 1, .tf32 = tf32};
    buffers s = make_buffers(&p);
    tprt_cuda_blas *blas = make_blas(&s);
    tprt_cuda_gemm g = product_gemm(&p, s.of);
    product_store(TPRT_F32, s.of[OF_A], 0, 1 + 0x1p-20f);
    product_store(TPRT_F32, s.of[OF_B], 0, 1);
    assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
    assert_true(product_load(TPRT_F32, s.of[OF_OUT], 0) == (tf32 ? 1 : 1 + 0x1p-20f));
    tprt_cuda_blas_destroy(blas);
    free_buffers(&s);
  }
}

/* An algorithm is chosen once per shape; a handle with many shapes evicts the oldest. */
static void test_kept(void **state) {
  enum { SHAPES = 600 };
  product p = {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 2, .n = 3, .k = 1, .bias = true};
  buffers s = make_buffers(&p);
  (void)state;
  begin(&no_faults);
  tprt_cuda_blas *blas = make_blas(&s);
  tprt_cuda_gemm g = product_gemm(&p, s.of);
  for (int i = 0; i < 3; i++) {
    g.bias = s.of[OF_BIAS] + 16 * i; /* addresses are not part of the key */
    assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
    assert_true(product_load(TPRT_F32, s.of[OF_OUT], 1) ==
                product_load(TPRT_F32, s.of[OF_A], 0) * product_load(TPRT_F32, s.of[OF_B], 1) +
                    product_load(TPRT_F32, g.bias, 1));
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
  cuda_result (*capture)(cuda_stream, int), (*end)(cuda_stream, void **),
      (*instantiate)(void **, void *, unsigned long long);
  cuda_result (*replay)(void *, cuda_stream), (*destroy)(void *), (*destroy_graph)(void *);
  void *from[] = {symbol("cuStreamBeginCapture_v2"),     symbol("cuStreamEndCapture"),
                  symbol("cuGraphInstantiateWithFlags"), symbol("cuGraphLaunch"),
                  symbol("cuGraphExecDestroy"),          symbol("cuGraphDestroy")},
       *graph, *program;
  (void)state;
  memcpy(&capture, &from[0], sizeof capture);
  memcpy(&end, &from[1], sizeof end);
  memcpy(&instantiate, &from[2], sizeof instantiate);
  memcpy(&replay, &from[3], sizeof replay);
  memcpy(&destroy, &from[4], sizeof destroy);
  memcpy(&destroy_graph, &from[5], sizeof destroy_graph);
  product p = {.dtype = TPRT_F32, .out_dtype = TPRT_F32, .m = 5, .n = 7, .k = 3, .beta = 1};
  buffers s = make_buffers(&p);
  begin(&no_faults);
  tprt_cuda_blas *blas = make_blas(&s);
  tprt_cuda_gemm g = product_gemm(&p, s.of);
  float first = product_load(TPRT_F32, s.of[OF_OUT], 8);
  assert_int_equal(capture(NULL, 0), 0);
  assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
  assert_int_equal(end(NULL, &graph), 0);
  assert_true(product_load(TPRT_F32, s.of[OF_OUT], 8) == first);
  assert_int_equal(instantiate(&program, graph, 0), 0);
  double x = 0;
  for (int64_t l = 0; l < p.k; l++)
    x += product_term(&p, s.of, 0, 1, 1, l);
  for (int i = 1; i <= 3; i++) {
    assert_int_equal(replay(program, NULL), 0);
    assert_true((double)product_load(TPRT_F32, s.of[OF_OUT], 8) == (double)first + i * x);
  }
  assert_int_equal(destroy(program), 0);
  assert_int_equal(destroy_graph(graph), 0);
  tprt_cuda_blas_destroy(blas);
  report();
  free_buffers(&s);
}

/* ---- Rejected arguments ---- */

static void expect(tprt_status got, tprt_status status, const char *text) {
  if (got != status || !strstr(tprt_last_error(), text))
    fail_msg("%s: \"%s\"; expected %s: \"%s\"", tprt_status_name(got), tprt_last_error(),
             tprt_status_name(status), text);
}

static void test_refused(void **state) {
#define OF(type, out, rows, terms)                                                                 \
  .size = sizeof(tprt_cuda_gemm), .dtype = TPRT_##type, .out_dtype = TPRT_##out, .m = (rows),      \
  .n = 4, .k = (terms), .alpha = 1
#define BASE OF(F32, F32, 4, 4)
  static const struct {
    tprt_cuda_gemm gemm;
    tprt_status status;
    const char *text;
  } rows[] = {
      {{.size = 3}, TPRT_INVALID_ARGUMENT, "tprt_cuda_gemm.size is 3"},
      {{OF(F64, F32, 4, 4)}, TPRT_UNSUPPORTED, "unsupported matmul of f64 to f32"},
      {{OF(F32, F64, 4, 4)}, TPRT_UNSUPPORTED, "unsupported matmul of f32 to f64"},
      {{OF(F64, F64, 4, 4), .bias = (void *)256},
       TPRT_UNSUPPORTED,
       "matmuls of f64 have neither an epilogue nor a bias"},
      {{OF(F64, F64, 4, 4), .bias_gradient = (void *)256},
       TPRT_UNSUPPORTED,
       "matmuls of f64 have neither"},
      {{OF(F64, F64, 4, 4), .epilogue = TPRT_CUDA_GELU}, TPRT_UNSUPPORTED, "matmuls of f64 have"},
      {{OF(F32, BF16, 4, 4)}, TPRT_UNSUPPORTED, "unsupported matmul of f32 to bf16"},
      {{OF(BF16, BF16, 4, 4), .tf32 = true},
       TPRT_INVALID_ARGUMENT,
       "tf32 needs operands of f32, not of bf16"},
#define F8(type, out, rows, terms) OF(type, out, rows, terms), .transpose_b = true
#define WIDE_F8                                                                                    \
  .size = sizeof(tprt_cuda_gemm), .dtype = TPRT_F8E4M3, .out_dtype = TPRT_F32, .m = 4, .n = 16,    \
  .k = 16, .transpose_b = true, .alpha = 1
      {{F8(F8E4M3, F64, 4, 16)}, TPRT_UNSUPPORTED, "matmul of f8e4m3 and f8e4m3 to f64"},
      {{F8(F8E5M2, F32, 4, 16)}, TPRT_UNSUPPORTED, "matmul of f8e5m2 and f8e5m2 to f32; f8 is"},
      {{F8(F8E4M3, F32, 4, 16), .dtype_b = TPRT_BF16},
       TPRT_UNSUPPORTED,
       "matmul of f8e4m3 and bf16 to f32"},
      {{F8(F16, F32, 4, 16), .dtype_b = TPRT_BF16}, TPRT_UNSUPPORTED, "matmul of f16 and bf16"},
      {{OF(F8E4M3, F32, 4, 16)}, TPRT_UNSUPPORTED, "f8 is multiplied along contiguous terms only"},
      {{F8(F8E4M3, F32, 4, 16), .transpose_a = true},
       TPRT_UNSUPPORTED,
       "f8 is multiplied along contiguous terms only"},
      {{F8(F8E4M3, F32, 4, 16)},
       TPRT_UNSUPPORTED,
       "a matmul of f8 has k 16 and n 4, rows of 16, 16 and 4 elements, and steps of 0, 0 and 0"},
      {{F8(F8E4M3, F32, 4, 16), .row_a = 24, .row_out = 16},
       TPRT_UNSUPPORTED,
       "rows of 24, 16 and 16 elements"},
      {{WIDE_F8, .bias = (void *)256},
       TPRT_UNSUPPORTED,
       "matmuls of f8 have neither an epilogue nor a bias"},
      {{WIDE_F8, .tf32 = true}, TPRT_INVALID_ARGUMENT, "tf32 needs operands of f32, not of f8e4m3"},
      {{OF(F32, F32, -1, 4)}, TPRT_INVALID_ARGUMENT, "1 matmuls of -1 x 4 x 4"},
      {{BASE, .batch = -1}, TPRT_INVALID_ARGUMENT, "-1 matmuls of 4 x 4 x 4"},
      {{OF(F32, F32, 4, 0)}, TPRT_UNSUPPORTED, "k has size 0"},
      {{BASE, .row_a = 3},
       TPRT_INVALID_ARGUMENT,
       "rows of a have a stride of 3 elements, but a length of 4"},
      {{BASE, .row_b = 3},
       TPRT_INVALID_ARGUMENT,
       "rows of b have a stride of 3 elements, but a length of 4"},
      {{BASE, .row_out = 3},
       TPRT_INVALID_ARGUMENT,
       "rows of out have a stride of 3 elements, but a length of 4"},
      {{BASE, .row_out = INT64_MAX / 4}, TPRT_INVALID_ARGUMENT, "out is too large: 4 rows with"},
      {{BASE, .batch = 2},
       TPRT_INVALID_ARGUMENT,
       "matrices out have a batch stride of 0 elements, but a size of 16"},
      {{BASE, .batch = 2, .step_out = 16, .step_a = -1},
       TPRT_INVALID_ARGUMENT,
       "matrices a have a batch stride of -1 elements"},
      {{BASE, .epilogue = 5}, TPRT_INVALID_ARGUMENT, "epilogue 5 does not exist"},
      {{BASE, .epilogue = TPRT_CUDA_GELU_GRADIENT}, TPRT_INVALID_ARGUMENT, "a gradient needs aux"},
      {{BASE, .aux = (void *)256},
       TPRT_INVALID_ARGUMENT,
       "aux needs an epilogue with an activation function"},
      {{BASE, .epilogue = TPRT_CUDA_RELU_GRADIENT, .aux = (void *)256, .bias = (void *)256},
       TPRT_INVALID_ARGUMENT,
       "a gradient epilogue takes no bias"},
      {{BASE, .bias_gradient = (void *)256, .bias = (void *)256},
       TPRT_INVALID_ARGUMENT,
       "a bias gradient excludes a bias"},
      {{BASE, .bias_gradient = (void *)256, .epilogue = TPRT_CUDA_RELU},
       TPRT_INVALID_ARGUMENT,
       "a bias gradient excludes a bias"},
      {{BASE, .batch = 2, .step_out = 16, .bias_gradient = (void *)256},
       TPRT_UNSUPPORTED,
       "a bias gradient of 2 matmuls"},
      {{BASE}, TPRT_INVALID_ARGUMENT, "a is NULL"},
      {{BASE, .a = (void *)256, .b = (void *)256}, TPRT_INVALID_ARGUMENT, "out is NULL"},
      {{BASE, .a = (void *)256, .b = (void *)264},
       TPRT_INVALID_ARGUMENT,
       "b is at 0x108; addresses must be multiples of 16"},
      {{BASE, .a = (void *)256, .b = (void *)256, .out = (void *)256, .bias = (void *)4},
       TPRT_INVALID_ARGUMENT,
       "bias is at 0x4"},
  };
  buffers s = make_buffers(&products[0]);
  (void)state;
  begin(&no_faults);
  tprt_cuda_blas *blas = make_blas(&s);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    expect(tprt_cuda_multiply(blas, &rows[i].gemm, NULL), rows[i].status, rows[i].text);
  expect(tprt_cuda_multiply(blas, NULL, NULL), TPRT_INVALID_ARGUMENT,
         "tprt_cuda_multiply: gemm is NULL");
  assert_int_equal(report().n_calls, 1);
  fake_blaslt_plan nothing = {.knows_nothing = true};
  begin(&nothing);
  tprt_cuda_gemm g = product_gemm(&products[0], s.of);
  expect(tprt_cuda_multiply(blas, &g, NULL), TPRT_UNSUPPORTED,
         "no algorithm for 1 matmuls of 5 x 9 x 7 with epilogue 1");
  tprt_cuda_blas_destroy(blas);
  assert_int_equal(report().n_alive, 0);
  tprt_cuda_blas_config config = {
      .size = sizeof config, .workspace = s.workspace + 16, .workspace_bytes = 64};
  expect(tprt_cuda_blas_create(&config, &blas), TPRT_INVALID_ARGUMENT,
         "invalid workspace of 64 bytes at");
  config.size = 1;
  expect(tprt_cuda_blas_create(&config, &blas), TPRT_INVALID_ARGUMENT,
         "tprt_cuda_blas_config.size is 1");
  free_buffers(&s);
}

/* Every call fails once: the GEMM reports it, no object leaks, and the next call works. */
static void test_faults(void **state) {
  enum { STATUS = 14, NOT_SUPPORTED = 15 };
  const product *p = &products[16]; /* a case with everything: a batch, a bias, aux */
  (void)state;
  buffers s = make_buffers(p);
  for (long at = 1;; at++) {
    fake_blaslt_plan fault = {.fail_at = at, .status = STATUS};
    const tprt_cuda_blas_config config = {
        .size = sizeof config, .workspace = s.workspace, .workspace_bytes = WORKSPACE};
    tprt_cuda_blas *blas = NULL;
    tprt_cuda_gemm g = product_gemm(p, s.of);
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
      product_fill(p, s.of);
      assert_int_equal(tprt_cuda_multiply(blas, &g, NULL), TPRT_OK);
      assert_int_equal(product_check(p, s.of, s.of[OF_OUT], 0), 0);
    }
    tprt_cuda_blas_destroy(blas);
    assert_int_equal(report().n_alive, 0);
    if (!r.failed[0]) {
      assert_true(at > 20);
      break;
    }
  }
  fake_blaslt_plan fault = {.status = NOT_SUPPORTED};
  for (fault.fail_at = 1;; fault.fail_at++) {
    /* a missing algorithm is not a device failure */
    tprt_cuda_blas *blas;
    tprt_cuda_gemm g = product_gemm(p, s.of);
    begin(&no_faults);
    blas = make_blas(&s);
    begin(&fault);
    tprt_status status = tprt_cuda_multiply(blas, &g, NULL);
    fake_blaslt_report r = report();
    tprt_cuda_blas_destroy(blas);
    if (strcmp(r.failed, "cublasLtMatmulAlgoGetHeuristic") == 0) {
      expect(status, TPRT_UNSUPPORTED, "no algorithm for 2 matmuls of 2 x 3 x 5");
      break;
    }
    assert_true(r.failed[0]);
  }
  free_buffers(&s);
}

/* Runs before any test loads the library. */
static void test_no_library(void **state) {
  const tprt_cuda_blas_config config = {.size = sizeof config};
  tprt_cuda_blas *blas = NULL;
  (void)state;
  setenv("TPRT_BLASLT_LIBRARY", "/nowhere/libcublasLt.so", 1);
  expect(tprt_cuda_blas_create(&config, &blas), TPRT_UNSUPPORTED,
         "cuBLASLt: /nowhere/libcublasLt.so: cannot open");
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
      cmocka_unit_test(test_no_library),  cmocka_unit_test(test_products),
      cmocka_unit_test(test_relu_of_nan), cmocka_unit_test(test_relu_of_nan),
      cmocka_unit_test(test_tf32),        cmocka_unit_test(test_kept),
      cmocka_unit_test(test_graph),       cmocka_unit_test(test_refused),
      cmocka_unit_test(test_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
