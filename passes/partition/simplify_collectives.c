/* tp-simplify-collectives: reduces the number and size of collectives in the per-device program.
 *
 * Repeats sweeps in program order until nothing changes. A rewrite moves a collective only within
 * its block, so that no collective comes under control flow that did not guard it before. */
#include "passes/registry.h"

#include "ir/collectives.h"
#include "ir/value_table.h"
#include "rules/body.h"
#include "support/support.h"

#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

enum { STAT_EQUAL, STAT_GATHERS, STAT_SUMS, STAT_SCATTERS, STAT_DEAD, STAT_SINGLE };

typedef struct simplifier {
  tp_pass *pass;
  MlirOperation *ops; /* ops of the current sweep in program order; null if destroyed */
  size_t n, capacity;
  tp_value_table places; /* op -> index in `ops` + 1 */
  bool changed;
} simplifier;

/* ---- collectives ---- */

/* Collectives that only depend on their operand and may be merged and erased. Others (send, recv,
 * rooted ones) stay as written. tensor.extract_slice is included because slices of collectives are
 * part of reshards. */
static const char *const pure_ops[] = {
    "shard.all_gather", "shard.all_reduce", "shard.all_slice",      "shard.reduce_scatter",
    "shard.all_to_all", "shard.shift",      "tensor.extract_slice",
};

static bool is_pure(MlirOperation op) {
  for (int i = 0; i < TP_LEN(pure_ops); i++)
    if (tp__op_is(op, pure_ops[i]))
      return true;
  return tp__is_permute(op);
}

static bool is_collective(MlirOperation op) {
  return is_pure(op) && !tp__op_is(op, "tensor.extract_slice");
}

static MlirValue operand(MlirOperation op) { return mlirOperationGetOperand(op, 0); }
static MlirValue result(MlirOperation op) { return mlirOperationGetResult(op, 0); }

static bool same_type(MlirValue a, MlirValue b) {
  return mlirTypeEqual(mlirValueGetType(a), mlirValueGetType(b));
}

/* Null attributes compare equal, because two absent attributes have the same default. */
static bool same_attr(MlirAttribute a, MlirAttribute b) { return a.ptr == b.ptr; }

static bool same_inherent(MlirOperation a, MlirOperation b, const char *name) {
  return same_attr(tp__inherent(a, name), tp__inherent(b, name));
}

static bool same_block(MlirOperation a, MlirOperation b) {
  return mlirBlockEqual(mlirOperationGetBlock(a), mlirOperationGetBlock(b));
}

static MlirAttribute reduction_of(MlirOperation op) {
  MlirAttribute reduction = tp__inherent(op, "reduction");
  return mlirAttributeIsNull(reduction)
             ? tp__parse_attr(mlirOperationGetContext(op), "#shard<partial sum>")
             : reduction;
}

/* ---- destroying and replacing ---- */

static void destroy(simplifier *s, MlirOperation op) {
  int place = tp__table_get(&s->places, op.ptr);
  if (place > 0)
    s->ops[place - 1] = (MlirOperation){NULL};
  mlirOperationDestroy(op);
  s->changed = true;
}

static void replace(simplifier *s, MlirOperation op, MlirValue with) {
  mlirValueReplaceAllUsesOfWith(result(op), with);
  destroy(s, op);
}

/* ---- groups of one device ---- */

static MlirOperation find_grid(MlirOperation module, MlirAttribute symbol) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(symbol);
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "shard.grid") &&
        mlirStringRefEqual(mlirStringAttrGetValue(tp__inherent(op, "sym_name")), name))
      return op;
  return (MlirOperation){NULL};
}

static bool has_one_device(const simplifier *s, MlirOperation op) {
  int64_t axes[TP_MAX_AXES], shape[TP_MAX_AXES];
  int n = tp__int_list(tp__inherent(op, "grid_axes"), TP_MAX_AXES, axes);
  MlirAttribute symbol = tp__inherent(op, "grid");
  if (n < 0 || mlirAttributeIsNull(symbol))
    return false;
  MlirOperation grid = find_grid(s->pass->module, symbol);
  int rank = mlirOperationIsNull(grid)
                 ? -1
                 : tp__int_list(tp__inherent(grid, "shape"), TP_MAX_AXES, shape);
  for (int i = 0; i < n; i++)
    if (axes[i] < 0 || axes[i] >= rank || shape[axes[i]] != 1)
      return false;
  return rank >= 0;
}

