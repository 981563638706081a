/* tp-tile-attention: computes attention block by block, so that scores are never stored.
 *
 * For each block of rows it iterates over the blocks of columns. Each step computes the scores of
 * the block with their elementwise ops, the running maximum of each row, the exponential of the
 * scores minus that maximum, the sum of the exponentials, and their product with the values. When
 * the maximum grows, earlier sums and products are scaled down (online softmax). The row maximum M
 * that the program subtracts from the scores and the divisor are needed only at the end: exp(s - M)
 * = exp(s - m) exp(m - M) for all columns of a row. So M and the divisor may come from other
 * devices.
 *
 * Each result equals that of the original ops, up to rounding. A row of only -infinity, or with
 * +infinity or NaN, becomes NaN as before, because m - M is NaN then. Sums and products are
 * accumulated in f32 (f64 for f64); columns are added in order. If keys and values rotate in a
 * ring, all rows are processed for each part of the columns, the own part first. Column blocks that
 * a causal mask hides from all rows are skipped, so an infinite value that no row attends to makes
 * no NaN. */
#include "passes/attention/tile.h"
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "rules/attention_loops.h"

#include <math.h>
#include <string.h>

/* Sizes of blocks. A block of a CPU stays in the caches of a core. On a GPU a block is several
 * launches for all of its multiprocessors, and scores are tiled only if they need gigabytes. */
typedef struct limits {
  double untiled; /* at most so many scores are not tiled */
  int64_t scores, columns;
  int64_t causal_columns; /* under a causal mask, narrow blocks skip more */
} limits;
static const limits limits_of[] = {
    /* fused=inline */ {TP_BLOCK_SCORES, TP_BLOCK_SCORES, 512, 256},
    /* fused=keep */ {1 << 29, 1 << 26, 8192, 4096},
};

enum { STAT_TILED, STAT_RINGS };

/* A value that one block passes to the next. */
typedef struct carried {
  int op; /* TP_ROW_REDUCTION, TP_ROW_SUM or TP_OUTPUT */
  tp_loop_list loops;
  MlirType element; /* accumulation type */
} carried;

typedef struct blocks {
  tp_tiler t;
  limits most;
  int n, maximum; /* number of carried values, and index of the maximum among them */
  carried of[TP_MAX_ATTENTION_SUMS];
  /* by op: the value that replaced its result; null: none yet */
  MlirValue replaced[TP_MAX_ATTENTION_OPS];
  tp_tile_causal causal;
  tp_tile_ring ring;
  MlirValue first;                 /* first column of the current part; null: there are no parts */
  bool resumes;                    /* rows already have sums from earlier parts */
  int n_cut;                       /* number of loops around the rows of a block */
  uint8_t cut[TP_MAX_SCORE_LOOPS]; /* outermost first */
} blocks;

/* ---- block sizes ---- */

/* The size of nearly equal blocks of at most `most` iterations. */
static int64_t even_part(int64_t size, int64_t most) {
  int64_t n = (size + most - 1) / most;
  return (size + n - 1) / n;
}

/* The number of columns per block. Under a causal mask, prefers a size that divides the columns,
 * since only full blocks can be skipped. */
static int64_t columns_of_block(const blocks *b) {
  int64_t columns = b->ring.columns, most = b->most.causal_columns;
  if (!b->causal.found)
    return even_part(columns, b->most.columns);
  for (int64_t tile = most; tile > most / 2; tile--)
    if (columns % tile == 0)
      return tile;
  return even_part(columns, most);
}

/* A block must be a contiguous range of every dimension. So if several loops make up a dimension,
 * the loops outside a loop that is cut get one iteration per block. */
static void keep_ranges(const tp_score_dim *dims, int n, const int64_t *sizes, int64_t *tile) {
  for (int d = 0; d < n; d++)
    for (int k = 0; k < dims[d].n; k++)
      for (int m = k + 1; m < dims[d].n; m++)
        if (tile[dims[d].loops[m]] < sizes[dims[d].loops[m]])
          tile[dims[d].loops[k]] = 1;
}

