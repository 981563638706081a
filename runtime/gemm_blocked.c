/* Large products of f32 on one thread: blocks in the caches, sums in registers. For processors with AVX-512.
 *
 * The loops are those of Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication" (2008): a block of A stays in the second
 * level of the cache while strips of B, two vectors wide, pass through it; a tile of C, a strip wide and up to TILE_ROWS high, is summed in
 * registers. What is different serves products with a few hundred rows, as in a layer of a model, where every element of B is used that often
 * only, and fetching and packing B is otherwise an eighth of the time:
 *   the next strip is fetched and packed by the tiles of this one, a few rows each time, where the sums leave the processor room for it;
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
  PIECE = LANES,       /* steps of k between looks at the next strip */
  LEAD = 8,            /* pieces between the fetch of a line and its use */
  TILE_ROWS = 14,      /* with two vectors of B and an element of A they fill the registers */
  LENGTH = 512,        /* of the sums of a block */
  PITCH = LENGTH + 16, /* between rows of A in a block: those of a power of two would fall on one set of the cache */
  ROWS = 256           /* of A in a block */
};

/* Below this it costs more to pack than to multiply. */
enum { MIN_WORK = 1 << 15 };

typedef float vector __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

/* A strip of B that is being packed: k rows of STRIP elements, zeros behind its width. It is fetched from memory in steps, as many as it has rows: a step is
 * the lines of a row, or where B is transposed as many lines of the columns. Packed is what was fetched `lead` steps ago. */
