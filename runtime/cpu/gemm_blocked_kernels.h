/* The blocked GEMM kernels for one element type and one instruction set.
 *
 * gemm_blocked.c includes this file once per instance and defines
 *   ELEMENT, BITS, LANES       the element type, its bits, and the elements of a vector
 *   NAME(x)                    x with the suffix of this instance
 *   TARGET                     the function attribute that enables the instruction set
 *   MULTIPLY_ADD, BROADCAST    the instructions, as inline assembly
 *   TILE_ROWS, EACH_HEIGHT(X)  rows of the highest tile, whose sums fill all registers except
 *                              those for two vectors of B and an element of A; X(1) to
 *                              X(TILE_ROWS) */
#define VECTOR NAME(vector)
#include "cpu/gemm_transpose.h"

#define STRIP (2 * LANES)                /* columns of B in a strip */
#define LINE (64 / (int)sizeof(ELEMENT)) /* elements of a cache line */
#define PIECE LANES /* steps of k between two portions of work on the next strip */
#define LENGTH (2048 / (int)sizeof(ELEMENT)) /* steps of k in a block */
/* Elements between rows of A in a block. Without the extra line, all rows would map to the same
 * cache set, because their distance would be a power of two. */
#define PITCH (LENGTH + LINE)
#define strip NAME(strip)
#define goal NAME(goal)
#define blocks NAME(blocks)

typedef ELEMENT VECTOR
    __attribute__((vector_size(LANES * sizeof(ELEMENT)), aligned(sizeof(ELEMENT)), may_alias));

/* A strip of B that is being packed: k rows of STRIP elements, padded with zeros beyond its width.
 * It is prefetched in k steps. A step covers the cache lines of one row or, if B is transposed, as
 * many lines of the columns. Packing follows prefetching by `lead` steps. */
typedef struct strip {
  const ELEMENT *b; /* its first element */
  ELEMENT *to;
  int64_t ldb, width, k;
  int64_t n_fetched, n_packed; /* counts steps; n_fetched runs up to k + lead */
  int64_t at_once, lead;       /* in steps; at_once: per portion of a tile */
  bool transposed, whole;      /* whole: not transposed, and of full width */
} strip;

/* ---- packing ---- */

/* Transposes LANES columns, which are `ld` apart, into rows that are `pitch` apart. */
TARGET static void NAME(transpose)(ELEMENT *to, int64_t pitch, const ELEMENT *from, int64_t ld) {
  VECTOR rows[LANES];
  UNROLLED for (int i = 0; i < LANES; i++) rows[i] = *(const VECTOR *)(from + i * ld);
  TRANSPOSE(rows)
  UNROLLED for (int i = 0; i < LANES; i++) * (VECTOR *)(to + i * pitch) = rows[COLUMN(i)];
}

TARGET static void NAME(pack_a)(ELEMENT *to, const tprt__gemm_args *g, int64_t row, int64_t rows,
                                int64_t p, int64_t k) {
  const ELEMENT *a = g->a;
  if (!g->transpose_a) {
    for (int64_t i = 0; i < rows; i++)
      memcpy(to + i * PITCH, a + (row + i) * g->lda + p, (size_t)k * sizeof *a);
    return;
  }
  for (int64_t q = 0; q < k; q += LANES) {
    for (int64_t i = 0; i < rows; i += LANES) {
      const ELEMENT *from = a + (p + q) * g->lda + row + i;
      if (q + LANES <= k && i + LANES <= rows) {
        NAME(transpose)(to + i * PITCH + q, PITCH, from, g->lda);
        continue;
      }
      for (int64_t r = 0; r < tprt__min(LANES, k - q); r++) {
        for (int64_t c = 0; c < tprt__min(LANES, rows - i); c++)
          to[(i + c) * PITCH + q + r] = from[r * g->lda + c];
      }
    }
  }
}

__attribute__((always_inline)) TARGET static inline void NAME(pack_row)(const strip *s, int64_t p) {
  const ELEMENT *from = s->b + p * s->ldb;
  ELEMENT *to = s->to + p * STRIP;
  *(VECTOR *)to = *(const VECTOR *)from;
  *(VECTOR *)(to + LANES) = *(const VECTOR *)(from + LANES);
}

