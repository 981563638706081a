/* The loops of tp-bound-rows: over blocks of rows, and around it over the groups of the device if
 * the segment has masks. Then, a product reads the weights of one group, and a sum over rows adds
 * the rows of one group: what they compute does not grow with the number of groups. */
#include "passes/partition/bound_rows.h"

#include "rules/pointwise_builder.h"
#include "rules/rows.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

/* ---- dimensions ---- */

enum { NO_DIM = -1, MAX_CARRIED = TP_MAX_ROWS_RESULTS };

/* The loops over rows and groups of a linalg op; NO_DIM: it has none. */
typedef struct op_loops {
  int rows, groups;
} op_loops;

static int loop_at(MlirAttribute maps, int operand, int dim) {
  MlirAffineMap map = tp__map_at(maps, operand);
  if (dim >= mlirAffineMapGetNumResults(map))
    return NO_DIM;
  MlirAffineExpr expr = mlirAffineMapGetResult(map, dim);
  return mlirAffineExprIsADim(expr) ? (int)mlirAffineDimExprGetPosition(expr) : NO_DIM;
}

static op_loops loops_of(MlirOperation op, MlirAttribute maps) {
  int last = (int)mlirOperationGetNumOperands(op) - 1;
  switch (tp__rows_own(op)) {
  case TP_OWN_MASK:
    return (op_loops){loop_at(maps, last, 1), loop_at(maps, last, 0)};
  case TP_OWN_SUM:
    return (op_loops){loop_at(maps, 0, 1), loop_at(maps, 0, 0)};
  case TP_OWN_PRODUCT:
    return (op_loops){loop_at(maps, last, 0), loop_at(maps, 0, 0)};
  case TP_OWN_EACH:
    break;
  }
  return (op_loops){loop_at(maps, last, 0), NO_DIM};
}

/* The dimensions of an operand, or of the result for -1, over rows and over groups. */
static op_loops dims_of(MlirOperation op, int operand) {
  op_loops dims = {NO_DIM, NO_DIM};
  MlirValue value =
      operand < 0 ? mlirOperationGetResult(op, 0) : mlirOperationGetOperand(op, operand);
  if (!tp__is_tensor(mlirValueGetType(value)))
    return dims;
  if (!tp__op_has_dialect(op, "linalg")) {
    dims.rows = 0;
    return dims;
  }
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  op_loops loops = loops_of(op, maps);
  int index = operand < 0 ? (int)mlirOperationGetNumOperands(op) - 1 : operand;
  for (int d = 0; d < mlirAffineMapGetNumResults(tp__map_at(maps, index)); d++) {
    int loop = loop_at(maps, index, d);
    if (loop != NO_DIM && loop == loops.rows)
      dims.rows = d;
    if (loop != NO_DIM && loop == loops.groups)
      dims.groups = d;
  }
  return dims;
}

int64_t tp__n_rows_of(MlirOperation op) {
  int operand = tp__rows_own(op) == TP_OWN_SUM ? 0 : -1;
  MlirValue value = operand < 0 ? mlirOperationGetResult(op, 0) : mlirOperationGetOperand(op, 0);
  int dim = dims_of(op, operand).rows;
  return dim == NO_DIM ? 0 : tp__value_size(value, dim);
}

/* ---- the loops ---- */

/* A value that the loops compute: rows of an op, or the sum of one. */
typedef struct carried {
  MlirOperation maker;
  MlirValue init;
  bool is_sum;
} carried;

typedef struct nest {
  const tp_row_segment *of;
  MlirOperation where;    /* the loops are built in front of it */
  MlirOperation mask;     /* a mask of the segment; null: there is no loop over groups */
  MlirOperation in_group; /* what does not depend on the block is built in front of it */
  MlirOperation end;      /* the yield of the loop over blocks */
  MlirValue group;        /* number of the group */
  MlirValue first, last;  /* its rows, or those of the device */
  MlirValue offset;       /* first row of the block */
  int64_t block;
  int n_results;
  const struct carried *results;
  MlirValue sums[MAX_CARRIED]; /* for each result that is a sum: its value before this block */
  tp__value_map parts;         /* value -> number of its part in `values` */
  MlirValue *values;
  size_t n, capacity;
  bool failed;
} nest;

