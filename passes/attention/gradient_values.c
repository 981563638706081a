/* Evaluates values of the gradient of attention as sums of terms. */
#include "passes/attention/gradient.h"

#include "ir/diagnostics.h"
#include "rules/attention_loops.h"

#include <string.h>

static const char *const elsewhere =
    "its gradient depends on values that are computed from other ones";

bool tp__gradient_obstacle(tp_gradient *g, const char *why) {
  g->why = g->why ? g->why : why;
  return false;
}

static bool out_of_memory(tp_gradient *g, MlirOperation op) {
  if (g->status == TP_OK)
    g->status = tp__out_of_memory(op);
  return tp__gradient_obstacle(g, "memory ran out");
}

bool tp__gradient_remember(tp_gradient *g, MlirValue value, const tp_score_dim *dims,
                           const tp_terms *terms) {
  MlirOperation op = tp__defining_op(value);
  if (tp__grow((void **)&g->values, &g->capacity, g->n_values + 1, sizeof *g->values) != TP_OK ||
      tp__table_put(&g->known, value.ptr, (int)g->n_values) != TP_OK)
    return out_of_memory(g, op);
  tp_gradient_value *made = &g->values[g->n_values++];
  *made = (tp_gradient_value){.value = value, .terms = *terms};
  memcpy(made->dims, dims, (size_t)tp__value_rank(value) * sizeof *dims);
  return true;
}

bool tp__gradient_note(tp_gradient *g, MlirOperation op) {
  if (tp__table_get(&g->inside, op.ptr) >= 0)
    return true;
  if (tp__table_put(&g->inside, op.ptr, 1) != TP_OK)
    return out_of_memory(g, op);
  g->status = tp__op_list_add(&g->ops, op);
  return g->status == TP_OK || tp__gradient_obstacle(g, "memory ran out");
}

/* ---- dimensions ---- */

/* True if both have the same loops of more than one iteration. */
static bool is_same_dim(const tp_attention *a, const tp_score_dim *x, const tp_score_dim *y) {
  int k = 0;
  for (int i = 0; i < x->n; i++) {
    if (a->sizes[x->loops[i]] == 1)
      continue;
    while (k < y->n && a->sizes[y->loops[k]] == 1)
      k++;
    if (k == y->n || y->loops[k] != x->loops[i])
      return false;
    k++;
  }
  while (k < y->n && a->sizes[y->loops[k]] == 1)
    k++;
  return k == y->n;
}

static bool are_same_dims(const tp_attention *a, int rank, const tp_score_dim *x,
                          const tp_score_dim *y) {
  for (int d = 0; d < rank; d++)
    if (!is_same_dim(a, &x[d], &y[d]))
      return false;
  return true;
}

/* Iterations of a loop of the nest. */
static int64_t loop_size(const tp_nest *nest, int loop) {
  for (int i = 0; i <= nest->n_inputs; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(nest->op, i));
    for (int d = 0; mlirTypeIsARankedTensor(type) && d < mlirShapedTypeGetRank(type); d++)
      if (tp__nest_loop(nest, i, d) == loop)
        return mlirShapedTypeGetDimSize(type, d);
  }
  return 1;
}

bool tp__gradient_loops(tp_gradient *g, tp_attention_op *op, int operand, const tp_score_dim *dims,
                        uint32_t *missing) {
  uint32_t known = 0;
  memset(op->loops, 0, sizeof op->loops);
  if (!tp__attention_assign(g->form->a, op, &op->nest, operand, dims, &known))
    return tp__gradient_obstacle(g, "its gradient has scores in another arrangement");
  *missing = 0;
  for (int l = 0; l < op->nest.n_loops; l++)
    if (!(known >> l & 1) && loop_size(&op->nest, l) != 1)
      *missing |= UINT32_C(1) << l;
  return true;
}

/* Gives the only loop in `missing` to a loop of the attention; false if it is not the only one, or
 * of another size. */
static bool complete(const tp_gradient *g, tp_attention_op *op, uint32_t missing, int loop) {
  if (__builtin_popcount(missing) != 1 || loop == TP_NO_SCORE_LOOP)
    return false;
  int at = __builtin_ctz(missing);
  op->loops[at] = (tp_score_dim){1, {(uint8_t)loop}};
  return loop_size(&op->nest, at) == g->form->a->sizes[loop];
}

