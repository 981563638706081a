/* Tests contractions of GPU programs: each uses the expected implementation, cuBLASLt or a kernel,
 * and is bitwise equal to the CPU. Operands are small integers, so sums are exact in f32 and only
 * the final rounding remains. */
#define _GNU_SOURCE 1
#include "blas_fakes.h"
#include "test/runtime/harness/table.h"
#include "tprt/cuda_gemm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_LOOPS = 6 };

typedef struct row {
  const char *name;
  tprt_dtype dtype;
  int n_products; /* calls of cuBLASLt; 0: the kernel */
  bool overwrite;
  int shift; /* offset of each operand from an aligned address, in elements */
  int n_loops;
  int64_t loops[4 * MOST_LOOPS]; /* size, stride in A, B, C */
} row;

// clang-format off
static const row rows[] = {
    {"f32",              TPRT_F32,  1, true,  0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"f32 added",        TPRT_F32,  1, false, 0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"bf16",             TPRT_BF16, 1, true,  0, 3, {16, 24, 0, 24, 24, 0, 1, 1, 24, 1, 24, 0}},
    {"bf16 added",       TPRT_BF16, 1, false, 0, 3, {16, 24, 0, 24, 24, 0, 1, 1, 24, 1, 24, 0}},
    {"f16, A transposed", TPRT_F16, 1, true,  0, 3, {16, 1, 0, 24, 24, 0, 1, 1, 24, 16, 24, 0}},
    {"B transposed",     TPRT_F32,  1, true,  0, 3, {16, 24, 0, 20, 20, 0, 24, 1, 24, 1, 1, 0}},
    {"C transposed",     TPRT_F32,  1, true,  0, 3, {16, 24, 0, 1, 20, 0, 1, 16, 24, 1, 20, 0}},
    {"vector",           TPRT_F32,  1, true,  0, 2, {32, 24, 0, 1, 24, 1, 1, 0}},
    {"batch",            TPRT_BF16, 1, true,  0, 4, {3, 384, 576, 384, 16, 24, 0, 24, 24, 0, 1, 1, 24, 1, 24, 0}},
    {"batch in C's rows", TPRT_F32, 1, true,  0, 4, {3, 24, 480, 20, 16, 72, 0, 60, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"shared B",         TPRT_F32,  1, true,  0, 4, {3, 400, 0, 320, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"two loops around", TPRT_F32,  2, true,  0, 5, {2, 1600, 0, 2000, 3, 24, 480, 20, 16, 72, 0, 60, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"two sums",         TPRT_F32,  2, true,  0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"two sums added",   TPRT_F32,  2, false, 0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"bf16, two sums",   TPRT_BF16, 0, true,  0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"f16, two sums added", TPRT_F16, 0, false, 0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"many around",      TPRT_F32,  0, true,  0, 5, {33, 4, 4, 16, 34, 8, 8, 528, 4, 32, 0, 4, 4, 0, 1, 1, 32, 1, 4, 0}},
    {"off alignment",    TPRT_F32,  0, true,  1, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"odd strides",      TPRT_F32,  0, true,  0, 3, {16, 48, 0, 40, 20, 0, 2, 2, 24, 2, 40, 0}},
    {"small",            TPRT_F32,  0, true,  0, 3, {4, 4, 0, 4, 4, 0, 1, 1, 4, 1, 4, 0}},
    {"edges of tiles",   TPRT_F64,  0, false, 1, 3, {33, 35, 0, 37, 37, 0, 1, 1, 35, 1, 37, 0}},
    {"f64",              TPRT_F64,  1, true,  0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"f64 added, odd rows", TPRT_F64, 1, false, 0, 3, {33, 35, 0, 37, 37, 0, 1, 1, 35, 1, 37, 0}},
    {"f64, two sums",    TPRT_F64,  2, true,  0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"f64, batch",       TPRT_F64,  1, true,  0, 4, {3, 24, 480, 20, 16, 72, 0, 60, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"i8",               TPRT_I8,   0, true,  0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"u16 added",        TPRT_U16,  0, false, 0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"i32 added",        TPRT_I32,  0, false, 0, 3, {16, 1, 0, 20, 20, 0, 24, 1, 24, 16, 1, 0}},
    {"u64",              TPRT_U64,  0, true,  0, 4, {2, 400, 600, 0, 16, 24, 0, 20, 20, 0, 1, 1, 24, 1, 20, 0}},
    {"nothing to add",   TPRT_F32,  0, false, 0, 3, {16, 24, 0, 20, 20, 0, 1, 1, 0, 1, 20, 0}},
};
// clang-format on
enum { N_ROWS = sizeof rows / sizeof *rows };

static bool asks_for_tf32; /* what programs say */

static test_table make_program(const row *r, tprt_target target) {
  int64_t one = 1;
  test_table t = table_make(1, &one);
  table_contract(&t, r->dtype, r->n_loops, r->loops)->dim = r->overwrite;
  table_header(&t)->target = target;
  table_header(&t)->tf32 = target == TPRT_TARGET_CUDA && asks_for_tf32;
  return t;
}

/* Runs the row's site on memory[0] and memory[1], into memory[2]; copies of them go to the GPU. */
static tprt_status run(const row *r, tprt_target target, char *memory[3], char error[256]) {
  test_table program = make_program(r, target);
  tprt_comm *world = blas_world();
  tprt_context *context = blas_context(world, target);
  size_t size = tprt_dtype_size(r->dtype), bytes = BLAS_ELEMENTS * size,
         shift = (size_t)r->shift * size;
  char *at[3] = {memory[0], memory[1], memory[2]};
  tprt_status status = (tprt_status)tprt_abi_enter(context, program.words);
  for (int i = 0; i < 3 && !status && target == TPRT_TARGET_CUDA; i++) {
    void *made;
    assert_int_equal(tprt_context_alloc(context, bytes, &made), TPRT_OK);
    assert_int_equal(tprt_context_upload(context, made, memory[i], bytes), TPRT_OK);
    at[i] = made;
  }
  if (!status)
    status =
        (tprt_status)tprt_abi_contract(context, 0, at[0] + shift, at[1] + shift, at[2] + shift);
  snprintf(error, 256, "%s", tprt_context_error(context));
  for (int i = 0; i < 3 && at[i] != memory[i]; i++) {
    if (!status && i == 2)
      assert_int_equal(tprt_context_download(context, memory[2], at[2], bytes), TPRT_OK);
    tprt_context_free(context, at[i]);
  }
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
  return status;
}

/* ---- Without cuBLASLt ---- */

static void test_no_cublaslt(void **state) {
  (void)state;
  char *memory[3], error[256];
  setenv("TPRT_BLASLT_LIBRARY", "/nonexistent/libcublasLt.so", 1);
  for (int i = 0; i < N_ROWS; i++) {
    /* fails when the program is bound, and only if it would be used */
    blas_memory(rows[i].dtype, memory);
    bool wanted = rows[i].n_products || rows[i].shift;
    if (run(&rows[i], TPRT_TARGET_CUDA, memory, error) != (wanted ? TPRT_UNSUPPORTED : TPRT_OK))
      fail_msg("%s: \"%s\"", rows[i].name, error);
    if (wanted && !strstr(error, "cuBLASLt: /nonexistent/libcublasLt.so"))
      fail_msg("%s: \"%s\"", rows[i].name, error);
    blas_memory_free(memory);
  }
  setenv("TPRT_BLASLT_LIBRARY", FAKE_BLASLT, 1);
}

/* ---- All implementations ---- */

static void test_rows(void **state) {
  (void)state;
  for (int i = 0; i < N_ROWS; i++) {
    char *memory[3], *expected[3], error[256];
    blas_memory(rows[i].dtype, memory);
    blas_memory(rows[i].dtype, expected);
    blas_begin(&blas_without_faults);
    if (run(&rows[i], TPRT_TARGET_CUDA, memory, error))
      fail_msg("%s: %s", rows[i].name, error);
    fake_blaslt_report r = blas_report();
    if (r.n_products != rows[i].n_products || r.n_alive || r.n_violations)
      fail_msg("%s: %ld products, %ld alive, %d violations: %s", rows[i].name, r.n_products,
               r.n_alive, r.n_violations, r.violation);
    assert_int_equal(run(&rows[i], TPRT_TARGET_HOST, expected, error), TPRT_OK);
    if (memcmp(memory[2], expected[2], BLAS_ELEMENTS * tprt_dtype_size(rows[i].dtype)) != 0)
      fail_msg("%s: other bits than the processor", rows[i].name);
    blas_memory_free(memory);
    blas_memory_free(expected);
  }
}

/* Operands are rounded to TF32 only if the program says so, and only those of f32. */
static void test_tf32(void **state) {
  static const float finer = 1 + 0x1p-12f, coarse = 1;
  (void)state;
  for (int tf32 = 0; tf32 < 2; tf32++) {
    char *memory[3], error[256];
    asks_for_tf32 = tf32;
    blas_memory(TPRT_F32, memory);
    for (int i = 0; i < BLAS_ELEMENTS; i++) {
      memcpy(memory[0] + 4 * i, &finer, sizeof finer);
      memcpy(memory[1] + 4 * i, &coarse, sizeof coarse);
    }
    blas_begin(&blas_without_faults);
    assert_int_equal(run(&rows[0], TPRT_TARGET_CUDA, memory, error), TPRT_OK);
    assert_int_equal(blas_report().n_violations, 0);
    float sum;
    memcpy(&sum, memory[2], sizeof sum);
    assert_true(sum == 24 * (tf32 ? coarse : finer));
    blas_memory_free(memory);
  }
  char *memory[3], error[256];
  blas_memory(TPRT_BF16, memory);
  blas_begin(&blas_without_faults);
  assert_int_equal(run(&rows[2], TPRT_TARGET_CUDA, memory, error), TPRT_OK);
  assert_true(blas_report().n_products == 1 && blas_report().n_violations == 0);
  blas_memory_free(memory);
  test_table program = make_program(&rows[0], TPRT_TARGET_CUDA);
  assert_true(table_refused(&program, HEADER_WORD(tf32), 2, "TF32 of the program is 2"));
  assert_true(table_refused(&program, HEADER_WORD(target), TPRT_TARGET_HOST,
                            "TF32 of the program is 1; it must be from 0 to 0"));
  table_free(&program);
  asks_for_tf32 = false;
}

/* A shape for which cuBLASLt has no algorithm. */
static void test_no_algorithm(void **state) {
  (void)state;
  static const fake_blaslt_plan nothing = {.knows_nothing = true};
  char *memory[3], *expected[3], error[256];
  blas_memory(rows[0].dtype, memory);
  blas_memory(rows[0].dtype, expected);
  blas_begin(&nothing);
  assert_int_equal(run(&rows[0], TPRT_TARGET_CUDA, memory, error), TPRT_OK);
  assert_int_equal(blas_report().n_products, 0);
  assert_int_equal(run(&rows[0], TPRT_TARGET_HOST, expected, error), TPRT_OK);
  assert_memory_equal(memory[2], expected[2], BLAS_ELEMENTS * sizeof(float));
  blas_memory_free(memory);
  blas_memory_free(expected);
}

/* ---- Failures ---- */

/* Each call of cuBLASLt fails in turn. */
static void test_cublaslt_that_fails(void **state) {
  (void)state;
  enum { STATUS = 13 };
  char *memory[3], error[256];
  long n_failed = 0;
  bool failed = true;
  blas_memory(rows[0].dtype, memory);
  for (long at = 1; failed; at++) {
    const fake_blaslt_plan fault = {.fail_at = at, .status = STATUS};
    blas_begin(&fault);
    tprt_status status = run(&rows[0], TPRT_TARGET_CUDA, memory, error);
    fake_blaslt_report r = blas_report();
    failed = *r.failed;
    bool matters = failed && !strstr(r.failed, "Destroy");
    if (status != (matters ? TPRT_DEVICE : TPRT_OK) || r.n_alive)
      fail_msg("call %ld, %s: status %d, %ld alive: %s", at, r.failed, status, r.n_alive, error);
    n_failed += matters;
  }
  assert_true(n_failed > 15);
  blas_memory_free(memory);
}

/* Each driver function that contractions need fails, in each implementation. */
static void test_driver_that_fails(void **state) {
  (void)state;
  static const struct {
    const char *mode;
    int row;
    const char *text;
    tprt_status status;
  } cases[] = {
      {"allocate", 0, "the workspace of cuBLASLt", TPRT_NO_MEMORY},
      {"load", 0, "the kernels of sites", TPRT_DEVICE},
      {"function", 0, "tprt_contract_f32", TPRT_DEVICE},
      {"launch", N_ROWS - 2, "site 0: CUDA: tprt_contract_i64", TPRT_DEVICE},
  };
  blas_begin(&blas_without_faults);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *memory[3], error[256];
    blas_memory(rows[cases[i].row].dtype, memory);
    setenv("FAKE_CUDA", cases[i].mode, 1);
    if (run(&rows[cases[i].row], TPRT_TARGET_CUDA, memory, error) != cases[i].status ||
        !strstr(error, cases[i].text))
      fail_msg("%s: \"%s\"", cases[i].mode, error);
    setenv("FAKE_CUDA", "", 1);
    blas_memory_free(memory);
  }
  assert_int_equal(blas_report().n_alive, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_no_cublaslt),
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_tf32),
      cmocka_unit_test(test_no_algorithm),
      cmocka_unit_test(test_cublaslt_that_fails),
      cmocka_unit_test(test_driver_that_fails),
  };
  return cmocka_run_group_tests(tests, blas_fakes_setup, NULL);
}
