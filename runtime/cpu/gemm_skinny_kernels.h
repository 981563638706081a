/* The GEMM kernels for few rows, for one element type and one instruction set.
 *
 * gemm_skinny.c includes this file once per instance and defines
 *   ELEMENT, BITS, LANES          the element type, its bits, and the elements of a vector
 *   NAME(x)                       x with the suffix of this instance
 *   TARGET                        the function attribute that enables the instruction set
 *   VECTORS                       vectors of a row of B in registers, if B is not transposed
 *   BLOCKS                        interleaved blocks of TPRT__SUM_STEPS, if B is transposed
 *   FUSED(x, y, sum), BROADCAST   fused multiply-add of vectors; a vector of equal elements
 *   FUSED_ONE(x, y, sum)          fused multiply-add of elements */
#define VECTOR NAME(vector)
#include "cpu/gemm_transpose.h"

#define scratch NAME(scratch)
#define LINE (64 / (int)sizeof(ELEMENT))
#define LENGTH_BY_ROWS TPRT__SUM_STEPS
#define LENGTH_TRANSPOSED 1024
#define PITCH_BY_ROWS (LENGTH_BY_ROWS + LINE)
#define PITCH_TRANSPOSED (LENGTH_TRANSPOSED + LINE)
#define PITCH_SUMS (STRIP + LINE)

typedef ELEMENT VECTOR
    __attribute__((vector_size(LANES * sizeof(ELEMENT)), aligned(sizeof(ELEMENT)), may_alias));

typedef struct scratch {
  _Alignas(64) ELEMENT a[ROWS_TRANSPOSED * PITCH_TRANSPOSED];
  _Alignas(64) ELEMENT sums[ROWS_BY_ROWS * PITCH_SUMS];
} scratch;
_Static_assert(ROWS_BY_ROWS *PITCH_BY_ROWS <= ROWS_TRANSPOSED * PITCH_TRANSPOSED,
               "one array for both");
_Static_assert(LENGTH_TRANSPOSED % TPRT__SUM_STEPS == 0 && TPRT__SUM_STEPS % LANES == 0,
               "sums end where blocks do");

static void NAME(pack_a)(scratch *s, const tprt__gemm_args *g, int64_t p, int64_t k,
                         int64_t pitch) {
  const ELEMENT *a = g->a;
  for (int64_t i = 0; i < g->m; i++) {
    for (int64_t q = 0; q < k; q++)
      s->a[i * pitch + q] = g->transpose_a ? a[(p + q) * g->lda + i] : a[i * g->lda + p + q];
  }
}

/* sums (m x width) = m rows of A, from a on, * depth rows of B, plus sums unless `first`. */
__attribute__((always_inline)) TARGET static inline void
NAME(rows)(bool fetch, bool first, int depth, int64_t m, int64_t width, const ELEMENT *a,
           const ELEMENT *b, int64_t ldb, ELEMENT *sums) {
  int64_t j = 0;
  for (; j + LANES * VECTORS <= width; j += LANES * VECTORS) {
    VECTOR y[DEPTH][VECTORS];
    for (int q = 0; q < depth; q++) {
      for (int v = 0; v < VECTORS; v++) {
        if (fetch)
          __builtin_prefetch(b + (q + depth) * ldb + j + LANES * v, 0, 2);
        y[q][v] = *(const VECTOR *)(b + q * ldb + j + LANES * v);
      }
    }
    for (int64_t i = 0; i < m; i++) {
      VECTOR *to = (VECTOR *)(sums + i * PITCH_SUMS + j), s[VECTORS] = {{0}};
      for (int v = 0; v < VECTORS && !first; v++)
        s[v] = to[v];
      for (int q = 0; q < depth; q++) {
        for (int v = 0; v < VECTORS; v++)
          s[v] = FUSED(BROADCAST(a[i * PITCH_BY_ROWS + q]), y[q][v], s[v]);
      }
      for (int v = 0; v < VECTORS; v++)
        to[v] = s[v];
    }
  }
  for (; j < width; j++) {
    for (int64_t i = 0; i < m; i++) {
      ELEMENT *to = sums + i * PITCH_SUMS + j, s = first ? 0 : *to;
      for (int q = 0; q < depth; q++)
        s = FUSED_ONE(a[i * PITCH_BY_ROWS + q], b[q * ldb + j], s);
      *to = s;
    }
  }
}

