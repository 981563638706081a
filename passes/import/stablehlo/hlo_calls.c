/* Inlines the calls that stand in bodies of reductions, scatters, sorts and maps: there values are
 * numbers, which functions do not take. jnp.where in such a body is a call. */
#include "passes/import/stablehlo/hlo.h"

enum { MAX_CALLS = 10000 };

static bool is_body(MlirOperation op) {
  static const char *const names[] = {
      "stablehlo.all_reduce",         "stablehlo.map",           "stablehlo.reduce",
      "stablehlo.reduce_scatter",     "stablehlo.reduce_window", "stablehlo.scatter",
      "stablehlo.select_and_scatter", "stablehlo.sort"};
  return tp__op_is_any(op, TP_LEN(names), names);
}

static tp_status collect(MlirOperation op, void *calls) {
  if (!tp__op_is(op, "func.call"))
    return TP_OK;
  for (MlirOperation around = mlirOperationGetParentOperation(op); !tp__op_is(around, "func.func");
       around = mlirOperationGetParentOperation(around)) {
    if (mlirOperationIsNull(mlirOperationGetParentOperation(around)))
      return TP_OK;
    if (is_body(around))
      return tp__op_list_add(calls, op);
  }
  return TP_OK;
}

/* Replaces a call by the ops of a clone of the function. */
static tp_status inline_call(MlirOperation module, MlirOperation call) {
  MlirOperation callee = tp__callee(module, call);
  MlirBlock body = mlirOperationIsNull(callee) ? (MlirBlock){NULL} : tp__region_block(callee, 0);
  if (mlirBlockIsNull(body) || !mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
    return tp__error(call, TP_UNSUPPORTED,
                     "stands in the body of another op, and does not call a function of one block");
  MlirOperation clone = mlirOperationClone(callee);
  body = tp__region_block(clone, 0);
  for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++)
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i), mlirOperationGetOperand(call, i));
  MlirOperation end = mlirBlockGetTerminator(body), next;
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationMoveBefore(op, call);
  }
  for (intptr_t i = 0; i < mlirOperationGetNumResults(call); i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(call, i), mlirOperationGetOperand(end, i));
  mlirOperationDestroy(call);
  mlirOperationDestroy(clone);
  return TP_OK;
}

tp_status tp__hlo_inline_calls(MlirOperation module) {
  tp_op_list calls = {0};
  tp_status status = TP_OK;
  for (size_t n = 0; status == TP_OK; n += calls.n) {
    calls.n = 0;
    status = tp__walk(module, collect, &calls);
    if (status != TP_OK || calls.n == 0)
      break;
    if (n + calls.n > MAX_CALLS)
      status = tp__error(calls.items[0], TP_UNSUPPORTED,
                         "stands in the body of another op, where more than %d calls would have to "
                         "be inlined; is the function recursive?",
                         MAX_CALLS);
    for (size_t i = 0; i < calls.n && status == TP_OK; i++)
      status = inline_call(module, calls.items[i]);
  }
  tp__free(calls.items);
  return status;
}
