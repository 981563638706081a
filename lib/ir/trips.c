/* Computes trip counts of loops: of an scf.for with constant bounds, and of an scf.while that
 * counts up from one constant to another. Exported scans have the second form; their counter may be
 * a tensor of rank 0. */
#include "ir/ir.h"

#include <math.h>

/* ---- scalars, and tensors of one element in their place ---- */

/* Returns the value that a value is read from: the operand for a body argument of a structured op,
 * the tensor for an extracted element. */
static MlirValue origin(MlirValue value) {
  for (;;) {
    if (mlirValueIsABlockArgument(value)) {
      MlirOperation parent = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
      if (!tp__op_is(parent, "linalg.generic"))
        return value;
      value = mlirOperationGetOperand(parent, mlirBlockArgumentGetArgNumber(value));
      continue;
    }
    MlirOperation op = tp__defining_op(value);
    if (tp__op_is(op, "tensor.extract") && mlirOperationGetNumOperands(op) == 1)
      value = mlirOperationGetOperand(op, 0);
    else
      return value;
  }
}

/* Returns the op that computes a scalar. For a structured op on tensors of rank 0, this is the op
 * that its body yields. Null if there is none. */
static MlirOperation computing_op(MlirValue value) {
  value = origin(value);
  MlirOperation op = tp__defining_op(value);
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (mlirOperationIsNull(op) || !tp__op_is(op, "linalg.generic"))
    return op;
  if (mlirOperationGetNumResults(op) != 1 ||
      !tp__static_tensor(mlirValueGetType(value), &rank, shape) || rank > 0)
    return (MlirOperation){NULL};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, i)), &rank, shape) ||
        rank > 0)
      return (MlirOperation){NULL};
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  return tp__defining_op(mlirOperationGetOperand(mlirBlockGetTerminator(body), 0));
}

static bool constant(MlirValue value, int64_t *number) {
  MlirOperation op = tp__defining_op(origin(value));
  if (mlirOperationIsNull(op) || !tp__op_is(op, "arith.constant"))
    return false;
  MlirAttribute attr = tp__inherent(op, "value");
  if (mlirAttributeIsADenseElements(attr) && mlirDenseElementsAttrIsSplat(attr))
    attr = mlirDenseElementsAttrGetSplatValue(attr);
  bool is_integer = mlirAttributeIsAInteger(attr);
  if (is_integer)
    *number = mlirIntegerAttrGetValueInt(attr);
  return is_integer;
}

/* ---- scf.for ---- */

/* Counts low, low + step, ... below high. The difference of any two values fits into an unsigned
 * integer. */
static double count(int64_t low, int64_t high, int64_t step) {
  uint64_t behind_first = high > low ? ((uint64_t)high - (uint64_t)low - 1) / (uint64_t)step : 0;
  return high > low ? (double)behind_first + 1 : 0;
}

/* A loop over blocks carries its estimated trip count in tp.blocks, because its bounds may be
 * unknown. */
static bool trips_of_for(MlirOperation op, double *trips) {
  int64_t low, high, step;
  MlirAttribute blocks = tp__get(op, "tp.blocks");
  if (!mlirAttributeIsNull(blocks) && mlirAttributeIsAInteger(blocks)) {
    *trips = (double)mlirIntegerAttrGetValueInt(blocks);
    return true;
  }
  if (!constant(mlirOperationGetOperand(op, 0), &low) ||
      !constant(mlirOperationGetOperand(op, 1), &high) ||
      !constant(mlirOperationGetOperand(op, 2), &step) || step <= 0)
    return false;
  *trips = count(low, high, step);
  return true;
}

/* ---- scf.while: counter < bound, then counter + step ---- */

static bool is_argument(MlirValue value, MlirBlock block, intptr_t number) {
  value = origin(value);
  return mlirValueIsABlockArgument(value) &&
         mlirBlockEqual(mlirBlockArgumentGetOwner(value), block) &&
         mlirBlockArgumentGetArgNumber(value) == number;
}

/* Returns the argument of `before` that the condition compares, and its exclusive upper bound; -1
 * for any other condition. */
static intptr_t counter_of(MlirBlock before, int64_t *bound) {
  MlirOperation compare = computing_op(mlirOperationGetOperand(mlirBlockGetTerminator(before), 0));
  if (mlirOperationIsNull(compare) || !tp__op_is(compare, "arith.cmpi") ||
      !constant(mlirOperationGetOperand(compare, 1), bound))
    return -1;
  int64_t predicate = mlirIntegerAttrGetValueInt(tp__inherent(compare, "predicate"));
  if (predicate != TP_SLT && (predicate != TP_SLE || *bound == INT64_MAX))
    return -1;
  *bound += predicate == TP_SLE;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(before); i++)
    if (is_argument(mlirOperationGetOperand(compare, 0), before, i))
      return i;
  return -1;
}

/* True if the loop increments the counter by a constant, which `step` receives. */
static bool step_of(MlirBlock before, MlirBlock body, intptr_t counter, int64_t *step) {
  MlirOperation condition = mlirBlockGetTerminator(before);
  MlirOperation add = computing_op(mlirOperationGetOperand(mlirBlockGetTerminator(body), counter));
  if (mlirOperationIsNull(add) || !tp__op_is(add, "arith.addi"))
    return false;
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++)
    for (int k = 0; k < 2; k++)
      if (is_argument(mlirOperationGetOperand(condition, i + 1), before, counter) &&
          is_argument(mlirOperationGetOperand(add, k), body, i) &&
          constant(mlirOperationGetOperand(add, 1 - k), step))
        return *step > 0;
  return false;
}

static bool trips_of_while(MlirOperation op, double *trips) {
  MlirBlock before = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 1));
  int64_t low, high, step;
  intptr_t counter = counter_of(before, &high);
  if (counter < 0 || !constant(mlirOperationGetOperand(op, counter), &low) ||
      !step_of(before, body, counter, &step))
    return false;
  *trips = count(low, high, step);
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, counter));
  type = tp__is_tensor(type) ? tp__element_type(type) : type;
  int width = mlirTypeIsAInteger(type) ? (int)mlirIntegerTypeGetWidth(type) : 64;
  double last = (double)low + *trips * (double)step; /* beyond the type it would be less again */
  return last < ldexp(1, width - 1);
}

bool tp__loop_trips(MlirOperation op, double *trips) {
  return tp__op_is(op, "scf.for") ? trips_of_for(op, trips)
                                  : tp__op_is(op, "scf.while") && trips_of_while(op, trips);
}

tp_status tp__collect_loops(MlirOperation op, void *list) {
  return tp__op_is(op, "scf.for") || tp__op_is(op, "scf.while") ? tp__op_list_add(list, op) : TP_OK;
}
