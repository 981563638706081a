/* Large products of f32 on one thread: blocks in the caches, sums in registers. For processors with AVX-512.
 *
 * The loops are those of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): a block of A stays in the second
 * level of the cache while strips of B, two vectors wide, pass through it; a tile of C, a strip wide and up to TILE_ROWS high, is summed in
 * registers. What is different serves products with a few hundred rows, as in a layer of a model, where every element of B is used that often
 * only, and fetching and packing B is otherwise an eighth of the time:
 *   the next strip is packed between the tiles of this one, a few pieces at a time, and each piece is fetched from memory while a tile is computed;
 *   rows are divided evenly over tiles, with a kernel for every height, so that no tile is nearly empty.
 *
 * An element of C is added up in the order of k, whatever the other sizes are: parts of a product, on several ranks, have the bits of the whole. */
#include "blas.h"

#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)

#define AVX512 __attribute__((target("avx512f")))
#define UNROLLED _Pragma("GCC unroll 16")

enum {
  LANES = 16,          /* of a vector, a line of the cache */
  STRIP = 2 * LANES,   /* columns of B in a strip */
  SOON = 8,            /* steps of k for which lines of a strip are fetched in advance */
  PIECE = LANES,       /* steps of k that are packed at a time */
  TILE_ROWS = 14,      /* with two vectors of B and an element of A they fill the registers */
  LENGTH = 512,        /* of the sums of a block */
  PITCH = LENGTH + 16, /* between rows of A in a block: those of a power of two would fall on one set of the cache */
  ROWS = 256           /* of A in a block */
};

/* Below this it costs more to pack than to multiply. */
enum { MIN_WORK = 1 << 15 };

typedef float vector __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* A strip of B that is being packed: k vectors of STRIP elements, zeros behind its width. */
typedef struct strip {
  const float *b; /* its first element */
  float *to;
  int64_t ldb, width, k, n_pieces;
  int64_t n_packed, n_fetched; /* pieces; lines, STRIP in each piece */
  int64_t wanted, at_once;     /* lines to be fetched during the tile at hand, and at each of its pieces */
  bool transposed;
} strip;

static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* Begin of part `i` of n that differ by one at most. */
static int64_t part_begin(int64_t size, int64_t n, int64_t i) { return size / n * i + tprt__min(i, size % n); }

/* ---- packing ---- */

/* Squares of `size` of two rows, `size` rows apart, change places. */
#define SWAP(rows, size, low, high)                                                                                            \
  UNROLLED for (int i = 0; i < LANES; i++) {                                                                                   \
    if (!(i & (size))) {                                                                                                       \
      vector x = rows[i], y = rows[i + (size)];                                                                                \
      rows[i] = __builtin_shufflevector(x, y, low);                                                                            \
      rows[i + (size)] = __builtin_shufflevector(x, y, high);                                                                  \
    }                                                                                                                          \
  }
#define LIST(...) __VA_ARGS__

