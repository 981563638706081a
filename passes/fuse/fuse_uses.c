/* Analyzes the uses of a fusion's values: which ops become dead, which results are gathered, and
 * which producers must move before the call. */
#include "passes/fuse/fuse.h"

#include "ir/place.h"
#include "support/support.h"

/* ---- dead ops ---- */

/* Collects the operands of the function besides the summed rows. */
enum { N_OPERANDS = 5 };
static void operands_of(const tp__fusion *f, MlirValue *operands) {
  const MlirValue all[N_OPERANDS] = {f->sum.residual, f->sum.bias, f->norm.gamma, f->norm.beta,
                                     f->quantize.static_scale};
  for (int i = 0; i < N_OPERANDS; i++)
    operands[i] = all[i];
}

static bool is_operand(const tp__fusion *f, MlirOperation op) {
  MlirValue operands[N_OPERANDS];
  operands_of(f, operands);
  for (int i = 0; i < N_OPERANDS; i++)
    if (!mlirValueIsNull(operands[i]) && mlirOperationEqual(tp__defining_op(operands[i]), op))
      return true;
  return false;
}

static bool is_dead(const tp__rows *rows, const bool *dead, MlirOperation op) {
  for (int i = 0; i < rows->n_ops; i++)
    if (mlirOperationEqual(rows->ops[i], op))
      return dead[i];
  return false;
}

bool tp__is_read_by_dead(const tp__rows *rows, const bool *dead, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    if (!is_dead(rows, dead, mlirOpOperandGetOwner(use)))
      return false;
  return true;
}

static bool is_result(const tp__fusion *f, MlirValue value) {
  for (int i = 0; i < TP_FUSED_RESULTS; i++)
    if (!mlirValueIsNull(f->made[i].value) && mlirValueEqual(f->made[i].value, value))
      return true;
  return false;
}

void tp__find_dead(const tp__rows *rows, const tp__fusion *f, bool *dead) {
  for (int i = rows->n_ops; i-- > 0;) {
    dead[i] = !is_operand(f, rows->ops[i]);
    for (intptr_t k = 0; k < mlirOperationGetNumResults(rows->ops[i]) && dead[i]; k++) {
      MlirValue value = mlirOperationGetResult(rows->ops[i], k);
      dead[i] = is_result(f, value) || tp__is_read_by_dead(rows, dead, value);
    }
  }
}

void tp__erase_fused(const tp__rows *rows, const bool *dead, const tp__fusion *f) {
  for (int i = 0; i < TP_FUSED_RESULTS; i++)
    if (!mlirOperationIsNull(f->made[i].gather))
      mlirOperationDestroy(f->made[i].gather);
  for (int i = rows->n_ops; i-- > 0;)
    if (dead[i])
      mlirOperationDestroy(rows->ops[i]);
  for (MlirOperation op = mlirOpResultGetOwner(f->root); !mlirOperationEqual(op, f->collective);) {
    MlirOperation before = mlirOpResultGetOwner(mlirOperationGetOperand(op, 0));
    mlirOperationDestroy(op);
    op = before;
  }
  MlirValue summed = mlirOperationGetOperand(f->collective, 0);
  mlirOperationDestroy(f->collective);
  if (f->matmul.is_fused)
    tp__erase_matmul(f, summed);
}

/* ---- gathered results ---- */

/* True if the op is an all-gather of `value` that undoes the reduce-scatter. */
static bool undoes(const tp__fusion *f, MlirOperation op, MlirValue value) {
  return tp__op_is(op, "shard.all_gather") &&
         mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(f->collective)) &&
         mlirAttributeEqual(tp__inherent(op, "grid"), tp__inherent(f->collective, "grid")) &&
         mlirAttributeEqual(tp__inherent(op, "grid_axes"),
                            tp__inherent(f->collective, "grid_axes")) &&
         tp__n_pieces(value, (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "gather_axis"))) ==
             tp__n_pieces(mlirOperationGetResult(f->collective, 0), f->dim);
}

/* Returns the only reader of `value` that is not dead. Null if there is none, or more than one. */
static MlirOperation only_reader(const tp__rows *rows, const bool *dead, MlirValue value) {
  MlirOperation reader = {NULL};
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation op = mlirOpOperandGetOwner(use);
    if (is_dead(rows, dead, op))
      continue;
    if (!mlirOperationIsNull(reader))
      return (MlirOperation){NULL};
    reader = op;
  }
  return reader;
}

/* Returns the gathered form of the result, perhaps after reshapes, or *made unchanged if it is not
 * gathered. */