/* One strip of C = the packed rows of A * k rows of B, plus C if `add`. k is at most
 * TPRT__SUM_STEPS; fewer than DEPTH steps are processed one at a time. */
TARGET static void NAME(by_rows)(scratch *s, bool fetch, int64_t m, int64_t width, int64_t k,
                                 const ELEMENT *b, int64_t ldb, ELEMENT *c, int64_t ldc, bool add) {
  int64_t p = k >= DEPTH ? DEPTH : 1;
  if (fetch && k >= 2 * DEPTH) {
    NAME(rows)(true, true, DEPTH, m, width, s->a, b, ldb, s->sums);
  } else if (k >= DEPTH) {
    NAME(rows)(false, true, DEPTH, m, width, s->a, b, ldb, s->sums);
  } else {
    NAME(rows)(false, true, 1, m, width, s->a, b, ldb, s->sums);
  }
  for (; fetch && p + 2 * DEPTH <= k; p += DEPTH)
    NAME(rows)(true, false, DEPTH, m, width, s->a + p, b + p * ldb, ldb, s->sums);
  for (; p + DEPTH <= k; p += DEPTH)
    NAME(rows)(false, false, DEPTH, m, width, s->a + p, b + p * ldb, ldb, s->sums);
  for (; p < k; p++)
    NAME(rows)(false, false, 1, m, width, s->a + p, b + p * ldb, ldb, s->sums);
  for (int64_t i = 0; i < m; i++) {
    const ELEMENT *restrict sums = s->sums + i * PITCH_SUMS;
    ELEMENT *restrict to = c + i * ldc;
    if (add) {
      for (int64_t j = 0; j < width; j++)
        to[j] += sums[j];
    } else {
      memcpy(to, sums, (size_t)width * sizeof *to);
    }
  }
}

/* sums (rows of A, columns) += packed rows of A * LANES rows of transposed B, over LANES steps of
 * k. */
__attribute__((always_inline)) TARGET static inline void
NAME(square)(bool fetch, int64_t m, const ELEMENT *a, const ELEMENT *const *b, int64_t ldb,
             int64_t p, VECTOR *sums) {
  VECTOR y[LANES];
  UNROLLED for (int l = 0; l < LANES; l++) {
    if (fetch)
      __builtin_prefetch(b[l] + LANES * ldb + p, 0, 2);
    y[l] = *(const VECTOR *)(b[l] + p);
  }
  TRANSPOSE(y)
  for (int64_t i = 0; i < m; i++) {
    const ELEMENT *x = a + i * PITCH_TRANSPOSED + p;
    VECTOR sum = sums[i];
    UNROLLED for (int r = 0; r < LANES; r++) sum = FUSED(BROADCAST(x[r]), y[COLUMN(r)], sum);
    sums[i] = sum;
  }
}

/* `width` columns of C = the packed rows of A * as many rows of transposed B, over k steps from p
 * on, plus C if `add`. Each lane of a vector is a column of C, so a vector covers LANES rows of B.
 * k is at most TPRT__SUM_STEPS, or BLOCKS times that. Blocks are interleaved, because the steps of
 * one block depend on each other. */