/* Packs rows from n_packed to `end`, which is k or a multiple of PIECE. */
TARGET static void NAME(pack_rows)(strip *s, int64_t end) {
  int64_t p = s->n_packed;
  if (s->whole) {
    for (; p < end; p++)
      NAME(pack_row)(s, p);
  }
  for (; s->width == STRIP && p + PIECE <= end; p += PIECE) {
    for (int64_t j = 0; j < STRIP; j += LANES)
      NAME(transpose)(s->to + p * STRIP + j, STRIP, s->b + j * s->ldb + p, s->ldb);
  }
  for (; p < end; p++) {
    for (int64_t j = 0; j < STRIP; j++)
      s->to[p * STRIP + j] = j >= s->width   ? 0
                             : s->transposed ? s->b[j * s->ldb + p]
                                             : s->b[p * s->ldb + j];
  }
  s->n_packed = p;
}

__attribute__((always_inline)) static inline void NAME(fetch_step)(const strip *s, int64_t step) {
  const ELEMENT *from = s->transposed ? s->b + step % PIECE * 2 * s->ldb + step / PIECE * PIECE
                                      : s->b + step * s->ldb;
  __builtin_prefetch(from, 0, 2);
  if (s->transposed) {
    __builtin_prefetch(from + s->ldb, 0, 2);
    return;
  }
  if (STRIP > LINE)
    __builtin_prefetch(from + LINE, 0, 2);
  __builtin_prefetch(from + STRIP - 1, 0, 2); /* an unaligned row touches one more line */
}

/* One portion of a tile's work on the next strip: prefetches, and packs rows. Packing columns needs
 * registers, so that waits for the end of the tile. */
__attribute__((always_inline)) TARGET static inline void NAME(prepare)(strip *s) {
  int64_t end = tprt__min(s->n_fetched + s->at_once, s->k + s->lead);
  for (; s->n_fetched < end; s->n_fetched++) {
    if (s->n_fetched < s->k)
      NAME(fetch_step)(s, s->n_fetched);
    if (s->whole && s->n_fetched >= s->lead)
      NAME(pack_row)(s, s->n_packed++);
  }
}

/* ---- tiles ---- */

__attribute__((always_inline)) static inline void NAME(prefetch_row)(const ELEMENT *c) {
  __builtin_prefetch(c, 1, 3);
  if (STRIP > LINE)
    __builtin_prefetch(c + LINE, 1, 3);
  __builtin_prefetch(c + STRIP - 1, 1, 3);
}

/* Computes a tile: c (rows x STRIP) = rows of a packed block * a packed strip, plus c if `add`.
 * Meanwhile it prepares the next strip. It prefetches the next piece of A and the next steps of the
 * strip; an address behind the end of either is harmless. The rows of C are prefetched two at a
 * time during the last pieces: fetched all at once, they would evict each other from the cache. */
typedef void NAME(tile_fn)(int64_t k, const ELEMENT *a, const ELEMENT *b, ELEMENT *c, int64_t ldc,
                           bool add, strip *next);

