/* Contractions as GEMMs.
 *
 * Loops that can be merged in all three operands are fused. Then one of three strategies runs:
 *   direct   f32 and f64, if there is a loop of each class with strides that a GEMM supports;
 *   packed   all other floating-point contractions: tiles are copied to contiguous panels of the
 *            accumulator type. The sum over all contracted loops is completed in a panel of C,
 *            which is converted back once;
 *   integer  plain loops with wrapping arithmetic. */
#include "cpu/contract.h"

#include <string.h>

enum { A, B, C };
enum { TILE_M = 256, TILE_N = 512, TILE_K = 512 };

/* ---- planning ---- */

static tprt_status read_loops(tprt_dtype dtype, int64_t n_loops, const tprt_abi_loop *given,
                              tprt__contraction *plan, tprt_abi_loop *loops) {
  if (n_loops < 0 || n_loops > TPRT__MAX_CONTRACT_DIMS) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "contraction: %lld loops; at most %d",
                      (long long)n_loops, TPRT__MAX_CONTRACT_DIMS);
  }
  *plan = (tprt__contraction){.dtype = dtype, .type = tprt__dtype_info_get((int64_t)dtype)};
  if (!plan->type)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "contraction: %d is not a dtype", (int)dtype);
  /* the f8 types have higher numbers than the complex types */
  if (dtype == TPRT_BOOL || dtype >= TPRT_C64)
    return tprt__fail(TPRT_UNSUPPORTED, "contraction: not defined for %s", plan->type->name);
  int64_t reach[3] = {1, 1, 1}, total = 1;
  for (int64_t i = 0; i < n_loops; i++) {
    tprt_abi_loop *loop = &loops[i];
    *loop = given[i];
    if (loop->size < 0)
      return tprt__fail(TPRT_INVALID_ARGUMENT, "contraction: loop %lld has size %lld", (long long)i,
                        (long long)loop->size);
    plan->empty |= loop->size == 0;
    if (loop->size && __builtin_mul_overflow(total, loop->size, &total)) {
      return tprt__fail(TPRT_INVALID_ARGUMENT, "contraction: more than 2^63 iterations");
    }
    for (int x = A; x <= C; x++) {
      int64_t span;
      if (loop->stride[x] < 0 || __builtin_mul_overflow(loop->size, loop->stride[x], &span) ||
          __builtin_add_overflow(reach[x], span, &reach[x]) || reach[x] > INT64_MAX / 16) {
        return tprt__fail(TPRT_INVALID_ARGUMENT,
                          "contraction: loop %lld of size %lld has stride %lld in operand %c",
                          (long long)i, (long long)loop->size, (long long)loop->stride[x],
                          "ABC"[x]);
      }
    }
  }
  return TPRT_OK;
}

static bool continues(const tprt_abi_loop *outer, const tprt_abi_loop *inner) {
  for (int x = A; x <= C; x++) {
    if (outer->stride[x] != inner->size * inner->stride[x])
      return false;
  }
  return true;
}

/* Removes a loop and keeps the order of the others: the order of the contracted loops is the order
 * of the sum, which must not depend on the loops of C. */
static void remove_loop(tprt_abi_loop *loops, int i, int n) {
  memmove(loops + i, loops + i + 1, (size_t)(n - i - 1) * sizeof *loops);
}

/* Drops loops of size 1 and fuses neighbors until nothing changes; a handful of loops, so the
 * plain way will do. */
static int fuse(tprt_abi_loop *loops, int n) {
  for (int i = 0; i < n; i++) {
    if (loops[i].size == 1) {
      remove_loop(loops, i--, n--);
      continue;
    }
    for (int j = 0; j < n; j++) {
      if (i == j || !continues(&loops[i], &loops[j]))
        continue;
      loops[j].size *= loops[i].size;
      remove_loop(loops, i, n--);
      i = -1; /* start over */
      break;
    }
  }
  return n;
}

static bool in_m(const tprt_abi_loop *l) { return l->stride[A] && !l->stride[B] && l->stride[C]; }
static bool in_n(const tprt_abi_loop *l) { return !l->stride[A] && l->stride[B] && l->stride[C]; }
static bool in_k(const tprt_abi_loop *l) { return l->stride[A] && l->stride[B] && !l->stride[C]; }

/* Computes the leading dimension of a rows x columns matrix with these strides. Returns false if it
 * is not stored by rows. */
static bool by_rows(int64_t rows, int64_t row_stride, int64_t columns, int64_t column_stride,
                    int64_t *ld) {
  if (columns > 1 && column_stride != 1)
    return false;
  *ld = rows > 1 ? row_stride : columns;
  return *ld >= columns;
}

