/* Clones pads that windows can read in place, and the slices of shifts. Each such user gets its own
 * op in front of it, marked with tp.in_place. The last user gets the op itself: no value goes,
 * whose name in reports another value at its address would have. */
#include "passes/propagate/model/planner.h"

#include "ir/diagnostics.h"
#include "rules/in_place.h"
#include "rules/shift.h"

/* The op that a user reads in place: a clone, or the op if nothing else uses it any more. */
static MlirOperation own(MlirOperation op) {
  MlirOpOperand first = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
  if (!mlirOpOperandIsNull(mlirOpOperandGetNextUse(first)))
    return mlirOperationClone(op);
  mlirOperationRemoveFromParent(op);
  return op;
}

static void read_in_place(MlirOperation op, MlirOperation user, int operand) {
  MlirOperation its = own(op);
  tp__set(its, "tp.in_place", mlirUnitAttrGet(mlirOperationGetContext(its)));
  tp__insert_before(user, its);
  mlirOperationSetOperand(user, operand, mlirOperationGetResult(its, 0));
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
    if (can)
      read_in_place(pad, user, operand);
    use = next;
  }
  return TP_OK;
}

/* Gives each user of an op that is read in place its own again, where the pass cse has joined equal
 * ones of a plan that is read. */
static void separate(MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirOpOperand use = mlirValueGetFirstUse(result);
  while (!mlirOpOperandIsNull(use)) {
    MlirOpOperand next = mlirOpOperandGetNextUse(use);
    if (!tp__is_used_once(result))
      read_in_place(op, mlirOpOperandGetOwner(use), (int)mlirOpOperandGetOperandNumber(use));
    use = next;
  }
}

static void take_slices(MlirOperation op) {
  tp_shift shift;
  if (!tp__shift_of(op, &shift) || tp__shift_in_place(op, &shift))
    return;
  for (int i = 0; i < shift.n_slices; i++)
    read_in_place(tp__defining_op(mlirOperationGetOperand(op, i)), op, i);
}

tp_status tp__take_in_place(const tp_op_list *ops, tp__arena *arena) {
  for (size_t i = 0; i < ops->n; i++)
    if (tp__is_in_place(ops->items[i]))
      separate(ops->items[i]);
  /* An op that is read in place reads nothing in place itself. Rotations come before pads, whose
   * windows would take the slices apart, and windows on a pad before the slice in the pad. */
  for (size_t i = 0; i < ops->n; i++)
    if (tp__op_is(ops->items[i], "tensor.concat"))
      take_slices(ops->items[i]);
  for (size_t i = 0; i < ops->n; i++)
    if (tp__op_is(ops->items[i], "tensor.pad") && !tp__is_in_place(ops->items[i]))
      TP_TRY(clone_for_users(ops->items[i], arena));
  for (size_t i = 0; i < ops->n; i++)
    if (tp__op_is(ops->items[i], "tensor.pad") && !tp__is_in_place(ops->items[i]))
      take_slices(ops->items[i]);
  return TP_OK;
}
