/* Tests contractions of GPU programs with factors of narrower types and results of f32. Each uses
 * the expected implementation, cuBLASLt or a kernel, and is bitwise equal to the CPU. */
#define _GNU_SOURCE 1
#include "blas_fakes.h"
#include "test/runtime/harness/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_LOOPS = 6 };

typedef struct mixed_row {
  const char *name;
  tprt_dtype a, b;
  int n_products;
  bool overwrite;
  int shift; /* of A, in elements */
  int n_loops;
  int64_t loops[4 * MOST_LOOPS];
} mixed_row;

// clang-format off
static const mixed_row mixed_rows[] = {
    {"bf16",            TPRT_BF16, TPRT_BF16, 1, true, 0, 3, {16, 24, 0, 24, 24, 0, 1, 1, 24, 1, 24, 0}},
    {"f16, two sums",   TPRT_F16,  TPRT_F16,  2, false, 0, 4, {2, 400, 600, 0, 16, 24, 0, 24, 24, 0, 1, 1, 24, 1, 24, 0}},
    {"C transposed",    TPRT_BF16, TPRT_BF16, 1, true, 0, 3, {16, 24, 0, 1, 24, 0, 1, 16, 24, 1, 24, 0}},
    {"bf16 off alignment", TPRT_BF16, TPRT_BF16, 0, true, 1, 3, {33, 35, 0, 37, 37, 0, 1, 1, 35, 1, 37, 0}},
    {"f16 off alignment", TPRT_F16, TPRT_F16, 0, false, 3, 3, {33, 35, 0, 37, 37, 0, 1, 1, 35, 1, 37, 0}},
    {"e4m3",            TPRT_F8E4M3, TPRT_F8E4M3, 1, true, 0, 3, {5, 32, 0, 16, 16, 0, 32, 1, 32, 1, 1, 0}},
    {"e4m3, e5m2",      TPRT_F8E4M3, TPRT_F8E5M2, 1, false, 0, 3, {16, 32, 0, 48, 48, 0, 32, 1, 32, 1, 1, 0}},
    {"e5m2, e4m3, batch", TPRT_F8E5M2, TPRT_F8E4M3, 1, true, 0, 4, {3, 512, 512, 256, 16, 32, 0, 16, 16, 0, 32, 1, 32, 1, 1, 0}},
    {"e5m2",            TPRT_F8E5M2, TPRT_F8E5M2, 0, true, 0, 3, {16, 32, 0, 48, 48, 0, 32, 1, 32, 1, 1, 0}},
    {"e4m3, B as stored", TPRT_F8E4M3, TPRT_F8E4M3, 0, true, 0, 3, {16, 32, 0, 48, 48, 0, 1, 1, 32, 1, 48, 0}},
    {"e4m3, A turned",  TPRT_F8E4M3, TPRT_F8E5M2, 0, true, 0, 3, {16, 1, 0, 48, 48, 0, 32, 1, 32, 16, 1, 0}},
    {"e4m3, odd terms", TPRT_F8E4M3, TPRT_F8E4M3, 0, true, 0, 3, {16, 40, 0, 48, 48, 0, 40, 1, 40, 1, 1, 0}},
    {"e4m3, odd columns", TPRT_F8E4M3, TPRT_F8E4M3, 0, false, 0, 3, {16, 32, 0, 20, 20, 0, 32, 1, 32, 1, 1, 0}},
    {"e4m3 off alignment", TPRT_F8E4M3, TPRT_F8E4M3, 0, true, 8, 3, {16, 32, 0, 48, 48, 0, 32, 1, 32, 1, 1, 0}},
};
// clang-format on
enum { N_MIXED = sizeof mixed_rows / sizeof *mixed_rows };

static test_table make_mixed(const mixed_row *r) {
  int64_t one = 1;
  test_table t = table_make(1, &one);
  tprt_abi_site *site = table_contract(&t, TPRT_F32, r->n_loops, r->loops);
  site->dim = r->overwrite;
  site->split_dim = r->a;
  site->root = r->b;
  table_header(&t)->target = TPRT_TARGET_CUDA;
  return t;
}