static bool fits_either_order(int64_t rows, int64_t row_stride, int64_t columns,
                              int64_t column_stride, int64_t *ld, bool *transposed) {
  *transposed = false;
  if (by_rows(rows, row_stride, columns, column_stride, ld))
    return true;
  *transposed = true;
  return by_rows(columns, column_stride, rows, row_stride, ld);
}

/* Describes the GEMM with left operand x and right operand y. Returns false if their strides or
 * those of C do not allow it. */
static bool fits(const tprt_abi_loop *m, const tprt_abi_loop *n, const tprt_abi_loop *k, int x,
                 int y, tprt__gemm_args *gemm) {
  tprt__gemm_args made = {.m = m->size, .n = n->size, .k = k->size};
  if (!by_rows(m->size, m->stride[C], n->size, n->stride[C], &made.ldc) ||
      !fits_either_order(m->size, m->stride[x], k->size, k->stride[x], &made.lda,
                         &made.transpose_a) ||
      !fits_either_order(k->size, k->stride[y], n->size, n->stride[y], &made.ldb,
                         &made.transpose_b)) {
    return false;
  }
  *gemm = made;
  return true;
}

typedef struct choice {
  int m, n, k; /* indices of loops, or -1 */
  int64_t work;
} choice;

static const tprt_abi_loop one = {.size = 1};

enum { ANY = -2 };

/* Finds the largest direct GEMM over all loops, or none, for m, n and k. If `only` is not ANY, k
 * must be that loop. */
static choice choose_direct(const tprt_abi_loop *loops, int count, int only,
                            tprt__contraction *plan) {
  choice best = {-1, -1, -1, 0};
  for (int m = -1; m < count; m++) {
    if (m >= 0 && !in_m(&loops[m]))
      continue;
    for (int n = -1; n < count; n++) {
      if (n >= 0 && !in_n(&loops[n]))
        continue;
      for (int k = -1; k < count; k++) {
        if ((k >= 0 && !in_k(&loops[k])) || (only != ANY && k != only))
          continue;
        const tprt_abi_loop *lm = m < 0 ? &one : &loops[m], *ln = n < 0 ? &one : &loops[n],
                            *lk = k < 0 ? &one : &loops[k];
        int64_t work = lm->size * ln->size * lk->size;
        if (work <= best.work)
          continue;
        bool straight = fits(lm, ln, lk, A, B, &plan->gemm);
        if (!straight && !fits(ln, lm, lk, B, A, &plan->gemm))
          continue;
        plan->swapped = !straight;
        best = (choice){m, n, k, work};
      }
    }
  }
  return best;
}

/* Finds the largest loop of each class, regardless of strides. */
static choice choose_packed(const tprt_abi_loop *loops, int count) {
  choice best = {-1, -1, -1, 1};
  for (int i = 0; i < count; i++) {
    int *slot = in_m(&loops[i])   ? &best.m
                : in_n(&loops[i]) ? &best.n
                : in_k(&loops[i]) ? &best.k
                                  : NULL;
    if (slot && (*slot < 0 || loops[*slot].size < loops[i].size))
      *slot = i;
  }
  const int chosen[] = {best.m, best.n, best.k};
  for (int i = 0; i < 3; i++) {
    if (chosen[i] >= 0)
      best.work *= loops[chosen[i]].size;
  }
  return best;
}

static void set_loops(const tprt_abi_loop *loops, int count, choice chosen,
                      tprt__contraction *plan) {
  plan->m = chosen.m < 0 ? one : loops[chosen.m];
  plan->n = chosen.n < 0 ? one : loops[chosen.n];
  plan->k = chosen.k < 0 ? one : loops[chosen.k];
  plan->n_outer = plan->n_inner = 0;
  for (int i = 0; i < count; i++) {
    if (i == chosen.m || i == chosen.n || i == chosen.k)
      continue;
    if (loops[i].stride[C]) {
      plan->outer[plan->n_outer++] = loops[i];
    } else {
      plan->inner[plan->n_inner++] = loops[i];
    }
  }
}

