/* Clones pads that windows can read in place. Each such user gets its own pad in front of it,
 * marked with tp.in_place. The last user gets the pad itself: no value goes, whose name in reports
 * another value at its address would have. */
#include "passes/propagate/model/planner.h"

#include "ir/diagnostics.h"
#include "rules/in_place.h"

/* The pad that a user reads in place: a clone, or the pad if nothing else uses it any more. */
static MlirOperation own_pad(MlirOperation pad) {
  MlirOpOperand first = mlirValueGetFirstUse(mlirOperationGetResult(pad, 0));
  if (!mlirOpOperandIsNull(mlirOpOperandGetNextUse(first)))
    return mlirOperationClone(pad);
  mlirOperationRemoveFromParent(pad);
  return pad;
}

static tp_status clone_for_users(MlirOperation pad, tp__arena *arena) {
  MlirValue result = mlirOperationGetResult(pad, 0);
  MlirOpOperand use = mlirValueGetFirstUse(result);
  while (!mlirOpOperandIsNull(use)) {
    MlirOpOperand next = mlirOpOperandGetNextUse(use);
    MlirOperation user = mlirOpOperandGetOwner(use);
    int operand = (int)mlirOpOperandGetOperandNumber(use);
    bool can;
    TP_TRY(tp__can_read_in_place(pad, user, operand, arena, &can));
    if (can) {
      MlirOperation own = own_pad(pad);
      tp__set(own, "tp.in_place", mlirUnitAttrGet(mlirOperationGetContext(own)));
      tp__insert_before(user, own);
      mlirOperationSetOperand(user, operand, mlirOperationGetResult(own, 0));
    }
    use = next;
  }
  return TP_OK;
}

tp_status tp__pads_in_place(const tp_op_list *pads, tp__arena *arena) {
  for (size_t i = 0; i < pads->n; i++)
    if (!tp__is_in_place(pads->items[i]))
      TP_TRY(clone_for_users(pads->items[i], arena));
  return TP_OK;
}
