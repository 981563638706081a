/* Rows of attention: which loops they are, and the values that ops apply to the scores row by
 * row. */
#include "rules/attention_scan.h"

#include <string.h>

/* Called once the columns are known: finds the operand that has them. The loops that only the other
 * operand has are the rows. */
bool tp__attention_find_rows(tp_attention *a) {
  tp_score_dim dims[2][TP_MAX_RANK];
  int ranks[2];
  for (int i = 0; i < 2; i++) {
    tp__attention_operand_dims(&a->ops[0], i, dims[i]);
    ranks[i] =
        (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetOperand(a->ops[0].op, i)));
  }
  bool first = tp__has_loop(dims[0], ranks[0], a->column),
       second = tp__has_loop(dims[1], ranks[1], a->column);
  int keys = first ? 0 : 1;
  for (int l = 0; l < a->n_loops; l++)
    if (tp__has_loop(dims[1 - keys], ranks[1 - keys], l) &&
        !tp__has_loop(dims[keys], ranks[keys], l))
      a->rows |= UINT32_C(1) << l;
  return first != second;
}

/* Takes `value`, which has the loops `dims` in the op, as row values. If it has columns, takes the
 * value that was broadcast along them. */
static bool take_rows(tp_attention_finder *f, tp_attention_op *op, MlirValue value,
                      const tp_score_dim *dims, int n) {
  tp_attention *a = f->a;
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return false;
  op->rows = value;
  op->n_rows = n;
  memcpy(op->row_dims, dims, (size_t)n * sizeof *dims);
  if (a->column >= 0 && !tp__has_loop(dims, n, a->column))
    return true;
  MlirOperation maker = tp__defining_op(value);
  if (a->column < 0 || mlirOperationIsNull(maker))
    return false;
  int n_ops = a->n_ops;
  uint32_t known = 0;
  tp_attention_op *spread = tp__attention_add(a, maker, TP_ROW_BROADCAST);
  if (!spread)
    return false;
  const tp_nest *nest = &spread->nest;
  if (!spread->is_nest || !tp__nest_copies(nest) || !tp__nest_is_elementwise(nest)) {
    a->n_ops = n_ops;
    return false;
  }
  spread->n_loops = nest->n_loops;
  for (int d = 0; d < n; d++) {
    int loop = tp__nest_loop(nest, 1, d);
    if (loop == TP_WHOLE_DIM)
      return false;
    spread->loops[loop] = dims[d];
    known |= UINT32_C(1) << loop;
  }
  tp_score_dim from[TP_MAX_RANK];
  MlirValue source = mlirOperationGetOperand(maker, 0);
  if (known != (UINT32_C(1) << nest->n_loops) - 1 ||
      !mlirTypeIsARankedTensor(mlirValueGetType(source)))
    return false;
  tp__attention_operand_dims(spread, 0, from);
  return take_rows(f, op, source, from, (int)mlirShapedTypeGetRank(mlirValueGetType(source)));
}

bool tp__attention_rows_of(tp_attention_finder *f, tp_attention_op *op, int operand) {
  tp_score_dim dims[TP_MAX_RANK];
  MlirValue value = mlirOperationGetOperand(op->op, operand);
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return false;
  tp__attention_operand_dims(op, operand, dims);
  return take_rows(f, op, value, dims, (int)mlirShapedTypeGetRank(mlirValueGetType(value)));
}