__attribute__((always_inline)) TARGET static inline void
NAME(columns)(bool fetch, int n_blocks, int64_t m, int64_t width, int64_t p, int64_t k,
              const ELEMENT *a, const ELEMENT *const *b, int64_t ldb, ELEMENT *c, int64_t ldc,
              bool add) {
  VECTOR sums[BLOCKS][ROWS_TRANSPOSED] = {{{0}}};
  int64_t end = p + k / n_blocks;
  for (; p + LANES <= end; p += LANES) {
    for (int g = 0; g < n_blocks; g++)
      NAME(square)(fetch, m, a, b, ldb, p + g * TPRT__SUM_STEPS, sums[g]);
  }
  for (; p < end; p++) { /* only with one block */
    VECTOR y;
    for (int l = 0; l < LANES; l++)
      y[l] = b[l][p];
    for (int64_t i = 0; i < m; i++)
      sums[0][i] = FUSED(BROADCAST(a[i * PITCH_TRANSPOSED + p]), y, sums[0][i]);
  }
  for (int64_t i = 0; i < m; i++) {
    VECTOR sum = sums[0][i], before = {0};
    size_t bytes = (size_t)width * sizeof *c;
    if (add) {
      memcpy(&before, c + i * ldc, bytes);
      sum += before;
    }
    for (int g = 1; g < n_blocks; g++)
      sum += sums[g][i];
    memcpy(c + i * ldc, &sum, bytes);
  }
}

TARGET static void NAME(transposed)(const scratch *s, bool fetch, int64_t m, int64_t n, int64_t k,
                                    const ELEMENT *b, int64_t ldb, ELEMENT *c, int64_t ldc,
                                    bool add) {
  enum { SEVERAL = BLOCKS * TPRT__SUM_STEPS };
  for (int64_t j = 0; j < n; j += LANES) {
    int64_t width = tprt__min(LANES, n - j), q = 0;
    bool soon = fetch && j + 2 * LANES <= n;
    const ELEMENT *rows[LANES]; /* repeats the last one beyond the last column */
    for (int64_t l = 0; l < LANES; l++)
      rows[l] = b + (j + tprt__min(l, width - 1)) * ldb;
    for (; q + SEVERAL <= k; q += SEVERAL) {
      if (m == 1 && soon) {
        NAME(columns)(true, BLOCKS, 1, width, q, SEVERAL, s->a, rows, ldb, c + j, ldc, add || q);
      } else if (soon) {
        NAME(columns)(true, BLOCKS, m, width, q, SEVERAL, s->a, rows, ldb, c + j, ldc, add || q);
      } else {
        NAME(columns)(false, BLOCKS, m, width, q, SEVERAL, s->a, rows, ldb, c + j, ldc, add || q);
      }
    }
    for (; q < k; q += TPRT__SUM_STEPS)
      NAME(columns)(false, 1, m, width, q, tprt__min(TPRT__SUM_STEPS, k - q), s->a, rows, ldb,
                    c + j, ldc, add || q);
  }
}

static void NAME(multiply)(const tprt__gemm_args *g) {
  int64_t length = g->transpose_b ? LENGTH_TRANSPOSED : LENGTH_BY_ROWS;
  bool fetch = (g->transpose_b || g->m >= FETCHED_ROWS) && g->n * g->k >= FETCHED_ELEMENTS;
  scratch s;
  for (int64_t p = 0; p < g->k; p += length) {
    int64_t k = tprt__min(length, g->k - p);
    bool add = !g->overwrite || p > 0;
    NAME(pack_a)(&s, g, p, k, length + LINE);
    if (g->transpose_b) {
      NAME(transposed)(&s, fetch, g->m, g->n, k, (const ELEMENT *)g->b + p, g->ldb, g->c, g->ldc,
                       add);
      continue;
    }
    for (int64_t j = 0; j < g->n; j += STRIP)
      NAME(by_rows)(&s, fetch, g->m, tprt__min(STRIP, g->n - j), k,
                    (const ELEMENT *)g->b + p * g->ldb + j, g->ldb, (ELEMENT *)g->c + j, g->ldc,
                    add);
  }
}

#undef VECTOR
#undef MIX
#undef LIST
#undef TRANSPOSE
#undef COLUMN
#undef BITS
#undef scratch
#undef LINE
#undef LENGTH_BY_ROWS
#undef LENGTH_TRANSPOSED
#undef PITCH_BY_ROWS
#undef PITCH_TRANSPOSED
#undef PITCH_SUMS
#undef ELEMENT
#undef LANES
#undef NAME
#undef TARGET
#undef VECTORS
#undef BLOCKS
#undef FUSED
#undef FUSED_ONE
#undef BROADCAST