static tp__fusion_output as_gathered(const tp__rows *rows, const tp__fusion *f, const bool *dead,
                                     const tp__fusion_output *made) {
  MlirValue value = made->value;
  MlirOperation reader =
      mlirValueIsNull(value) ? (MlirOperation){NULL} : only_reader(rows, dead, value);
  while (!mlirOperationIsNull(reader) && tp__is_reshape(reader) &&
         tp__row_is_followed(rows, reader)) {
    value = mlirOperationGetResult(reader, 0);
    reader = only_reader(rows, dead, value);
  }
  bool gathered = !mlirOperationIsNull(reader) && undoes(f, reader, value);
  return gathered ? (tp__fusion_output){true, value, reader} : *made;
}

/* Decides which results are computed, as if none was gathered. */
static void find_read(const tp__rows *rows, tp__fusion *f, const bool *dead) {
  bool quantizes = f->quantize.kind != TP_NOT_QUANTIZED;
  tp__fusion_output *made = f->made;
  made[TP_RESULT_OUT].is_made =
      !quantizes || !tp__is_read_by_dead(rows, dead, made[TP_RESULT_OUT].value);
  made[TP_RESULT_SUM].is_made =
      f->norm.kind != TP_NO_NORM && !tp__is_read_by_dead(rows, dead, made[TP_RESULT_SUM].value);
  made[TP_RESULT_QUANTIZED].is_made = quantizes;
  made[TP_RESULT_SCALE].is_made = tp__computes_scales(f);
}

void tp__find_outputs(const tp__rows *rows, tp__fusion *f, bool *dead) {
  static const char *const obstacles[TP_FUSED_RESULTS] = {
      [TP_RESULT_OUT] = "its rows are also read ungathered",
      [TP_RESULT_QUANTIZED] = "its f8 values are not gathered",
      [TP_RESULT_SCALE] = "its scales are not gathered",
  };
  tp__fusion_output gathered[TP_FUSED_RESULTS];
  bool any = false;
  find_read(rows, f, dead);
  for (int i = 0; i < TP_FUSED_RESULTS; i++) {
    gathered[i] = f->made[i];
    if (f->dim < 0 || i == TP_RESULT_SUM || !f->made[i].is_made)
      continue;
    gathered[i] = as_gathered(rows, f, dead, &f->made[i]);
    any = any || !mlirOperationIsNull(gathered[i].gather);
  }
  if (!any)
    return;
  bool is_sum_alone = f->norm.kind == TP_NO_NORM && f->quantize.kind != TP_NOT_QUANTIZED &&
                      f->made[TP_RESULT_OUT].is_made &&
                      mlirOperationIsNull(gathered[TP_RESULT_OUT].gather);
  if (is_sum_alone) { /* the remaining readers of y read r, where they are */
    gathered[TP_RESULT_SUM].is_made = true;
    gathered[TP_RESULT_OUT].is_made = false;
  }
  for (int i = TP_FUSED_RESULTS; i-- > TP_RESULT_OUT && !f->gather_obstacle;)
    if (gathered[i].is_made && mlirOperationIsNull(gathered[i].gather))
      f->gather_obstacle = obstacles[i];
  if (f->gather_obstacle)
    return;
  for (int i = 0; i < TP_FUSED_RESULTS; i++)
    f->made[i] = gathered[i];
  tp__find_dead(rows, f, dead);
}

/* ---- order ---- */

bool tp__move_before(MlirOperation where, const tp__rows *rows, MlirValue value, int depth) {
  enum { MAX_DEPTH = 16 };
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) ||
      !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(where)) ||
      mlirOperationIsBeforeInBlock(op, where))
    return true;
  for (int i = 0; rows && i < rows->n_ops; i++)
    if (mlirOperationEqual(rows->ops[i], op))
      return false;
  if (depth == MAX_DEPTH || mlirOperationEqual(op, where) ||
      !(tp__op_has_dialect(op, "linalg") || tp__op_has_dialect(op, "arith") ||
        tp__op_is(op, "tensor.empty") || tp__is_reshape(op)))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!tp__move_before(where, rows, mlirOperationGetOperand(op, i), depth + 1))
      return false;
  mlirOperationMoveBefore(op, where);
  return true;
}

bool tp__move_operands(const tp__rows *rows, const tp__fusion *f, MlirOperation where) {
  MlirValue operands[N_OPERANDS];
  operands_of(f, operands);
  for (int i = 0; i < N_OPERANDS; i++)
    if (!mlirValueIsNull(operands[i]) && !tp__move_before(where, rows, operands[i], 0))
      return false;
  return true;
}
