/* The plain GEMM loops for one element type and one instruction set.
 *
 * gemm.c includes this file once per instance and defines
 *   ELEMENT, NAME(x), TARGET  as in gemm_blocked_kernels.h
 *   MULTIPLY_ADD(x, y, sum)   x * y + sum of elements */

/* Copies rows x columns elements of a matrix, from (row, column) on, to a contiguous block. */
static void NAME(pack)(ELEMENT *block, const ELEMENT *from, int64_t ld, bool transpose, int64_t row,
                       int64_t column, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; i++) {
    for (int64_t j = 0; j < columns; j++)
      block[i * columns + j] =
          transpose ? from[(column + j) * ld + row + i] : from[(row + i) * ld + column + j];
  }
}

/* c = a (m x k) * b (k x n), plus c if `add`; k is at most TPRT__SUM_STEPS. */
TARGET static void NAME(multiply)(const ELEMENT *restrict a, const ELEMENT *restrict b,
                                  ELEMENT *restrict c, int64_t m, int64_t n, int64_t k, int64_t ldc,
                                  bool add) {
  for (int64_t i = 0; i < m; i++) {
    _Alignas(64) ELEMENT sums[BLOCK_N] = {0};
    const ELEMENT *factors = a + i * k;
    int64_t p = 0;
    for (; p + 4 <= k; p += 4) {
      const ELEMENT *restrict b0 = b + p * n, *restrict b1 = b0 + n, *restrict b2 = b1 + n,
                              *restrict b3 = b2 + n;
      const ELEMENT f0 = factors[p], f1 = factors[p + 1], f2 = factors[p + 2], f3 = factors[p + 3];
      for (int64_t j = 0; j < n; j++) {
        ELEMENT sum = MULTIPLY_ADD(f1, b1[j], MULTIPLY_ADD(f0, b0[j], sums[j]));
        sums[j] = MULTIPLY_ADD(f3, b3[j], MULTIPLY_ADD(f2, b2[j], sum));
      }
    }
    for (; p < k; p++) {
      for (int64_t j = 0; j < n; j++)
        sums[j] = MULTIPLY_ADD(factors[p], b[p * n + j], sums[j]);
    }
    ELEMENT *restrict row = c + i * ldc;
    for (int64_t j = 0; j < n; j++)
      row[j] = add ? row[j] + sums[j] : sums[j];
  }
}

static void NAME(loops)(const tprt__gemm_args *g) {
  _Alignas(64) ELEMENT a[BLOCK_M * TPRT__SUM_STEPS];
  _Alignas(64) ELEMENT b[TPRT__SUM_STEPS * BLOCK_N];
  for (int64_t p = 0; p < g->k; p += TPRT__SUM_STEPS) {
    int64_t k = tprt__min(TPRT__SUM_STEPS, g->k - p);
    for (int64_t j = 0; j < g->n; j += BLOCK_N) {
      int64_t n = tprt__min(BLOCK_N, g->n - j);
      NAME(pack)(b, g->b, g->ldb, g->transpose_b, p, j, k, n);
      for (int64_t i = 0; i < g->m; i += BLOCK_M) {
        int64_t m = tprt__min(BLOCK_M, g->m - i);
        NAME(pack)(a, g->a, g->lda, g->transpose_a, i, p, m, k);
        NAME(multiply)(a, b, (ELEMENT *)g->c + i * g->ldc + j, m, n, k, g->ldc,
                       !g->overwrite || p > 0);
      }
    }
  }
}

#undef ELEMENT
#undef NAME
#undef TARGET
#undef MULTIPLY_ADD