static void keep_part(nest *l, MlirValue whole, MlirValue part) {
  int64_t *number = tp__value_add(&l->parts, whole, (int64_t)l->n);
  if (!number ||
      tp__grow((void **)&l->values, &l->capacity, l->n + 1, sizeof *l->values) != TP_OK) {
    l->failed = true;
    return;
  }
  l->values[l->n++] = part;
}

static MlirType part_type(const nest *l, MlirType type, op_loops dims) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(type, &rank, shape);
  if (dims.rows != NO_DIM)
    shape[dims.rows] = l->block;
  if (dims.groups != NO_DIM)
    shape[dims.groups] = 1;
  return tp__tensor_like(type, rank, shape);
}

static MlirValue slice_at(MlirOperation where, MlirValue value, int dim, MlirValue offset,
                          int64_t size) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(value), &rank, shape);
  shape[dim] = size;
  return tp__extract_slice_at(where, value, dim, offset, shape);
}

/* The block's rows and the group of a value from outside: a slice, or the same value with fewer
 * elements. */
static MlirValue take_part(nest *l, MlirValue whole, op_loops dims) {
  MlirType type = part_type(l, mlirValueGetType(whole), dims);
  MlirOperation maker = tp__defining_op(whole);
  if (!mlirOperationIsNull(maker) && tp__op_is(maker, "tensor.empty"))
    return tp__empty(l->end, type);
  MlirAttribute value = !mlirOperationIsNull(maker) && tp__op_is(maker, "arith.constant")
                            ? tp__inherent(maker, "value")
                            : (MlirAttribute){NULL};
  if (!mlirAttributeIsNull(value) && mlirAttributeIsADenseElements(value) &&
      mlirDenseElementsAttrIsSplat(value))
    return tp__constant(
        l->end, type,
        mlirDenseElementsAttrSplatGet(type, mlirDenseElementsAttrGetSplatValue(value)));
  if (!mlirOperationIsNull(maker) && tp__op_is(maker, "linalg.fill")) {
    MlirOperation fill = mlirOperationClone(maker);
    mlirOperationSetOperand(fill, 1, tp__empty(l->end, type));
    mlirValueSetType(mlirOperationGetResult(fill, 0), type);
    tp__insert_before(l->end, fill);
    return mlirOperationGetResult(fill, 0);
  }
  MlirValue part = whole;
  if (dims.groups != NO_DIM)
    part = slice_at(dims.rows == NO_DIM ? l->in_group : l->end, part, dims.groups, l->group, 1);
  return dims.rows != NO_DIM ? slice_at(l->end, part, dims.rows, l->offset, l->block) : part;
}

static MlirValue part_of(nest *l, MlirValue whole, op_loops dims) {
  const int64_t *number = tp__value_find(&l->parts, whole);
  if (number)
    return l->values[*number];
  MlirValue part = take_part(l, whole, dims);
  keep_part(l, whole, part);
  return part;
}

/* In the body of a mask, the number of a row counts from the block. */
static tp_status shift_index(MlirOperation op, void *data) {
  const nest *l = data;
  if (!tp__op_is(op, "linalg.index") || tp__dim_of(op) != 1)
    return TP_OK;
  MlirValue index = mlirOperationGetResult(op, 0);
  MlirOperation next = mlirOperationGetNextInBlock(op);
  MlirValue row = tp__binary(next, "arith.addi", index, l->offset);
  tp__replace_uses_except(index, row, tp__defining_op(row));
  return TP_OK;
}