/* Sixteen columns, `ld` apart, to rows that are `pitch` apart. */
AVX512 static void transpose(float *to, int64_t pitch, const float *from, int64_t ld) {
  vector rows[LANES];
  UNROLLED for (int i = 0; i < LANES; i++) rows[i] = *(const vector *)(from + i * ld);
  SWAP(rows, 1, LIST(0, 16, 2, 18, 4, 20, 6, 22, 8, 24, 10, 26, 12, 28, 14, 30),
       LIST(1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31))
  SWAP(rows, 2, LIST(0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
       LIST(2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31))
  SWAP(rows, 4, LIST(0, 1, 2, 3, 16, 17, 18, 19, 8, 9, 10, 11, 24, 25, 26, 27),
       LIST(4, 5, 6, 7, 20, 21, 22, 23, 12, 13, 14, 15, 28, 29, 30, 31))
  SWAP(rows, 8, LIST(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),
       LIST(8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31))
  UNROLLED for (int i = 0; i < LANES; i++) * (vector *)(to + i * pitch) = rows[i];
}

AVX512 static void pack_a(float *to, const tprt__gemm_args *g, int64_t row, int64_t rows, int64_t p, int64_t k) {
  const float *a = g->a;
  if (!g->transpose_a) {
    for (int64_t i = 0; i < rows; i++)
      memcpy(to + i * PITCH, a + (row + i) * g->lda + p, (size_t)k * sizeof *a);
    return;
  }
  for (int64_t q = 0; q < k; q += LANES) {
    for (int64_t i = 0; i < rows; i += LANES) {
      const float *from = a + (p + q) * g->lda + row + i;
      if (q + LANES <= k && i + LANES <= rows) {
        transpose(to + i * PITCH + q, PITCH, from, g->lda);
        continue;
      }
      for (int64_t r = 0; r < tprt__min(LANES, k - q); r++) {
        for (int64_t c = 0; c < tprt__min(LANES, rows - i); c++)
          to[(i + c) * PITCH + q + r] = from[r * g->lda + c];
      }
    }
  }
}

AVX512 static void pack_piece(strip *s) {
  int64_t p = s->n_packed++ * PIECE, k = tprt__min(PIECE, s->k - p);
  const float *from = s->transposed ? s->b + p : s->b + p * s->ldb;
  float *to = s->to + p * STRIP;
  if (k == PIECE && s->width == STRIP) {
    for (int64_t j = 0; s->transposed && j < STRIP; j += LANES)
      transpose(to + j, STRIP, from + j * s->ldb, s->ldb);
    for (int64_t q = 0; !s->transposed && q < PIECE; q++) {
      *(vector *)(to + q * STRIP) = *(const vector *)(from + q * s->ldb);
      *(vector *)(to + q * STRIP + LANES) = *(const vector *)(from + q * s->ldb + LANES);
    }
    return;
  }
  for (int64_t q = 0; q < k; q++) {
    for (int64_t j = 0; j < STRIP; j++)
      to[q * STRIP + j] = j >= s->width ? 0 : s->transposed ? from[j * s->ldb + q] : from[q * s->ldb + j];
  }
}

/* Fetches lines of what is packed next. */
__attribute__((always_inline)) static inline void fetch(strip *s) {
  for (int64_t i = 0; i < s->at_once && s->n_fetched < s->wanted; i++) {
    int64_t p = s->n_fetched / STRIP * PIECE, line = s->n_fetched % STRIP;
    const float *from = s->transposed ? s->b + line * s->ldb + p : s->b + (p + line / 2) * s->ldb + line % 2 * LANES;
    __builtin_prefetch(from, 0, 2);
    s->n_fetched++;
  }
}

/* ---- tiles ---- */

/* c (rows x STRIP), or zero, + rows of a packed block * a packed strip; meanwhile lines of the next strip are fetched. Prefetches reach for the next piece
 * of A and the next steps of the strip; an address behind the end of either is harmless. */
typedef void tile_fn(int64_t k, const float *a, const float *b, float *c, int64_t ldc, bool add, strip *next);

#define DEFINE_TILE(rows)                                                                                                      \
  AVX512 static void tile_##rows(int64_t k, const float *a, const float *b, float *c, int64_t ldc, bool add, strip *next) {    \
    vector s[rows][2];                                                                                                         \
    UNROLLED for (int i = 0; i < rows; i++) {                                                                                  \
      s[i][0] = s[i][1] = (vector){0};                                                                                         \
      __builtin_prefetch(c + i * ldc, 1, 2);                                                                                   \
      __builtin_prefetch(c + i * ldc + LANES, 1, 2);                                                                           \
    }                                                                                                                          \
    for (int64_t p = 0; p < k;) {                                                                                              \
      int64_t end = tprt__min(p + PIECE, k);                                                                                   \
      const float *soon = end < k ? a + end : a + rows * PITCH;                                                                \
      UNROLLED for (int i = 0; i < rows; i++) __builtin_prefetch(soon + i * PITCH, 0, 3);                                      \
      fetch(next);                                                                                                             \
      for (; p < end; p++) {                                                                                                   \
        const float *y = b + p * STRIP;                                                                                        \
        __builtin_prefetch(y + SOON * STRIP, 0, 3);                                                                            \
        __builtin_prefetch(y + SOON * STRIP + LANES, 0, 3);                                                                    \
        vector y0 = *(const vector *)y, y1 = *(const vector *)(y + LANES);                                                     \
        UNROLLED for (int i = 0; i < rows; i++) {                                                                              \
          s[i][0] += a[i * PITCH + p] * y0;                                                                                    \
          s[i][1] += a[i * PITCH + p] * y1;                                                                                    \
        }                                                                                                                      \
      }                                                                                                                        \
    }                                                                                                                          \
    UNROLLED for (int i = 0; i < rows; i++) {                                                                                  \
      vector *c0 = (vector *)(c + i * ldc), *c1 = (vector *)(c + i * ldc + LANES);                                             \
      if (add) {                                                                                                               \
        s[i][0] += *c0;                                                                                                        \
        s[i][1] += *c1;                                                                                                        \
      }                                                                                                                        \
      *c0 = s[i][0];                                                                                                           \
      *c1 = s[i][1];                                                                                                           \
    }                                                                                                                          \
  }