bool tp__gradient_is_tensor(tp_gradient *g, int x, MlirValue value, const tp_score_dim *dims) {
  tp_attention_form same = *g->form;
  tp_score_dim now[TP_MAX_RANK], before[TP_MAX_RANK];
  memcpy(now, dims, (size_t)tp__value_rank(value) * sizeof *now);
  while (!mlirValueEqual(value, g->form->tensor[x])) {
    MlirOperation op = tp__defining_op(value);
    if (mlirOperationIsNull(op) || !tp__form_see_through(g->form->a, op, now, true, before) ||
        tp__op_list_add(&g->ops, op) != TP_OK)
      return false;
    value = mlirOperationGetOperand(op, 0);
    memcpy(now, before, sizeof now);
  }
  tp__form_set_tensor(&same, x, value, now);
  for (int l = 0; l < g->form->a->n_loops; l++)
    if (g->form->a->sizes[l] != 1 && same.stride[x][l] != g->form->stride[x][l])
      return false;
  return true;
}

/* ---- scalars ---- */

static bool evaluate_scalar(tp_gradient *g, const tp_attention_op *op, MlirValue value,
                            tp_terms *to);

static bool evaluate_operand(tp_gradient *g, const tp_attention_op *op, MlirOperation scalar, int i,
                             tp_terms *to) {
  return evaluate_scalar(g, op, mlirOperationGetOperand(scalar, i), to);
}

/* True if the value is the dropout of the attention, of this kind. */
static bool is_dropout(tp_gradient *g, MlirValue value, const tp_score_dim *dims,
                       tprt_attention_dropout kind) {
  return g->form->dropout == kind && tp__gradient_is_tensor(g, TPRT_ATTENTION_DROPOUT, value, dims);
}

static const tp_terms dropped = {.n = 1, .of = {{.factor = 1, .dropout = 1}}};

/* 0 or a score, by a condition that the attention's scores or its dropout have. */
static bool evaluate_select(tp_gradient *g, const tp_attention_op *op, MlirOperation scalar,
                            tp_terms *to) {
  tp_score_dim dims[TP_MAX_RANK];
  double number;
  int input = tp__score_input((tp_score_origin){op, mlirOperationGetOperand(scalar, 0)});
  int zero = 2;
  while (zero > 0 &&
         !(tp__read_number(mlirOperationGetOperand(scalar, zero), &number) && number == 0))
    zero--;
  if (input < 0 || zero == 0 || !evaluate_operand(g, op, scalar, 3 - zero, to))
    return tp__gradient_obstacle(g, "a select in its gradient is not that of its scores");
  MlirValue condition = mlirOperationGetOperand(op->op, input);
  tp__attention_operand_dims(op, input, dims);
  for (int i = 0; i < g->n_conditions; i++) {
    const tp_gradient_condition *c = &g->conditions[i];
    if (mlirValueEqual(c->value, condition) && c->keeps == (zero == 2) &&
        are_same_dims(g->form->a, tp__value_rank(condition), c->dims, dims)) {
      to->selects |= UINT32_C(1) << i;
      return true;
    }
  }
  if (is_dropout(g, condition, dims,
                 zero == 2 ? TPRT_ATTENTION_KEEP_WEIGHT : TPRT_ATTENTION_DROP_WEIGHT)) {
    const tp_terms kept = *to;
    return tp__terms_multiply(&kept, &dropped, to) ||
           tp__gradient_obstacle(g, "its gradient is not that of a softmax");
  }
  return tp__gradient_obstacle(g, "a select in its gradient is not that of its scores");
}