#define DEFINE_TILE(rows)                                                                          \
  TARGET static void NAME(tile_##rows)(int64_t k, const ELEMENT *a, const ELEMENT *b, ELEMENT *c,  \
                                       int64_t ldc, bool add, strip *next) {                       \
    int64_t needed = add ? tprt__min(TPRT__SUM_STEPS, k) : k;                                      \
    for (int64_t i = ROWS_AT_ONCE * (divide_up(needed, PIECE) - 1); i < rows; i++)                 \
      NAME(prefetch_row)(c + i * ldc);                                                             \
    for (int64_t p = 0; p < k;) {                                                                  \
      VECTOR s[rows][2];                                                                           \
      UNROLLED for (int i = 0; i < rows; i++) s[i][0] = s[i][1] = (VECTOR){0};                     \
      for (int64_t sum_end = tprt__min(p + TPRT__SUM_STEPS, k); p < sum_end;) {                    \
        int64_t end = tprt__min(p + PIECE, sum_end);                                               \
        const ELEMENT *soon = end < k ? a + end : a + rows * PITCH;                                \
        UNROLLED for (int i = 0; i < rows; i++) __builtin_prefetch(soon + i * PITCH, 0, 3);        \
        int64_t row = ROWS_AT_ONCE * ((needed - end) / PIECE - 1);                                 \
        for (int64_t i = row; row >= 0 && i < tprt__min(row + ROWS_AT_ONCE, rows); i++)            \
          NAME(prefetch_row)(c + i * ldc);                                                         \
        NAME(prepare)(next);                                                                       \
        for (; p < end; p++) {                                                                     \
          const ELEMENT *y = b + p * STRIP;                                                        \
          __builtin_prefetch(y + SOON * STRIP, 0, 3);                                              \
          if (STRIP > LINE)                                                                        \
            __builtin_prefetch(y + SOON * STRIP + LINE, 0, 3);                                     \
          VECTOR y0 = *(const VECTOR *)y, y1 = *(const VECTOR *)(y + LANES);                       \
          UNROLLED for (int i = 0; i < rows; i++) {                                                \
            VECTOR x;                                                                              \
            BROADCAST(x, a[i * PITCH + p]);                                                        \
            MULTIPLY_ADD(s[i][0], x, y0);                                                          \
            MULTIPLY_ADD(s[i][1], x, y1);                                                          \
          }                                                                                        \
        }                                                                                          \
      }                                                                                            \
      UNROLLED for (int i = 0; i < rows; i++) {                                                    \
        VECTOR *c0 = (VECTOR *)(c + i * ldc), *c1 = (VECTOR *)(c + i * ldc + LANES);               \
        if (add) {                                                                                 \
          s[i][0] += *c0;                                                                          \
          s[i][1] += *c1;                                                                          \
        }                                                                                          \
        *c0 = s[i][0];                                                                             \
        *c1 = s[i][1];                                                                             \
      }                                                                                            \
      add = true;                                                                                  \
    }                                                                                              \
  }
EACH_HEIGHT(DEFINE_TILE)

#define TILE_NAME(rows) NAME(tile_##rows),
static NAME(tile_fn) *const NAME(tiles)[TILE_ROWS] = {EACH_HEIGHT(TILE_NAME)};

/* The columns of C that belong to a strip. `add`: adds to them instead of overwriting them. */
typedef struct goal {
  ELEMENT *c;
  int64_t ldc, width;
  bool add;
} goal;

/* Computes a tile whose strip is narrower than STRIP, in a buffer. */
static void NAME(edge)(NAME(tile_fn) * tile, int64_t rows, int64_t k, const ELEMENT *a,
                       const ELEMENT *b, ELEMENT *c, const goal *to, strip *next) {
  ELEMENT edge[TILE_ROWS * STRIP];
  size_t bytes = (size_t)to->width * sizeof *c;
  for (int64_t i = 0; to->add && i < rows; i++)
    memcpy(edge + i * STRIP, c + i * to->ldc, bytes);
  tile(k, a, b, edge, STRIP, to->add, next);
  for (int64_t i = 0; i < rows; i++)
    memcpy(c + i * to->ldc, edge + i * STRIP, bytes);
}

/* Multiplies a packed block of m rows by a packed strip, while the next strip is prefetched and
 * packed. */
static void NAME(multiply_strip)(const ELEMENT *a, int64_t m, int64_t k, const ELEMENT *b,
                                 const goal *to, strip *next) {
  int64_t n = divide_up(m, TILE_ROWS);
  next->at_once = divide_up(next->k, n * divide_up(k, PIECE));
  next->lead = LEAD * next->at_once;
  for (int64_t t = 0; t < n; t++) {
    int64_t row = part_begin(m, n, t), rows = part_begin(m, n, t + 1) - row;
    NAME(tile_fn) *tile = NAME(tiles)[rows - 1];
    ELEMENT *c = to->c + row * to->ldc;
    if (to->width == STRIP) {
      tile(k, a + row * PITCH, b, c, to->ldc, to->add, next);
    } else {
      NAME(edge)(tile, rows, k, a + row * PITCH, b, c, to, next);
    }
    if (!next->whole)
      NAME(pack_rows)(next, (next->n_fetched - next->lead) / PIECE * PIECE);
  }
  NAME(pack_rows)(next, next->k);
}