static double n_scores(const tp_attention *a) {
  tp_loop_list loops = tp__result_loops(&a->ops[0]);
  double n = 1;
  for (int i = 0; i < loops.n; i++)
    n *= (double)a->sizes[loops.loops[i]];
  return n;
}

/* The number of features of the values: a block of the output must not exceed a block of scores. */
static int64_t n_features(const tp_attention *a) {
  tp_loop_list loops = tp__result_loops(&a->ops[a->output]);
  int64_t n = 1;
  for (int i = 0; i < loops.n; i++)
    n *= a->whole >> loops.loops[i] & 1 ? a->sizes[loops.loops[i]] : 1;
  return n;
}

static void choose_tiles(blocks *b) {
  const tp_attention *a = b->t.a;
  tp_loop_list loops = tp__result_loops(&a->ops[0]);
  int64_t *tile = b->t.tile, left;
  for (int l = 0; l < a->n_loops; l++)
    tile[l] = a->whole >> l & 1 ? a->sizes[l] : 1;
  tile[a->column] = columns_of_block(b);
  left = b->most.scores / (tile[a->column] > n_features(a) ? tile[a->column] : n_features(a));
  left = left > 0 ? left : 1;
  /* rows of one head first, because they share keys and values */
  for (int pass = 0; pass < 2; pass++)
    for (int i = loops.n - 1; i >= 0; i--) {
      int l = loops.loops[i];
      if (l == a->column || (a->rows >> l & 1) != (pass == 0))
        continue;
      tile[l] = even_part(a->sizes[l], left);
      left = tile[l] < a->sizes[l] ? 1 : left / tile[l];
    }
  /* a loop reduced to one iteration may affect others */
  for (int round = 0; round < a->n_loops; round++)
    for (int i = 0; i < a->n_ops; i++) {
      keep_ranges(a->ops[i].loops, a->ops[i].n_loops, a->sizes, tile);
      keep_ranges(a->ops[i].from, a->ops[i].n_from, a->sizes, tile);
    }
  for (int i = 0; i < loops.n; i++)
    if (loops.loops[i] != a->column && tile[loops.loops[i]] < a->sizes[loops.loops[i]])
      b->cut[b->n_cut++] = loops.loops[i];
  for (int l = 0; l < a->n_loops; l++)
    b->t.now[l] = a->sizes[l];
}

/* ---- loops ---- */

typedef void (*block_body)(blocks *b, int depth, MlirValue *values);

/* Sets the offset of the block in a loop; for columns, relative to the current part. Null: 0. */
static void set_offset(blocks *b, int loop, MlirValue offset) {
  bool in_part = loop == b->t.a->column && !mlirValueIsNull(b->first);
  if (in_part) {
    b->t.within = offset;
    offset =
        mlirValueIsNull(offset) ? b->first : tp__binary(b->t.where, "arith.addi", b->first, offset);
  }
  b->t.offset[loop] = offset;
}

/* Blocks of a loop, from `first` up to `end`, about `trips` of them; -1: both limits are
 * constant. */
typedef struct range {
  MlirValue first, end;
  int64_t step, trips;
} range;

/* Builds an scf.for with iteration arguments `values`, and its body; `values` become its
 * results. */