/* Without a loop over groups, ops compute all groups of the device. */
static op_loops dims_in(const nest *l, MlirOperation op, int operand) {
  op_loops dims = dims_of(op, operand);
  if (mlirOperationIsNull(l->mask))
    dims.groups = NO_DIM;
  return dims;
}

/* The sum that the op computes, up to this block; null: it is none that others use. */
static MlirValue sum_of(const nest *l, MlirOperation op) {
  for (int i = 0; i < l->n_results; i++)
    if (l->results[i].is_sum && mlirOperationEqual(l->results[i].maker, op))
      return l->sums[i];
  return (MlirValue){NULL};
}

static void add_op(nest *l, MlirOperation op) {
  MlirOperation copy = mlirOperationClone(op);
  MlirValue sum = sum_of(l, op);
  int n = (int)mlirOperationGetNumOperands(op) - !mlirValueIsNull(sum);
  if (!mlirValueIsNull(sum))
    mlirOperationSetOperand(copy, n, sum);
  for (int i = 0; i < n; i++) {
    op_loops dims = dims_in(l, op, i);
    if (dims.rows != NO_DIM || dims.groups != NO_DIM)
      mlirOperationSetOperand(copy, i, part_of(l, mlirOperationGetOperand(op, i), dims));
  }
  tp__insert_before(l->end, copy); /* behind the parts that it reads */
  MlirValue result = mlirOperationGetResult(copy, 0);
  mlirValueSetType(result, part_type(l, mlirValueGetType(result), dims_in(l, op, -1)));
  if (tp__rows_own(op) == TP_OWN_MASK)
    (void)tp__walk(copy, shift_index, l); /* the visitor does not fail */
  tp__rows_drop_marks(copy);
  keep_part(l, mlirOperationGetResult(op, 0), result);
}

/* Builds scf.for from `from` to `to` in front of `where`, with these carried tensors and an empty
 * yield. */
static MlirOperation build_for(MlirOperation where, MlirLocation location, MlirValue from,
                               MlirValue to, int n, const MlirValue *inits) {
  MlirType index = mlirValueGetType(from);
  MlirValue given[3 + MAX_CARRIED] = {from, to, tp__index_constant(where, 1)};
  MlirType types[1 + MAX_CARRIED] = {index};
  MlirLocation locations[1 + MAX_CARRIED] = {location};
  for (int i = 0; i < n; i++) {
    given[3 + i] = inits[i];
    types[1 + i] = mlirValueGetType(inits[i]);
    locations[1 + i] = location;
  }
  MlirOperation op = tp__create(&(tp_build){.name = "scf.for",
                                            .location = location,
                                            .n_operands = 3 + n,
                                            .operands = given,
                                            .n_results = n,
                                            .results = types + 1,
                                            .n_regions = 1});
  tp__insert_before(where, op);
  MlirBlock body = mlirBlockCreate(1 + n, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, 0), body);
  mlirBlockAppendOwnedOperation(body,
                                tp__create(&(tp_build){.name = "scf.yield", .location = location}));
  return op;
}

/* Ends the run if the group does not begin where the one before it ends, or ends before: its rows
 * would be computed for one group alone. */
static void check_order(MlirOperation at, MlirValue lists[2], MlirValue group, MlirValue is_first,
                        MlirValue start, MlirValue end) {
  MlirValue before = tp__binary(at, "arith.subi", group, tp__index_constant(at, 1));
  before = tp__index_at(at, lists[1], tp__select(at, is_first, group, before));
  MlirValue follows = tp__binary(at, "arith.ori", is_first, tp__compare(at, TP_EQ, start, before));
  MlirValue ok = tp__binary(at, "arith.andi", follows, tp__compare(at, TP_SLE, start, end));
  tp__build_assert(at, ok,
                   "a group of rows does not follow the one before it: sizes of groups must not be "
                   "negative, nor their sum overflow");
}

