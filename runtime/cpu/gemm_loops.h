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

/* Steps [p, p + k) of a GEMM with few columns: sums of one element after the other, without
 * copies. */
TARGET static void NAME(few_columns)(const tprt__gemm_args *g, int64_t p, int64_t k, bool add) {
  const ELEMENT *a = g->a, *b = g->b;
  int64_t a_row = g->transpose_a ? 1 : g->lda, a_step = g->transpose_a ? g->lda : 1,
          b_step = g->transpose_b ? 1 : g->ldb, b_column = g->transpose_b ? g->ldb : 1;
  for (int64_t i = 0; i < g->m; i++) {
    for (int64_t j = 0; j < g->n; j++) {
      const ELEMENT *x = a + i * a_row + p * a_step, *y = b + j * b_column + p * b_step;
      ELEMENT sum = 0, *to = (ELEMENT *)g->c + i * g->ldc + j;
      for (int64_t q = 0; q < k; q++)
        sum = MULTIPLY_ADD(x[q * a_step], y[q * b_step], sum);
      *to = add ? *to + sum : sum;
    }
  }
}

static void NAME(loops)(const tprt__gemm_args *g) {
  _Alignas(64) ELEMENT a[BLOCK_M * TPRT__SUM_STEPS];
  _Alignas(64) ELEMENT b[TPRT__SUM_STEPS * BLOCK_N];
  for (int64_t p = 0; p < g->k; p += TPRT__SUM_STEPS) {
    int64_t k = tprt__min(TPRT__SUM_STEPS, g->k - p);
    if (g->n <= FEW_COLUMNS) {
      NAME(few_columns)(g, p, k, !g->overwrite || p > 0);
      continue;
    }
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