#define EACH_HEIGHT(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14)
EACH_HEIGHT(DEFINE_TILE)

#define NAME(rows) tile_##rows,
static tile_fn *const tiles[TILE_ROWS] = {EACH_HEIGHT(NAME)};

/* Columns of C of a strip; what is there is added to, or overwritten. */
typedef struct target {
  float *c;
  int64_t ldc, width;
  bool add;
} target;

static void store_edge(const target *to, int64_t row, int64_t rows, const float *edge) {
  for (int64_t i = 0; i < rows; i++) {
    float *c = to->c + (row + i) * to->ldc;
    for (int64_t j = 0; j < to->width; j++)
      c[j] = edge[i * STRIP + j] + (to->add ? c[j] : 0);
  }
}

/* A packed block of m rows * a packed strip, while the next one is fetched and packed. */
static void multiply_strip(const float *a, int64_t m, int64_t k, const float *b, const target *to, strip *next) {
  int64_t n = divide_up(m, TILE_ROWS), pieces = divide_up(next->n_pieces, n);
  next->at_once = divide_up(pieces * STRIP, divide_up(k, PIECE));
  for (int64_t t = 0; t < n; t++) {
    int64_t row = part_begin(m, n, t), rows = part_begin(m, n, t + 1) - row;
    int64_t end = tprt__min(next->n_pieces, next->n_packed + pieces);
    next->wanted = end * STRIP;
    if (to->width == STRIP) {
      tiles[rows - 1](k, a + row * PITCH, b, to->c + row * to->ldc, to->ldc, to->add, next);
    } else {
      float edge[TILE_ROWS * STRIP];
      tiles[rows - 1](k, a + row * PITCH, b, edge, STRIP, false, next);
      store_edge(to, row, rows, edge);
    }
    while (next->n_packed < end)
      pack_piece(next);
  }
}

/* Scratch of a product: a block of A; the strip of B that is multiplied, and the next one. */
typedef struct blocks {
  _Alignas(4 * LANES) float a[ROWS * PITCH];
  float b[2][LENGTH * STRIP];
} blocks;

static strip strip_at(const tprt__gemm_args *g, int64_t p, int64_t k, int64_t column, float *to) {
  int64_t width = tprt__min(STRIP, g->n - column);
  const float *b = g->b;
  return (strip){.b = g->transpose_b ? b + column * g->ldb + p : b + p * g->ldb + column,
                 .to = to,
                 .ldb = g->ldb,
                 .width = width,
                 .k = k,
                 .n_pieces = divide_up(k, PIECE),
                 .transposed = g->transpose_b};
}

/* Rows of C += the packed block of A * k rows of B from p on. */
static void multiply_block(blocks *s, const tprt__gemm_args *g, int64_t row, int64_t rows, int64_t p, int64_t k) {
  strip first = strip_at(g, p, k, 0, s->b[0]);
  while (first.n_packed < first.n_pieces)
    pack_piece(&first);
  for (int64_t column = 0, at = 0; column < g->n; column += STRIP, at = !at) {
    strip next = {0};
    if (column + STRIP < g->n)
      next = strip_at(g, p, k, column + STRIP, s->b[!at]);
    target to = {(float *)g->c + row * g->ldc + column, g->ldc, tprt__min(STRIP, g->n - column), !g->overwrite || p > 0};
    multiply_strip(s->a, rows, k, s->b[at], &to, &next);
  }
}

size_t tprt__gemm_blocked_scratch(void) { return sizeof(blocks); }

bool tprt__gemm_blocked_f32(const tprt__gemm_args *g) {
  blocks *s = g->scratch;
  if (!s || g->m * g->n * g->k < MIN_WORK || !__builtin_cpu_supports("avx512f"))
    return false;
  int64_t n_blocks = divide_up(g->m, ROWS), n_sums = divide_up(g->k, LENGTH);
  for (int64_t i = 0; i < n_blocks; i++) {
    int64_t row = part_begin(g->m, n_blocks, i), rows = part_begin(g->m, n_blocks, i + 1) - row;
    for (int64_t j = 0; j < n_sums; j++) {
      int64_t p = part_begin(g->k, n_sums, j), k = part_begin(g->k, n_sums, j + 1) - p;
      pack_a(s->a, g, row, rows, p, k);
      multiply_block(s, g, row, rows, p, k);
    }
  }
  return true;
}

#else

size_t tprt__gemm_blocked_scratch(void) { return 0; }

bool tprt__gemm_blocked_f32(const tprt__gemm_args *g) {
  (void)g;
  return false;
}

#endif
