/* Determines how a function uses its arguments: as weights of contractions, operands of roots, or
 * indices. One walk in program order tracks the argument that each value comes from. */
#include "tp/inputs.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "ir/plan_measure.h"
#include "ir/value_table.h"
#include "support/support.h"

#include <math.h>
#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

enum { MAX_DEPTH = 16, SMALL_INDEX = 3 };

/* The argument that a value comes from. */
typedef struct origin {
  int argument;
  /* The value has the same numbers as the argument, perhaps in another shape or type. A contraction
   * of the value is then a contraction of the argument. */
  bool is_view;
  /* An index computed by arithmetic: a bound on it bounds the argument only roughly. */
  bool is_shifted;
} origin;

typedef struct analysis {
  MlirOperation module;
  tp_input_range *ranges;
  bool *is_param, *is_decided;
  tp_value_table table;
  origin *origins;
  size_t n, capacity;
  /* The function that is walked, and its call. */
  MlirOperation func, call;
  int depth;
} analysis;

static const origin *origin_of(const analysis *a, MlirValue value) {
  int i = tp__table_get(&a->table, value.ptr);
  return i < 0 ? NULL : a->origins + i;
}

static tp_status set(analysis *a, MlirValue value, const origin *from) {
  if (!from)
    return TP_OK;
  origin made = *from; /* a copy, because `from` may point into the list that grows */
  TP_TRY(tp__grow((void **)&a->origins, &a->capacity, a->n + 1, sizeof *a->origins));
  TP_TRY(tp__table_put(&a->table, value.ptr, (int)a->n));
  a->origins[a->n++] = made;
  return TP_OK;
}

/* ---- uses ---- */

static void bound(analysis *a, MlirValue index, int64_t high) {
  const origin *o = origin_of(a, index);
  if (!o || high < 0)
    return;
  tp_input_range *range = a->ranges + o->argument;
  if (o->is_shifted && high > SMALL_INDEX)
    high = SMALL_INDEX;
  range->high = range->high < 0 || high < range->high ? high : range->high;
}

/* Bounds the indices of tensor.extract %t[%i, ...] or tensor.insert, whose first operand is the
 * inserted value. */
static void use_element(analysis *a, MlirOperation op, int tensor) {
  for (int i = tensor + 1; i < (int)mlirOperationGetNumOperands(op); i++)
    bound(a, mlirOperationGetOperand(op, i),
          tp__value_size(mlirOperationGetOperand(op, tensor), i - tensor - 1) - 1);
}

/* Bounds the dynamic offsets of a slice of `whole`, which are the operands from `first` on. */
static void use_slice(analysis *a, MlirOperation op, MlirValue whole, int first) {
  int64_t offsets[TP_MAX_RANK], sizes[TP_MAX_RANK];
  int n = tp__int_list(tp__inherent(op, "static_offsets"), TP_MAX_RANK, offsets);
  if (n < 0 || tp__int_list(tp__inherent(op, "static_sizes"), TP_MAX_RANK, sizes) != n)
    return;
  for (int d = 0; d < n; d++)
    if (offsets[d] == INT64_MIN) /* dynamic */
      bound(a, mlirOperationGetOperand(op, first++),
            sizes[d] == INT64_MIN ? -1 : tp__value_size(whole, d) - sizes[d]);
}

/* A comparison with linalg.index: the other operand is a class index, bounded by the trip count of
 * the loop. */
