/* Folds ops in the body of a generic that index analysis decides: wrap-around of negative indices,
 * clamps, and bounds assertions. Removes casts of indices to i64 and back, and widenings of numbers
 * for a comparison. */
#include "passes/prepare/raise/raise.h"

static void replace(tp__raise *raise, MlirOperation op, MlirValue with) {
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), with);
  tp__destroy(raise, op);
  raise->statistics[TP_RAISED_FOLD]++;
}

/* The index that the op casts back from i64; null if it does anything else. */
static MlirValue cast_back(MlirOperation op) {
  MlirValue none = {NULL};
  if (!tp__op_is(op, "arith.index_cast") ||
      !mlirTypeIsAIndex(mlirValueGetType(mlirOperationGetResult(op, 0))))
    return none;
  MlirOperation there = tp__defined_by(mlirOperationGetOperand(op, 0), "arith.index_cast");
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, 0));
  return !mlirOperationIsNull(there) && mlirTypeIsAInteger(type) &&
                 mlirIntegerTypeGetWidth(type) == 64
             ? mlirOperationGetOperand(there, 0)
             : none;
}

/* The constant as one of a narrower type; null if the value is none, or has another value there. */
static MlirAttribute narrowed(MlirValue value, MlirType type) {
  MlirOperation op = tp__defined_by(value, "arith.constant");
  MlirAttribute wide = mlirOperationIsNull(op) ? (MlirAttribute){NULL} : tp__inherent(op, "value");
  if (mlirAttributeIsNull(wide) || !mlirAttributeIsAFloat(wide))
    return (MlirAttribute){NULL};
  double number = mlirFloatAttrGetValueDouble(wide);
  MlirAttribute narrow = mlirFloatAttrDoubleGet(mlirTypeGetContext(type), type, number);
  return mlirFloatAttrGetValueDouble(narrow) == number ? narrow : (MlirAttribute){NULL};
}

/* torch-mlir converts f32 to f64 to compare it with a constant. If f32 has the constant, too, this
 * compares the f32 and drops the conversion; the same for other types. */
static bool narrow_comparison(const tp__generic *generic, MlirOperation op) {
  for (int i = 0; i < 2 && tp__op_is(op, "arith.cmpf"); i++) {
    MlirOperation widened = tp__defined_by(mlirOperationGetOperand(op, i), "arith.extf");
    if (mlirOperationIsNull(widened))
      continue;
    MlirValue number = mlirOperationGetOperand(widened, 0);
    MlirType type = mlirValueGetType(number);
    MlirAttribute constant = narrowed(mlirOperationGetOperand(op, 1 - i), type);
    if (mlirAttributeIsNull(constant))
      continue;
    mlirOperationSetOperand(op, i, number);
    mlirOperationSetOperand(op, 1 - i, tp__constant(generic->op, type, constant));
    return true;
  }
  return false;
}

static bool fold(tp__raise *raise, const tp__generic *generic, MlirOperation op) {
  int which;
  bool truth;
  if (tp__choice_of(generic, op, &which)) {
    replace(raise, op, mlirOperationGetOperand(op, which));
    return true;
  }
  MlirValue index = cast_back(op);
  if (!mlirValueIsNull(index)) {
    replace(raise, op, index);
    return true;
  }
  if (narrow_comparison(generic, op)) {
    raise->statistics[TP_RAISED_FOLD]++;
    return true;
  }
  if (tp__op_is(op, "cf.assert") && tp__truth_of(generic, mlirOperationGetOperand(op, 0), &truth) &&
      truth) {
    tp__destroy(raise, op);
    raise->statistics[TP_RAISED_FOLD]++;
    return true;
  }
  if (tp__op_is(op, "arith.cmpi") && tp__is_used(mlirOperationGetResult(op, 0)) &&
      tp__truth_of(generic, mlirOperationGetResult(op, 0), &truth)) {
    replace(
        raise, op,
        tp__scalar_constant(generic->op, mlirValueGetType(mlirOperationGetResult(op, 0)), truth));
    return true;
  }
  return false;
}

bool tp__raise_fold(tp__raise *raise, tp__generic *generic) {
  bool changed = false;
  MlirOperation next;
  for (MlirOperation op = mlirBlockGetFirstOperation(generic->body);
       !mlirOperationEqual(op, generic->yield); op = next) {
    /* folding erases only `op` and ops before it */
    next = mlirOperationGetNextInBlock(op);
    changed |= fold(raise, generic, op);
  }
  return changed;
}