static void build_for(blocks *b, range r, int loop, int depth, block_body body, MlirValue *values) {
  MlirOperation where = b->t.where;
  MlirContext context = mlirOperationGetContext(where);
  MlirLocation location = mlirOperationGetLocation(where);
  MlirType types[TP_MAX_ATTENTION_SUMS + 1] = {mlirIndexTypeGet(context)};
  MlirLocation locations[TP_MAX_ATTENTION_SUMS + 1] = {location};
  MlirValue operands[TP_MAX_ATTENTION_SUMS + 3] = {r.first, r.end,
                                                   tp__index_constant(where, r.step)};
  for (int i = 0; i < b->n; i++) {
    types[1 + i] = mlirValueGetType(values[i]);
    locations[1 + i] = location;
    operands[3 + i] = values[i];
  }
  MlirNamedAttribute mark = tp__named(
      /* for the cost model */
      context, "tp.blocks",
      r.trips < 0 ? mlirUnitAttrGet(context) : tp__attr_i64(context, r.trips));
  MlirOperation loop_op = tp__create(&(tp_build){.name = "scf.for",
                                                 .location = location,
                                                 .n_operands = 3 + b->n,
                                                 .operands = operands,
                                                 .n_results = b->n,
                                                 .results = types + 1,
                                                 .n_attributes = 1,
                                                 .attributes = &mark,
                                                 .n_regions = 1});
  MlirBlock block = mlirBlockCreate(1 + b->n, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(loop_op, 0), block);
  MlirOperation yield = tp__create(&(tp_build){.name = "scf.yield", .location = location});
  mlirBlockAppendOwnedOperation(block, yield);
  tp__insert_before(where, loop_op);
  for (int i = 0; i < b->n; i++)
    values[i] = mlirBlockGetArgument(block, 1 + i);
  b->t.where = yield;
  set_offset(b, loop, mlirBlockGetArgument(block, 0));
  body(b, depth, values);
  mlirOperationSetOperands(yield, b->n, values);
  b->t.where = where;
  for (int i = 0; i < b->n; i++)
    values[i] = mlirOperationGetResult(loop_op, i);
}

/* Builds the loop over the full column blocks of the current part, of `end` columns, that rows of
 * the block attend to. Unless masked scores are -infinity, it then builds a loop over the remaining
 * full blocks, which runs only if some row has seen no score that outweighs the masked ones. */
static void visible_blocks(blocks *b, int64_t end, int depth, block_body body, MlirValue *values) {
  MlirOperation where = b->t.where;
  int64_t tile = b->t.tile[b->t.a->column];
  MlirValue zero = tp__index_constant(where, 0), all = tp__index_constant(where, end),
            step = tp__index_constant(where, tile);
  MlirValue seen = tp__visible_columns(&b->t, &b->causal);
  if (!mlirValueIsNull(b->first))
    seen = tp__binary(where, "arith.subi", seen, b->first);
  seen = tp__binary(where, "arith.addi", seen, tp__index_constant(where, tile - 1));
  seen = tp__binary(where, "arith.maxsi", seen, zero);
  seen = tp__binary(where, "arith.muli", tp__binary(where, "arith.divui", seen, step), step);
  seen = tp__binary(where, "arith.minsi", seen, all);
  build_for(b, (range){zero, seen, tile, end / tile}, b->t.a->column, depth, body, values);
  if (isinf(b->causal.hidden))
    return;
  MlirValue exceed = tp__all_exceed(&b->t, values[b->maximum], b->causal.hidden);
  build_for(b, (range){tp__select(where, exceed, all, seen), all, tile, 0}, b->t.a->column, depth,
            body, values);
}

/* True if a mask may hide whole column blocks: there are several blocks, or several parts. */
static bool hides_blocks(const blocks *b, int loop, int64_t size) {
  return b->causal.found && loop == b->t.a->column && (size > b->t.tile[loop] || b->ring.parts > 1);
}

/* Builds the body for all blocks of a loop; the last block may be smaller. */
static void each_block(blocks *b, int loop, int depth, block_body body, MlirValue *values) {
  int64_t size = loop == b->t.a->column ? b->ring.columns : b->t.a->sizes[loop];
  int64_t tile = b->t.tile[loop], rest = size % tile;
  b->t.now[loop] = tile;
  set_offset(b, loop, (MlirValue){NULL});
  if (hides_blocks(b, loop, size))
    visible_blocks(b, size - rest, depth, body, values);
  else if (size == tile)
    body(b, depth, values);
  else
    build_for(b,
              (range){tp__index_constant(b->t.where, 0),
                      tp__index_constant(b->t.where, size - rest), tile, -1},
              loop, depth, body, values);
  if (rest > 0) {
    b->t.now[loop] = rest;
    set_offset(b, loop, tp__index_constant(b->t.where, size - rest));
    body(b, depth, values);
  }
  b->t.now[loop] = b->t.a->sizes[loop];
  b->t.offset[loop] = (MlirValue){NULL};
}