/* Finds the rows of the group: from its start to its end. Rows of the device in front of its first
 * group, or behind its last one, go with these. */
static void find_group(nest *l, const tp_row_bounds *own, int64_t n_groups) {
  MlirOperation at = l->in_group;
  MlirValue start = tp__index_at(at, mlirOperationGetOperand(l->mask, 1), l->group),
            end = tp__index_at(at, mlirOperationGetOperand(l->mask, 2), l->group);
  MlirValue is_first = tp__compare(at, TP_EQ, l->group, tp__index_constant(at, 0)),
            is_last = tp__compare(at, TP_EQ, l->group, tp__index_constant(at, n_groups - 1));
  MlirValue lists[] = {mlirOperationGetOperand(l->mask, 1), mlirOperationGetOperand(l->mask, 2)};
  check_order(at, lists, l->group, is_first, start, end);
  start =
      tp__binary(at, "arith.minsi", tp__binary(at, "arith.maxsi", start, own->first), own->last);
  end = tp__binary(at, "arith.minsi", tp__binary(at, "arith.maxsi", end, own->first), own->last);
  l->first = tp__select(at, is_first, own->first, start);
  l->last = tp__select(at, is_last, own->last, end);
}

/* Builds the loop over the blocks of the rows. */
static MlirOperation build_blocks(nest *l, MlirLocation location, int n, const MlirValue *inits) {
  MlirOperation at = l->in_group;
  MlirValue size = tp__index_constant(at, l->block),
            up = tp__binary(at, "arith.addi", l->last, tp__index_constant(at, l->block - 1));
  MlirValue from = tp__binary(at, "arith.divui", l->first, size),
            to = tp__binary(at, "arith.divui", up, size),
            any = tp__compare(at, TP_SLT, l->first, l->last);
  MlirOperation made = build_for(at, location, from, tp__select(at, any, to, from), n, inits);
  MlirBlock body = tp__region_block(made, 0);
  l->in_group = made;
  l->end = mlirBlockGetTerminator(body);
  l->offset = tp__binary(l->end, "arith.muli", mlirBlockGetArgument(body, 0),
                         tp__index_constant(l->end, l->block));
  return made;
}

/* Stores the rows of a block. Those of other groups stay, since the block may have some. */
static MlirValue store_rows(nest *l, MlirValue rows, MlirValue all) {
  if (!mlirOperationIsNull(l->mask)) {
    MlirValue both[] = {rows, slice_at(l->end, all, 0, l->offset, l->block)};
    MlirType type = mlirValueGetType(rows);
    tp_pointwise points = tp__pointwise_begin(l->end, 2, both, tp__empty(l->end, type));
    MlirValue row =
        tp__binary(points.yield, "arith.addi", tp__pointwise_index(&points, 0), l->offset);
    MlirValue inside =
        tp__binary(points.yield, "arith.andi", tp__compare(points.yield, TP_SGE, row, l->first),
                   tp__compare(points.yield, TP_SLT, row, l->last));
    rows =
        tp__pointwise_end(&points, tp__select(points.yield, inside, tp__pointwise_value(&points, 0),
                                              tp__pointwise_value(&points, 1)));
  }
  return tp__insert_slice_at(l->end, rows, all, 0, l->offset);
}

/* ---- what others use ---- */

static bool is_outside_use(const tp_row_segment *s, MlirOpOperand use) {
  MlirOperation user = mlirOpOperandGetOwner(use);
  for (size_t i = 0; i < s->ops.n; i++)
    if (mlirOperationEqual(s->ops.items[i], user))
      return false;
  return true;
}

static bool is_used_outside(const tp_row_segment *s, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (is_outside_use(s, use))
      return true;
  return false;
}

/* The results of the segment that others use, without those of masks, which stay whole. Returns
 * their number; -1: there are too many. */
