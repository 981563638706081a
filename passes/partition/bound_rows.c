/* tp-bound-rows: limits work on rows of groups (rules/rows.h) to the rows that a device has.
 *
 * The buffers have the size of all rows, but a device has only those of its groups, from a first to
 * a last row that it knows at run time. Ops on such rows that follow each other become one loop
 * over blocks of rows, from the block of the first row to that of the last one. Blocks begin at
 * multiples of their size, which divides the number of rows, so that no block is cut and no row is
 * computed twice. Rows of other devices in these blocks are computed from unspecified values, and
 * are unspecified themselves. */
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "passes/support/value_map.h"
#include "rules/rows.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

enum { STAT_LOOPS, STAT_OPS, LARGEST_BLOCK = 256, SMALLEST_BLOCK = 16, MAX_KINDS = 64 };

/* The rows of the device: [first, last), by number of the groups. */
typedef struct bounds {
  MlirValue first, last;
} bounds;

/* Ops that become one loop. */
typedef struct segment {
  tp_op_list ops;
  int64_t of; /* number of the groups */
  tp__value_map results;
} segment;

typedef struct bounding {
  tp_pass *pass;
  bounds bounds[MAX_KINDS];
  segment now;
} bounding;

static int64_t groups_of(MlirOperation op) {
  MlirAttribute number = tp__get(op, "tp.groups");
  int64_t of = mlirAttributeIsNull(number) || !mlirAttributeIsAInteger(number)
                   ? -1
                   : mlirIntegerAttrGetValueInt(number);
  return of < MAX_KINDS ? of : -1;
}

static void drop_marks(MlirOperation op) {
  static const char *const names[] = {"tp.rows", "tp.groups", "tp.mask"};
  for (int i = 0; i < TP_LEN(names); i++)
    tp__remove(op, names[i]);
}

/* ---- dimensions ---- */

/* The loop over rows of a linalg op: that of dimension 0 of a result, or of dimension 1 of a mask,
 * whose dimension 0 is the groups. */
static int row_loop(MlirOperation op, MlirAttribute maps) {
  int last = (int)mlirOperationGetNumOperands(op) - 1;
  MlirAffineExpr expr = mlirAffineMapGetResult(tp__map_at(maps, last), tp__rows_is_mask(op));
  return mlirAffineExprIsADim(expr) ? (int)mlirAffineDimExprGetPosition(expr) : -1;
}

/* The dimension of an operand over rows; -1: it has none. */
static int row_dim(MlirOperation op, int operand) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, operand));
  if (!tp__is_tensor(type))
    return -1;
  if (!tp__op_has_dialect(op, "linalg"))
    return 0;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  int loop = row_loop(op, maps);
  MlirAffineMap map = tp__map_at(maps, operand);
  for (int d = 0; d < mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    if (mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == loop)
      return d;
  }
  return -1;
}

static int64_t n_rows(MlirOperation op) {
  return tp__value_size(mlirOperationGetResult(op, 0), tp__rows_is_mask(op));
}

/* The largest divisor of n up to the largest block, and of few rows up to an eighth of them; 0:
 * blocks would be too small. */
static int64_t block_of(int64_t n) {
  int64_t b = n / 8 < LARGEST_BLOCK ? n / 8 : LARGEST_BLOCK;
  while (b > 1 && n % b != 0)
    b--;
  return b >= SMALLEST_BLOCK ? b : 0;
}

/* ---- one loop ---- */

typedef struct loop {
  const segment *of;
  MlirOperation where, end; /* the loop is built in front of `where`; its yield */
  MlirValue offset;         /* first row of the block */
  int64_t rows, block;
  tp__value_map parts; /* value -> number of its part in `values` */
  MlirValue *values;
  size_t n, capacity;
  bool failed;
} loop;

static void keep_part(loop *l, MlirValue whole, MlirValue part) {
  int64_t *number = tp__value_add(&l->parts, whole, (int64_t)l->n);
  if (!number ||
      tp__grow((void **)&l->values, &l->capacity, l->n + 1, sizeof *l->values) != TP_OK) {
    l->failed = true;
    return;
  }
  l->values[l->n++] = part;
}

static MlirType part_type(const loop *l, MlirType type, int dim) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(type, &rank, shape);
  shape[dim] = l->block;
  return tp__tensor_like(type, rank, shape);
}

