/* Raises argmax-like reductions with PyTorch's rule for NaN: the value becomes NaN, but the index
 * stays where it was.
 *
 * The results of two parts of the loop then do not determine the result of the whole, because the
 * value at the index is lost. A third result that no other op reads keeps this value, so that parts
 * can be combined (rules/arg_reduction.h). */
#include "passes/prepare/raise/raise.h"

#include "rules/arg_reduction.h"

#include <mlir-c/AffineMap.h>

/* The value and the index of a body that yields `extreme(x, value)` and `condition ? k : index`. */
typedef struct pair {
  int value, index;
  MlirValue x, condition;
} pair;

static MlirValue accumulator(const tp__generic *generic, int k) {
  return mlirBlockGetArgument(generic->body, generic->n_inputs + k);
}

static bool is_extreme(MlirOperation op) {
  return !mlirOperationIsNull(op) &&
         (tp__op_is(op, "arith.maximumf") || tp__op_is(op, "arith.minimumf"));
}

static bool find_pair(const tp__generic *generic, pair *p) {
  for (p->value = 0; p->value < 2; p->value++) {
    p->index = 1 - p->value;
    MlirOperation best = tp__defining_op(mlirOperationGetOperand(generic->yield, p->value));
    MlirOperation at = tp__defining_op(mlirOperationGetOperand(generic->yield, p->index));
    if (!is_extreme(best) || mlirOperationIsNull(at) || !tp__op_is(at, "arith.select"))
      continue;
    int own =
        mlirValueEqual(mlirOperationGetOperand(best, 1), accumulator(generic, p->value)) ? 1 : 0;
    p->x = mlirOperationGetOperand(best, 1 - own);
    p->condition = mlirOperationGetOperand(at, 0);
    return mlirValueEqual(mlirOperationGetOperand(best, own), accumulator(generic, p->value));
  }
  return false;
}

/* Builds a copy of the generic with a third result before it. The copy has no body yet. */
static MlirOperation build(const tp__generic *generic, const pair *p) {
  int n = generic->n_inputs + 2, value = generic->n_inputs + p->value;
  MlirValue operands[TP_RAISE_MAX_OPERANDS];
  MlirAttribute maps[TP_RAISE_MAX_OPERANDS];
  for (int i = 0; i <= n; i++) {
    operands[i] = mlirOperationGetOperand(generic->op, i < n ? i : value);
    maps[i] = mlirAffineMapAttrGet(tp__generic_map(generic, i < n ? i : value));
  }
  return tp__build_generic(&(tp_generic){.where = generic->op,
                                         .location = mlirOperationGetLocation(generic->op),
                                         .n_inputs = generic->n_inputs,
                                         .n_inits = 3,
                                         .operands = operands,
                                         .maps = maps,
                                         .iterators = tp__inherent(generic->op, "iterator_types")});
}

/* Moves the body to the new op and yields the value at the index as a third result. */
static void extend_body(const tp__generic *generic, const pair *p, MlirOperation op) {
  MlirValue yields[] = {mlirOperationGetOperand(generic->yield, 0),
                        mlirOperationGetOperand(generic->yield, 1),
                        {NULL}};
  mlirRegionTakeBody(mlirOperationGetRegion(op, 0), mlirOperationGetRegion(generic->op, 0));
  MlirValue held =
      mlirBlockAddArgument(generic->body, mlirValueGetType(p->x), mlirOperationGetLocation(op));
  yields[2] = tp__select(generic->yield, p->condition, p->x, held);
  mlirOperationSetOperands(generic->yield, 3, yields);
}

/* Reverts extend_body and destroys the new op. */
static void shrink_body(const tp__generic *generic, MlirOperation op) {
  MlirOperation held = tp__defining_op(mlirOperationGetOperand(generic->yield, 2));
  mlirOperationSetOperands(generic->yield, 2,
                           (MlirValue[]){mlirOperationGetOperand(generic->yield, 0),
                                         mlirOperationGetOperand(generic->yield, 1)});
  mlirOperationDestroy(held);
  mlirBlockEraseArgument(generic->body, (unsigned)(generic->n_inputs + 2));
  mlirRegionTakeBody(mlirOperationGetRegion(generic->op, 0), mlirOperationGetRegion(op, 0));
  mlirOperationDestroy(op);
}

/* Copies the attributes. The third result gets the sharding of the value. */
static void copy_attributes(const tp__generic *generic, const pair *p, MlirOperation op) {
  MlirAttribute list = tp__get(generic->op, "tp.sharding"), entries[3];
  tp__copy_discardable(generic->op, op);
  if (mlirAttributeIsNull(list) || !mlirAttributeIsAArray(list) ||
      mlirArrayAttrGetNumElements(list) != 2)
    return;
  for (int k = 0; k < 3; k++)
    entries[k] = mlirArrayAttrGetElement(list, k < 2 ? k : p->value);
  tp__set(op, "tp.sharding", mlirArrayAttrGet(mlirOperationGetContext(op), 3, entries));
}

static bool picks(MlirOperation op, int n_inputs) {
  tp_arg_reduction pick;
  MlirValue inits[TP_MAX_PICKED];
  for (int k = 0; k < (int)mlirOperationGetNumResults(op); k++)
    inits[k] = mlirOperationGetOperand(op, n_inputs + k);
  return tp__arg_reduction_read(op, n_inputs, inits, &pick);
}

bool tp__raise_arg_reductions(tp__raise *raise, const tp__generic *generic) {
  pair p;
  if (generic->n_inits != 2 || generic->n_inputs + 3 > TP_RAISE_MAX_OPERANDS ||
      !find_pair(generic, &p) || picks(generic->op, generic->n_inputs))
    return false;
  MlirOperation op = build(generic, &p);
  extend_body(generic, &p, op);
  if (!picks(op, generic->n_inputs)) {
    shrink_body(generic, op);
    return false;
  }
  copy_attributes(generic, &p, op);
  for (int k = 0; k < 2; k++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(generic->op, k),
                                  mlirOperationGetResult(op, k));
  tp__destroy(raise, generic->op);
  raise->statistics[TP_RAISED_PICK]++;
  return true;
}
