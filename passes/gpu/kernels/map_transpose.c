/* Kernels of nests without reductions that read along one loop and write along another, such as
 * transposes. Whichever loop adjacent threads run along, either the reads or the writes would need
 * a memory sector per element. So a block processes a tile. It reads operands along their
 * contiguous direction into shared memory and continues from there. A row in shared memory is one
 * element longer than a tile, so that neighbors in a column are in different banks. */
#include "passes/gpu/kernels/map.h"

#include "passes/support/lower.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <stdio.h>

enum {
  TILE = 32,
  ROW = TILE + 1,
  THREADS = 256,
  ROWS_AT_ONCE = THREADS / TILE,
  LEAST = 16,
  SHARED_BYTES = 48 * 1024
};

/* ---- matching ---- */

/* Returns the loop along which the operand is contiguous, or -1. Each dimension must be a loop or
 * have constant index. Sets *loops to the loops of the operand. */
static int direction(const tp__map_nest *n, const tp__map_operand *o, uint32_t *loops) {
  int along = -1;
  *loops = 0;
  for (int d = 0; d < o->rank && !o->is_scalar; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(o->map, d);
    if (mlirAffineExprIsAConstant(expr))
      continue;
    if (!mlirAffineExprIsADim(expr))
      return -1;
    int l = (int)mlirAffineDimExprGetPosition(expr);
    *loops |= UINT32_C(1) << l;
    if (o->strides[d] == 1 && n->size[l] > 1)
      along = l;
  }
  return along;
}

static bool is_result(const tp__map_nest *n, int operand) {
  for (int i = n->n_inputs; i < n->n_operands; i++)
    if (mlirValueEqual(n->operands[i].memref, n->operands[operand].memref))
      return true;
  return false;
}

bool tp__map_find_transpose(const tp__map_nest *n, tp__map_tiles *t) {
  uint32_t loops;
  int64_t bytes = 0;
  *t = (tp__map_tiles){.along = direction(n, n->operands + n->n_inputs, &loops), .across = -1};
  for (int i = 0; i < n->n_inputs && t->along >= 0; i++) {
    const tp__map_operand *o = n->operands + i;
    int other = direction(n, o, &loops);
    int64_t tile = (int64_t)TILE * ROW * tp__element_size(o->element);
    if (other < 0 || other == t->along || !(loops >> t->along & 1) ||
        (t->across >= 0 && t->across != other) || !tp__body_reads(&n->body, i) || is_result(n, i) ||
        bytes + tile > SHARED_BYTES || n->size[other] < LEAST)
      continue;
    bytes += tile;
    t->across = other;
    t->tiled[i] = true;
  }
  return t->across >= 0 && n->size[t->along] >= LEAST;
}

/* ---- the kernel ---- */

typedef struct tiler {
  const tp__map_nest *n;
  const tp__map_tiles *tiles;
  MlirOperation end;
  MlirValue fast, slow;       /* i32: position of the thread in a tile */
  MlirValue first[2];         /* first indices of the tile: along, across */
  MlirValue at[TP_MAP_LOOPS]; /* indices of the loops */
  MlirValue shared[TP_MAP_OPERANDS];
} tiler;

static MlirValue small(const tiler *t, MlirOperation where, int64_t value) {
  return tp__build_int(where, t->n->i32, value);
}

/* Computes the position of the thread in round `round`: along and across in the tile, and as loop
 * indices of the nest. Returns an i1: do these iterations exist? */
static MlirValue build_place(tiler *t, int round, bool reads, MlirValue *place) {
  const tp__map_nest *n = t->n;
  MlirValue moved =
      tp__binary(t->end, "arith.addi", t->slow, small(t, t->end, (int64_t)round * ROWS_AT_ONCE));
  int loops[] = {t->tiles->along, t->tiles->across};
  MlirValue inside = {NULL};
  place[0] = reads ? moved : t->fast; /* tiled operands are read with adjacent threads across */
  place[1] = reads ? t->fast : moved;
  for (int i = 0; i < 2; i++) {
    MlirValue index =
        tp__binary(t->end, "arith.addi", t->first[i], tp__map_cast(t->end, place[i], n->index));
    MlirValue bit =
        tp__compare(t->end, TP_ULT, index, tp__index_constant(t->end, n->size[loops[i]]));
    t->at[loops[i]] = index;
    inside = i == 0 ? bit : tp__binary(t->end, "arith.andi", inside, bit);
  }
  return inside;
}

static MlirValue shared_index(const tiler *t, MlirOperation where, const MlirValue *place) {
  MlirValue row = tp__binary(where, "arith.muli", place[0], small(t, where, ROW));
  return tp__map_cast(where, tp__binary(where, "arith.addi", row, place[1]), t->n->index);
}

