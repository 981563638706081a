/* Tests contractions against a plain loop nest over the strides, through the program ABI: layouts,
 * types, implementations. */
#define _GNU_SOURCE 1
#include "test/runtime/harness/harness.h"
#include "test/runtime/harness/long.h"
#include "test/runtime/harness/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOOPS = 8 };

#if defined(__SANITIZE_THREAD__)
/* OpenBLAS synchronizes its threads in code that the sanitizer does not instrument. */
__attribute__((visibility("default"))) const char *__tsan_default_suppressions(void);
const char *__tsan_default_suppressions(void) { return "race:libopenblas.so\n"; }
#endif

typedef struct loop_nest {
  int n;
  int64_t words[MAX_LOOPS][4]; /* size, stride in A, B, C */
} loop_nest;

static int64_t extent(const loop_nest *nest, int operand) {
  int64_t last = 0;
  for (int i = 0; i < nest->n; i++)
    last += (nest->words[i][0] - 1) * nest->words[i][1 + operand];
  return last + 1;
}

static double read_number(tprt_dtype t, const void *base, int64_t i) {
  switch (t) {
  case TPRT_F32:
    return (double)((const float *)base)[i];
  case TPRT_F64:
    return ((const double *)base)[i];
  case TPRT_F16:
    return (double)tprt_f16_to_f32(((const uint16_t *)base)[i]);
  case TPRT_BF16:
    return (double)tprt_bf16_to_f32(((const uint16_t *)base)[i]);
  case TPRT_I8:
    return ((const int8_t *)base)[i];
  case TPRT_I64:
    return (double)((const int64_t *)base)[i];
  default:
    return ((const int32_t *)base)[i];
  }
}

static void write_number(tprt_dtype t, void *base, int64_t i, double value) {
  switch (t) {
  case TPRT_F32:
    ((float *)base)[i] = (float)value;
    break;
  case TPRT_F64:
    ((double *)base)[i] = value;
    break;
  case TPRT_F16:
    ((uint16_t *)base)[i] = tprt_f32_to_f16((float)value);
    break;
  case TPRT_BF16:
    ((uint16_t *)base)[i] = tprt_f32_to_bf16((float)value);
    break;
  case TPRT_I8:
    ((int8_t *)base)[i] = (int8_t)value;
    break;
  case TPRT_I64:
    ((int64_t *)base)[i] = (int64_t)value;
    break;
  default:
    ((int32_t *)base)[i] = (int32_t)value;
  }
}

/* Computes the f64 sum for every element of C. Results with rounding are compared within a bound,
 * small integers exactly. */
static void oracle(tprt_dtype t, const loop_nest *nest, const void *a, const void *b, double *c) {
  int64_t total = 1;
  for (int i = 0; i < nest->n; i++)
    total *= nest->words[i][0];
  for (int64_t it = 0; it < total; it++) {
    int64_t rest = it, at[3] = {0, 0, 0};
    for (int i = nest->n - 1; i >= 0; i--) {
      int64_t k = rest % nest->words[i][0];
      rest /= nest->words[i][0];
      for (int x = 0; x < 3; x++)
        at[x] += k * nest->words[i][1 + x];
    }
    c[at[2]] += read_number(t, a, at[0]) * read_number(t, b, at[1]);
  }
}

/* Clears the elements that the loops write. */
static void clear_cells(const loop_nest *nest, double *c) {
  int64_t total = 1;
  for (int i = 0; i < nest->n; i++)
    total *= nest->words[i][0];
  for (int64_t it = 0; it < total; it++) {
    int64_t rest = it, at = 0;
    for (int i = nest->n - 1; i >= 0; i--) {
      at += rest % nest->words[i][0] * nest->words[i][3];
      rest /= nest->words[i][0];
    }
    c[at] = 0;
  }
}

