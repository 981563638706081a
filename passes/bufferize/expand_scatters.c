/* tp-expand-scatters: replaces structured ops on buffers that scatter (ir/scatter.h) by loops over
 * the updates, which change the element at the position that the update gives.
 *
 * The loops that positions depend on are outside, in their order, so that updates of one element
 * are applied in order. Then the position is checked, and the other loops follow inside. */
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "ir/scatter.h"
#include "passes/support/value_map.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { STAT_SCATTERS, MAX_RANK = 32 };

typedef struct expansion {
  MlirOperation op, where; /* new ops are built in front of `where` */
  MlirContext context;
  tp_scatter scatter;
  int64_t sizes[TP_SCATTER_MAX_LOOPS];
  MlirValue loops[TP_SCATTER_MAX_LOOPS]; /* the number of the iteration, once known */
  tp__value_map done;                    /* value of the body -> address of the new value */
} expansion;

/* ---- building ---- */

static MlirValue build(expansion *e, const char *name, MlirType type, int n,
                       const MlirValue *operands) {
  MlirOperation op = tp__create(&(tp_build){.name = name,
                                            .location = mlirOperationGetLocation(e->op),
                                            .n_operands = n,
                                            .operands = operands,
                                            .n_results = !mlirTypeIsNull(type),
                                            .results = &type});
  tp__insert_before(e->where, op);
  return mlirTypeIsNull(type) ? (MlirValue){NULL} : mlirOperationGetResult(op, 0);
}

static MlirValue truth(expansion *e) {
  MlirType bit = mlirIntegerTypeGet(e->context, 1);
  return tp__constant(e->where, bit, mlirIntegerAttrGet(bit, 1));
}

/* Builds an op with one block that ends in scf.yield, and goes on in front of that. */
static MlirBlock enter(expansion *e, const char *name, int n, const MlirValue *operands,
                       int n_regions, int n_arguments) {
  MlirLocation location = mlirOperationGetLocation(e->op);
  MlirType index = mlirIndexTypeGet(e->context);
  MlirOperation op = tp__create(&(tp_build){.name = name,
                                            .location = location,
                                            .n_operands = n,
                                            .operands = operands,
                                            .n_regions = n_regions});
  tp__insert_before(e->where, op);
  MlirBlock block = mlirBlockCreate(n_arguments, &index, &location);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, 0), block);
  e->where = tp__create(&(tp_build){.name = "scf.yield", .location = location});
  mlirBlockAppendOwnedOperation(block, e->where);
  return block;
}

static void enter_loop(expansion *e, int loop) {
  MlirValue bounds[] = {tp__index_constant(e->where, 0),
                        tp__index_constant(e->where, e->sizes[loop]),
                        tp__index_constant(e->where, 1)};
  e->loops[loop] = mlirBlockGetArgument(enter(e, "scf.for", 3, bounds, 1, 1), 0);
}

/* The position in operand `i` at the loops that are known. */
static int position_in(expansion *e, int operand, MlirValue *at) {
  MlirAffineMap map = tp__map_at(tp__inherent(e->op, "indexing_maps"), operand);
  intptr_t rank = mlirAffineMapGetNumResults(map);
  MlirType index = mlirIndexTypeGet(e->context);
  for (intptr_t d = 0; d < rank; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    if (mlirAffineExprIsADim(expr)) {
      at[d] = e->loops[mlirAffineDimExprGetPosition(expr)];
      continue;
    }
    MlirValue values[TP_SCATTER_MAX_LOOPS];
    for (int l = 0; l < e->scatter.n_loops; l++) /* loops that the map does not use may be open */
      values[l] = mlirValueIsNull(e->loops[l]) ? tp__index_constant(e->where, 0) : e->loops[l];
    MlirAffineMap one = mlirAffineMapGet(e->context, e->scatter.n_loops, 0, 1, &expr);
    MlirNamedAttribute attr = tp__named(e->context, "map", mlirAffineMapAttrGet(one));
    MlirOperation apply = tp__create(&(tp_build){.name = "affine.apply",
                                                 .location = mlirOperationGetLocation(e->op),
                                                 .n_operands = e->scatter.n_loops,
                                                 .operands = values,
                                                 .n_results = 1,
                                                 .results = &index,
                                                 .n_attributes = 1,
                                                 .attributes = &attr});
    tp__insert_before(e->where, apply);
    at[d] = mlirOperationGetResult(apply, 0);
  }
  return (int)rank;
}

static MlirValue load(expansion *e, int operand) {
  MlirValue at[1 + MAX_RANK] = {mlirOperationGetOperand(e->op, operand)};
  MlirType type = mlirValueGetType(at[0]);
  if (!mlirTypeIsAMemRef(type))
    return at[0];
  int rank = position_in(e, operand, at + 1);
  return build(e, "memref.load", tp__element_type(type), 1 + rank, at);
}

static void store(expansion *e, int operand, MlirValue value) {
  MlirValue at[2 + MAX_RANK] = {value, mlirOperationGetOperand(e->op, operand)};
  int rank = position_in(e, operand, at + 2);
  build(e, "memref.store", (MlirType){NULL}, 2 + rank, at);
}

/* ---- values of the body ---- */

static MlirValue record(expansion *e, MlirValue old, MlirValue now) {
  int64_t *entry = tp__value_add(&e->done, old, 0);
  if (entry) /* when memory runs out, the pass fails */
    *entry = (int64_t)(uintptr_t)now.ptr;
  return now;
}

static MlirValue evaluate(expansion *e, MlirValue value);