/* Replaces a collective over a group of one device by its operand. A shift is excluded: without
 * rotation it has no source in such a group. */
static bool drop_single(simplifier *s, MlirOperation op) {
  if (!tp__op_has_dialect(op, "shard") || tp__op_is(op, "shard.shift") ||
      !same_type(operand(op), result(op)) || !has_one_device(s, op))
    return false;
  replace(s, op, operand(op));
  s->pass->statistics[STAT_SINGLE]++;
  return true;
}

/* ---- equal ops ---- */

static bool same_attributes(MlirOperation a, MlirOperation b) {
  intptr_t n = mlirOperationGetNumAttributes(a);
  if (n != mlirOperationGetNumAttributes(b))
    return false;
  for (intptr_t i = 0; i < n; i++) { /* both lists are sorted by name */
    MlirNamedAttribute x = mlirOperationGetAttribute(a, i), y = mlirOperationGetAttribute(b, i);
    if (!mlirIdentifierEqual(x.name, y.name) || !mlirAttributeEqual(x.attribute, y.attribute))
      return false;
  }
  return true;
}

static bool same_op(MlirOperation a, MlirOperation b) {
  intptr_t n = mlirOperationGetNumOperands(a);
  if (n != mlirOperationGetNumOperands(b) || !mlirStringRefEqual(tp__op_name(a), tp__op_name(b)) ||
      !same_type(result(a), result(b)))
    return false;
  for (intptr_t i = 0; i < n; i++)
    if (!mlirValueEqual(mlirOperationGetOperand(a, i), mlirOperationGetOperand(b, i)))
      return false;
  return same_attributes(a, b);
}

/* True if `a` is before `b`, in the block of `b` or in an enclosing block. */
static bool is_before(MlirOperation a, MlirOperation b) {
  for (; !mlirOperationIsNull(b); b = mlirOperationGetParentOperation(b))
    if (!mlirBlockIsNull(mlirOperationGetBlock(b)) && same_block(a, b))
      return !mlirOperationEqual(a, b) && mlirOperationIsBeforeInBlock(a, b);
  return false;
}

static bool merge_equal(simplifier *s, MlirOperation op) {
  for (MlirOpOperand use = mlirValueGetFirstUse(operand(op)); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation other = mlirOpOperandGetOwner(use);
    if (mlirOperationGetNumResults(other) == 1 && same_op(other, op) && is_before(other, op)) {
      replace(s, op, result(other));
      s->pass->statistics[STAT_EQUAL]++;
      return true;
    }
  }
  return false;
}

/* ---- all_slice of all_gather ---- */

static bool fold_gather(simplifier *s, MlirOperation slice) {
  MlirOperation gather = tp__defined_by(operand(slice), "shard.all_gather");
  if (!tp__op_is(slice, "shard.all_slice") || mlirOperationIsNull(gather) ||
      !same_inherent(slice, gather, "grid") || !same_inherent(slice, gather, "grid_axes") ||
      !same_attr(tp__inherent(slice, "slice_axis"), tp__inherent(gather, "gather_axis")) ||
      !same_type(operand(gather), result(slice)))
    return false;
  replace(s, slice, operand(gather));
  s->pass->statistics[STAT_GATHERS]++;
  return true;
}

/* ---- all_reduce + all_slice = reduce_scatter ---- */

/* True if the ops have the same set of axes. The order of axes matters for a slice, but not for an
 * all-reduce. */
static bool same_axis_set(MlirOperation a, MlirOperation b) {
  int64_t x[TP_MAX_AXES], y[TP_MAX_AXES];
  int n = tp__int_list(tp__inherent(a, "grid_axes"), TP_MAX_AXES, x);
  if (n <= 0 || tp__int_list(tp__inherent(b, "grid_axes"), TP_MAX_AXES, y) != n)
    return false;
  for (int i = 0; i < n; i++) {
    bool found = false;
    for (int k = 0; k < n; k++)
      found |= x[i] == y[k];
    if (!found)
      return false;
  }
  return true;
}

