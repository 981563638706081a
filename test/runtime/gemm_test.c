/* Products by code of our own against sums in f64: few rows, with each kind of vectors, and blocks. Which ones are left to other ways. */
#define _GNU_SOURCE 1
#include "blas.h"
#include "harness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct product {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
  int64_t slack; /* of leading dimensions */
  bool overwrite;
} product;

static float *random_floats(int64_t n, uint64_t *seed) {
  float *x = malloc((size_t)n * sizeof *x);
  assert_non_null(x);
  for (int64_t i = 0; i < n; i++)
    x[i] = (float)(test_random(seed) % 2000) / 1000.0f - 1.0f;
  return x;
}

typedef bool way_fn(const tprt__gemm_args *args);
static bool skinny_avx512(const tprt__gemm_args *args) { return tprt__gemm_skinny_f32(TPRT__AVX512, args); }
static bool skinny_avx2(const tprt__gemm_args *args) { return tprt__gemm_skinny_f32(TPRT__AVX2, args); }

static void *make_scratch(void) {
  void *scratch = aligned_alloc(64, tprt__gemm_blocked_scratch() + 64); /* more than nothing */
  assert_non_null(scratch);
  return scratch;
}

/* False where the kernel leaves the product to others. The arrays end with their last element, for the address sanitizer. */
static bool check(way_fn *way, product p) {
  uint64_t seed = 7;
  tprt__gemm_args g = {.transpose_a = p.transpose_a, .transpose_b = p.transpose_b, .m = p.m, .n = p.n, .k = p.k};
  g.overwrite = p.overwrite;
  int64_t rows_a = p.transpose_a ? p.k : p.m, columns_a = p.transpose_a ? p.m : p.k;
  int64_t rows_b = p.transpose_b ? p.n : p.k, columns_b = p.transpose_b ? p.k : p.n;
  g.lda = columns_a + p.slack;
  g.ldb = columns_b + p.slack;
  g.ldc = p.n + p.slack;
  int64_t n_c = (p.m - 1) * g.ldc + p.n;
  float *a = random_floats((rows_a - 1) * g.lda + columns_a, &seed),
        *b = random_floats((rows_b - 1) * g.ldb + columns_b, &seed);
  float *before = random_floats(n_c, &seed), *c = malloc((size_t)n_c * sizeof *c);
  assert_non_null(c);
  for (int64_t i = 0; p.overwrite && i < n_c; i++) /* what is there must not be read */
    before[i] = i % g.ldc < p.n ? NAN : before[i];
  memcpy(c, before, (size_t)n_c * sizeof *c);
  g.a = a;
  g.b = b;
  g.c = c;
  g.scratch = make_scratch();
  bool done = way(&g);
  for (int64_t i = 0; done && i < n_c; i++) {
    int64_t row = i / g.ldc, column = i % g.ldc;
    if (column >= p.n) {
      assert_true(c[i] == before[i]);
      continue;
    }
    double sum = p.overwrite ? 0 : (double)before[i];
    for (int64_t q = 0; q < p.k; q++) {
      sum += (double)a[p.transpose_a ? q * g.lda + row : row * g.lda + q] *
             (double)b[p.transpose_b ? column * g.ldb + q : q * g.ldb + column];
    }
    if (!(fabs(sum - (double)c[i]) <= 1e-6 * (double)p.k))
      fail_msg("%lld x %lld x %lld: c[%lld][%lld] is %g, not %g", (long long)p.m, (long long)p.n, (long long)p.k,
               (long long)row, (long long)column, (double)c[i], sum);
  }
  if (!done)
    assert_memory_equal(c, before, (size_t)n_c * sizeof *c);
  free(a);
  free(b);
  free(c);
  free(before);
  free(g.scratch);
  return done;
}

static bool has_vectors(tprt__vectors vectors) {
#if defined(__x86_64__)
  return vectors == TPRT__AVX512 ? __builtin_cpu_supports("avx512f")
                                 : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
  (void)vectors;
  return false;
#endif
}

static void check_skinny(way_fn *skinny) {
  static const int64_t rows[] = {1, 3, 4, 5, 8, 32}, columns[] = {33, 257, 515, 640}, sums[] = {64, 71, 300, 1030};
  int n_done[2] = {0, 0};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    for (size_t j = 0; j < sizeof columns / sizeof *columns; j++) {
      for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) {
        for (int form = 0; form < 4; form++) {
          product p = {rows[i], columns[j], sums[k], form & 1, form & 2, (int64_t)(i + j + k) % 3, (i + k) % 2};
          bool expected = p.n * p.k >= 1 << 14 && (!p.transpose_b || p.m <= 8);
          assert_int_equal(check(skinny, p), expected);
          n_done[p.transpose_b] += expected;
        }
      }
    }
  }
  assert_true(n_done[false] > 80 && n_done[true] > 80);
}

