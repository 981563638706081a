/* Running reductions: cumsum, cummax and the like, which JAX writes as a reduce_window whose
 * windows are as long as the dimension. Taken as windows, n results read n elements each.
 *
 * The dimension is cut into blocks. Running reductions within the blocks are windows of the size of
 * a block; the totals of the blocks are reduced in the same way, and each block is combined with
 * what is in front of it (Blelloch 1990, "Prefix sums and their applications"). Blocks can be split
 * over devices: then only totals are sent. StableHLO leaves the order of a reduction open. */
#include "passes/import/stablehlo/hlo_window.h"

enum {
  BLOCK = 32, /* elements */
  FEW = 128   /* up to so many elements, windows are as fast */
};

typedef struct running {
  tp_hlo *hlo;
  MlirOperation op;
  int n, dim;
  bool backward;
} running;

bool tp__hlo_is_running(const tp_hlo_windows *w, const tp_hlo_shape *shape, int *dim,
                        bool *backward) {
  *dim = -1;
  for (int d = 0; d < w->rank; d++) {
    int64_t others = shape->sizes[d] - 1;
    if (w->stride[d] != 1 || w->between[d] != 0)
      return false;
    if (w->size[d] == 1 && w->low[d] == 0 && w->high[d] == 0)
      continue;
    bool is_forward = w->low[d] == others && w->high[d] == 0,
         is_backward = w->low[d] == 0 && w->high[d] == others;
    if (*dim >= 0 || w->dilation[d] != 1 || w->size[d] != shape->sizes[d] ||
        !(is_forward || is_backward))
      return false;
    *dim = d;
    *backward = is_backward;
  }
  return *dim >= 0 && shape->sizes[*dim] > FEW && shape->rank < TP_MAX_RANK;
}

/* Running reductions along a dimension, by windows. */
static tp_status reduce_short(const running *r, int dim, const MlirValue *values,
                              MlirValue *results) {
  MlirType types[TP_HLO_MAX_WINDOWED];
  tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(values[0]));
  tp_hlo_windows w = {.rank = shape.rank};
  for (int d = 0; d < shape.rank; d++)
    w.size[d] = w.stride[d] = w.dilation[d] = 1;
  w.size[dim] = shape.sizes[dim];
  *(r->backward ? &w.high[dim] : &w.low[dim]) = shape.sizes[dim] - 1;
  for (int i = 0; i < r->n; i++)
    types[i] = mlirValueGetType(values[i]);
  return tp__hlo_reduce_windows(r->hlo, r->op, r->n, &w, values, types, results);
}

static MlirValue pad(const running *r, int i, MlirValue value, int64_t low, int64_t high) {
  int64_t lows[TP_MAX_RANK] = {0}, highs[TP_MAX_RANK] = {0}, none[TP_MAX_RANK] = {0};
  lows[r->dim] = low;
  highs[r->dim] = high;
  return tp__hlo_pad(r->hlo, value, tp__hlo_operand(r->hlo, r->op, r->n + i), lows, highs, none);
}

/* Elements `first` to `first` + `count` along a dimension. */
static MlirValue part(const running *r, MlirValue value, int dim, int64_t first, int64_t count) {
  tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(value));
  int64_t at[TP_MAX_RANK] = {0}, steps[TP_MAX_RANK];
  for (int d = 0; d < shape.rank; d++)
    steps[d] = 1;
  at[dim] = first;
  shape.sizes[dim] = count;
  return tp__hlo_slice(r->hlo, value, at, shape.sizes, steps);
}