static int check_nest(tprt_comm *comm, tprt_dtype t, const loop_nest *nest, const char *name,
                      bool overwrite) {
  int errors = 0;
  size_t size = tprt_dtype_size(t);
  int64_t n[3];
  char *x[3];
  uint64_t seed = 1;
  for (int i = 0; i < 3; i++) {
    n[i] = extent(nest, i);
    x[i] = malloc((size_t)n[i] * size);
    for (int64_t j = 0; j < n[i]; j++)
      write_number(t, x[i], j, (double)(test_random(&seed) % 7) - 3);
  }
  /* Small integers: with f32 accumulation every sum is exact, and write_number rounds it once. */
  double *expected = malloc((size_t)n[2] * sizeof *expected);
  for (int64_t j = 0; j < n[2]; j++)
    expected[j] = read_number(t, x[2], j);
  if (overwrite)
    clear_cells(nest, expected);
  oracle(t, nest, x[0], x[1], expected);
  test_table program = table_make(0, NULL);
  table_contract(&program, t, nest->n, &nest->words[0][0])->dim = overwrite;
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  CHECK(errors, tprt_abi_enter(context, program.words) == TPRT_OK);
  CHECK(errors, tprt_abi_contract(context, 0, x[0], x[1], x[2]) == TPRT_OK);
  int64_t n_wrong = 0;
  for (int64_t j = 0; j < n[2]; j++) {
    uint64_t rounded[1] = {0};
    write_number(t, rounded, 0, expected[j]);
    n_wrong += read_number(t, rounded, 0) != read_number(t, x[2], j);
  }
  if (n_wrong)
    print_error("%s of %s: %lld of %lld cells are wrong\n", name, tprt_dtype_name(t),
                (long long)n_wrong, (long long)n[2]);
  errors += n_wrong != 0;
  tprt_context_destroy(context);
  table_free(&program);
  for (int i = 0; i < 3; i++)
    free(x[i]);
  free(expected);
  return errors;
}

static const struct {
  const char *name;
  loop_nest nest;
} nests[] = {
    {"matmul", {3, {{37, 53, 0, 41}, {41, 0, 1, 1}, {53, 1, 41, 0}}}},
    {"A transposed", {3, {{37, 1, 0, 41}, {41, 0, 1, 1}, {53, 37, 41, 0}}}},
    {"B transposed", {3, {{37, 53, 0, 41}, {41, 0, 53, 1}, {53, 1, 1, 0}}}},
    {"C transposed", {3, {{37, 53, 0, 1}, {41, 0, 1, 37}, {53, 1, 41, 0}}}},
    {"leading dimensions", {3, {{20, 64, 0, 70}, {30, 0, 1, 1}, {40, 1, 50, 0}}}},
    {"nothing has unit stride", {3, {{20, 110, 0, 80}, {30, 0, 3, 2}, {33, 3, 100, 0}}}},
    {"batched", {4, {{5, 63, 77, 99}, {9, 7, 0, 11}, {11, 0, 1, 1}, {7, 1, 11, 0}}}},
    {"batch innermost", {4, {{9, 35, 0, 55}, {11, 0, 5, 5}, {7, 5, 55, 0}, {5, 1, 1, 1}}}},
    {"several contracted", {4, {{8, 60, 0, 9}, {9, 0, 60, 1}, {5, 12, 12, 0}, {12, 1, 1, 0}}}},
    {"contracted apart", {4, {{8, 12, 0, 9}, {9, 0, 1, 1}, {5, 96, 108, 0}, {12, 1, 9, 0}}}},
    {"fusable rows", {4, {{4, 42, 0, 30}, {6, 7, 0, 5}, {5, 0, 1, 1}, {7, 1, 5, 0}}}},
    {"matrix times vector", {2, {{90, 70, 0, 1}, {70, 1, 1, 0}}}},
    {"vector times matrix", {2, {{90, 0, 1, 1}, {70, 1, 90, 0}}}},
    {"outer product", {2, {{33, 1, 0, 44}, {44, 0, 1, 1}}}},
    {"dot", {1, {{1000, 1, 1, 0}}}},
    {"scalar", {0, {{0}}}},
    {"elementwise", {1, {{100, 1, 1, 1}}}},
    {"A summed alone", {3, {{10, 12, 0, 20}, {20, 0, 1, 1}, {12, 1, 0, 0}}}},
    {"C broadcast", {2, {{10, 0, 0, 3}, {3, 1, 1, 1}}}},
    {"empty sum", {3, {{5, 0, 0, 4}, {4, 0, 1, 1}, {0, 1, 4, 0}}}},
    {"rows and columns in tiles", {3, {{257, 9, 0, 515}, {515, 0, 1, 1}, {9, 1, 515, 0}}}},
    {"few rows", {3, {{7, 300, 0, 530}, {530, 0, 1, 1}, {300, 1, 530, 0}}}},
    {"few rows, B transposed", {3, {{5, 300, 0, 130}, {130, 0, 300, 1}, {300, 1, 1, 0}}}},
    {"sums in tiles", {3, {{5, 1030, 0, 6}, {6, 0, 1, 1}, {1030, 1, 6, 0}}}},
};