static MlirValue copy_op(expansion *e, MlirOperation maker, MlirValue value) {
  MlirOperation copy = mlirOperationClone(maker);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(maker); i++)
    mlirOperationSetOperand(copy, i, evaluate(e, mlirOperationGetOperand(maker, i)));
  tp__insert_before(e->where, copy);
  for (intptr_t i = 0; i < mlirOperationGetNumResults(maker); i++)
    record(e, mlirOperationGetResult(maker, i), mlirOperationGetResult(copy, i));
  int64_t *entry = tp__value_find(&e->done, value);
  return entry ? (MlirValue){(const void *)(uintptr_t)*entry} : mlirOperationGetResult(copy, 0);
}

/* The value of the body at the loops that are known. */
static MlirValue evaluate(expansion *e, MlirValue value) {
  int64_t *entry = tp__value_find(&e->done, value);
  if (entry)
    return (MlirValue){(const void *)(uintptr_t)*entry};
  if (mlirValueIsABlockArgument(value))
    return mlirBlockEqual(mlirBlockArgumentGetOwner(value), e->scatter.body)
               ? record(e, value, load(e, (int)mlirBlockArgumentGetArgNumber(value)))
               : value;
  MlirOperation maker = tp__defining_op(value);
  if (!mlirBlockEqual(mlirOperationGetBlock(maker), e->scatter.body))
    return value;
  if (tp__op_is(maker, "linalg.index"))
    return e->loops[mlirIntegerAttrGetValueInt(tp__inherent(maker, "dim"))];
  return copy_op(e, maker, value);
}

/* ---- one op ---- */

/* True for an op on static buffers whose body has no regions. */
static bool is_expandable(expansion *e) {
  MlirAttribute maps = tp__inherent(e->op, "indexing_maps");
  for (MlirOperation op = mlirBlockGetFirstOperation(e->scatter.body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (mlirOperationGetNumRegions(op) > 0)
      return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(e->op); i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(e->op, i));
    if (!mlirTypeIsAMemRef(type))
      continue;
    if (!mlirShapedTypeHasStaticShape(type) || mlirShapedTypeGetRank(type) > MAX_RANK)
      return false;
    MlirAffineMap map = tp__map_at(maps, i);
    for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(expr))
        e->sizes[mlirAffineDimExprGetPosition(expr)] = mlirShapedTypeGetDimSize(type, d);
    }
  }
  for (int l = 0; l < e->scatter.n_loops; l++)
    if (e->sizes[l] == 0)
      return false;
  return true;
}

/* Finds the element that the update changes; goes on where there is one. */
static void enter_targets(expansion *e) {
  MlirType bit = mlirIntegerTypeGet(e->context, 1), index = mlirIndexTypeGet(e->context);
  MlirValue inside = {NULL};
  for (int i = 0; i < e->scatter.n_targets; i++) {
    const tp_scatter_target *target = &e->scatter.targets[i];
    MlirValue at = evaluate(e, target->position);
    if (!mlirValueIsNull(target->offset))
      at = build(e, "arith.subi", index, 2, (MlirValue[]){at, target->offset});
    MlirValue fits =
        tp__compare(e->where, TP_ULT, at, tp__index_constant(e->where, e->sizes[target->loop]));
    inside = mlirValueIsNull(inside) ? fits
                                     : build(e, "arith.andi", bit, 2, (MlirValue[]){inside, fits});
    e->loops[target->loop] = at;
    record(e, mlirOperationGetResult(target->compare, 0), truth(e));
  }
  enter(e, "scf.if", 1, &inside, 2, 0);
}

static void apply_update(expansion *e) {
  MlirOperation yield = mlirBlockGetTerminator(e->scatter.body);
  MlirValue values[TP_MAX_GENERIC_OPERANDS];
  for (int k = 0; k < e->scatter.n_outputs; k++)
    values[k] = evaluate(e, mlirOperationGetOperand(yield, k));
  for (int k = 0; k < e->scatter.n_outputs; k++)
    store(e, e->scatter.n_inputs + k, values[k]);
}

static void expand(expansion *e) {
  uint32_t targets = 0, outer = 0;
  for (int i = 0; i < e->scatter.n_targets; i++) {
    targets |= UINT32_C(1) << e->scatter.targets[i].loop;
    outer |= e->scatter.targets[i].depends;
  }
  for (int l = 0; l < e->scatter.n_loops; l++)
    if (outer >> l & 1)
      enter_loop(e, l);
  enter_targets(e);
  for (int l = 0; l < e->scatter.n_loops; l++)
    if (!((outer | targets) >> l & 1))
      enter_loop(e, l);
  apply_update(e);
  mlirOperationDestroy(e->op);
}

static tp_status run(tp_pass *pass) {
  tp_op_list ops = {0};
  tp_status status = tp__walk(pass->module, tp__collect_generic, &ops);
  for (size_t i = 0; i < ops.n && status == TP_OK; i++) {
    expansion e = {.op = ops.items[i], .where = ops.items[i], .context = pass->context};
    if (mlirOperationGetNumResults(e.op) > 0 || !tp__scatter_match(e.op, &e.scatter) ||
        e.scatter.n_outputs > TP_MAX_GENERIC_OPERANDS || !is_expandable(&e))
      continue;
    expand(&e);
    tp__value_map_destroy(&e.done);
    pass->statistics[STAT_SCATTERS]++;
    if (tp__alloc_failed())
      status = tp__out_of_memory(pass->module);
  }
  tp__free(ops.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    [STAT_SCATTERS] = {"scatters", "structured ops replaced by loops over updates"},
};

const tp_pass_row tp__expand_scatters_row = {
    .name = "tp-expand-scatters",
    .summary = "Visit only the elements that a scatter changes",
    .description = "Requires: buffers. Establishes: a linalg.generic whose results change only "
                   "where a position from its inputs equals the element's is a loop over the "
                   "updates. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