/* The rows of the block of a value from outside: a slice, or the same value of fewer rows. */
static MlirValue take_part(loop *l, MlirValue whole, int dim) {
  MlirType type = part_type(l, mlirValueGetType(whole), dim);
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
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(type, &rank, shape);
  return tp__extract_slice_at(l->end, whole, dim, l->offset, shape);
}

static MlirValue part_of(loop *l, MlirValue whole, int dim) {
  const int64_t *number = tp__value_find(&l->parts, whole);
  if (number)
    return l->values[*number];
  MlirValue part = take_part(l, whole, dim);
  keep_part(l, whole, part);
  return part;
}

/* In the body of a mask, the number of a row counts from the block. */
static tp_status shift_index(MlirOperation op, void *data) {
  const loop *l = data;
  if (!tp__op_is(op, "linalg.index") || tp__dim_of(op) != 1)
    return TP_OK;
  MlirValue index = mlirOperationGetResult(op, 0);
  MlirOperation next = mlirOperationGetNextInBlock(op);
  MlirValue row = tp__binary(next, "arith.addi", index, l->offset);
  tp__replace_uses_except(index, row, tp__defining_op(row));
  return TP_OK;
}

static void add_op(loop *l, MlirOperation op) {
  MlirOperation copy = mlirOperationClone(op);
  for (int i = 0; i < mlirOperationGetNumOperands(op); i++) {
    int dim = row_dim(op, i);
    if (dim >= 0)
      mlirOperationSetOperand(copy, i, part_of(l, mlirOperationGetOperand(op, i), dim));
  }
  tp__insert_before(l->end, copy); /* behind the parts that it reads */
  MlirValue result = mlirOperationGetResult(copy, 0);
  mlirValueSetType(result, part_type(l, mlirValueGetType(result), tp__rows_is_mask(op)));
  if (tp__rows_is_mask(op))
    (void)tp__walk(copy, shift_index, l); /* the visitor does not fail */
  drop_marks(copy);
  keep_part(l, mlirOperationGetResult(op, 0), result);
}

static bool is_outside_use(const segment *s, MlirOpOperand use) {
  MlirOperation user = mlirOpOperandGetOwner(use);
  for (size_t i = 0; i < s->ops.n; i++)
    if (mlirOperationEqual(s->ops.items[i], user))
      return false;
  return true;
}

static bool is_used_outside(const segment *s, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (is_outside_use(s, use))
      return true;
  return false;
}

/* Builds scf.for over the blocks with these carried tensors, and an empty yield. */
static MlirOperation build_for(loop *l, const bounds *b, int n, const MlirValue *inits) {
  MlirLocation location = mlirOperationGetLocation(l->of->ops.items[0]);
  MlirType index = mlirValueGetType(b->first);
  MlirValue size = tp__index_constant(l->where, l->block);
  MlirValue up =
      tp__binary(l->where, "arith.addi", b->last, tp__index_constant(l->where, l->block - 1));
  MlirValue given[3 + TP_MAX_ROWS_RESULTS] = {tp__binary(l->where, "arith.divui", b->first, size),
                                              tp__binary(l->where, "arith.divui", up, size),
                                              tp__index_constant(l->where, 1)};
  MlirType types[1 + TP_MAX_ROWS_RESULTS] = {index};
  MlirLocation locations[1 + TP_MAX_ROWS_RESULTS] = {location};
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
  tp__insert_before(l->where, op);
  MlirBlock body = mlirBlockCreate(1 + n, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, 0), body);
  l->end = tp__create(&(tp_build){.name = "scf.yield", .location = location});
  mlirBlockAppendOwnedOperation(body, l->end);
  l->offset = tp__binary(l->end, "arith.muli", mlirBlockGetArgument(body, 0),
                         tp__index_constant(l->end, l->block));
  return op;
}

/* The results of the segment that others use, without those of masks, which stay whole. */
static int find_results(const segment *s, MlirOperation *makers) {
  int n = 0;
  for (size_t i = 0; i < s->ops.n; i++) {
    MlirOperation op = s->ops.items[i];
    if (tp__rows_is_mask(op) || !is_used_outside(s, mlirOperationGetResult(op, 0)))
      continue;
    if (n == TP_MAX_ROWS_RESULTS)
      return -1;
    makers[n++] = op;
  }
  return n;
}