static int all_nests(tprt_comm *comm, void *argument) {
  (void)argument;
  static const tprt_dtype types[] = {TPRT_F32, TPRT_F64, TPRT_F16, TPRT_BF16,
                                     TPRT_I8,  TPRT_I32, TPRT_I64};
  int errors = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (size_t i = 0; i < sizeof nests / sizeof *nests; i++) {
      bool is_empty = strcmp(nests[i].name, "empty sum") == 0;
      for (int overwrite = 0; overwrite <= !is_empty; overwrite++)
        errors += check_nest(comm, types[t], &nests[i].nest, nests[i].name, overwrite);
    }
  }
  return errors;
}

static void test_self(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.backend = "self";
  assert_int_equal(run_threads(1, &config, all_nests, NULL), 0);
}

/* Several threads at once, each with several threads of its own. */
static void test_threads(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.backend = "self";
  setenv("TPRT_BLAS_THREADS", "2", 1);
  assert_int_equal(run_threads(1, &config, all_nests, NULL), 0);
  unsetenv("TPRT_BLAS_THREADS");
}

/* With the BLAS library, if available: single-threaded, and with its own threads. */
static void test_library(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.backend = "self";
  setenv("TPRT_GEMM", "openblas", 1);
  setenv("TPRT_BLAS_THREADS", "1", 1);
  assert_int_equal(run_threads(1, &config, all_nests, NULL), 0);
  setenv("TPRT_BLAS_THREADS", "2", 1);
  assert_int_equal(run_threads(1, &config, all_nests, NULL), 0);
  unsetenv("TPRT_BLAS_THREADS");
  unsetenv("TPRT_GEMM");
}

static int one_rank_world(tprt_comm *comm, void *argument) {
  (void)comm;
  tprt_comm *own;
  int errors = 0;
  tprt_config config = {.size = sizeof config, .backend = "self"};
  CHECK_STATUS(errors, tprt_world_create(1, 0, &config, &own), TPRT_OK);
  errors += all_nests(own, argument);
  tprt_comm_destroy(own);
  return errors;
}

static void test_concurrent(void **state) {
  (void)state;
  tprt_config config = test_config();
  assert_int_equal(run_threads(test_is_long() ? 4 : 2, &config, one_rank_world, NULL), 0);
}

/* ---- Splitting a contraction gives bitwise equal results ---- */

enum { PART_M = 70, PART_N = 90, PART_K = 700 };

/* Computes the rows and columns of C from `at` on as a separate program; A is m x k, or k x m. */
static int run_part(tprt_comm *comm, tprt_dtype t, bool transposed, const int64_t at[2],
                    const int64_t size[2], char *const x[3]) {
  int errors = 0;
  size_t bytes = tprt_dtype_size(t);
  const int64_t words[3][4] = {{size[0], transposed ? 1 : PART_K, 0, PART_N},
                               {size[1], 0, 1, 1},
                               {PART_K, transposed ? PART_M : 1, PART_N, 0}};
  test_table program = table_make(0, NULL);
  table_contract(&program, t, 3, &words[0][0]);
  tprt_context *context;
  CHECK_STATUS(errors, tprt_context_create(comm, NULL, &context), TPRT_OK);
  CHECK(errors, tprt_abi_enter(context, program.words) == TPRT_OK);
  CHECK(errors, tprt_abi_contract(context, 0, x[0] + (size_t)(at[0] * words[0][1]) * bytes,
                                  x[1] + (size_t)at[1] * bytes,
                                  x[2] + (size_t)(at[0] * PART_N + at[1]) * bytes) == TPRT_OK);
  tprt_context_destroy(context);
  table_free(&program);
  return errors;
}