static void test_avx512(void **state) {
  (void)state;
  if (!has_vectors(TPRT__AVX512))
    skip(); /* the processor has none */
  check_skinny(skinny_avx512);
}

static void test_avx2(void **state) {
  (void)state;
  if (!has_vectors(TPRT__AVX2))
    skip();
  check_skinny(skinny_avx2);
}

static void test_left_to_others(void **state) {
  (void)state;
  assert_false(check(skinny_avx512, (product){33, 600, 300, false, false, 0, false}));
  assert_false(check(skinny_avx512, (product){9, 600, 300, false, true, 0, false}));
  assert_false(check(skinny_avx512, (product){8, 4000, 63, false, false, 0, false}));
  assert_false(check(skinny_avx512, (product){8, 100, 100, false, false, 0, false}));
}

/* Every height of a tile, strips and pieces that are not full, several blocks of rows and of sums. */
static void test_blocked(void **state) {
  (void)state;
  static const product products[] = {{1, 4000, 70, 0, 0, 0, 0},   {27, 64, 40, 0, 0, 0, 0},   {97, 33, 600, 0, 0, 3, 0},
                                     {257, 100, 513, 0, 0, 0, 0}, {600, 95, 96, 0, 0, 1, 0},  {40, 31, 1200, 0, 0, 0, 0},
                                     {14, 256, 16, 0, 0, 0, 0},   {15, 160, 17, 0, 0, 16, 0}, {300, 16, 31, 0, 0, 2, 0},
                                     {225, 128, 530, 0, 0, 0, 0}};
  if (!has_vectors(TPRT__AVX512))
    skip();
  for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
    for (int form = 0; form < 4; form++) {
      product p = products[i];
      p.transpose_a = form & 1;
      p.transpose_b = form & 2;
      assert_true(check(tprt__gemm_blocked_f32, p));
      p.overwrite = true;
      assert_true(check(tprt__gemm_blocked_f32, p));
    }
  }
  for (int64_t rows = 1; rows <= 30; rows++)
    assert_true(check(tprt__gemm_blocked_f32, (product){rows, 3200, 33, false, false, 0, false}));
  assert_false(check(tprt__gemm_blocked_f32, (product){30, 30, 30, false, false, 0, false})); /* small */
}

/* Rows and columns of a product are the same bits as in the whole, wherever it is cut: ranks that share a product agree with one that has it all. */
static void test_blocked_parts(void **state) {
  (void)state;
  enum { M = 300, N = 200, K = 1100 };
  if (!has_vectors(TPRT__AVX512))
    skip();
  uint64_t seed = 5;
  float *a = random_floats(M * K, &seed), *b = random_floats(K * N, &seed);
  float *whole = calloc(M * N, sizeof *whole), *parts = calloc(M * N, sizeof *parts);
  tprt__gemm_args g = {
      .m = M, .n = N, .k = K, .a = a, .b = b, .c = whole, .lda = K, .ldb = N, .ldc = N, .scratch = make_scratch()};
  assert_true(tprt__gemm_blocked_f32(&g));
  static const int64_t rows[] = {0, 1, 130, 139, M}, columns[] = {0, 77, 90, N};
  for (int i = 0; i < 4; i++) {
    for (int j = 0; j < 3; j++) {
      g.m = rows[i + 1] - rows[i];
      g.n = columns[j + 1] - columns[j];
      g.k = K;
      g.a = a + rows[i] * K;
      g.b = b + columns[j];
      g.c = parts + rows[i] * N + columns[j];
      if (g.m * g.n * g.k < 1 << 15)
        continue;
      assert_true(tprt__gemm_blocked_f32(&g));
      for (int64_t r = 0; r < g.m; r++)
        assert_memory_equal((float *)g.c + r * N, whole + rows[i] * N + columns[j] + r * N, (size_t)g.n * sizeof *whole);
    }
  }
  free(a);
  free(b);
  free(whole);
  free(parts);
  free(g.scratch);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_avx512), cmocka_unit_test(test_avx2),
                                     cmocka_unit_test(test_left_to_others), cmocka_unit_test(test_blocked),
                                     cmocka_unit_test(test_blocked_parts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
