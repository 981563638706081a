/* Structured ops: a body becomes ops on tensors with a dimension per loop, which are reduced along
 * the reduction loops, unless the whole op has a form of its own in StableHLO. */
#include "passes/export/export_nest.h"

static bool is_reduced(const tp_nest *n) {
  for (int l = 0; l < n->n_loops; l++)
    if (n->is_reduction[l])
      return true;
  return false;
}

static tp_status elementwise(tp_export *x, tp_nest *n) {
  for (int k = 0; k < n->n_operands - n->body.n_inputs; k++) {
    MlirValue value;
    TP_TRY(tp__nest_evaluate(x, n, mlirOperationGetOperand(n->body.yield, k), &value));
    if (tp__value_rank(value) == 0)
      value = tp__nest_full(x, n, value);
    TP_TRY(tp__nest_order_result(x, n, k, &value));
    TP_TRY(tp__export_map(x, n->op, mlirOperationGetResult(n->op, k), value));
  }
  return TP_OK;
}

static tp_status export_nest(tp_export *x, tp_nest *n) {
  bool done = false;
  TP_TRY(tp__nest_convolve(x, n, &done));
  if (!done)
    TP_TRY(tp__nest_reduce_windows(x, n, &done));
  if (done)
    return TP_OK;
  for (int i = 0; i < n->n_operands; i++)
    TP_TRY(tp__nest_flatten(x, n, i));
  if (!is_reduced(n))
    return elementwise(x, n);
  TP_TRY(tp__nest_contract(x, n, &done));
  if (!done)
    TP_TRY(tp__nest_scatter(x, n, &done));
  return done ? TP_OK : tp__nest_reduce(x, n);
}

tp_status tp__export_structured(tp_export *x, MlirOperation op) {
  tp_nest n;
  TP_TRY(tp__nest_read(op, &n));
  tp_status status = export_nest(x, &n);
  tp__value_map_destroy(&n.memo);
  return status;
}

static tp_status fill(tp_export *x, MlirOperation op) {
  MlirType type = tp__export_type(mlirValueGetType(mlirOperationGetResult(op, 0)));
  return tp__export_replace(x, op,
                            tp__export_broadcast(x, tp__export_operand(x, op, 0), type, NULL));
}

const tp_export_row tp__export_linalg_rows[] = {
    {"linalg.fill", fill},
    {NULL, NULL},
};