static void use_class(analysis *a, MlirOperation op) {
  for (int i = 0; i < 2; i++) {
    MlirOperation other = tp__defining_op(mlirOperationGetOperand(op, 1 - i));
    while (!mlirOperationIsNull(other) && tp__op_is(other, "arith.index_cast"))
      other = tp__defining_op(mlirOperationGetOperand(other, 0));
    if (mlirOperationIsNull(other) || !tp__op_is(other, "linalg.index"))
      continue;
    MlirOperation loops = mlirOperationGetParentOperation(other);
    int64_t dim = mlirIntegerAttrGetValueInt(tp__inherent(other, "dim"));
    MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(loops);
    for (int k = 0; !mlirAttributeIsNull(maps) && k < (int)mlirArrayAttrGetNumElements(maps); k++) {
      MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, k));
      for (int d = 0; d < (int)mlirAffineMapGetNumResults(map); d++) {
        MlirAffineExpr e = mlirAffineMapGetResult(map, d);
        if (mlirAffineExprIsADim(e) && mlirAffineDimExprGetPosition(e) == dim)
          bound(a, mlirOperationGetOperand(op, i),
                tp__value_size(mlirOperationGetOperand(loops, k), d) - 1);
      }
    }
  }
}

static void use_root(analysis *a, MlirOperation op) {
  const origin *o = origin_of(a, mlirOperationGetOperand(op, 0));
  if (o)
    a->ranges[o->argument].is_positive = true;
}

/* ---- contractions ---- */

static bool has_op(MlirBlock body, const char *name) {
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, name))
      return true;
  return false;
}

/* Returns the product of the operand's dimensions that the result does not have. */
static double fan_in(MlirOperation op, MlirAttribute maps, int operand, int result) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, operand));
  MlirAffineMap to = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, result));
  double size = 1;
  for (int d = 0; d < (int)mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    bool is_kept =
        !mlirAffineExprIsADim(e) || tp__map_has_loop(to, mlirAffineDimExprGetPosition(e));
    size *= is_kept ? 1 : (double)tp__value_size(mlirOperationGetOperand(op, operand), d);
  }
  return size;
}

/* Chooses the weight among the operands of a contraction, and scales it by the fan-in. Preference:
 * a param; an operand from an argument if the other is not from one; the right operand. */
static void use_contraction(analysis *a, MlirOperation op) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirAttributeIsNull(maps) || mlirArrayAttrGetNumElements(maps) != 3 ||
      mlirOperationGetNumOperands(op) != 3)
    return;
  const origin *of[2];
  for (int i = 0; i < 2; i++) {
    of[i] = origin_of(a, mlirOperationGetOperand(op, i));
    of[i] = of[i] && of[i]->is_view ? of[i] : NULL;
  }
  bool left_is_weight = of[0] && (a->is_param[of[0]->argument] || !of[1]);
  bool right_is_weight = of[1] && (a->is_param[of[1]->argument] || !left_is_weight);
  for (int i = 0; i < 2; i++) {
    if (!of[i] || a->is_decided[of[i]->argument])
      continue;
    a->is_decided[of[i]->argument] = true;
    if (i == 0 ? left_is_weight : right_is_weight)
      a->ranges[of[i]->argument].deviation = 1 / sqrt(fmax(1, fan_in(op, maps, i, 2)));
  }
}

/* ---- origins of values ---- */

typedef enum transfer { SAME, CAST, ARITHMETIC, LINEAR, INSERTION } transfer;

/* The effect of an op on the origin of an operand. SAME: the numbers do not change. CAST: an index
 * keeps its value through a conversion, a clamp or a selection. ARITHMETIC: the index changes.
 * LINEAR: a term or factor of a float, so the requirement to be positive carries over. INSERTION:
 * like SAME, for operand 1, the destination. */
static const struct transfer_row {
  const char *name;
  transfer what;
} transfers[] = {
    {"tensor.expand_shape", SAME},
    {"tensor.collapse_shape", SAME},
    {"tensor.cast", SAME},
    {"tensor.reshape", SAME},
    {"tensor.extract_slice", SAME},
    {"tensor.pad", SAME},
    {"tensor.extract", SAME},
    {"shard.shard", SAME},
    {"bufferization.alloc_tensor", SAME},
    {"arith.extf", SAME},
    {"arith.truncf", SAME},
    {"tensor.from_elements", SAME},
    {"tensor.splat", SAME},
    {"tensor.concat", SAME},
    {"tensor.gather", CAST},
    {"tensor.insert_slice", INSERTION},
    {"arith.index_cast", CAST},
    {"arith.index_castui", CAST},
    {"arith.extsi", CAST},
    {"arith.extui", CAST},
    {"arith.trunci", CAST},
    {"arith.minsi", CAST},
    {"arith.maxsi", CAST},
    {"arith.minui", CAST},
    {"arith.maxui", CAST},
    {"arith.select", CAST},
    {"arith.addi", ARITHMETIC},
    {"arith.subi", ARITHMETIC},
    {"arith.muli", ARITHMETIC},
    {"arith.addf", LINEAR},
    {"arith.mulf", LINEAR},
    {"arith.divf", LINEAR},
    {"arith.maximumf", LINEAR},
};