static bool scatter_reduction(simplifier *s, MlirOperation slice) {
  MlirOperation reduce = tp__defined_by(operand(slice), "shard.all_reduce");
  if (!tp__op_is(slice, "shard.all_slice") || mlirOperationIsNull(reduce) ||
      !tp__is_used_once(result(reduce)) || !same_block(slice, reduce) ||
      !same_inherent(slice, reduce, "grid") || !same_axis_set(slice, reduce) ||
      !same_type(operand(reduce), result(reduce)))
    return false;
  MlirContext context = s->pass->context;
  MlirAttribute combiner = tp__get(reduce, "tp.combiner");
  MlirNamedAttribute attrs[] = {
      tp__named(context, "grid", tp__inherent(slice, "grid")),
      tp__named(context, "grid_axes", tp__inherent(slice, "grid_axes")),
      tp__named(context, "scatter_axis", tp__inherent(slice, "slice_axis")),
      tp__named(context, "reduction", reduction_of(reduce)),
  };
  MlirValue source = operand(reduce);
  MlirType type = mlirValueGetType(result(slice));
  MlirOperation op = tp__create(&(tp_build){.name = "shard.reduce_scatter",
                                            .location = mlirOperationGetLocation(reduce),
                                            .n_operands = 1,
                                            .operands = &source,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = TP_LEN(attrs),
                                            .attributes = attrs});
  if (!mlirAttributeIsNull(combiner))
    tp__set(op, "tp.combiner", combiner);
  tp__insert_before(slice, op);
  replace(s, slice, result(op));
  destroy(s, reduce);
  s->pass->statistics[STAT_SCATTERS]++;
  return true;
}

/* ---- sums of two all-reduces ---- */

static const char *const sum_ops[] = {"arith.addf", "arith.subf", "arith.addi", "arith.subi"};

static bool is_sum(MlirOperation op) {
  for (int i = 0; i < TP_LEN(sum_ops); i++)
    if (tp__op_is(op, sum_ops[i]))
      return true;
  return false;
}

/* True for a structured op that adds or subtracts its two inputs elementwise. */
static bool is_structured_sum(MlirOperation op) {
  tp_body body;
  if (!tp__op_has_dialect(op, "linalg") || mlirOperationGetNumOperands(op) != 3 ||
      mlirOperationGetNumResults(op) != 1 || !tp__body_of(op, 2, &body) || body.n_args != 3)
    return false;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  for (int i = 0; i < 3; i++) /* three identity maps: all loops are parallel */
    if (mlirAttributeIsNull(maps) ||
        !mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i))))
      return false;
  MlirOperation sum = mlirBlockGetFirstOperation(body.block);
  if (!is_sum(sum) || !mlirOperationEqual(mlirOperationGetNextInBlock(sum), body.yield) ||
      !mlirValueEqual(mlirOperationGetOperand(body.yield, 0), result(sum)))
    return false;
  MlirValue a = operand(sum), b = mlirOperationGetOperand(sum, 1);
  MlirValue x = mlirBlockGetArgument(body.block, 0), y = mlirBlockGetArgument(body.block, 1);
  return (mlirValueEqual(a, x) && mlirValueEqual(b, y)) ||
         (mlirValueEqual(a, y) && mlirValueEqual(b, x));
}

static bool is_tensor_sum(MlirOperation op) {
  return is_sum(op) ? tp__is_tensor(mlirValueGetType(result(op))) : is_structured_sum(op);
}

/* all_reduce(a) + all_reduce(b) = all_reduce(a + b). This changes the order of floating-point
 * additions. */
static bool merge_sum(simplifier *s, MlirOperation op) {
  MlirOperation a = tp__defined_by(operand(op), "shard.all_reduce");
  MlirOperation b = tp__defined_by(mlirOperationGetOperand(op, 1), "shard.all_reduce");
  if (mlirOperationIsNull(a) || mlirOperationIsNull(b) || mlirOperationEqual(a, b) ||
      !same_attributes(a, b) ||
      !mlirAttributeEqual(reduction_of(a),
                          tp__parse_attr(s->pass->context, "#shard<partial sum>")) ||
      !tp__is_used_once(result(a)) || !tp__is_used_once(result(b)) || !same_block(a, op) ||
      !same_block(b, op) || !same_type(operand(a), result(a)) ||
      !same_type(operand(b), result(b)) || !same_type(result(a), result(op)))
    return false;
  mlirOperationSetOperand(op, 0, operand(a));
  mlirOperationSetOperand(op, 1, operand(b));
  MlirOperation reduce = mlirOperationClone(a);
  mlirOperationSetOperand(reduce, 0, result(op));
  tp__insert_after(op, reduce);
  tp__replace_uses_except(result(op), result(reduce), reduce);
  destroy(s, a);
  destroy(s, b);
  s->pass->statistics[STAT_SUMS]++;
  return true;
}