/* ---- a block ---- */

static tp_row_operand flat_operand(blocks *b, MlirValue tile, tp_loop_list loops) {
  MlirType type = tp__loops_type(&b->t, &loops, tp__element_type(mlirValueGetType(tile)), false);
  return (tp_row_operand){tp__reshaped(&b->t, tile, type), loops};
}

static tp_row_operand carried_operand(const blocks *b, int i, const MlirValue *values) {
  return (tp_row_operand){values[i], b->of[i].loops};
}

static void make_exponential(blocks *b, tp_row_operand maximum) {
  const tp_attention *a = b->t.a;
  const tp_attention_op *op = &a->ops[a->exponential], *reduction = &a->ops[b->of[b->maximum].op];
  tp_score_dim dims[TP_MAX_RANK];
  /* the scores from which the maximum is subtracted */
  MlirValue x = mlirOperationGetOperand(reduction->op, 0);
  tp__attention_operand_dims(reduction, 0, dims);
  tp_loop_list of_x = tp__flat_loops(dims, (int)mlirShapedTypeGetRank(mlirValueGetType(x))),
               loops = tp__result_loops(op);
  tp_row_operand scores = flat_operand(b, tp__tile(&b->t, x, dims), of_x);
  MlirValue e = tp__row_exponential(&b->t, &loops, scores, maximum, (MlirType){NULL});
  b->t.made[a->exponential] = tp__reshaped(&b->t, e, tp__tile_type(&b->t, a->exponential));
}

/* Processes one block of columns for a block of rows. */
static void add_columns(blocks *b, int depth, MlirValue *values) {
  tp_tiler *t = &b->t;
  const tp_attention *a = t->a;
  (void)depth;
  memset(t->made, 0, sizeof t->made);
  tp_row_operand before = carried_operand(b, b->maximum, values);
  for (int i = 0; i < b->n; i++)
    if (a->ops[b->of[i].op].role == TP_ROW_REDUCTION) {
      MlirValue init = tp__reshaped(t, values[i], tp__tile_type(t, b->of[i].op));
      values[i] = flat_operand(b, tp__tile_op(t, b->of[i].op, init), b->of[i].loops).value;
    }
  tp_row_operand maximum = carried_operand(b, b->maximum, values);
  make_exponential(b, maximum);
  MlirType wide = tp__wide_type(b->of[b->maximum].element);
  tp_row_operand factor = {tp__row_exponential(t, &maximum.loops, before, maximum, wide),
                           maximum.loops};
  for (int i = 0; i < b->n; i++)
    if (a->ops[b->of[i].op].role != TP_ROW_REDUCTION) {
      MlirValue part = tp__tile_op(t, b->of[i].op, tp__zeros(t, tp__tile_type(t, b->of[i].op)));
      values[i] = tp__row_add(t, carried_operand(b, i, values), factor,
                              flat_operand(b, part, b->of[i].loops));
    }
}

/* The initial value of a reduction for this block of rows. */
static MlirValue first_of(blocks *b, int i) {
  const tp_attention_op *op = &b->t.a->ops[b->of[i].op];
  tp_score_dim dims[TP_MAX_RANK];
  if (op->role != TP_ROW_REDUCTION)
    return tp__zeros(&b->t, tp__loops_type(&b->t, &b->of[i].loops, b->of[i].element, false));
  int init = (int)mlirOperationGetNumOperands(op->op) - 1;
  tp__attention_operand_dims(op, init, dims);
  return flat_operand(b, tp__tile(&b->t, mlirOperationGetOperand(op->op, init), dims),
                      b->of[i].loops)
      .value;
}