tprt_status tprt__contraction_plan(tprt_dtype dtype, int64_t n_loops, const tprt_abi_loop *given,
                                   bool overwrite, tprt__contraction *plan) {
  tprt_abi_loop loops[TPRT__MAX_CONTRACT_DIMS];
  tprt_status status = read_loops(dtype, n_loops, given, plan, loops);
  if (!status && plan->empty && overwrite)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "contraction: C is overwritten, but a loop has size 0");
  if (status || plan->empty)
    return status;
  plan->overwrite = overwrite;
  int count = fuse(loops, (int)n_loops);
  choice packed = choose_packed(loops, count), chosen = packed;
  bool floating = dtype == TPRT_F32 || dtype == TPRT_F64 || plan->type->widen;
  plan->algorithm = floating ? TPRT__CONTRACT_PACKED : TPRT__CONTRACT_INTEGER;
  if (floating && !plan->type->widen) {
    /* The choice of k considers only the contracted loops, to fix the order of the sum. */
    choice direct = choose_direct(loops, count, packed.k, plan);
    /* A direct GEMM that covers only a small part of the work would be called very often. */
    if (direct.work >= 32768 || direct.work * 4 >= packed.work) {
      chosen = direct;
      plan->algorithm = TPRT__CONTRACT_DIRECT;
    }
  }
  set_loops(loops, count, chosen, plan);
  return TPRT_OK;
}

bool tprt__contraction_as_gemm(const tprt__contraction *plan, int64_t n_loops,
                               const tprt_abi_loop *given, tprt__contraction *product) {
  tprt_abi_loop loops[TPRT__MAX_CONTRACT_DIMS];
  if (plan->empty || read_loops(plan->dtype, n_loops, given, product, loops))
    return false;
  int count = fuse(loops, (int)n_loops);
  choice direct = choose_direct(loops, count, ANY, product);
  if (!direct.work)
    return false;
  product->algorithm = TPRT__CONTRACT_DIRECT;
  product->overwrite = plan->overwrite;
  set_loops(loops, count, direct, product);
  return true;
}

/* ---- execution ---- */

static int64_t iterations(const tprt_abi_loop *loops, int n) {
  int64_t total = 1;
  for (int i = 0; i < n; i++)
    total *= loops[i].size;
  return total;
}

/* Adds the offsets (in elements) of one iteration of a loop nest. */
static void locate(const tprt_abi_loop *loops, int n, int64_t iteration, int64_t offset[3]) {
  for (int i = n - 1; i >= 0; i--) {
    int64_t at = iteration % loops[i].size;
    iteration /= loops[i].size;
    for (int x = A; x <= C; x++)
      offset[x] += at * loops[i].stride[x];
  }
}

/* A direct contraction whose iterations of the outer loops are divided into parts. */
typedef struct direct {
  const tprt__contraction *plan;
  const tprt__gemm_settings *how;
  const char *a, *b;
  char *c;
  int64_t n_outer, n_parts;
} direct;

static void run_iterations(const direct *d, const tprt__gemm_settings *how, int64_t begin,
                           int64_t end) {
  const tprt__contraction *plan = d->plan;
  tprt__gemm_args gemm = plan->gemm;
  int64_t size = (int64_t)plan->type->size, n_inner = iterations(plan->inner, plan->n_inner);
  for (int64_t i = begin; i < end; i++) {
    for (int64_t j = 0; j < n_inner; j++) {
      int64_t at[3] = {0, 0, 0};
      locate(plan->outer, plan->n_outer, i, at);
      locate(plan->inner, plan->n_inner, j, at);
      const char *left = d->a + at[A] * size, *right = d->b + at[B] * size;
      gemm.a = plan->swapped ? right : left;
      gemm.b = plan->swapped ? left : right;
      gemm.c = d->c + at[C] * size;
      gemm.overwrite = plan->overwrite && j == 0;
      tprt__gemm(how, plan->dtype == TPRT_F64, &gemm);
    }
  }
}

static void run_direct_part(const void *data, int64_t part, void *scratch) {
  const direct *d = data;
  const tprt__gemm_settings how = {.library = d->how->library, .threads = 1, .scratch = scratch};
  run_iterations(d, &how, part * d->n_outer / d->n_parts, (part + 1) * d->n_outer / d->n_parts);
}

/* Several GEMMs run on one thread each, which need not wait for each other after every GEMM; few
 * GEMMs, or those of OpenBLAS, one after the other on all threads. */
static void run_direct(const tprt__contraction *plan, const char *a, const char *b, char *c,
                       const tprt__gemm_settings *how) {
  enum { PARTS_A_THREAD = 8 };
  int64_t n = iterations(plan->outer, plan->n_outer), threads = how->threads,
          work = plan->m.size * plan->n.size * plan->k.size;
  const direct d = {.plan = plan,
                    .how = how,
                    .a = a,
                    .b = b,
                    .c = c,
                    .n_outer = n,
                    .n_parts = tprt__min(n, threads * PARTS_A_THREAD)};
  bool even = n >= threads && (n % threads == 0 || n / threads >= 4);
  if (even && n * work >= TPRT__POOL_WORK &&
      !tprt__gemm_uses_library(how, plan->dtype == TPRT_F64, &plan->gemm) &&
      tprt__pool_run(how->threads, run_direct_part, &d, d.n_parts, how->scratch))
    return;
  run_iterations(&d, how, 0, n);
}