/* ---- sweeps ---- */

static tp_status collect(MlirOperation op, void *data) {
  simplifier *s = data;
  if (!is_pure(op) && !is_tensor_sum(op))
    return TP_OK;
  TP_TRY(tp__grow((void **)&s->ops, &s->capacity, s->n + 1, sizeof *s->ops));
  s->ops[s->n++] = op;
  return tp__table_put(&s->places, op.ptr, (int)s->n);
}

static void visit(simplifier *s, MlirOperation op) {
  static bool (*const rewrites[])(simplifier *, MlirOperation) = {drop_single, merge_equal,
                                                                  fold_gather, scatter_reduction};
  if (!is_pure(op)) {
    merge_sum(s, op);
    return;
  }
  for (int i = 0; i < TP_LEN(rewrites); i++)
    if (rewrites[i](s, op))
      return;
}

/* Erases unused collectives, last first, so that producers used only by erased ops are erased
 * too. */
static void erase_dead(simplifier *s) {
  for (size_t i = s->n; i-- > 0;) {
    MlirOperation op = s->ops[i];
    if (mlirOperationIsNull(op) || !is_collective(op) || tp__is_used(result(op)))
      continue;
    destroy(s, op);
    s->pass->statistics[STAT_DEAD]++;
  }
}

static tp_status sweep(simplifier *s) {
  s->changed = false;
  s->n = 0;
  s->places = (tp_value_table){0};
  tp_status status = tp__walk(s->pass->module, collect, s);
  for (size_t i = 0; i < s->n && status == TP_OK; i++)
    if (!mlirOperationIsNull(s->ops[i]))
      visit(s, s->ops[i]);
  if (status == TP_OK)
    erase_dead(s);
  tp__table_destroy(&s->places);
  return status == TP_OK ? TP_OK : tp__out_of_memory(s->pass->module);
}

static tp_status run(tp_pass *pass) {
  if (!tp__is_local(pass->module))
    return tp__error(
        pass->module, TP_INVALID_ARGUMENT,
        "is not a per-device program (no tp.phase = \"local\"); run tp-partition first");
  simplifier s = {.pass = pass, .changed = true};
  tp_status status = TP_OK;
  /* terminates, because every rewrite makes the program shorter */
  while (status == TP_OK && s.changed)
    status = sweep(&s);
  tp__free(s.ops);
  return status;
}

static const tp_statistic_row statistics[] = {
    [STAT_EQUAL] = {"equal", "collectives and slices merged with an equal earlier one"},
    [STAT_GATHERS] = {"gathers", "all_slices of an all_gather replaced by the gathered operand"},
    [STAT_SUMS] = {"sums", "pairs of all_reduces with added results merged into one"},
    [STAT_SCATTERS] = {"scatters",
                       "pairs of all_reduce and all_slice that became a reduce_scatter"},
    [STAT_DEAD] = {"dead", "unused collectives erased"},
    [STAT_SINGLE] = {"single", "collectives in groups of one device removed"},
};

const tp_pass_row tp__simplify_collectives_row = {
    .name = "tp-simplify-collectives",
    .summary = "Merge, shrink and drop collectives of the per-device program",
    .description =
        "Requires: tp.phase = \"local\" (rejects others). Establishes: equal collectives of one "
        "value are merged; an all_slice that undoes an all_gather is replaced by the gathered "
        "operand; a sum or difference of two all_reduces without other users is one all_reduce of "
        "the sum or difference (floating-point terms are added in another order); an all_reduce of "
        "which only a slice is used is a reduce_scatter; no collective is unused or has a group of "
        "one device. Send, receive and rooted collectives stay as they are. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