static void add_rows(blocks *b, int depth, MlirValue *values) {
  if (depth < b->n_cut) {
    each_block(b, b->cut[depth], depth + 1, add_rows, values);
    return;
  }
  MlirValue rows[TP_MAX_ATTENTION_SUMS];
  for (int i = 0; i < b->n; i++)
    rows[i] = b->resumes ? tp__take_tile(&b->t, values[i], &b->of[i].loops) : first_of(b, i);
  each_block(b, b->t.a->column, depth, add_columns, rows);
  for (int i = 0; i < b->n; i++)
    values[i] = tp__put_tile(&b->t, rows[i], values[i], &b->of[i].loops);
}

/* Processes all rows, once for each part of the columns. */
static void add_all(blocks *b, MlirValue *values) {
  if (b->ring.parts == 1)
    add_rows(b, 0, values);
  for (int64_t step = 0; step < b->ring.parts && b->ring.parts > 1; step++) {
    MlirValue next[2];
    bool is_last = step + 1 == b->ring.parts;
    if (!is_last)
      tp__ring_send(&b->t, &b->ring, next);
    b->first = tp__ring_first(&b->t, &b->ring, step);
    b->resumes = step > 0;
    add_rows(b, 0, values);
    for (int i = 0; i < b->t.n_ring_values && !is_last; i++)
      b->t.ring_values[i].part = next[i];
  }
}

/* ---- around the blocks ---- */

/* A row operand of the program, with one dimension per loop. */
static tp_row_operand rows_of(blocks *b, const tp_attention_op *op) {
  tp_loop_list loops = tp__flat_loops(op->row_dims, op->n_rows);
  int maker = tp__attention_producer(b->t.a, op->rows);
  MlirValue rows = maker < 0 ? op->rows : b->replaced[maker];
  MlirType type = tp__loops_type(&b->t, &loops, tp__element_type(mlirValueGetType(rows)), true);
  return (tp_row_operand){tp__reshaped(&b->t, rows, type), loops};
}

/* The rows that the program subtracts from the scores. */
static tp_row_operand subtracted_rows(blocks *b) {
  const tp_attention *a = b->t.a;
  for (int i = 0; i < a->n_ops; i++)
    if ((a->ops[i].role == TP_SHIFT || a->ops[i].role == TP_EXPONENTIAL) &&
        !mlirValueIsNull(a->ops[i].rows))
      return rows_of(b, &a->ops[i]);
  return (tp_row_operand){0}; /* never reached: tp__attention_at requires such an op */
}

/* The rows of which a select keeps a weight; `kind` says what they do to a sum. A select without
 * columns keeps whole rows. */
static tp_row_operand kept_rows(blocks *b, const tp_attention_op *op, tp_row_scale *kind) {
  MlirValue condition = mlirOperationGetOperand(op->op, op->condition);
  tp_score_dim dims[TP_MAX_RANK];
  tp__attention_operand_dims(op, op->condition, dims);
  tp_loop_list loops = tp__flat_loops(dims, tp__value_rank(condition));
  MlirType flat =
      tp__loops_type(&b->t, &loops, tp__element_type(mlirValueGetType(condition)), true);
  tp_row_operand weights = {tp__reshaped(&b->t, condition, flat), loops};
  bool has_columns = memchr(loops.loops, b->t.a->column, (size_t)loops.n) != NULL;
  *kind = has_columns ? TP_SCALE_ZERO_UNLESS : op->scale;
  return has_columns ? tp__row_any(&b->t, weights, op->scale == TP_SCALE_ZERO_IF) : weights;
}

