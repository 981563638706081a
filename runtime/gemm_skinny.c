/* Products with few rows, as when a model decodes: every element of B is used m times only, so the time is that of reading B once.
 * A library first copies B into an order of its own, which is more traffic than the product needs; here B is read where it stands.
 *
 * A is copied to a contiguous block of m rows, which undoes transposition. By rows, eight rows of B stay in registers while all rows of A
 * pass; transposed, a few rows of B are multiplied with a few rows of A along k. The sums of a block are added to C at its end; they are in the same order
 * on every run, and with fused multiply-add. Vectors by the processor at hand; one without fused multiply-add is left to the other ways. */
#include "blas.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)

enum {
  DEPTH = 8,  /* rows of B in registers */
  STRIP = 512 /* columns of C in a block */
};

/* Rows of a block stand PAD apart, so that lengths that are powers of two do not fall on one set of the cache. Sums across a vector cost
 * more than those down the rows, so a transposed B wants long rows of A, and pays for fewer of them. */
enum {
  PAD = 16,
  ROWS_BY_ROWS = 32,
  LENGTH_BY_ROWS = 256,
  PITCH_BY_ROWS = LENGTH_BY_ROWS + PAD,
  ROWS_TRANSPOSED = 8,
  LENGTH_TRANSPOSED = 1024,
  PITCH_TRANSPOSED = LENGTH_TRANSPOSED + PAD,
  PITCH_C = STRIP + PAD
};

/* Smaller ones are as fast in other ways. */
enum { MIN_LENGTH = 64, MIN_ELEMENTS = 1 << 14 };

/* A B that no cache is sure to hold is fetched in advance, a block of rows or columns ahead: the processor's own prefetcher begins anew with each of these
 * short runs. With fewer rows memory is busy without it. */
enum { FETCHED_ROWS = 3, FETCHED_ELEMENTS = 1 << 18 };

typedef struct scratch {
  _Alignas(64) float a[ROWS_BY_ROWS * PITCH_BY_ROWS];
  _Alignas(64) float c[ROWS_BY_ROWS * PITCH_C];
} scratch;
_Static_assert(ROWS_TRANSPOSED *PITCH_TRANSPOSED <= ROWS_BY_ROWS * PITCH_BY_ROWS, "one array for both");

static void pack_a(scratch *s, const tprt__gemm_args *g, int64_t p, int64_t k, int64_t pitch) {
  const float *a = g->a;
  for (int64_t i = 0; i < g->m; i++) {
    for (int64_t q = 0; q < k; q++)
      s->a[i * pitch + q] = g->transpose_a ? a[(p + q) * g->lda + i] : a[i * g->lda + p + q];
  }
}

