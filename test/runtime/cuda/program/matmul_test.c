/* Tests matmuls with epilogues in GPU programs, against sums in f64. */
#define _GNU_SOURCE 1
#include "blas_fakes.h"
#include "test/runtime/harness/table.h"
#include "tprt/cuda_gemm.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct product_row {
  const char *name;
  tprt_dtype dtype;
  int n_products; /* calls of cuBLASLt; 0: the kernel */
  int64_t m, n, k, transposed, function, bias;
  int shift; /* offset of the bias from an aligned address, in elements */
} product_row;

// clang-format off
static const product_row product_rows[] = {
    {"bias",              TPRT_F32,  1, 16, 24, 20, 0, TPRT_CUDA_NOTHING, 1, 0},
    {"bias, relu",        TPRT_F32,  1, 33, 20, 12, 0, TPRT_CUDA_RELU,    1, 0},
    {"relu, transposed",  TPRT_BF16, 1, 16, 24, 24, 1, TPRT_CUDA_RELU,    0, 0},
    {"bias, gelu",        TPRT_F16,  1, 16, 24, 24, 0, TPRT_CUDA_GELU,    1, 0},
    {"gelu, transposed",  TPRT_F32,  1, 40, 8,  20, 1, TPRT_CUDA_GELU,    0, 0},
    {"a column",          TPRT_F32,  1, 64, 1,  16, 0, TPRT_CUDA_RELU,    1, 0},
    {"a row",             TPRT_F32,  1, 1,  64, 16, 0, TPRT_CUDA_RELU,    1, 0},
    {"a term",            TPRT_F32,  1, 32, 32, 1,  1, TPRT_CUDA_GELU,    1, 0},
    {"none of it",        TPRT_BF16, 1, 16, 24, 24, 0, TPRT_CUDA_NOTHING, 0, 0},
    {"bias off alignment", TPRT_F32, 0, 35, 40, 20, 0, TPRT_CUDA_GELU,    1, 1},
    {"bf16 off alignment", TPRT_BF16, 0, 35, 40, 24, 1, TPRT_CUDA_RELU,   1, 3},
    {"small",             TPRT_F16,  0, 4,  5,  6,  0, TPRT_CUDA_RELU,    1, 0},
    {"no rows",           TPRT_F32,  0, 0,  5,  6,  0, TPRT_CUDA_RELU,    1, 0},
};
// clang-format on
enum { N_PRODUCT_ROWS = sizeof product_rows / sizeof *product_rows };

static tprt_abi_operands operands_of(const product_row *r) {
  tprt_abi_operands made = {0};
  add_input(&made, TPRT_IN_A);
  add_input(&made, TPRT_IN_B);
  if (r->bias)
    add_input(&made, TPRT_IN_BIAS);
  add_output(&made, TPRT_OUT_TENSOR);
  return made;
}

static test_table make_product(const product_row *r) {
  int64_t one = 1, shape[] = {r->m, r->n};
  const tprt_abi_fused_matmul extra = {
      .operands = operands_of(r), .k = r->k, .transpose_b = r->transposed, .function = r->function};
  test_table t = table_make(1, &one);
  table_site(&t, TPRT_SITE_FUSED_MATMUL, r->dtype, TPRT_NO_REDUCTION, 0, NULL, 2, shape, &extra,
             N_WORDS_OF(tprt_abi_fused_matmul));
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

enum { OPERAND_A, OPERAND_B, OPERAND_BIAS, OUT, N_BUFFERS };

/* Runs the row's site on memory, copies of which go to the GPU; passes a bias or not, regardless of
 * the site. */
static tprt_status run_product(const product_row *r, bool bias, char *memory[N_BUFFERS],
                               char error[256]) {
  test_table program = make_product(r);
  tprt_comm *world = blas_world();
  tprt_context *context = blas_context(world, TPRT_TARGET_CUDA);
  size_t size = tprt_dtype_size(r->dtype), bytes = BLAS_ELEMENTS * size;
  void *at[N_BUFFERS];
  tprt_status status = (tprt_status)tprt_abi_enter(context, program.words);
  for (int i = 0; i < N_BUFFERS; i++) {
    assert_int_equal(tprt_context_alloc(context, bytes, &at[i]), TPRT_OK);
    assert_int_equal(tprt_context_upload(context, at[i], memory[i], bytes), TPRT_OK);
  }
  const tprt_abi_operands operands = operands_of(r);
  const fused_pointers pointers = {
      {[TPRT_IN_A] = {at[OPERAND_A]},
       [TPRT_IN_B] = {at[OPERAND_B]},
       [TPRT_IN_BIAS] = {bias ? (char *)at[OPERAND_BIAS] + (size_t)r->shift * size : NULL},
       [TPRT_OUT_TENSOR] = {at[OUT]}}};
  if (!status)
    status = (tprt_status)call_fused(context, 0, &operands, &pointers);
  if (!status) {
    tprt_site_stats stats;
    assert_int_equal(tprt_context_download(context, memory[OUT], at[OUT], bytes), TPRT_OK);
    assert_int_equal(tprt_context_site_stats(context, 0, &stats), TPRT_OK);
    assert_true(stats.calls == 1 && stats.bytes == 0);
  }
  snprintf(error, 256, "%s", tprt_context_error(context));
  for (int i = 0; i < N_BUFFERS; i++)
    tprt_context_free(context, at[i]);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
  return status;
}

static double element(tprt_dtype dtype, const char *memory, int64_t i) {
  uint16_t half;
  float f;
  memcpy(&half, memory + 2 * i, sizeof half);
  memcpy(&f, memory + (dtype == TPRT_F32 ? 4 * i : 0), sizeof f);
  return (double)(dtype == TPRT_F32   ? f
                  : dtype == TPRT_F16 ? tprt_f16_to_f32(half)
                                      : tprt_bf16_to_f32(half));
}

static double finished(int64_t function, double x) {
  double gelu = 0.5 * x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x)));
  return function == TPRT_CUDA_RELU ? (x > 0 ? x : 0) : function == TPRT_CUDA_GELU ? gelu : x;
}