static int find_results(const tp_row_segment *s, MlirOperation where, carried *results) {
  int n = 0;
  for (size_t i = 0; i < s->ops.n; i++) {
    MlirOperation op = s->ops.items[i];
    if (tp__rows_own(op) == TP_OWN_MASK || !is_used_outside(s, mlirOperationGetResult(op, 0)))
      continue;
    if (n == MAX_CARRIED)
      return -1;
    bool is_sum = tp__rows_own(op) == TP_OWN_SUM;
    int init = (int)mlirOperationGetNumOperands(op) - 1;
    results[n++] = (carried){
        op, is_sum ? mlirOperationGetOperand(op, init) : tp__empty(where, tp__result_type(op)),
        is_sum};
  }
  return n;
}

static void replace_outside(const tp_row_segment *s, MlirValue value, MlirValue with) {
  MlirOpOperand next, use = mlirValueGetFirstUse(value);
  for (; !mlirOpOperandIsNull(use); use = next) {
    next = mlirOpOperandGetNextUse(use);
    if (is_outside_use(s, use))
      mlirOperationSetOperand(mlirOpOperandGetOwner(use), mlirOpOperandGetOperandNumber(use), with);
  }
}

/* Erases the ops, from the last one on. A mask that others use stays, behind the loop. */
static void erase_segment(const tp_row_segment *s, MlirOperation where, int n,
                          const carried *results, MlirOperation made) {
  for (size_t i = s->ops.n; i-- > 0;) {
    MlirOperation op = s->ops.items[i];
    if (!tp__is_used(mlirOperationGetResult(op, 0))) {
      mlirOperationDestroy(op);
      continue;
    }
    mlirOperationMoveBefore(op, where);
    tp__rows_drop_marks(op);
    for (int k = 0; k < n; k++)
      for (int o = 0; o < mlirOperationGetNumOperands(op); o++)
        if (mlirValueEqual(mlirOperationGetOperand(op, o),
                           mlirOperationGetResult(results[k].maker, 0)))
          mlirOperationSetOperand(op, o, mlirOperationGetResult(made, k));
  }
}

static bool is_in_segment(const tp_row_segment *s, MlirOperation op) {
  for (size_t i = 0; i < s->ops.n && !mlirOperationIsNull(op); i++)
    if (mlirOperationEqual(s->ops.items[i], op))
      return true;
  return false;
}

/* True if everything that a mask which stays reads is available behind the loop. */
static bool masks_can_stay(const tp_row_segment *s, int n, const carried *results) {
  for (size_t i = 0; i < s->ops.n; i++) {
    MlirOperation op = s->ops.items[i];
    if (tp__rows_own(op) != TP_OWN_MASK || !is_used_outside(s, mlirOperationGetResult(op, 0)))
      continue;
    MlirOperation maker = tp__defining_op(mlirOperationGetOperand(op, 0));
    bool is_result = false;
    for (int k = 0; k < n; k++)
      is_result |= mlirOperationEqual(results[k].maker, maker);
    if (is_in_segment(s, maker) && !is_result)
      return false;
  }
  return true;
}

/* ---- building ---- */

static MlirOperation find_mask(const tp_row_segment *s) {
  for (size_t i = 0; i < s->ops.n; i++)
    if (tp__rows_own(s->ops.items[i]) == TP_OWN_MASK)
      return s->ops.items[i];
  return (MlirOperation){NULL};
}

/* The dimension of a result over groups; NO_DIM: it is the same for all groups. */
static int group_dim(const carried *result) {
  return result->is_sum ? dims_of(result->maker, -1).groups : NO_DIM;
}