static tp_status transfer_op(analysis *a, MlirOperation op, transfer what) {
  int n = (int)mlirOperationGetNumOperands(op);
  MlirValue result = mlirOperationGetResult(op, 0);
  const origin *from = NULL, *second = NULL;
  for (int i = what == INSERTION; i < n; i++) {
    const origin *next = origin_of(a, mlirOperationGetOperand(op, i));
    if (from && next)
      second = next;
    from = from ? from : next;
    if (what == SAME || what == INSERTION)
      break;
  }
  /* a product or a sum of two arguments constrains neither of them */
  if (!from || (what == LINEAR && second))
    return TP_OK;
  origin made = *from;
  made.is_view &= what == SAME || what == INSERTION;
  if (what == ARITHMETIC) {
    /* Adding a constant normalizes negative indices. Drawn indices are not negative, so their bound
     * stays exact. */
    MlirOperation other = tp__defining_op(
        mlirOperationGetOperand(op, origin_of(a, mlirOperationGetOperand(op, 0)) ? 1 : 0));
    made.is_shifted |= second || mlirOperationIsNull(other) || !tp__op_is(other, "arith.constant");
  }
  return set(a, result, &made);
}

static tp_status enter_structured(analysis *a, MlirOperation op) {
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body))
    return TP_OK;
  if (has_op(body, "arith.mulf") && has_op(body, "arith.addf"))
    use_contraction(a, op);
  for (int i = 0; i < (int)mlirBlockGetNumArguments(body); i++)
    TP_TRY(set(a, mlirBlockGetArgument(body, i), origin_of(a, mlirOperationGetOperand(op, i))));
  return TP_OK;
}

/* Gives the results of an op with regions the origins of the yielded values. A result that already
 * has an origin keeps it. */
static tp_status leave_structured(analysis *a, MlirOperation yield, MlirOperation op) {
  tp_status status = TP_OK;
  for (int k = 0; k < (int)mlirOperationGetNumOperands(yield) && status == TP_OK; k++)
    if (k < (int)mlirOperationGetNumResults(op) && !origin_of(a, mlirOperationGetResult(op, k)))
      status =
          set(a, mlirOperationGetResult(op, k), origin_of(a, mlirOperationGetOperand(yield, k)));
  return status;
}

static tp_status enter_loop(analysis *a, MlirOperation op) {
  int first = tp__op_is(op, "scf.for") ? 3 : 0; /* the bounds and the step come first */
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  for (int i = first; i < (int)mlirOperationGetNumOperands(op); i++)
    TP_TRY(set(a, mlirBlockGetArgument(body, first ? i - 2 : i),
               origin_of(a, mlirOperationGetOperand(op, i))));
  return TP_OK;
}

static tp_status leave_condition(analysis *a, MlirOperation condition, MlirOperation loop) {
  MlirBlock after = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, 1));
  for (int i = 1; i < (int)mlirOperationGetNumOperands(condition); i++) {
    const origin *from = origin_of(a, mlirOperationGetOperand(condition, i));
    TP_TRY(set(a, mlirBlockGetArgument(after, i - 1), from));
    TP_TRY(set(a, mlirOperationGetResult(loop, i - 1),
               origin_of(a, mlirOperationGetOperand(condition, i))));
  }
  return TP_OK;
}

static tp_status visit(MlirOperation op, void *data);