static void replace_outside(const segment *s, MlirValue value, MlirValue with) {
  MlirOpOperand next, use = mlirValueGetFirstUse(value);
  for (; !mlirOpOperandIsNull(use); use = next) {
    next = mlirOpOperandGetNextUse(use);
    if (is_outside_use(s, use))
      mlirOperationSetOperand(mlirOpOperandGetOwner(use), mlirOpOperandGetOperandNumber(use), with);
  }
}

/* Erases the ops, from the last one on. A mask that others use stays, behind the loop. */
static void erase_segment(const segment *s, const loop *l, int n, const MlirOperation *makers,
                          MlirOperation made) {
  for (size_t i = s->ops.n; i-- > 0;) {
    MlirOperation op = s->ops.items[i];
    if (!tp__is_used(mlirOperationGetResult(op, 0))) {
      mlirOperationDestroy(op);
      continue;
    }
    mlirOperationMoveBefore(op, l->where);
    drop_marks(op);
    for (int k = 0; k < n; k++)
      for (int o = 0; o < mlirOperationGetNumOperands(op); o++)
        if (mlirValueEqual(mlirOperationGetOperand(op, o), mlirOperationGetResult(makers[k], 0)))
          mlirOperationSetOperand(op, o, mlirOperationGetResult(made, k));
  }
}

/* True if everything that a mask which stays reads is available behind the loop. */
static bool masks_can_stay(const segment *s, int n, const MlirOperation *makers) {
  for (size_t i = 0; i < s->ops.n; i++) {
    MlirOperation op = s->ops.items[i];
    if (!tp__rows_is_mask(op) || !is_used_outside(s, mlirOperationGetResult(op, 0)))
      continue;
    MlirOperation maker = tp__defining_op(mlirOperationGetOperand(op, 0));
    bool is_inside = false, is_result = false;
    for (size_t k = 0; k < s->ops.n && !mlirOperationIsNull(maker); k++)
      is_inside |= mlirOperationEqual(s->ops.items[k], maker);
    for (int k = 0; k < n; k++)
      is_result |= mlirOperationEqual(makers[k], maker);
    if (is_inside && !is_result)
      return false;
  }
  return true;
}

/* Replaces the segment by a loop in front of `where`. */
static tp_status build_loop(bounding *b, MlirOperation where) {
  segment *s = &b->now;
  MlirOperation makers[TP_MAX_ROWS_RESULTS];
  MlirValue inits[TP_MAX_ROWS_RESULTS], rows[TP_MAX_ROWS_RESULTS];
  int n = find_results(s, makers);
  loop l = {.of = s, .where = where, .rows = n_rows(s->ops.items[0])};
  l.block = block_of(l.rows);
  const bounds *of = &b->bounds[s->of];
  if (n <= 0 || l.block == 0 || mlirValueIsNull(of->first) || mlirValueIsNull(of->last) ||
      !masks_can_stay(s, n, makers))
    return TP_OK;
  for (int i = 0; i < n; i++)
    inits[i] = tp__empty(where, tp__result_type(makers[i]));
  MlirOperation made = build_for(&l, of, n, inits);
  MlirBlock body = tp__region_block(made, 0);
  for (size_t i = 0; i < s->ops.n; i++)
    add_op(&l, s->ops.items[i]);
  for (int i = 0; i < n && !l.failed; i++)
    rows[i] = tp__insert_slice_at(l.end, part_of(&l, mlirOperationGetResult(makers[i], 0), 0),
                                  mlirBlockGetArgument(body, 1 + i), 0, l.offset);
  tp_status status = l.failed ? tp__out_of_memory(where) : TP_OK;
  if (status == TP_OK) {
    mlirOperationSetOperands(l.end, n, rows);
    for (int i = 0; i < n; i++)
      replace_outside(s, mlirOperationGetResult(makers[i], 0), mlirOperationGetResult(made, i));
    erase_segment(s, &l, n, makers, made);
    b->pass->statistics[STAT_LOOPS]++;
    b->pass->statistics[STAT_OPS] += (int64_t)s->ops.n;
  }
  tp__value_map_destroy(&l.parts);
  tp__free(l.values);
  return status;
}

/* ---- segments ---- */