/* Runs the row's site on copies of `narrow`, into memory[2]. */
static void run_mixed(const mixed_row *r, char *narrow[2], char *memory[3]) {
  test_table program = make_mixed(r);
  tprt_comm *world = blas_world();
  tprt_context *context = blas_context(world, TPRT_TARGET_CUDA);
  const size_t sizes[3] = {tprt_dtype_size(r->a), tprt_dtype_size(r->b), sizeof(float)};
  char *const from[3] = {narrow[0], narrow[1], memory[2]};
  void *at[3];
  int32_t status = tprt_abi_enter(context, program.words);
  for (int i = 0; i < 3 && !status; i++) {
    assert_int_equal(tprt_context_alloc(context, BLAS_ELEMENTS * sizes[i], &at[i]), TPRT_OK);
    assert_int_equal(tprt_context_upload(context, at[i], from[i], BLAS_ELEMENTS * sizes[i]),
                     TPRT_OK);
  }
  if (!status)
    status =
        tprt_abi_contract(context, 0, (char *)at[0] + (size_t)r->shift * sizes[0], at[1], at[2]);
  if (status)
    fail_msg("%s: %s", r->name, tprt_context_error(context));
  assert_int_equal(tprt_context_download(context, memory[2], at[2], BLAS_ELEMENTS * sizeof(float)),
                   TPRT_OK);
  for (int i = 0; i < 3; i++)
    tprt_context_free(context, at[i]);
  tprt_context_destroy(context);
  tprt_comm_destroy(world);
  table_free(&program);
}

/* Rounds the numbers of wide[i] to the types of the row, in which they are exact. */
static void make_narrow(const mixed_row *r, char *wide[3], char *narrow[2]) {
  for (int i = 0; i < 2; i++) {
    tprt_dtype dtype = i ? r->b : r->a;
    narrow[i] = malloc(BLAS_ELEMENTS * 2);
    for (int k = 0; k < BLAS_ELEMENTS; k++) {
      float f;
      memcpy(&f, wide[i] + 4 * k, sizeof f);
      uint16_t half = dtype == TPRT_F16 ? tprt_f32_to_f16(f) : tprt_f32_to_bf16(f);
      uint8_t quarter = dtype == TPRT_F8E4M3 ? tprt_f32_to_f8e4m3(f) : tprt_f32_to_f8e5m2(f);
      memcpy(narrow[i] + 2 * k, &half, sizeof half);
      if (tprt_dtype_size(dtype) == 1)
        memcpy(narrow[i] + k, &quarter, sizeof quarter);
    }
  }
}

/* Each row has, bit for bit, the result that the CPU computes after widening both factors. With a
 * compute capability below 8.9, f8 is left to the kernel. */
static void test_mixed(void **state) {
  (void)state;
  for (int old = 0; old < 2; old++)
    for (int i = 0; i < N_MIXED; i++) {
      const mixed_row *r = &mixed_rows[i];
      bool is_f8 = tprt_dtype_size(r->a) == 1;
      char *memory[3], *expected[3], *narrow[2];
      if (old && !is_f8)
        continue;
      blas_memory(TPRT_F32, memory);
      blas_memory(TPRT_F32, expected);
      make_narrow(r, memory, narrow);
      memmove(expected[0], expected[0] + 4 * r->shift, (size_t)(BLAS_ELEMENTS - r->shift) * 4);
      blas_begin(&blas_without_faults);
      setenv("FAKE_CAPABILITY", old ? "8.6" : "9.0", 1);
      run_mixed(r, narrow, memory);
      unsetenv("FAKE_CAPABILITY");
      fake_blaslt_report seen = blas_report();
      if (seen.n_products != (old ? 0 : r->n_products) || seen.n_alive || seen.n_violations)
        fail_msg("%s: %ld products, %ld alive, %d violations: %s", r->name, seen.n_products,
                 seen.n_alive, seen.n_violations, seen.violation);
      blas_on_host(TPRT_F32, r->overwrite, r->n_loops, r->loops, expected[0], expected[1],
                   expected[2]);
      if (memcmp(memory[2], expected[2], BLAS_ELEMENTS * sizeof(float)) != 0)
        fail_msg("%s: other bits than the processor", r->name);
      blas_memory_free(memory);
      blas_memory_free(expected);
      free(narrow[0]);
      free(narrow[1]);
    }
}

static void test_mixed_tables(void **state) {
  static const struct {
    size_t word;
    int64_t value;
    const char *text;
  } cases[] = {
      {HEADER_WORD(target), TPRT_TARGET_HOST,
       "A is of type 4, B of 4, C of 1; a program for GPUs may multiply f16, bf16 or f8 into f32"},
      {SITE_WORD(split_dim), TPRT_F16, "A is of type 3, B of 4, C of 1"},
      {SITE_WORD(split_dim), TPRT_F8E4M3, "A is of type 16, B of 4, C of 1"},
      {SITE_WORD(split_dim), 0, "A is of type 0, B of 4, C of 1"},
      {SITE_WORD(split_dim), -1, "type of A is -1"},
      {SITE_WORD(root), TPRT_N_DTYPES, "type of B is 18"},
      {SITE_WORD(dtype), TPRT_F64, "A is of type 4, B of 4, C of 2"},
  };
  (void)state;
  test_table t = make_mixed(&mixed_rows[0]);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_true(table_refused(&t, cases[i].word, cases[i].value, cases[i].text));
  table_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_mixed),
      cmocka_unit_test(test_mixed_tables),
  };
  return cmocka_run_group_tests(tests, blas_fakes_setup, NULL);
}