static tp_status enter_call(analysis *a, MlirOperation call) {
  MlirOperation callee = tp__callee(a->module, call), func = a->func, outer = a->call;
  if (mlirOperationIsNull(callee) || a->depth >= MAX_DEPTH)
    return TP_OK;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(callee, 0));
  tp_status status = TP_OK;
  for (int i = 0; i < (int)mlirBlockGetNumArguments(body) && status == TP_OK; i++)
    status = set(a, mlirBlockGetArgument(body, i), origin_of(a, mlirOperationGetOperand(call, i)));
  a->func = callee;
  a->call = call;
  a->depth++;
  if (status == TP_OK)
    status = tp__walk(callee, visit, a);
  a->depth--;
  a->func = func;
  a->call = outer;
  return status;
}

static tp_status visit(MlirOperation op, void *data) {
  analysis *a = data;
  MlirOperation parent = mlirOperationGetParentOperation(op);
  if (tp__op_is(op, "tensor.extract"))
    use_element(a, op, 0);
  else if (tp__op_is(op, "tensor.insert"))
    use_element(a, op, 1);
  else if (tp__op_is(op, "tensor.extract_slice"))
    use_slice(a, op, mlirOperationGetOperand(op, 0), 1);
  else if (tp__op_is(op, "tensor.insert_slice"))
    use_slice(a, op, mlirOperationGetOperand(op, 1), 2);
  else if (tp__op_is(op, "arith.cmpi"))
    use_class(a, op);
  else if (tp__op_is(op, "math.sqrt") || tp__op_is(op, "math.rsqrt") || tp__op_is(op, "math.log") ||
           tp__op_is(op, "math.powf"))
    use_root(a, op);
  else if (tp__op_is(op, "linalg.yield") || tp__op_is(op, "scf.yield"))
    return leave_structured(a, op, parent);
  else if (tp__op_is(op, "scf.condition"))
    return leave_condition(a, op, parent);
  else if (tp__op_is(op, "func.return") && !mlirOperationIsNull(a->call))
    return leave_structured(a, op, a->call);
  else if (tp__op_is(op, "func.call"))
    return enter_call(a, op);
  else if (tp__op_is(op, "scf.for") || tp__op_is(op, "scf.while"))
    return enter_loop(a, op);
  else if (tp__op_has_dialect(op, "linalg") && mlirOperationGetNumRegions(op) == 1)
    return enter_structured(a, op);
  for (size_t i = 0; i < TP__COUNT(transfers); i++)
    if (tp__op_is(op, transfers[i].name))
      return transfer_op(a, op, transfers[i].what);
  return TP_OK;
}

/* ---- entry point ---- */

tp_status tp_input_ranges(MlirModule module, const char *function, tp_input_range *ranges) {
  analysis a = {.module = mlirModuleGetOperation(module), .ranges = ranges};
  TP_TRY(tp__choose_function(a.module, function, &a.func));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(a.func, 0));
  int n = (int)mlirBlockGetNumArguments(body);
  a.is_param = tp__calloc(2 * (size_t)n + 1, sizeof *a.is_param);
  a.is_decided = a.is_param ? a.is_param + n : NULL;
  tp_status status = a.is_param ? TP_OK : TP_NO_MEMORY;
  for (int i = 0; i < n && status == TP_OK; i++) {
    MlirAttribute role = tp__arg_attr(a.func, i, "tp.role");
    a.is_param[i] = !mlirAttributeIsNull(role) && mlirAttributeIsAString(role) &&
                    tp__ref_is(mlirStringAttrGetValue(role), "param");
    ranges[i] = (tp_input_range){.deviation = 1, .high = -1};
    status = set(&a, mlirBlockGetArgument(body, i), &(origin){.argument = i, .is_view = true});
  }
  if (status == TP_OK)
    status = tp__walk(a.func, visit, &a);
  tp__table_destroy(&a.table);
  tp__free(a.origins);
  tp__free(a.is_param);
  return status == TP_NO_MEMORY ? tp__out_of_memory(a.module) : status;
}
