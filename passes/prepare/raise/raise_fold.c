/* Folds ops in the body of a generic that index analysis decides: wrap-around of negative indices,
 * clamps, and bounds assertions. */
#include "passes/prepare/raise/raise.h"

static void replace(tp__raise *raise, MlirOperation op, MlirValue with) {
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), with);
  tp__destroy(raise, op);
  raise->statistics[TP_RAISED_FOLD]++;
}

static bool fold(tp__raise *raise, const tp__generic *generic, MlirOperation op) {
  int which;
  bool truth;
  if (tp__choice_of(generic, op, &which)) {
    replace(raise, op, mlirOperationGetOperand(op, which));
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