/* Loads a row of n strided elements as n accumulators. */
static void load_row(const tprt__dtype_info *type, void *to, const char *from, int64_t stride,
                     int64_t n) {
  size_t size = type->size;
  uint64_t gathered[TILE_N > TILE_K ? TILE_N : TILE_K]; /* the widest element has 8 bytes */
  const void *source = from;
  if (stride != 1) {
    for (int64_t i = 0; i < n; i++)
      memcpy((char *)gathered + (size_t)i * size, from + i * stride * (int64_t)size, size);
    source = gathered;
  }
  if (type->widen) {
    type->widen(to, source, (size_t)n);
  } else {
    memcpy(to, source, (size_t)n * size);
  }
}

static void store_row(const tprt__dtype_info *type, char *to, int64_t stride, const void *from,
                      int64_t n) {
  size_t size = type->size;
  uint64_t narrowed[TILE_N > TILE_K ? TILE_N : TILE_K];
  if (type->narrow) {
    type->narrow(narrowed, from, (size_t)n);
  } else {
    memcpy(narrowed, from, (size_t)n * size);
  }
  if (stride == 1) {
    memcpy(to, narrowed, (size_t)n * size);
    return;
  }
  for (int64_t i = 0; i < n; i++)
    memcpy(to + i * stride * (int64_t)size, (const char *)narrowed + (size_t)i * size, size);
}

/* Loads a panel of rows x columns accumulators. If the rows have unit stride it is stored
 * transposed; then returns true. */
static bool load_panel(const tprt__dtype_info *type, char *panel, const char *from, int64_t rows,
                       int64_t row_stride, int64_t columns, int64_t column_stride) {
  bool transposed = column_stride != 1 && row_stride == 1;
  int64_t n = transposed ? columns : rows, length = transposed ? rows : columns;
  int64_t step = (transposed ? column_stride : row_stride) * (int64_t)type->size;
  for (int64_t i = 0; i < n; i++) {
    load_row(type, panel + i * length * (int64_t)type->acc_size, from + i * step,
             transposed ? 1 : column_stride, length);
  }
  return transposed;
}

typedef struct panels {
  char *a, *b, *c;
} panels;

enum { PANEL_ELEMENTS = (TILE_M + TILE_N) * TILE_K + TILE_M * TILE_N };

/* Computes one tile of C. All contracted iterations are accumulated before it is rounded. */
static void run_tile(const tprt__contraction *plan, const tprt__gemm_settings *how, const char *a,
                     const char *b, char *c, int64_t m, int64_t n, panels p) {
  const tprt__dtype_info *type = plan->type;
  int64_t size = (int64_t)type->size, row = n * (int64_t)type->acc_size;
  int64_t n_inner = iterations(plan->inner, plan->n_inner);
  for (int64_t i = 0; i < m && !plan->overwrite; i++)
    load_row(type, p.c + i * row, c + i * plan->m.stride[C] * size, plan->n.stride[C], n);
  for (int64_t j = 0; j < n_inner; j++) {
    int64_t at[3] = {0, 0, 0};
    locate(plan->inner, plan->n_inner, j, at);
    for (int64_t begin = 0; begin < plan->k.size; begin += TILE_K) {
      int64_t k = tprt__min(TILE_K, plan->k.size - begin);
      const char *left = a + (at[A] + begin * plan->k.stride[A]) * size,
                 *right = b + (at[B] + begin * plan->k.stride[B]) * size;
      tprt__gemm_args gemm = {.m = m, .n = n, .k = k, .a = p.a, .b = p.b, .c = p.c, .ldc = n};
      gemm.overwrite = plan->overwrite && j == 0 && begin == 0;
      gemm.transpose_a = load_panel(type, p.a, left, m, plan->m.stride[A], k, plan->k.stride[A]);
      gemm.transpose_b = load_panel(type, p.b, right, k, plan->k.stride[B], n, plan->n.stride[B]);
      gemm.lda = gemm.transpose_a ? m : k;
      gemm.ldb = gemm.transpose_b ? k : n;
      tprt__gemm(how, plan->dtype == TPRT_F64, &gemm);
    }
  }
  for (int64_t i = 0; i < m; i++)
    store_row(type, c + i * plan->m.stride[C] * size, plan->n.stride[C], p.c + i * row, n);
}