static void fill_tiles(tiler *t, int round) {
  MlirValue place[2];
  MlirOperation inside;
  tp__map_if(t->end, build_place(t, round, true, place), &inside);
  MlirValue index = shared_index(t, inside, place);
  for (int i = 0; i < t->n->n_inputs; i++)
    if (t->tiles->tiled[i]) {
      MlirValue operands[] = {tp__map_load(t->n, inside, i, t->at), t->shared[i], index};
      tp__build(inside, "memref.store", 3, operands, 0, NULL, 0, NULL);
    }
}

static tp_status use_tiles(tiler *t, int round) {
  const tp__map_nest *n = t->n;
  tp__map_lanes_of arguments[TP_MAP_OPERANDS], yielded[TP_MAP_OPERANDS];
  MlirValue place[2];
  MlirOperation inside;
  tp__map_if(t->end, build_place(t, round, false, place), &inside);
  MlirValue index = shared_index(t, inside, place);
  for (int i = 0; i < n->n_operands; i++) {
    MlirValue operands[] = {t->shared[i], index};
    arguments[i][0] = t->tiles->tiled[i] ? tp__build_one(inside, "memref.load", 2, operands,
                                                         n->operands[i].element)
                      : tp__body_reads(&n->body, i) ? tp__map_load(n, inside, i, t->at)
                                                    : (MlirValue){NULL};
  }
  tp_status status =
      tp__map_compute(n, inside, t->tiles->along, 1, t->at, arguments, NULL, yielded);
  for (int k = 0; k < tp__map_n_outputs(n) && status == TP_OK; k++)
    tp__map_store(n, inside, n->n_inputs + k, t->at, yielded[k][0]);
  return status;
}

static int64_t n_tiles(const tp__map_nest *n, int loop) {
  return (n->size[loop] + TILE - 1) / TILE;
}

/* Computes the tile of the block. The block number enumerates tiles along, then across, then the
 * other loops. */
static void begin_tiles(tiler *t, int64_t n_blocks) {
  const tp__map_nest *n = t->n;
  int order[] = {t->tiles->along, t->tiles->across}, loops[TP_MAP_LOOPS], count = 0;
  MlirType counter = tp__map_counter(n, n_blocks);
  MlirValue thread = tp__map_register(n, t->end, "tid.x");
  t->fast = tp__binary(t->end, "arith.remui", thread, small(t, t->end, TILE));
  t->slow = tp__binary(t->end, "arith.divui", thread, small(t, t->end, TILE));
  MlirValue number = tp__map_cast(t->end, tp__map_register(n, t->end, "ctaid.x"), counter);
  for (int i = 0; i < 2; i++) {
    MlirValue size = tp__build_int(t->end, counter, n_tiles(n, order[i]));
    MlirValue tile =
        tp__map_cast(t->end, tp__binary(t->end, "arith.remui", number, size), n->index);
    t->first[i] = tp__binary(t->end, "arith.muli", tile, tp__index_constant(t->end, TILE));
    number = tp__binary(t->end, "arith.divui", number, size);
  }
  for (int l = 0; l < n->n_loops; l++)
    if (l != order[0] && l != order[1])
      loops[count++] = l;
  if (count > 0)
    tp__map_split(n, t->end, number, count, loops, 1, t->at);
}

tp_status tp__map_transpose(const tp__map_nest *n, const tp__map_tiles *tiles, MlirOperation func,
                            MlirOperation end, tp__map_launch *launch) {
  tiler t = {.n = n, .tiles = tiles, .end = end};
  MlirStringRef kernel = mlirStringAttrGetValue(tp__inherent(func, "sym_name"));
  int64_t others = tp__map_iterations(n, false) / n->size[tiles->along] / n->size[tiles->across];
  *launch =
      (tp__map_launch){.n_blocks = n_tiles(n, tiles->along) * n_tiles(n, tiles->across) * others,
                       .n_threads = THREADS,
                       .loop = tiles->along,
                       .lanes = 1};
  begin_tiles(&t, launch->n_blocks);
  for (int i = 0; i < n->n_inputs; i++) {
    char name[160];
    snprintf(name, sizeof name, "%.*s_shared%d", (int)kernel.length, kernel.data, i);
    if (tiles->tiled[i])
      t.shared[i] = tp__map_shared(func, end, name, (int64_t)TILE * ROW, n->operands[i].element);
  }
  for (int round = 0; round < TILE / ROWS_AT_ONCE; round++)
    fill_tiles(&t, round);
  tp__build(end, "nvvm.barrier0", 0, NULL, 0, NULL, 0, NULL);
  for (int round = 0; round < TILE / ROWS_AT_ONCE; round++)
    TP_TRY(use_tiles(&t, round));
  return TP_OK;
}