/* Combines each element of a block with what the blocks in front of it give. */
static tp_status combine(const running *r, const MlirValue *before, const MlirValue *inside,
                         MlirValue *results) {
  tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(inside[0]));
  MlirValue operands[3 * TP_HLO_MAX_WINDOWED], arguments[2 * TP_HLO_MAX_WINDOWED];
  MlirAttribute maps[3 * TP_HLO_MAX_WINDOWED];
  int all[TP_MAX_RANK], of_blocks[TP_MAX_RANK], n = r->n;
  for (int d = 0; d < shape.rank; d++) {
    all[d] = d;
    of_blocks[d] = d <= r->dim ? d : d + 1;
  }
  for (int i = 0; i < n; i++) {
    operands[i] = before[i];
    operands[n + i] = inside[i];
    operands[2 * n + i] =
        tp__hlo_build(r->hlo, "tensor.empty", mlirValueGetType(inside[i]), 0, NULL);
    maps[i] = tp__hlo_loop_map(r->hlo, shape.rank, shape.rank - 1, of_blocks);
    maps[n + i] = maps[2 * n + i] = tp__hlo_loop_map(r->hlo, shape.rank, shape.rank, all);
  }
  MlirOperation yield, generic = tp__hlo_generic(r->hlo, 2 * n, n, operands, maps, &yield);
  for (int i = 0; i < n; i++) {
    arguments[r->backward ? n + i : i] = tp__hlo_body_arg(generic, i);
    arguments[r->backward ? i : n + i] = tp__hlo_body_arg(generic, n + i);
    results[i] = mlirOperationGetResult(generic, i);
  }
  return tp__hlo_body(r->hlo, r->op, 0, yield, 2 * n, arguments);
}

static tp_status reduce_long(const running *r, const MlirValue *values, MlirValue *results);

/* What the blocks in front of each block give: the running reduction of their totals, one further
 * on. */
static tp_status reduce_totals(const running *r, const MlirValue *inside, int64_t n_blocks,
                               MlirValue *before) {
  MlirValue totals[TP_HLO_MAX_WINDOWED];
  for (int i = 0; i < r->n; i++) {
    MlirValue last = part(r, inside[i], r->dim + 1, r->backward ? 0 : BLOCK - 1, 1);
    tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(last)), of_blocks = {shape.rank - 1, {0}};
    for (int d = 0; d < of_blocks.rank; d++)
      of_blocks.sizes[d] = shape.sizes[d <= r->dim ? d : d + 1];
    totals[i] = tp__hlo_reshape(r->hlo, last, &of_blocks);
  }
  TP_TRY(reduce_long(r, totals, before));
  for (int i = 0; i < r->n; i++) {
    before[i] = part(r, before[i], r->dim, r->backward ? 1 : 0, n_blocks - 1);
    before[i] = r->backward ? pad(r, i, before[i], 0, 1) : pad(r, i, before[i], 1, 0);
  }
  return TP_OK;
}

static tp_status reduce_long(const running *r, const MlirValue *values, MlirValue *results) {
  tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(values[0])), blocks = {shape.rank + 1, {0}};
  int64_t size = shape.sizes[r->dim], n_blocks = (size + BLOCK - 1) / BLOCK,
          more = n_blocks * BLOCK - size;
  MlirValue inside[TP_HLO_MAX_WINDOWED], before[TP_HLO_MAX_WINDOWED];
  if (size <= FEW)
    return reduce_short(r, r->dim, values, results);
  for (int d = 0; d < blocks.rank; d++)
    blocks.sizes[d] = shape.sizes[d <= r->dim ? d : d - 1];
  blocks.sizes[r->dim] = n_blocks;
  blocks.sizes[r->dim + 1] = BLOCK;
  for (int i = 0; i < r->n; i++) {
    MlirValue whole = r->backward ? pad(r, i, values[i], more, 0) : pad(r, i, values[i], 0, more);
    inside[i] = tp__hlo_reshape(r->hlo, whole, &blocks);
  }
  TP_TRY(reduce_short(r, r->dim + 1, inside, inside));
  TP_TRY(reduce_totals(r, inside, n_blocks, before));
  TP_TRY(combine(r, before, inside, results));
  shape.sizes[r->dim] = n_blocks * BLOCK;
  for (int i = 0; i < r->n; i++) {
    results[i] = tp__hlo_reshape(r->hlo, results[i], &shape);
    results[i] = part(r, results[i], r->dim, r->backward ? more : 0, size);
  }
  return TP_OK;
}

tp_status tp__hlo_reduce_running(tp_hlo *hlo, MlirOperation op, int n, int dim, bool backward,
                                 const MlirValue *values, MlirValue *results) {
  const running r = {hlo, op, n, dim, backward};
  return reduce_long(&r, values, results);
}