static void run_packed(const tprt__contraction *plan, const char *a, const char *b, char *c,
                       const tprt__gemm_settings *how) {
  int64_t size = (int64_t)plan->type->size, acc = (int64_t)plan->type->acc_size;
  char *room = (char *)how->scratch + tprt__gemm_scratch();
  panels p = {
      .a = room, .b = room + TILE_M * TILE_K * acc, .c = room + (TILE_M + TILE_N) * TILE_K * acc};
  int64_t n_outer = iterations(plan->outer, plan->n_outer);
  for (int64_t o = 0; o < n_outer; o++) {
    int64_t at[3] = {0, 0, 0};
    locate(plan->outer, plan->n_outer, o, at);
    for (int64_t i = 0; i < plan->m.size; i += TILE_M) {
      for (int64_t j = 0; j < plan->n.size; j += TILE_N) {
        run_tile(plan, how, a + (at[A] + i * plan->m.stride[A]) * size,
                 b + (at[B] + j * plan->n.stride[B]) * size,
                 c + (at[C] + i * plan->m.stride[C] + j * plan->n.stride[C]) * size,
                 tprt__min(TILE_M, plan->m.size - i), tprt__min(TILE_N, plan->n.size - j), p);
      }
    }
  }
}

/* Signed and unsigned products have the same low bits. The factor 1u prevents overflow of int for
 * small types. */
#define DEFINE_INTEGER(name, type)                                                                 \
  static void name(const tprt__contraction *plan, const int64_t at[3], const void *a,              \
                   const void *b, void *c) {                                                       \
    for (int64_t i = 0; i < plan->m.size; i++) {                                                   \
      for (int64_t p = 0; p < plan->k.size; p++) {                                                 \
        type factor = ((const type *)a)[at[A] + i * plan->m.stride[A] + p * plan->k.stride[A]];    \
        const type *right = (const type *)b + at[B] + p * plan->k.stride[B];                       \
        type *row = (type *)c + at[C] + i * plan->m.stride[C];                                     \
        for (int64_t j = 0; j < plan->n.size; j++) {                                               \
          type *cell = row + j * plan->n.stride[C];                                                \
          *cell = (type)(*cell + 1u * factor * right[j * plan->n.stride[B]]);                      \
        }                                                                                          \
      }                                                                                            \
    }                                                                                              \
  }
DEFINE_INTEGER(multiply_8, uint8_t)
DEFINE_INTEGER(multiply_16, uint16_t)
DEFINE_INTEGER(multiply_32, uint32_t)
DEFINE_INTEGER(multiply_64, uint64_t)

static void clear_cells(const tprt__contraction *plan, const int64_t at[3], char *c) {
  size_t size = plan->type->size;
  for (int64_t i = 0; i < plan->m.size; i++) {
    for (int64_t j = 0; j < plan->n.size; j++)
      memset(c + (at[C] + i * plan->m.stride[C] + j * plan->n.stride[C]) * (int64_t)size, 0, size);
  }
}

static void run_integer(const tprt__contraction *plan, const void *a, const void *b, void *c) {
  static void (*const by_size[])(const tprt__contraction *, const int64_t *, const void *,
                                 const void *, void *) = {
      [1] = multiply_8, [2] = multiply_16, [4] = multiply_32, [8] = multiply_64};
  int64_t n_outer = iterations(plan->outer, plan->n_outer),
          n_inner = iterations(plan->inner, plan->n_inner);
  for (int64_t i = 0; i < n_outer; i++) {
    for (int64_t j = 0; j < n_inner; j++) {
      int64_t at[3] = {0, 0, 0};
      locate(plan->outer, plan->n_outer, i, at);
      locate(plan->inner, plan->n_inner, j, at);
      if (plan->overwrite && j == 0)
        clear_cells(plan, at, c);
      by_size[plan->type->size](plan, at, a, b, c);
    }
  }
}

size_t tprt__contraction_scratch(const tprt__contraction *plan) {
  if (plan->empty || plan->algorithm == TPRT__CONTRACT_INTEGER)
    return 0;
  return tprt__gemm_scratch() +
         (plan->algorithm == TPRT__CONTRACT_PACKED ? PANEL_ELEMENTS * plan->type->acc_size : 0);
}

void tprt__contraction_run(const tprt__contraction *plan, const tprt__gemm_settings *how,
                           const void *a, const void *b, void *c) {
  if (plan->empty)
    return;
  switch (plan->algorithm) {
  case TPRT__CONTRACT_DIRECT:
    run_direct(plan, a, b, c, how);
    break;
  case TPRT__CONTRACT_PACKED:
    run_packed(plan, a, b, c, how);
    break;
  case TPRT__CONTRACT_INTEGER:
    run_integer(plan, a, b, c);
    break;
  }
}