static void fill_blocks(nest *l, MlirOperation blocks) {
  MlirBlock body = tp__region_block(blocks, 0);
  MlirValue yielded[MAX_CARRIED];
  for (int i = 0; i < l->n_results; i++)
    l->sums[i] = mlirBlockGetArgument(body, 1 + i);
  for (size_t i = 0; i < l->of->ops.n && !l->failed; i++)
    add_op(l, l->of->ops.items[i]);
  for (int i = 0; i < l->n_results && !l->failed; i++) {
    const carried *result = &l->results[i];
    MlirValue made =
        part_of(l, mlirOperationGetResult(result->maker, 0), (op_loops){NO_DIM, NO_DIM});
    yielded[i] = result->is_sum ? made : store_rows(l, made, mlirBlockGetArgument(body, 1 + i));
  }
  if (!l->failed)
    mlirOperationSetOperands(l->end, l->n_results, yielded);
}

/* Builds both loops. Returns the outer one. */
static MlirOperation build_nest(nest *l, const tp_row_bounds *own) {
  MlirLocation location = mlirOperationGetLocation(l->of->ops.items[0]);
  MlirValue all[MAX_CARRIED], inits[MAX_CARRIED] = {{NULL}};
  int n = l->n_results;
  for (int i = 0; i < n; i++)
    all[i] = l->results[i].init;
  if (mlirOperationIsNull(l->mask)) {
    l->in_group = l->where;
    l->first = own->first;
    l->last = own->last;
    MlirOperation blocks = build_blocks(l, location, n, all);
    fill_blocks(l, blocks);
    return blocks;
  }
  int64_t n_groups = tp__value_size(mlirOperationGetResult(l->mask, 0), 0);
  MlirOperation groups = build_for(l->where, location, tp__index_constant(l->where, 0),
                                   tp__index_constant(l->where, n_groups), n, all);
  MlirBlock body = tp__region_block(groups, 0);
  MlirOperation yield = mlirBlockGetTerminator(body);
  l->in_group = yield;
  l->group = mlirBlockGetArgument(body, 0);
  for (int i = 0; i < n; i++)
    all[i] = mlirBlockGetArgument(body, 1 + i);
  find_group(l, own, n_groups);
  for (int i = 0; i < n; i++) {
    int dim = group_dim(&l->results[i]);
    inits[i] = dim == NO_DIM ? all[i] : slice_at(yield, all[i], dim, l->group, 1);
  }
  MlirOperation blocks = build_blocks(l, location, n, inits);
  fill_blocks(l, blocks);
  for (int i = 0; i < n; i++) {
    int dim = group_dim(&l->results[i]);
    MlirValue made = mlirOperationGetResult(blocks, i);
    all[i] = dim == NO_DIM ? made : tp__insert_slice_at(yield, made, all[i], dim, l->group);
  }
  mlirOperationSetOperands(yield, n, all);
  return groups;
}

tp_status tp__bound_segment(tp_row_segment *s, const tp_row_bounds *bounds, MlirOperation where,
                            bool *done) {
  carried results[MAX_CARRIED];
  nest l = {.of = s, .where = where, .mask = find_mask(s)};
  l.block = tp__rows_block(tp__n_rows_of(s->ops.items[0]), tp__rows_groups(l.mask));
  *done = false;
  /* without a mask, a device that has all rows computes them as they are */
  bool has_all = mlirOperationIsNull(l.mask) && tp__rows_are_all(s->of);
  if (l.block == 0 || has_all || mlirValueIsNull(bounds->first) || mlirValueIsNull(bounds->last))
    return TP_OK;
  int n = find_results(s, where, results);
  if (n <= 0 || !masks_can_stay(s, n, results))
    return TP_OK;
  l.results = results;
  l.n_results = n;
  MlirOperation made = build_nest(&l, bounds);
  tp_status status = l.failed ? tp__out_of_memory(where) : TP_OK;
  if (status == TP_OK) {
    for (int i = 0; i < n; i++)
      replace_outside(s, mlirOperationGetResult(results[i].maker, 0),
                      mlirOperationGetResult(made, i));
    erase_segment(s, where, n, results, made);
    *done = true;
  }
  tp__value_map_destroy(&l.parts);
  tp__free(l.values);
  return status;
}
