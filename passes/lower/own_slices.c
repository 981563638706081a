/* Copies slices that outlive the tensor they are cut from.
 *
 * A slice is a view after bufferization and keeps its whole tensor in memory. A plan slices a
 * tensor to save memory, for example between the forward pass and the backward pass. So slices get
 * buffers of their own if nothing else needs the tensor as long, and they are at most half of it
 * together. Arguments and constants stay in memory anyway, and so do values from outside of a
 * loop. */
#include "passes/support/lower.h"

#include "ir/value_table.h"
#include "ir/work.h"
#include "support/support.h"

typedef struct owner {
  tp_value_table numbers; /* of ops, in program order */
  int n_ops;
  tp_op_list slices;     /* those that may get a buffer */
  tp_value_table listed; /* the same */
} owner;

static tp_status number(MlirOperation op, void *data) {
  owner *o = data;
  return tp__table_put(&o->numbers, op.ptr, o->n_ops++) == TP_OK ? TP_OK : tp__out_of_memory(op);
}

static bool is_view(MlirOperation op) {
  static const char *const names[] = {"tensor.extract_slice", "tensor.expand_shape",
                                      "tensor.collapse_shape", "tensor.cast"};
  return tp__op_is_any(op, TP_LEN(names), names);
}

/* The op in `block` that is or contains `op`. */
static MlirOperation in_block(MlirOperation op, MlirBlock block) {
  while (!mlirBlockEqual(mlirOperationGetBlock(op), block))
    op = mlirOperationGetParentOperation(op);
  return op;
}

/* The last op of `block` that needs `value`, itself or a view of it. `apart`: except by way of
 * slices in the list. */
static int last_use(const owner *o, MlirValue value, MlirBlock block, bool apart) {
  int last = -1;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use), around = in_block(user, block);
    if (apart && tp__table_get(&o->listed, user.ptr) >= 0)
      continue;
    int at = tp__table_get(&o->numbers, around.ptr);
    if (is_view(user) && mlirOperationEqual(user, around)) {
      int until = last_use(o, mlirOperationGetResult(user, 0), block, apart);
      at = until > at ? until : at;
    }
    last = at > last ? at : last;
  }
  return last;
}

/* The value whose memory a view shows. */
static MlirValue viewed(MlirValue value) {
  for (MlirOperation op = tp__defining_op(value); !mlirOperationIsNull(op) && is_view(op);
       op = tp__defining_op(value))
    value = mlirOperationGetOperand(op, 0);
  return value;
}

/* True if an op reads the slice that does not only cut a slice from it, and the memory of its
 * tensor is free once nothing of its block uses it. */
static bool may_own(MlirOperation op) {
  MlirOperation maker = tp__defining_op(viewed(mlirOperationGetOperand(op, 0)));
  bool is_read = false;
  for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
       !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    is_read |= !tp__op_is(mlirOpOperandGetOwner(use), "tensor.extract_slice");
  return is_read && !mlirOperationIsNull(maker) && !tp__op_is(maker, "arith.constant") &&
         mlirBlockEqual(mlirOperationGetBlock(maker), mlirOperationGetBlock(op));
}

static tp_status list(MlirOperation op, void *data) {
  owner *o = data;
  if (!tp__op_is(op, "tensor.extract_slice") || !may_own(op))
    return TP_OK;
  if (tp__table_put(&o->listed, op.ptr, 1) != TP_OK)
    return tp__out_of_memory(op);
  return tp__op_list_add(&o->slices, op);
}

/* True if slice i is cut from `tensor` and needed longer than until op `last`. */
static bool outlives(const owner *o, size_t i, MlirValue tensor, int last) {
  MlirOperation op = o->slices.items[i];
  return mlirValueEqual(viewed(mlirOperationGetOperand(op, 0)), tensor) &&
         last_use(o, mlirOperationGetResult(op, 0), mlirOperationGetBlock(op), false) > last;
}

/* Copies the slices of one tensor, of which slice `first` is the first. */
static void copy_slices(owner *o, size_t first) {
  MlirValue tensor = viewed(mlirOperationGetOperand(o->slices.items[first], 0));
  int last = last_use(o, tensor, mlirOperationGetBlock(o->slices.items[first]), true);
  int64_t elements = 0;
  for (size_t i = first; i < o->slices.n; i++)
    if (outlives(o, i, tensor, last))
      elements += tp__n_elements(mlirValueGetType(mlirOperationGetResult(o->slices.items[i], 0)));
  if (elements > tp__n_elements(mlirValueGetType(tensor)) / 2)
    return;
  for (size_t i = first; i < o->slices.n; i++)
    if (outlives(o, i, tensor, last)) {
      MlirOperation op = o->slices.items[i];
      MlirValue result = mlirOperationGetResult(op, 0);
      MlirOperation next = mlirOperationGetNextInBlock(op);
      MlirValue copy = tp__copy_of(next, mlirOperationGetLocation(next), result);
      tp__replace_uses_except(result, copy, tp__defining_op(copy));
      (void)tp__table_put(&o->numbers, tp__defining_op(copy).ptr,
                          tp__table_get(&o->numbers, op.ptr));
    }
}

static bool is_first(const owner *o, size_t i) {
  MlirValue tensor = viewed(mlirOperationGetOperand(o->slices.items[i], 0));
  for (size_t k = 0; k < i; k++)
    if (mlirValueEqual(viewed(mlirOperationGetOperand(o->slices.items[k], 0)), tensor))
      return false;
  return true;
}

tp_status tp__own_slices(MlirOperation func) {
  owner o = {0};
  tp_status status = tp__walk(func, number, &o);
  if (status == TP_OK)
    status = tp__walk(func, list, &o);
  for (size_t i = 0; i < o.slices.n && status == TP_OK; i++)
    if (is_first(&o, i))
      copy_slices(&o, i);
  tp__table_destroy(&o.numbers);
  tp__table_destroy(&o.listed);
  tp__free(o.slices.items);
  return status;
}