/* Sums are whole numbers, so everything but GELU is exact except for one rounding of the result. */
static void check_product(const product_row *r, char *const memory[N_BUFFERS]) {
  const double unit = r->dtype == TPRT_F32 ? 0x1p-23 : r->dtype == TPRT_F16 ? 0x1p-11 : 0x1p-8;
  for (int64_t i = 0; i < r->m; i++)
    for (int64_t j = 0; j < r->n; j++) {
      double sum = r->bias ? element(r->dtype, memory[OPERAND_BIAS], j + r->shift) : 0;
      for (int64_t l = 0; l < r->k; l++)
        sum += element(r->dtype, memory[OPERAND_A], i * r->k + l) *
               element(r->dtype, memory[OPERAND_B], r->transposed ? j * r->k + l : l * r->n + j);
      double wanted = finished(r->function, sum),
             got = element(r->dtype, memory[OUT], i * r->n + j);
      if (r->function == TPRT_CUDA_RELU && isnan(sum) && isnan(got)) /* NaN or 0 is right */
        continue;
      bool near =
          fabs(got - wanted) <= unit * fabs(wanted) + (r->function == TPRT_CUDA_GELU ? 2e-5 : 0);
      if (!(isnan(wanted) && isnan(got)) && !near)
        fail_msg("%s: %lld, %lld is %g, expected %g", r->name, (long long)i, (long long)j, got,
                 wanted);
    }
}

/* A NaN in the first row, of which relu makes NaN or 0. With cuBLASLt, and if it has no
 * algorithm. */
static void test_products(void **state) {
  (void)state;
  static const fake_blaslt_plan nothing = {.knows_nothing = true};
  const float nan = NAN;
  for (int i = 0; i < 2 * N_PRODUCT_ROWS; i++) {
    const product_row *r = &product_rows[i % N_PRODUCT_ROWS];
    char *memory[N_BUFFERS], error[256];
    bool knows = i < N_PRODUCT_ROWS;
    blas_buffers(r->dtype, N_BUFFERS, 3, memory);
    const uint16_t half = r->dtype == TPRT_F16 ? tprt_f32_to_f16(nan) : tprt_f32_to_bf16(nan);
    memcpy(memory[OPERAND_A], r->dtype == TPRT_F32 ? (const void *)&nan : (const void *)&half,
           tprt_dtype_size(r->dtype));
    blas_begin(knows ? &blas_without_faults : &nothing);
    if (run_product(r, r->bias, memory, error))
      fail_msg("%s: %s", r->name, error);
    fake_blaslt_report report_of = blas_report();
    if (report_of.n_products != (knows ? r->n_products : 0) || report_of.n_alive ||
        report_of.n_violations)
      fail_msg("%s: %ld products, %ld alive, %d violations: %s", r->name, report_of.n_products,
               report_of.n_alive, report_of.n_violations, report_of.violation);
    check_product(r, memory);
    blas_buffers_free(N_BUFFERS, memory);
  }
}