typedef struct strip {
  const float *b; /* its first element */
  float *to;
  int64_t ldb, width, k;
  int64_t n_fetched, n_packed; /* steps; the first counts on to k + lead */
  int64_t at_once, lead;       /* steps at a piece of a tile */
  bool transposed, whole;      /* whole: as wide as a strip, and not transposed */
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

__attribute__((always_inline)) AVX512 static inline void pack_row(const strip *s, int64_t p) {
  const float *from = s->b + p * s->ldb;
  float *to = s->to + p * STRIP;
  *(vector *)to = *(const vector *)from;
  *(vector *)(to + LANES) = *(const vector *)(from + LANES);
}

/* Rows from n_packed to `end`, if there are any; it is the last, or a multiple of PIECE. */
AVX512 static void pack_rows(strip *s, int64_t end) {
  int64_t p = s->n_packed;
  if (s->whole) {
    for (; p < end; p++)
      pack_row(s, p);
  }
  for (; s->width == STRIP && p + PIECE <= end; p += PIECE) {
    for (int64_t j = 0; j < STRIP; j += LANES)
      transpose(s->to + p * STRIP + j, STRIP, s->b + j * s->ldb + p, s->ldb);
  }
  for (; p < end; p++) {
    for (int64_t j = 0; j < STRIP; j++)
      s->to[p * STRIP + j] = j >= s->width ? 0 : s->transposed ? s->b[j * s->ldb + p] : s->b[p * s->ldb + j];
  }
  s->n_packed = p;
}

__attribute__((always_inline)) static inline void fetch_step(const strip *s, int64_t step) {
  const float *from = s->transposed ? s->b + step % PIECE * 2 * s->ldb + step / PIECE * PIECE : s->b + step * s->ldb;
  __builtin_prefetch(from, 0, 2);
  __builtin_prefetch(from + (s->transposed ? s->ldb : LANES), 0, 2);
  if (!s->transposed) /* a row that is not aligned has a third line */
    __builtin_prefetch(from + STRIP - 1, 0, 2);
}

/* What a tile does for the next strip at each of its pieces; rows need no registers to be packed, columns wait for the end of the tile. */
__attribute__((always_inline)) AVX512 static inline void prepare(strip *s) {
  int64_t end = tprt__min(s->n_fetched + s->at_once, s->k + s->lead);
  for (; s->n_fetched < end; s->n_fetched++) {
    if (s->n_fetched < s->k)
      fetch_step(s, s->n_fetched);
    if (s->whole && s->n_fetched >= s->lead)
      pack_row(s, s->n_packed++);
  }
}

/* ---- tiles ---- */

__attribute__((always_inline)) static inline void prefetch_row(const float *c) {
  __builtin_prefetch(c, 1, 3);
  __builtin_prefetch(c + LANES, 1, 3);
  __builtin_prefetch(c + STRIP - 1, 1, 3);
}

/* Spelled, since compilers that choose which of its operands a multiply-add overwrites move sums around, some through memory. */
#define MULTIPLY_ADD(sum, x, y) __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(x), "v"(y))
#define BROADCAST(x, element) __asm__("vbroadcastss %1, %0" : "=v"(x) : "m"(element))

/* c (rows x STRIP), or zero, + rows of a packed block * a packed strip; meanwhile the next strip is prepared. Prefetches reach for the next piece of A and the
 * next steps of the strip (an address behind the end of either is harmless), and for the rows of C one at each of the last pieces: together they push
 * each other out of the cache. */
typedef void tile_fn(int64_t k, const float *a, const float *b, float *c, int64_t ldc, bool add, strip *next);

#define DEFINE_TILE(rows)                                                                                                      \
  AVX512 static void tile_##rows(int64_t k, const float *a, const float *b, float *c, int64_t ldc, bool add, strip *next) {    \
    vector s[rows][2];                                                                                                         \
    UNROLLED for (int i = 0; i < rows; i++) s[i][0] = s[i][1] = (vector){0};                                                   \
    for (int64_t i = divide_up(k, PIECE) - 1; i < rows; i++)                                                                   \
      prefetch_row(c + i * ldc);                                                                                               \
    for (int64_t p = 0; p < k;) {                                                                                              \
      int64_t end = tprt__min(p + PIECE, k);                                                                                   \
      const float *soon = end < k ? a + end : a + rows * PITCH;                                                                \
      UNROLLED for (int i = 0; i < rows; i++) __builtin_prefetch(soon + i * PITCH, 0, 3);                                      \
      int64_t row = (k - end) / PIECE - 1;                                                                                     \
      if (row >= 0 && row < rows)                                                                                              \
        prefetch_row(c + row * ldc);                                                                                           \
      prepare(next);                                                                                                           \
      for (; p < end; p++) {                                                                                                   \
        const float *y = b + p * STRIP;                                                                                        \
        __builtin_prefetch(y + SOON * STRIP, 0, 3);                                                                            \
        __builtin_prefetch(y + SOON * STRIP + LANES, 0, 3);                                                                    \
        vector y0 = *(const vector *)y, y1 = *(const vector *)(y + LANES);                                                     \
        UNROLLED for (int i = 0; i < rows; i++) {                                                                              \
          vector x;                                                                                                            \
          BROADCAST(x, a[i * PITCH + p]);                                                                                      \
          MULTIPLY_ADD(s[i][0], x, y0);                                                                                        \
          MULTIPLY_ADD(s[i][1], x, y1);                                                                                        \
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
  int64_t n = divide_up(m, TILE_ROWS);
  next->at_once = divide_up(next->k, n * divide_up(k, PIECE));
  next->lead = LEAD * next->at_once;
  for (int64_t t = 0; t < n; t++) {
    int64_t row = part_begin(m, n, t), rows = part_begin(m, n, t + 1) - row;
    if (to->width == STRIP) {
      tiles[rows - 1](k, a + row * PITCH, b, to->c + row * to->ldc, to->ldc, to->add, next);
    } else {
      float edge[TILE_ROWS * STRIP];
      tiles[rows - 1](k, a + row * PITCH, b, edge, STRIP, false, next);
      store_edge(to, row, rows, edge);
    }
    if (!next->whole)
      pack_rows(next, (next->n_fetched - next->lead) / PIECE * PIECE);
  }
  pack_rows(next, next->k);
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
                 .transposed = g->transpose_b,
                 .whole = width == STRIP && !g->transpose_b};
}

/* Rows of C += the packed block of A * k rows of B from p on. */
AVX512 static void multiply_block(blocks *s, const tprt__gemm_args *g, int64_t row, int64_t rows, int64_t p, int64_t k) {
  strip first = strip_at(g, p, k, 0, s->b[0]);
  first.lead = LEAD * PIECE;
  first.at_once = k + first.lead;
  prepare(&first);
  pack_rows(&first, k);
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