static tp_status close_segment(bounding *b, MlirOperation where) {
  segment *s = &b->now;
  tp_status status = s->ops.n > 0 ? build_loop(b, where) : TP_OK;
  s->ops.n = 0;
  tp__value_map_destroy(&s->results);
  s->results = (tp__value_map){0};
  return status;
}

typedef struct reading {
  const segment *of;
  bool reads;
} reading;

static tp_status visit_reads(MlirOperation op, void *data) {
  reading *r = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    r->reads |= tp__value_find(&r->of->results, mlirOperationGetOperand(op, i)) != NULL;
  return TP_OK;
}

/* True if the op, or one in its regions, reads a result of the segment. */
static bool reads_segment(const segment *s, MlirOperation op) {
  reading r = {s, false};
  if (s->ops.n == 0)
    return false;
  (void)visit_reads(op, &r);
  (void)tp__walk(op, visit_reads, &r); /* the visitor does not fail */
  return r.reads;
}

static tp_status add_to_segment(bounding *b, MlirOperation op, int64_t of) {
  segment *s = &b->now;
  if (s->ops.n > 0 && (s->of != of || n_rows(s->ops.items[0]) != n_rows(op)))
    TP_TRY(close_segment(b, op));
  s->of = of;
  TP_TRY(tp__op_list_add(&s->ops, op));
  return tp__value_add(&s->results, mlirOperationGetResult(op, 0), 0) ? TP_OK
                                                                      : tp__out_of_memory(op);
}

static tp_status visit_block(bounding *b, MlirBlock block) {
  memset(b->bounds, 0, sizeof b->bounds);
  MlirOperation next;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    int64_t of = groups_of(op);
    if (of >= 0 && tp__rows_has_role(op, TP_ROWS_FIRST)) {
      b->bounds[of].first = mlirOperationGetResult(op, 0);
    } else if (of >= 0 && tp__rows_has_role(op, TP_ROWS_LAST)) {
      b->bounds[of].last = mlirOperationGetResult(op, 0);
    } else if (of >= 0 && tp__rows_has_role(op, TP_ROWS_OWN)) {
      TP_TRY(add_to_segment(b, op, of));
      continue;
    } else if (reads_segment(&b->now, op)) {
      TP_TRY(close_segment(b, op));
    }
  }
  return TP_OK;
}

static tp_status collect_blocks(MlirOperation op, void *data) {
  return tp__rows_has_role(op, TP_ROWS_OWN) ? tp__op_list_add(data, op) : TP_OK;
}

static tp_status visit_marks(MlirOperation op, void *data) {
  (void)data;
  drop_marks(op);
  return TP_OK;
}

static tp_status visit_blocks(bounding *b, const tp_op_list *owned) {
  MlirBlock blocks[MAX_KINDS];
  int n = 0;
  for (size_t i = 0; i < owned->n; i++) {
    MlirBlock block = mlirOperationGetBlock(owned->items[i]);
    bool is_new = n < MAX_KINDS;
    for (int k = 0; k < n; k++)
      is_new &= !mlirBlockEqual(blocks[k], block);
    if (is_new)
      blocks[n++] = block;
  }
  for (int i = 0; i < n; i++)
    TP_TRY(visit_block(b, blocks[i]));
  return TP_OK;
}

static tp_status run(tp_pass *pass) {
  bounding b = {.pass = pass};
  tp_op_list owned = {0};
  tp_status status = tp__walk(pass->module, collect_blocks, &owned);
  if (status == TP_OK)
    status = visit_blocks(&b, &owned);
  tp__free(owned.items);
  tp__free(b.now.ops.items);
  tp__value_map_destroy(&b.now.results);
  return status == TP_OK ? tp__walk(pass->module, visit_marks, NULL) : status;
}

static const tp_statistic_row statistics[] = {
    [STAT_LOOPS] = {"loops", "loops over the rows that a device has"},
    [STAT_OPS] = {"ops", "ops that these loops compute"},
};

const tp_pass_row tp__bound_rows_row = {
    .name = "tp-bound-rows",
    .summary = "Limit work on rows of groups to the rows that a device has",
    .description =
        "Requires: a per-device program; tp-partition has marked ops on rows of groups with "
        "tp.rows "
        "= \"own\". Establishes: such ops that follow each other are one loop over blocks of rows, "
        "from the first to the last row of the device's groups. No op has tp.rows. Breaks: "
        "nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
