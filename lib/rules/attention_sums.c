/* Recognizes the contractions and reductions of attention: the scores, the maxima and sums of rows,
 * the output. */
#include "rules/attention_scan.h"

bool tp__attention_scores(tp_attention_finder *f, MlirOperation op) {
  tp_attention *a = f->a;
  tp_attention_op *made = tp__attention_add(a, op, TP_SCORES);
  const tp_nest *nest = &made->nest;
  tp__record_users(f);
  if (f->escapes || !made->is_nest || !nest->is_written || !nest->reduced ||
      !tp__body_is_contraction(&nest->body))
    return false;
  made->n_loops = nest->n_loops;
  for (int i = 0; i < 3; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    for (int d = 0; mlirTypeIsARankedTensor(type) && d < mlirShapedTypeGetRank(type); d++) {
      int loop = tp__nest_loop(nest, i, d);
      int64_t size = mlirShapedTypeGetDimSize(type, d);
      if (loop == TP_WHOLE_DIM ? size != 1 : made->loops[loop].n == 0 && size > 1) {
        int number = loop == TP_WHOLE_DIM ? -1 : tp__attention_loop(a, size);
        if (number < 0)
          return false;
        made->loops[loop] = (tp_score_dim){1, {(uint8_t)number}};
        a->whole |= (nest->reduced >> loop & 1) << number;
      }
    }
  }
  return true;
}

bool tp__attention_reduction(tp_attention_finder *f, const tp_attention_step *s,
                             tp_attention_op *op) {
  tp_attention *a = f->a;
  tp_combiner combiner = TP_N_COMBINERS;
  int column = -1;
  for (int l = 0; l < s->nest.n_loops; l++)
    if (s->nest.reduced >> l & 1 && op->loops[l].n > 0) {
      if (column >= 0 || op->loops[l].n != 1)
        return false;
      column = op->loops[l].loops[0];
    }
  if (s->nest.n_inputs != 1 || column < 0 || (a->column >= 0 && column != a->column))
    return false;
  if (a->column < 0) {
    a->column = column;
    if (!tp__attention_find_rows(a))
      return false;
  }
  bool known = tp__body_combiner(&s->nest.body, 0, &combiner);
  op->role = s->past ? TP_ROW_SUM : TP_ROW_REDUCTION;
  tp__mark_depends_on_scores(f, s->op);
  if (s->past)
    return known && combiner == TP_SUM && tp__is_zero_tensor(mlirOperationGetOperand(s->op, 1)) &&
           !a->ops[s->maker].is_scaled;
  if (known && (combiner == TP_MAX || combiner == TP_MAXNUM) && a->maximum == 0)
    a->maximum = (int)(op - a->ops);
  return a->ops[s->maker].role != TP_SHIFT &&
         !tp__depends_on_scores(f, mlirOperationGetOperand(s->op, 1));
}

bool tp__attention_output(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op,
                          uint32_t beside) {
  tp_attention *a = f->a;
  tp_score_dim dims[TP_MAX_RANK];
  op->role = TP_OUTPUT;
  a->output = (int)(op - a->ops);
  if (s->n_inner != 1 || s->inner > 1 || !s->past ||
      /* operand 2 is the init, to which the contraction adds */
      !tp__is_zero_tensor(mlirOperationGetOperand(s->op, 2)))
    return false;
  MlirValue values = mlirOperationGetOperand(s->op, 1 - s->inner);
  for (int l = 0; l < s->nest.n_loops; l++) {
    bool reduced = s->nest.reduced >> l & 1;
    if (!(beside >> l & 1)) {
      if (reduced && op->loops[l].n > 0 &&
          (op->loops[l].n != 1 || op->loops[l].loops[0] != a->column))
        return false;
      continue;
    }
    int64_t size = 0; /* features of the values */
    for (int d = 0; d < mlirShapedTypeGetRank(mlirValueGetType(values)); d++)
      if (tp__nest_loop(&s->nest, 1 - s->inner, d) == l)
        size = mlirShapedTypeGetDimSize(mlirValueGetType(values), d);
    int number = reduced ? -1 : tp__attention_loop(a, size);
    if (number < 0 || size == 0)
      return false;
    op->loops[l] = (tp_score_dim){1, {(uint8_t)number}};
    a->whole |= UINT32_C(1) << number;
  }
  tp__attention_result_dims(op, dims);
  if (tp__has_loop(dims,
                   (int)mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(s->op, 0))),
                   a->column))
    return false;
  tp__attention_operand_dims(op, 1 - s->inner, dims);
  return tp__has_loop(dims, (int)mlirShapedTypeGetRank(mlirValueGetType(values)), a->column);
}