/* A call must pass exactly the operands that its site has. */
static void test_bias_that_is_missing(void **state) {
  (void)state;
  for (int i = 0; i < N_PRODUCT_ROWS; i++) {
    char *memory[N_BUFFERS], error[256];
    const product_row *r = &product_rows[i];
    if (!r->bias || r->m == 0) /* without elements nothing is read */
      continue;
    blas_buffers(r->dtype, N_BUFFERS, 3, memory);
    blas_begin(&blas_without_faults);
    assert_int_equal(run_product(r, false, memory, error), TPRT_INVALID_ARGUMENT);
    if (!strstr(error, "site 0: input 2 of the site is NULL"))
      fail_msg("%s: \"%s\"", r->name, error);
    blas_buffers_free(N_BUFFERS, memory);
  }
}

/* Invalid words of a table. */
static void test_wrong_products(void **state) {
  (void)state;
  static const struct {
    size_t word;
    int64_t value;
    const char *text;
  } cases[] = {
      {HEADER_WORD(target), TPRT_TARGET_HOST, "fused sites are supported in GPU programs only"},
      {SITE_WORD(dtype), TPRT_F64, "of a tensor of f64"},
      {SITE_WORD(reduction), TPRT_SUM, "reduction sum of a tensor"},
      {SITE_WORD(n_axes), 1, "number of axes is 1"},
      {SITE_WORD(rank), 0, "shape: a word is unused"},
      {SITE_WORD(shape[0]), -1, "dimension 0 has size -1"},
      {SITE_WORD(shape[1]), 0, "columns of a matmul is 0"},
      {SITE_WORD(dim), 1, "dim is 1"},
      {SITE_WORD(n_extra), 3, "fused matmul: has 3 words of extra data, expected 25"},
      {EXTRA_WORD(tprt_abi_fused_matmul, k), 0, "k of a matmul is 0"},
      {EXTRA_WORD(tprt_abi_fused_matmul, k), INT64_C(1) << 61, "contraction: loop"},
      {EXTRA_WORD(tprt_abi_fused_matmul, transpose_b), 2, "transposed operand is 2"},
      {EXTRA_WORD(tprt_abi_fused_matmul, function), TPRT_CUDA_RELU_GRADIENT,
       "function of a matmul is 3"},
      {EXTRA_WORD(tprt_abi_operands, n_inputs), 1, "inputs is 3; it must be from 0 to 0"},
      {EXTRA_WORD(tprt_abi_operands, n_inputs), 11, "inputs is 11; it must be from 0 to 10"},
      {EXTRA_WORD(tprt_abi_operands, inputs[1]), TPRT_IN_A, "inputs: 2 is listed twice"},
      {EXTRA_WORD(tprt_abi_operands, inputs[0]), TPRT_IN_TENSOR,
       "fused matmul: operands 0x80002a; it needs 0x80000c and may have 0x20"},
      {EXTRA_WORD(tprt_abi_operands, inputs[0]), TPRT_OUT_TENSOR, "inputs is 23"},
      {EXTRA_WORD(tprt_abi_operands, outputs[0]), TPRT_IN_A, "outputs is 2"},
      {EXTRA_WORD(tprt_abi_operands, outputs[0]), TPRT_OUT_SCALE, "fused matmul: operands"},
  };
  test_table t = make_product(&product_rows[0]);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_true(table_refused(&t, cases[i].word, cases[i].value, cases[i].text));
  table_free(&t);
}

/* Calls of sites of another kind. */
static void test_other_kind(void **state) {
  (void)state;
  test_table t = make_product(&product_rows[0]);
  static const int64_t loops[] = {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0};
  table_contract(&t, TPRT_F32, 3, loops);
  blas_begin(&blas_without_faults);
  for (int i = 0; i < 2; i++) {
    tprt_comm *world = blas_world();
    tprt_context *context = blas_context(world, TPRT_TARGET_CUDA);
    assert_int_equal(tprt_abi_enter(context, t.words), TPRT_OK);
    int32_t status = i ? tprt_abi_contract(context, 0, NULL, NULL, NULL)
                       : tprt_abi_fused(context, 1, NULL, NULL);
    assert_int_equal(status, TPRT_INVALID_ARGUMENT);
    assert_non_null(strstr(tprt_context_error(context),
                           i ? "site 0 of the bound program is not of kind contraction"
                             : "site 1 of the bound program is not of kind fused site"));
    tprt_context_destroy(context);
    tprt_comm_destroy(world);
  }
  table_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_products),
      cmocka_unit_test(test_bias_that_is_missing),
      cmocka_unit_test(test_wrong_products),
      cmocka_unit_test(test_other_kind),
  };
  return cmocka_run_group_tests(tests, blas_fakes_setup, NULL);
}
