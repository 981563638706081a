/* Erases ops that rewrites left without uses. */
#include "passes/prepare/raise/raise.h"

/* Ops without side effects. Those with a body are pure only if the body contains only such ops. */
static const char *const pure_ops[] = {
    "linalg.index",         "linalg.yield", "linalg.generic",      "linalg.fill",
    "tensor.extract",       "tensor.empty", "tensor.expand_shape", "tensor.collapse_shape",
    "tensor.extract_slice", "affine.apply",
};

static bool is_pure(MlirOperation op) {
  if (tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "math") ||
      tp__op_has_dialect(op, "complex"))
    return true;
  for (int i = 0; i < TP_LEN(pure_ops); i++)
    if (tp__op_is(op, pure_ops[i]))
      return true;
  return false;
}

static tp_status check_body(MlirOperation op, void *data) {
  (void)data;
  return is_pure(op) && mlirOperationGetNumRegions(op) == 0 ? TP_OK : TP_UNSUPPORTED;
}

bool tp__is_erasable(MlirOperation op) {
  return mlirOperationGetNumResults(op) > 0 && (is_pure(op) || tp__is_barrier(op)) &&
         tp__walk(op, check_body, NULL) == TP_OK;
}

/* Removes the operands one at a time and erases their producers if unused. As long as the op still
 * holds the other operands, erasing one producer cannot erase them too. */
static void release_operands(tp__raise *raise, MlirOperation op) {
  MlirValue operands[TP_RAISE_MAX_OPERANDS];
  int n = (int)mlirOperationGetNumOperands(op);
  if (n > TP_RAISE_MAX_OPERANDS)
    return;
  for (int i = 0; i < n; i++)
    operands[i] = mlirOperationGetOperand(op, i);
  while (n-- > 0) {
    mlirOperationSetOperands(op, n, operands);
    tp__erase_unused(raise, operands[n]);
  }
}

/* True if a list of ops to be raised may have the op. */
static bool is_listed(MlirOperation op) {
  return tp__op_has_dialect(op, "linalg") ||
         (mlirOperationGetNumResults(op) > 0 &&
          tp__is_tensor(mlirValueGetType(mlirOperationGetResult(op, 0))));
}

void tp__destroy(tp__raise *raise, MlirOperation op) {
  enum { MAX_DEPTH = 200 }; /* longer chains stay, unused */
  if (raise->depth < MAX_DEPTH) {
    raise->depth++;
    release_operands(raise, op);
    raise->depth--;
  }
  if (is_listed(op) && tp__table_put(&raise->gone, op.ptr, 1) != TP_OK)
    raise->status = TP_NO_MEMORY;
  mlirOperationDestroy(op);
}

void tp__erase_unused(tp__raise *raise, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op))
    return;
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (tp__is_used(mlirOperationGetResult(op, i)))
      return;
  if (tp__is_erasable(op))
    tp__destroy(raise, op);
}