/* LANES floats a vector; VECTORS of them a row of B in registers; ROWS of A at a time where B is transposed. */
#define DEFINE_SKINNY(name, isa, LANES, VECTORS, ROWS)                                                                         \
  typedef float name##_vector __attribute__((vector_size(4 * LANES), aligned(4), may_alias));                                  \
                                                                                                                               \
  /* sums (m x width) += m rows of A from a on * depth rows of B */                                                            \
  __attribute__((target(isa), always_inline)) static inline void name##_rows(                                                  \
      bool fetch, int depth, int64_t m, int64_t width, const float *a, const float *b, int64_t ldb, float *sums) {             \
    int64_t j = 0;                                                                                                             \
    for (; j + LANES * VECTORS <= width; j += LANES * VECTORS) {                                                               \
      name##_vector y[DEPTH][VECTORS];                                                                                         \
      for (int q = 0; q < depth; q++) {                                                                                        \
        for (int v = 0; v < VECTORS; v++) {                                                                                    \
          if (fetch)                                                                                                           \
            __builtin_prefetch(b + (q + depth) * ldb + j + LANES * v, 0, 2);                                                   \
          y[q][v] = *(const name##_vector *)(b + q * ldb + j + LANES * v);                                                     \
        }                                                                                                                      \
      }                                                                                                                        \
      for (int64_t i = 0; i < m; i++) {                                                                                        \
        name##_vector *to = (name##_vector *)(sums + i * PITCH_C + j), s[VECTORS];                                             \
        for (int v = 0; v < VECTORS; v++)                                                                                      \
          s[v] = to[v];                                                                                                        \
        for (int q = 0; q < depth; q++) {                                                                                      \
          for (int v = 0; v < VECTORS; v++)                                                                                    \
            s[v] += a[i * PITCH_BY_ROWS + q] * y[q][v];                                                                        \
        }                                                                                                                      \
        for (int v = 0; v < VECTORS; v++)                                                                                      \
          to[v] = s[v];                                                                                                        \
      }                                                                                                                        \
    }                                                                                                                          \
    for (; j < width; j++) {                                                                                                   \
      for (int64_t i = 0; i < m; i++) {                                                                                        \
        for (int q = 0; q < depth; q++)                                                                                        \
          sums[i * PITCH_C + j] += a[i * PITCH_BY_ROWS + q] * b[q * ldb + j];                                                  \
      }                                                                                                                        \
    }                                                                                                                          \
  }                                                                                                                            \
                                                                                                                               \
  __attribute__((target(isa))) static void name##_by_rows(scratch *s, bool fetch, int64_t m, int64_t width, int64_t k,         \
                                                          const float *b, int64_t ldb) {                                       \
    int64_t p = 0;                                                                                                             \
    for (; fetch && p + 2 * DEPTH <= k; p += DEPTH)                                                                            \
      name##_rows(true, DEPTH, m, width, s->a + p, b + p * ldb, ldb, s->c);                                                    \
    for (; p + DEPTH <= k; p += DEPTH)                                                                                         \
      name##_rows(false, DEPTH, m, width, s->a + p, b + p * ldb, ldb, s->c);                                                   \
    for (; p < k; p++)                                                                                                         \
      name##_rows(false, 1, m, width, s->a + p, b + p * ldb, ldb, s->c);                                                       \
  }                                                                                                                            \
                                                                                                                               \
  /* c (rows x columns) += rows of A * (columns rows of B, transposed), along k */                                             \
  __attribute__((target(isa), always_inline)) static inline void name##_dots(                                                  \
      bool fetch, int rows, int columns, int64_t k, const float *a, const float *b, int64_t ldb, float *c, int64_t ldc) {      \
    name##_vector s[ROWS][4];                                                                                                  \
    for (int i = 0; i < rows; i++) {                                                                                           \
      for (int j = 0; j < columns; j++)                                                                                        \
        s[i][j] = (name##_vector){0};                                                                                          \
    }                                                                                                                          \
    int64_t p = 0;                                                                                                             \
    for (; p + LANES <= k; p += LANES) {                                                                                       \
      name##_vector y[4];                                                                                                      \
      for (int j = 0; j < columns; j++) {                                                                                      \
        if (fetch)                                                                                                             \
          __builtin_prefetch(b + (j + columns) * ldb + p, 0, 2);                                                               \
        y[j] = *(const name##_vector *)(b + j * ldb + p);                                                                      \
      }                                                                                                                        \
      for (int i = 0; i < rows; i++) {                                                                                         \
        name##_vector x = *(const name##_vector *)(a + i * PITCH_TRANSPOSED + p);                                              \
        for (int j = 0; j < columns; j++)                                                                                      \
          s[i][j] += x * y[j];                                                                                                 \
      }                                                                                                                        \
    }                                                                                                                          \
    for (int i = 0; i < rows; i++) {                                                                                           \
      for (int j = 0; j < columns; j++) {                                                                                      \
        float lanes[LANES], sum = 0;                                                                                           \
        *(name##_vector *)lanes = s[i][j];                                                                                     \
        for (int width = LANES / 2; width; width /= 2) {                                                                       \
          for (int l = 0; l < width; l++)                                                                                      \
            lanes[l] += lanes[l + width];                                                                                      \
        }                                                                                                                      \
        for (int64_t q = p; q < k; q++)                                                                                        \
          sum += a[i * PITCH_TRANSPOSED + q] * b[j * ldb + q];                                                                 \
        c[i * ldc + j] += lanes[0] + sum;                                                                                      \
      }                                                                                                                        \
    }                                                                                                                          \
  }                                                                                                                            \
                                                                                                                               \
  __attribute__((target(isa))) static void name##_transposed(const scratch *s, bool fetch, int64_t m, int64_t n, int64_t k,    \
                                                             const float *b, int64_t ldb, float *c, int64_t ldc) {             \
    int64_t j = 0;                                                                                                             \
    for (; j + 4 <= n; j += 4) {                                                                                               \
      int64_t i = 0;                                                                                                           \
      if (fetch && m >= ROWS && j + 8 <= n) {                                                                                  \
        name##_dots(true, ROWS, 4, k, s->a, b + j * ldb, ldb, c + j, ldc);                                                     \
        i = ROWS;                                                                                                              \
      }                                                                                                                        \
      for (; i + ROWS <= m; i += ROWS)                                                                                         \
        name##_dots(false, ROWS, 4, k, s->a + i * PITCH_TRANSPOSED, b + j * ldb, ldb, c + i * ldc + j, ldc);                   \
      for (; i < m; i++)                                                                                                       \
        name##_dots(false, 1, 4, k, s->a + i * PITCH_TRANSPOSED, b + j * ldb, ldb, c + i * ldc + j, ldc);                      \
    }                                                                                                                          \
    for (; j < n; j++) {                                                                                                       \
      for (int64_t i = 0; i < m; i++)                                                                                          \
        name##_dots(false, 1, 1, k, s->a + i * PITCH_TRANSPOSED, b + j * ldb, ldb, c + i * ldc + j, ldc);                      \
    }                                                                                                                          \
  }

DEFINE_SKINNY(avx512, "avx512f", 16, 2, 4)
DEFINE_SKINNY(avx2, "avx2,fma", 8, 1, 2)

typedef struct kernels {
  void (*by_rows)(scratch *s, bool fetch, int64_t m, int64_t width, int64_t k, const float *b, int64_t ldb);
  void (*transposed)(const scratch *s, bool fetch, int64_t m, int64_t n, int64_t k, const float *b, int64_t ldb, float *c,
                     int64_t ldc);
} kernels;

/* By tprt__vectors; the best first. */
static const kernels ways[] = {{avx512_by_rows, avx512_transposed}, {avx2_by_rows, avx2_transposed}};

static bool has(tprt__vectors vectors) {
  return vectors == TPRT__AVX512 ? __builtin_cpu_supports("avx512f")
                                 : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static void multiply_by_rows(const kernels *way, scratch *s, bool fetch, const tprt__gemm_args *g, int64_t p, int64_t k) {
  for (int64_t j = 0; j < g->n; j += STRIP) {
    int64_t width = tprt__min(STRIP, g->n - j);
    float *c = (float *)g->c + j;
    for (int64_t i = 0; i < g->m; i++) {
      if (g->overwrite && p == 0)
        memset(s->c + i * PITCH_C, 0, (size_t)width * sizeof *c);
      else
        memcpy(s->c + i * PITCH_C, c + i * g->ldc, (size_t)width * sizeof *c);
    }
    way->by_rows(s, fetch, g->m, width, k, (const float *)g->b + p * g->ldb + j, g->ldb);
    for (int64_t i = 0; i < g->m; i++)
      memcpy(c + i * g->ldc, s->c + i * PITCH_C, (size_t)width * sizeof *c);
  }
}

bool tprt__gemm_skinny_f32(tprt__vectors vectors, const tprt__gemm_args *g) {
  if (g->m > (g->transpose_b ? ROWS_TRANSPOSED : ROWS_BY_ROWS) || g->k < MIN_LENGTH || g->n * g->k < MIN_ELEMENTS)
    return false;
  while (!has(vectors)) {
    if (vectors++ == TPRT__AVX2)
      return false;
  }
  const kernels *way = &ways[vectors];
  int64_t length = g->transpose_b ? LENGTH_TRANSPOSED : LENGTH_BY_ROWS;
  bool fetch = g->m >= FETCHED_ROWS && g->n * g->k >= FETCHED_ELEMENTS;
  scratch s;
  if (g->overwrite && g->transpose_b)
    tprt__gemm_clear(g, sizeof(float));
  for (int64_t p = 0; p < g->k; p += length) {
    int64_t k = tprt__min(length, g->k - p);
    pack_a(&s, g, p, k, length + PAD);
    if (g->transpose_b) {
      way->transposed(&s, fetch, g->m, g->n, k, (const float *)g->b + p, g->ldb, g->c, g->ldc);
    } else {
      multiply_by_rows(way, &s, fetch, g, p, k);
    }
  }
  return true;
}

#else

bool tprt__gemm_skinny_f32(tprt__vectors vectors, const tprt__gemm_args *g) {
  (void)vectors, (void)g;
  return false;
}

#endif