static bool evaluate_op(tp_gradient *g, const tp_attention_op *op, MlirOperation scalar,
                        tp_terms *to) {
  tp_terms x, y;
  if (tp__op_is(scalar, "arith.select"))
    return evaluate_select(g, op, scalar, to);
  if (tp__op_is(scalar, "arith.extf") || tp__op_is(scalar, "arith.truncf"))
    return evaluate_operand(g, op, scalar, 0, to);
  int number_of = tp__form_is_number_of_bool(scalar)
                      ? tp__score_input((tp_score_origin){op, mlirOperationGetOperand(scalar, 0)})
                      : -1;
  if (number_of >= 0) {
    tp_score_dim dims[TP_MAX_RANK];
    tp__attention_operand_dims(op, number_of, dims);
    *to = dropped;
    return is_dropout(g, mlirOperationGetOperand(op->op, number_of), dims,
                      TPRT_ATTENTION_KEEP_WEIGHT) ||
           tp__gradient_obstacle(g, elsewhere);
  }
  if (tp__op_is(scalar, "arith.negf"))
    return evaluate_operand(g, op, scalar, 0, &x) &&
           tp__terms_add(&(tp_terms){.selects = x.selects}, -1, &x, to);
  static const struct {
    const char *name;
    bool (*multiply)(const tp_terms *x, const tp_terms *y, tp_terms *to);
    double factor; /* of the second operand, where they are added */
  } binary[] = {{"arith.mulf", tp__terms_multiply, 0},
                {"arith.divf", tp__terms_divide, 0},
                {"arith.addf", NULL, 1},
                {"arith.subf", NULL, -1}};
  for (int i = 0; i < TP_LEN(binary); i++) {
    if (!tp__op_is(scalar, binary[i].name))
      continue;
    if (!evaluate_operand(g, op, scalar, 0, &x) || !evaluate_operand(g, op, scalar, 1, &y))
      return false;
    bool fits = binary[i].multiply ? binary[i].multiply(&x, &y, to)
                                   : tp__terms_add(&x, binary[i].factor, &y, to);
    return fits || tp__gradient_obstacle(g, "its gradient is not that of a softmax");
  }
  return tp__gradient_obstacle(g, "its gradient has an op that the gradient of a softmax lacks");
}

static bool evaluate_scalar(tp_gradient *g, const tp_attention_op *op, MlirValue value,
                            tp_terms *to) {
  tp_score_dim dims[TP_MAX_RANK];
  double number;
  int input = tp__score_input((tp_score_origin){op, value});
  if (input >= 0) {
    MlirValue operand = mlirOperationGetOperand(op->op, input);
    if (!mlirTypeIsARankedTensor(mlirValueGetType(operand)))
      return tp__gradient_obstacle(g, elsewhere);
    tp__attention_operand_dims(op, input, dims);
    if (is_dropout(g, operand, dims, TPRT_ATTENTION_MULTIPLY)) {
      *to = dropped;
      return true;
    }
    return tp__gradient_evaluate(g, operand, dims, to);
  }
  if (tp__read_number(value, &number)) {
    *to = tp__terms_number(number);
    return true;
  }
  MlirOperation scalar = tp__defining_op(value);
  return mlirOperationIsNull(scalar) ? tp__gradient_obstacle(g, elsewhere)
                                     : evaluate_op(g, op, scalar, to);
}

/* ---- ops ---- */

/* The gradient of the weights: that of the result times the values. */
static bool evaluate_direct(tp_gradient *g, tp_attention_op *op, uint32_t missing, tp_terms *to) {
  tp_attention_form *form = g->form;
  tp_score_dim dims[2][TP_MAX_RANK];
  if (op->nest.n_inputs != 2 || !tp__body_is_contraction(&op->nest.body) ||
      !tp__is_zero_tensor(mlirOperationGetOperand(op->op, 2)) ||
      !complete(g, op, missing, form->value))
    return tp__gradient_obstacle(g, elsewhere);
  int values = 2;
  for (int i = 0; i < 2; i++) {
    tp__attention_operand_dims(op, i, dims[i]);
    if (values == 2 &&
        tp__gradient_is_tensor(g, TPRT_ATTENTION_V, mlirOperationGetOperand(op->op, i), dims[i]))
      values = i;
  }
  if (values == 2)
    return tp__gradient_obstacle(g, elsewhere);
  int x = TPRT_ATTENTION_GRADIENT;
  MlirValue gradient = mlirOperationGetOperand(op->op, 1 - values);
  bool fits = mlirValueIsNull(form->tensor[x])
                  ? tp__form_operand(form, x, gradient, dims[1 - values])
                  : tp__gradient_is_tensor(g, x, gradient, dims[1 - values]);
  if (!fits)
    return tp__gradient_obstacle(g, "its result has several gradients");
  *to = (tp_terms){.n = 1, .of = {{.factor = 1, .gradient = 1}}};
  return true;
}