static void replace(blocks *b, int i, MlirValue with) {
  MlirValue result = mlirOperationGetResult(b->t.a->ops[b->of[i].op].op, 0);
  b->replaced[b->of[i].op] = tp__reshaped(&b->t, with, mlirValueGetType(result));
  mlirValueReplaceAllUsesOfWith(result, b->replaced[b->of[i].op]);
}

/* Replaces the op by its accumulated value, relative to the rows that the program subtracts. The
 * output is also scaled. */
static void finish(blocks *b, int i, const MlirValue *values) {
  const tp_attention *a = b->t.a;
  const tp_attention_op *op = &a->ops[b->of[i].op];
  tp_row_operand scales[TP_MAX_ATTENTION_SCALES];
  tp_row_scale kinds[TP_MAX_ATTENTION_SCALES];
  int n = 0;
  for (int k = 0; k < a->n_ops && op->role == TP_OUTPUT; k++)
    if (a->ops[k].role == TP_SCALE) {
      kinds[n] = a->ops[k].scale;
      scales[n++] = rows_of(b, &a->ops[k]);
    } else if (a->ops[k].drops) {
      scales[n] = kept_rows(b, &a->ops[k], &kinds[n]);
      n++;
    }
  MlirType element = tp__element_type(mlirValueGetType(mlirOperationGetResult(op->op, 0)));
  MlirValue sum =
      tp__row_finish(&b->t, carried_operand(b, i, values), carried_operand(b, b->maximum, values),
                     subtracted_rows(b), n, scales, kinds, element);
  replace(b, i, sum);
}

static void choose_carried(blocks *b) {
  const tp_attention *a = b->t.a;
  for (int i = 0; i < a->n_ops; i++) {
    if (tp__attention_is_inner(a->ops[i].role))
      continue;
    MlirType element = tp__element_type(mlirValueGetType(mlirOperationGetResult(a->ops[i].op, 0)));
    if (i == a->maximum)
      b->maximum = b->n;
    b->of[b->n++] =
        (carried){i, tp__result_loops(&a->ops[i]),
                  a->ops[i].role == TP_ROW_REDUCTION ? element : tp__wide_type(element)};
  }
}

typedef struct settings {
  enum { FUSED_INLINE, FUSED_KEEP } fused;
} settings;

static tp_status tile(tp_pass *pass, const tp_attention *a, const tp_op_list *followers) {
  MlirOperation output = a->ops[a->output].op;
  const settings *given = pass->options;
  blocks b = {.t = {.a = a, .where = output}, .most = limits_of[given->fused]};
  MlirValue values[TP_MAX_ATTENTION_SUMS];
  tp_status status = tp__find_ring(pass->module, &b.t, &b.ring);
  if (status != TP_OK || (n_scores(a) <= b.most.untiled && b.ring.parts == 1))
    return status; /* the original ops already form a single block */
  tp_mesh mesh;
  status = tp__module_mesh(pass->module, NULL, &mesh);
  if (status != TP_OK)
    return status;
  tp__find_causal(a, &mesh, &b.causal);
  choose_carried(&b);
  choose_tiles(&b);
  for (int i = 0; i < b.n; i++)
    values[i] = tp__empty(output, tp__loops_type(&b.t, &b.of[i].loops, b.of[i].element, true));
  add_all(&b, values);
  for (int i = 0; i < b.n; i++)
    if (a->ops[b.of[i].op].role == TP_ROW_REDUCTION)
      replace(&b, i, values[i]);
  for (size_t k = 0; k < followers->n; k++) { /* ops that need the rows move behind the blocks */
    mlirOperationMoveBefore(followers->items[k], output);
    for (int i = 0; i < b.n; i++)
      if (a->ops[b.of[i].op].role == TP_ROW_SUM &&
          mlirOperationEqual(a->ops[b.of[i].op].op, followers->items[k]))
        finish(&b, i, values);
  }
  for (int i = 0; i < b.n; i++)
    if (b.of[i].op == a->output)
      finish(&b, i, values);
  pass->statistics[STAT_TILED]++;
  pass->statistics[STAT_RINGS] += b.ring.parts > 1;
  return b.t.status;
}