/* Scratch of a GEMM: a block of A, the current strip of B, and the next one. */
typedef struct blocks {
  _Alignas(64) ELEMENT a[ROWS * PITCH];
  ELEMENT b[2][LENGTH * STRIP];
} blocks;
_Static_assert(sizeof(blocks) <= SCRATCH_BYTES, "room for every instance");
_Static_assert(LENGTH % TPRT__SUM_STEPS == 0 && TPRT__SUM_STEPS % PIECE == 0,
               "sums end where blocks and pieces do");

static strip NAME(strip_at)(const tprt__gemm_args *g, int64_t p, int64_t k, int64_t column,
                            ELEMENT *to) {
  int64_t width = tprt__min(STRIP, g->n - column);
  const ELEMENT *b = g->b;
  return (strip){.b = g->transpose_b ? b + column * g->ldb + p : b + p * g->ldb + column,
                 .to = to,
                 .ldb = g->ldb,
                 .width = width,
                 .k = k,
                 .transposed = g->transpose_b,
                 .whole = width == STRIP && !g->transpose_b};
}

/* Rows of C += the packed block of A * k rows of B from p on. */
TARGET static void NAME(multiply_block)(blocks *s, const tprt__gemm_args *g, int64_t row,
                                        int64_t rows, int64_t p, int64_t k) {
  strip first = NAME(strip_at)(g, p, k, 0, s->b[0]);
  first.lead = LEAD * PIECE;
  first.at_once = k + first.lead;
  NAME(prepare)(&first);
  NAME(pack_rows)(&first, k);
  for (int64_t column = 0, at = 0; column < g->n; column += STRIP, at = !at) {
    strip next = {0};
    if (column + STRIP < g->n)
      next = NAME(strip_at)(g, p, k, column + STRIP, s->b[!at]);
    goal to = {(ELEMENT *)g->c + row * g->ldc + column, g->ldc, tprt__min(STRIP, g->n - column),
               !g->overwrite || p > 0};
    NAME(multiply_strip)(s->a, rows, k, s->b[at], &to, &next);
  }
}

static void NAME(multiply)(const tprt__gemm_args *g) {
  blocks *s = g->scratch;
  int64_t n_blocks = divide_up(g->m, ROWS), n_sums = divide_up(g->k, TPRT__SUM_STEPS),
          n_lengths = divide_up(g->k, LENGTH);
  for (int64_t i = 0; i < n_blocks; i++) {
    int64_t row = part_begin(g->m, n_blocks, i), rows = part_begin(g->m, n_blocks, i + 1) - row;
    for (int64_t j = 0; j < n_lengths; j++) {
      int64_t p = part_begin(n_sums, n_lengths, j) * TPRT__SUM_STEPS;
      int64_t k = tprt__min(part_begin(n_sums, n_lengths, j + 1) * TPRT__SUM_STEPS, g->k) - p;
      NAME(pack_a)(s->a, g, row, rows, p, k);
      NAME(multiply_block)(s, g, row, rows, p, k);
    }
  }
}

#undef VECTOR
#undef MIX
#undef LIST
#undef TRANSPOSE
#undef COLUMN
#undef BITS
#undef STRIP
#undef LINE
#undef PIECE
#undef LENGTH
#undef PITCH
#undef strip
#undef goal
#undef blocks
#undef DEFINE_TILE
#undef TILE_NAME
#undef ELEMENT
#undef LANES
#undef NAME
#undef TARGET
#undef MULTIPLY_ADD
#undef BROADCAST
#undef TILE_ROWS
#undef EACH_HEIGHT