static int check_parts(tprt_comm *comm, tprt_dtype t, bool transposed) {
  static const int64_t n[3] = {PART_M * PART_K, PART_K * PART_N, PART_M * PART_N};
  static const int64_t rows[] = {0, 1, 9, PART_M}, columns[] = {0, 1, 33, PART_N};
  int errors = 0;
  size_t size = tprt_dtype_size(t);
  char *x[3], *whole = calloc((size_t)n[2], size);
  uint64_t seed = 3;
  for (int i = 0; i < 3; i++) {
    x[i] = calloc((size_t)n[i], size);
    for (int64_t j = 0; j < n[i] && i < 2; j++)
      write_number(t, x[i], j, (double)(test_random(&seed) % 100003) / 50001 - 1);
  }
  errors += run_part(comm, t, transposed, (int64_t[]){0, 0}, (int64_t[]){PART_M, PART_N}, x);
  memcpy(whole, x[2], (size_t)n[2] * size);
  memset(x[2], 0, (size_t)n[2] * size);
  for (int i = 0; i < 9; i++) {
    int r = i / 3, c = i % 3;
    const int64_t at[] = {rows[r], columns[c]},
                  part[] = {rows[r + 1] - rows[r], columns[c + 1] - columns[c]};
    errors += run_part(comm, t, transposed, at, part, x);
  }
  if (memcmp(whole, x[2], (size_t)n[2] * size)) {
    print_error("parts of %s have other bits than the whole\n", tprt_dtype_name(t));
    errors++;
  }
  for (int i = 0; i < 3; i++)
    free(x[i]);
  free(whole);
  return errors;
}

static int all_parts(tprt_comm *comm, void *argument) {
  (void)argument;
  static const tprt_dtype types[] = {TPRT_F32, TPRT_F64, TPRT_F16, TPRT_BF16};
  int errors = 0;
  for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
    for (int transposed = 0; transposed < 2; transposed++)
      errors += check_parts(comm, types[t], transposed);
  }
  return errors;
}

static void test_parts(void **state) {
  (void)state;
  tprt_config config = test_config();
  config.backend = "self";
  assert_int_equal(run_threads(1, &config, all_parts, NULL), 0);
}

/* The initialization of C is a flag; sums over nothing cannot overwrite it. */
static void test_overwrite_refused(void **state) {
  (void)state;
  static const struct {
    int64_t size, flag;
    tprt_status expected;
    const char *why;
  } cases[] = {{4, 1, TPRT_OK, NULL},
               {0, 0, TPRT_OK, NULL},
               {4, 2, TPRT_INVALID_ARGUMENT, "dim of a contraction is 2; it must be from 0 to 1"},
               {0, 1, TPRT_INVALID_ARGUMENT, "C is overwritten, but a loop has size 0"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    test_table program = table_make(0, NULL);
    table_contract(&program, TPRT_F32, 1, (int64_t[]){cases[i].size, 1, 1, 0})->dim = cases[i].flag;
    assert_int_equal(tprt_abi_check(program.words, program.n_words), cases[i].expected);
    if (cases[i].why)
      assert_non_null(strstr(tprt_last_error(), cases[i].why));
    table_free(&program);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_self),    cmocka_unit_test(test_threads),
      cmocka_unit_test(test_library), cmocka_unit_test(test_concurrent),
      cmocka_unit_test(test_parts),   cmocka_unit_test(test_overwrite_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