/* Erases the ops that the blocks replace, masks only if they have no other users. */
static tp_status erase(const tp_attention *a, tp_value_table *erased) {
  bool gone[TP_MAX_ATTENTION_OPS] = {false}, any = true;
  while (any) {
    any = false;
    for (int i = 0; i < a->n_ops; i++) {
      if (gone[i] || tp__is_used(mlirOperationGetResult(a->ops[i].op, 0)))
        continue;
      if (tp__table_put(erased, a->ops[i].op.ptr, 1) != TP_OK)
        return tp__out_of_memory(a->ops[a->output].op);
      mlirOperationDestroy(a->ops[i].op);
      gone[i] = any = true;
    }
  }
  return TP_OK;
}

/* ---- the pass ---- */

static tp_status collect(MlirOperation op, void *data) {
  bool is_nest = tp__op_has_dialect(op, "linalg") && mlirOperationGetNumRegions(op) == 1 &&
                 mlirOperationGetNumResults(op) == 1;
  return is_nest ? tp__op_list_add(data, op) : TP_OK;
}

static tp_status tile_at(tp_pass *pass, MlirOperation op, tp_value_table *erased) {
  tp_attention a;
  tp_op_list followers = {0};
  if (!tp__attention_at(op, &a))
    return TP_OK;
  tp_status status = tp__attention_followers(&a, &followers);
  if (status == TP_OK)
    status = tile(pass, &a, &followers);
  if (status == TP_OK)
    status = erase(&a, erased);
  tp__free(followers.items);
  return status;
}

static tp_status collect_rings(MlirOperation op, void *data) {
  return tp__is_ring(op) ? tp__op_list_add(data, op) : TP_OK;
}

/* Removes a gather that a ring has replaced. A gather that is still used stays: the result is
 * right, but takes more memory than planned. */
static void end_ring(MlirOperation op) {
  if (tp__is_used(mlirOperationGetResult(op, 0)))
    tp__warning(op, "was planned for ring attention (tp.ring) but stays a gather: no attention was "
                    "found that uses it as keys or values; this needs more memory than planned");
  else
    mlirOperationDestroy(op);
}

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0}, rings = {0};
  tp_value_table erased = {0};
  tp_status status = tp__walk(pass->module, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++)
    if (tp__table_get(&erased, list.items[i].ptr) < 0)
      status = tile_at(pass, list.items[i], &erased);
  if (status == TP_OK)
    status = tp__walk(pass->module, collect_rings, &rings);
  for (size_t i = 0; i < rings.n && status == TP_OK; i++)
    end_ring(rings.items[i]);
  tp__table_destroy(&erased);
  tp__free(list.items);
  tp__free(rings.items);
  return status;
}

static const tp_option_row options[] = {
    {"fused", "inline",
     "inline: blocks for CPUs; keep: the program is for GPUs, on which only scores of gigabytes "
     "are tiled",
     TP_CHOICE(settings, fused, "inline|keep")},
};

static const tp_statistic_row statistics[] = {
    {"tiled", "attentions computed block by block"},
    {"rings", "attentions of these whose keys or values travel in a ring"}};

const tp_pass_row tp__tile_attention_row = {
    .name = "tp-tile-attention",
    .summary = "Compute attention block by block, so that scores are never stored",
    .description = "Requires: tensors; a single-device or per-device program. Establishes: where "
                   "the scores of queries and keys only go through a softmax into a matmul with "
                   "the values, loops (scf.for) compute and use them in blocks of at most 65536 "
                   "(fused=keep: of 2^26, if there are more than 2^29) and never store them all "
                   "(online softmax). Columns may be split over devices: "
                   "the maxima and sums of the rows then go through the existing collectives. "
                   "Breaks: nothing; float sums are rounded in another order.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