/* A sum over the columns, or over dimensions of one element. */
static bool evaluate_sum(tp_gradient *g, tp_attention_op *op, uint32_t missing, tp_terms *to) {
  const tp_body *body = &op->nest.body;
  tp_terms terms;
  MlirOperation add = tp__defining_op(mlirOperationGetOperand(body->yield, 0));
  MlirValue init = mlirBlockGetArgument(body->block, op->nest.n_inputs);
  if (missing && !complete(g, op, missing, g->form->column))
    return tp__gradient_obstacle(g, elsewhere);
  if (mlirOperationIsNull(add) || !tp__op_is(add, "arith.addf") ||
      !tp__is_zero_tensor(mlirOperationGetOperand(op->op, op->nest.n_inputs)))
    return tp__gradient_obstacle(g, "its gradient has an op that the gradient of a softmax lacks");
  int other = mlirValueEqual(mlirOperationGetOperand(add, 0), init) ? 1 : 0;
  if (!evaluate_operand(g, op, add, other, &terms))
    return false;
  bool has_dropout = g->form->dropout != TPRT_ATTENTION_NO_DROPOUT;
  if (missing && !tp__terms_sum(&terms, has_dropout, to))
    return tp__gradient_obstacle(g, "its gradient is not that of a softmax");
  if (!missing)
    *to = terms;
  return true;
}

static bool evaluate_nest(tp_gradient *g, MlirOperation made, const tp_score_dim *dims,
                          tp_terms *to) {
  tp_attention_op op = {.op = made, .is_nest = true};
  uint32_t missing;
  int rank = (int)tp__value_rank(mlirOperationGetResult(made, 0));
  if (!tp__nest_of(made, &op.nest) || !op.nest.is_written)
    return tp__gradient_obstacle(g, elsewhere);
  if (!tp__gradient_loops(g, &op, op.nest.n_inputs, dims, &missing))
    return false;
  if (missing && tp__has_loop(dims, rank, g->form->column))
    return evaluate_direct(g, &op, missing, to);
  if (op.nest.reduced)
    return evaluate_sum(g, &op, missing, to);
  return tp__nest_is_elementwise(&op.nest)
             ? evaluate_scalar(g, &op, mlirOperationGetOperand(op.nest.body.yield, 0), to)
             : tp__gradient_obstacle(g, elsewhere);
}

bool tp__gradient_evaluate(tp_gradient *g, MlirValue value, const tp_score_dim *dims,
                           tp_terms *terms) {
  enum { DEEPEST = 64 };
  const tp_attention *a = g->form->a;
  MlirOperation op = tp__defining_op(value);
  tp_score_dim from[TP_MAX_RANK];
  double number;
  int k = tp__table_get(&g->known, value.ptr);
  if (k >= 0) {
    *terms = g->values[k].terms;
    return are_same_dims(a, tp__value_rank(value), g->values[k].dims, dims) ||
           tp__gradient_obstacle(g, "its gradient has scores in another arrangement");
  }
  if (tp__read_number(value, &number)) {
    *terms = tp__terms_number(number);
    return true;
  }
  if (mlirOperationIsNull(op) || g->depth == DEEPEST ||
      !mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(a->ops[0].op)))
    return tp__gradient_obstacle(g, elsewhere);
  g->depth++;
  bool fits = tp__is_reshape(op)
                  ? (tp__form_see_through(a, op, dims, false, from) ||
                     tp__gradient_obstacle(g, "its gradient has scores in another arrangement")) &&
                        tp__gradient_evaluate(g, mlirOperationGetOperand(op, 0), from, terms)
                  : evaluate_nest(g, op, dims, terms);
  g->depth--;
  return fits && tp__gradient_note(g, op) && tp__gradient_remember(g, value, dims, terms);
}
