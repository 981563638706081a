/* Matrix product without a library: panels of A and B are copied to small contiguous blocks, which undoes transposition,
 * then rows of C are updated by four rows of B at a time. Plain loops that compilers vectorise. */
#include "blas.h"

enum { BLOCK_M = 32, BLOCK_N = 256, BLOCK_K = 64 };

#define DEFINE_GEMM(suffix, type)                                                                                              \
  /* block (rows x columns, contiguous) = rows x columns of a matrix from (row, column) on */                                  \
  static void pack_##suffix(type *block, const type *from, int64_t ld, bool transpose, int64_t row, int64_t column,            \
                            int64_t rows, int64_t columns) {                                                                   \
    for (int64_t i = 0; i < rows; i++) {                                                                                       \
      for (int64_t j = 0; j < columns; j++) {                                                                                  \
        block[i * columns + j] = transpose ? from[(column + j) * ld + row + i] : from[(row + i) * ld + column + j];            \
      }                                                                                                                        \
    }                                                                                                                          \
  }                                                                                                                            \
                                                                                                                               \
  static void multiply_##suffix(const type *restrict a, const type *restrict b, type *restrict c, int64_t m, int64_t n,        \
                                int64_t k, int64_t ldc) {                                                                      \
    for (int64_t i = 0; i < m; i++) {                                                                                          \
      type *restrict row = c + i * ldc;                                                                                        \
      const type *factors = a + i * k;                                                                                         \
      int64_t p = 0;                                                                                                           \
      for (; p + 4 <= k; p += 4) {                                                                                             \
        const type *restrict b0 = b + p * n, *restrict b1 = b0 + n, *restrict b2 = b1 + n, *restrict b3 = b2 + n;              \
        const type f0 = factors[p], f1 = factors[p + 1], f2 = factors[p + 2], f3 = factors[p + 3];                             \
        for (int64_t j = 0; j < n; j++)                                                                                        \
          row[j] += f0 * b0[j] + f1 * b1[j] + f2 * b2[j] + f3 * b3[j];                                                         \
      }                                                                                                                        \
      for (; p < k; p++) {                                                                                                     \
        for (int64_t j = 0; j < n; j++)                                                                                        \
          row[j] += factors[p] * b[p * n + j];                                                                                 \
      }                                                                                                                        \
    }                                                                                                                          \
  }                                                                                                                            \
                                                                                                                               \
  void tprt__gemm_loops_##suffix(const tprt__gemm_args *g) {                                                                   \
    _Alignas(64) type a[BLOCK_M * BLOCK_K];                                                                                    \
    _Alignas(64) type b[BLOCK_K * BLOCK_N];                                                                                    \
    if (g->overwrite)                                                                                                          \
      tprt__gemm_clear(g, sizeof(type));                                                                                       \
    for (int64_t p = 0; p < g->k; p += BLOCK_K) {                                                                              \
      int64_t k = tprt__min(BLOCK_K, g->k - p);                                                                                \
      for (int64_t j = 0; j < g->n; j += BLOCK_N) {                                                                            \
        int64_t n = tprt__min(BLOCK_N, g->n - j);                                                                              \
        pack_##suffix(b, g->b, g->ldb, g->transpose_b, p, j, k, n);                                                            \
        for (int64_t i = 0; i < g->m; i += BLOCK_M) {                                                                          \
          int64_t m = tprt__min(BLOCK_M, g->m - i);                                                                            \
          pack_##suffix(a, g->a, g->lda, g->transpose_a, i, p, m, k);                                                          \
          multiply_##suffix(a, b, (type *)g->c + i * g->ldc + j, m, n, k, g->ldc);                                             \
        }                                                                                                                      \
      }                                                                                                                        \
    }                                                                                                                          \
  }

DEFINE_GEMM(f32, float)
DEFINE_GEMM(f64, double)
