/* Finds the gradient of an attention: follows the users of its exponentials and weights to the
 * contractions that make the gradients, and checks what these contract. */
#include "passes/attention/gradient.h"

#include "rules/attention_loops.h"

#include <math.h>
#include <string.h>

static const char *const other_dimensions = "a gradient has other dimensions than its tensor";
static const char *const more_uses = "its scores are used for more than its gradient";

/* ---- what the attention provides ---- */

static int role_index(const tp_attention *a, tp_attention_role role) {
  int i = 0;
  while (i < a->n_ops && a->ops[i].role != role)
    i++;
  return i;
}

/* The result of op i of the attention has these terms. With x >= 0, it is tensor x of the form. */
static bool provide(tp_gradient *g, int i, const tp_term *term, int x) {
  tp_score_dim dims[TP_MAX_RANK];
  const tp_attention_op *op = &g->form->a->ops[i];
  const tp_terms terms = {.n = 1, .of = {*term}};
  MlirValue value = mlirOperationGetResult(op->op, 0);
  tp__attention_result_dims(op, dims);
  if (x >= 0)
    tp__form_set_tensor(g->form, x, value, dims);
  return tp__gradient_remember(g, value, dims, &terms);
}

typedef struct select_search {
  tp_gradient *g;
  const tp_attention_op *op;
  int n_numbers; /* selects between two numbers */
  bool fits;
} select_search;

static tp_status visit_select(MlirOperation op, void *data) {
  select_search *s = data;
  tp_gradient *g = s->g;
  double number;
  if (!tp__op_is(op, "arith.select"))
    return TP_OK;
  bool is_number[2];
  for (int i = 0; i < 2; i++)
    is_number[i] = tp__read_number(mlirOperationGetOperand(op, 1 + i), &number);
  s->n_numbers += is_number[0] && is_number[1];
  if (is_number[0] == is_number[1] || s->op->role == TP_MASK)
    return TP_OK;
  s->fits &= g->n_conditions < TP_MAX_CONDITIONS;
  if (!s->fits)
    return TP_OK;
  tp_gradient_condition *c = &g->conditions[g->n_conditions++];
  int input = tp__score_input((tp_score_origin){s->op, mlirOperationGetOperand(op, 0)});
  *c = (tp_gradient_condition){.keeps = is_number[1]};
  if (input >= 0) {
    c->value = mlirOperationGetOperand(s->op->op, input);
    tp__attention_operand_dims(s->op, input, c->dims);
  }
  return TP_OK;
}

/* The tanh of a score that has a cap, which its gradient reads. */
static bool provide_tanh(tp_gradient *g) {
  static const tp_term tanh_of_score = {.factor = 1, .tanh = 1};
  const tp_attention *a = g->form->a;
  bool fits = true;
  for (int i = 0; i < a->n_ops && g->form->cap > 0 && fits; i++) {
    if (!a->ops[i].is_nest || a->ops[i].role != TP_BEFORE)
      continue;
    MlirOperation scalar = tp__nest_scalar(&a->ops[i].nest);
    if (!mlirOperationIsNull(scalar) && tp__op_is(scalar, "math.tanh"))
      fits = provide(g, i, &tanh_of_score, -1);
  }
  return fits;
}

/* Conditions that hide scores stop gradients, where they select the scores. */
static bool find_conditions(tp_gradient *g) {
  const tp_attention *a = g->form->a;
  select_search s = {.g = g, .fits = true};
  for (int i = 0; i < a->n_ops; i++) {
    s.op = &a->ops[i];
    if (s.op->is_nest && (s.op->role == TP_BEFORE || s.op->role == TP_MASK))
      (void)tp__walk(s.op->op, visit_select, &s); /* the visitor does not fail */
  }
  g->passes_hidden = g->form->hides && g->n_conditions == 0;
  if (!s.fits || (s.n_numbers > 0 && g->n_conditions > 0 && g->form->hides))
    return tp__gradient_obstacle(g, "its scores are hidden in several ways");
  return true;
}

/* Notes the ops of the attention, so that what they compute may be used by each other. */
static bool note_attention(tp_gradient *g) {
  const tp_attention *a = g->form->a;
  tp_op_list followers = {0};
  g->status = tp__attention_followers(a, &followers);
  bool fits = g->status == TP_OK;
  for (int i = 0; i < a->n_ops && fits; i++)
    fits = a->ops[i].role == TP_MASK || tp__gradient_note(g, a->ops[i].op);
  for (size_t i = 0; i < followers.n && fits; i++)
    fits = tp__gradient_note(g, followers.items[i]);
  tp__free(followers.items);
  return fits;
}

/* ---- users ---- */

static bool follow_nest(tp_gradient *g, MlirOperation user, int operand, const tp_score_dim *dims) {
  tp_attention_op op = {.op = user, .is_nest = true};
  tp_score_dim made[TP_MAX_RANK];
  tp_terms terms;
  uint32_t missing;
  if (!tp__nest_of(user, &op.nest) || !op.nest.is_written || operand >= op.nest.n_inputs)
    return tp__gradient_obstacle(g, more_uses);
  if (!tp__gradient_loops(g, &op, operand, dims, &missing))
    return false;
  if (!missing) {
    tp__attention_result_dims(&op, made);
    return tp__gradient_evaluate(g, mlirOperationGetResult(user, 0), made, &terms);
  }
  if (!op.nest.reduced || !tp__body_is_contraction(&op.nest.body) ||
      g->n_products == TP_MAX_GRADIENT_PRODUCTS)
    return tp__gradient_obstacle(g, more_uses);
  g->products[g->n_products++] = (tp_gradient_product){.op = op, .scores = operand};
  return tp__gradient_note(g, user);
}

static bool follow(tp_gradient *g, MlirOperation user, int operand, const tp_score_dim *dims) {
  const tp_attention *a = g->form->a;
  tp_score_dim made[TP_MAX_RANK];
  tp_terms terms;
  int i = 0;
  while (i < a->n_ops && !mlirOperationEqual(a->ops[i].op, user))
    i++;
  bool leads_to_exponential = i < a->n_ops && i <= a->exponential && a->ops[i].role != TP_ROW_SUM;
  if (leads_to_exponential || mlirOperationEqual(user, a->ops[a->output].op) ||
      mlirOperationEqual(user, a->ops[role_index(a, TP_ROW_SUM)].op) ||
      tp__table_get(&g->known, mlirOperationGetResult(user, 0).ptr) >= 0)
    return true;
  if (!tp__is_reshape(user))
    return follow_nest(g, user, operand, dims);
  return (tp__form_reshaped(a, user, dims, made) ||
          tp__gradient_obstacle(g, "its gradient has scores in another arrangement")) &&
         tp__gradient_evaluate(g, mlirOperationGetResult(user, 0), made, &terms);
}

static bool follow_uses(tp_gradient *g, MlirValue value, const tp_score_dim *dims) {
  MlirBlock block = mlirOperationGetBlock(g->form->a->ops[0].op);
  MlirOpOperand use = mlirValueGetFirstUse(value);
  for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    int i = (int)mlirOpOperandGetOperandNumber(use);
    if (!mlirBlockEqual(mlirOperationGetBlock(user), block) ||
        mlirOperationGetNumResults(user) != 1)
      return tp__gradient_obstacle(g, more_uses);
    tp_nest nest;
    bool is_overwritten = tp__nest_of(user, &nest) && nest.is_written && i == nest.n_inputs &&
                          !tp__body_reads(&nest.body, i);
    if (!is_overwritten && !follow(g, user, i, dims))
      return false;
  }
  return true;
}

/* Follows all values that are as large as the scores; there are more with each. */
static bool follow_all(tp_gradient *g) {
  for (size_t i = 0; i < g->n_values; i++) {
    tp_gradient_value v = g->values[i];
    if (tp__has_loop(v.dims, (int)tp__value_rank(v.value), g->form->column) &&
        !follow_uses(g, v.value, v.dims))
      return false;
  }
  return true;
}

/* True if only ops of the attention and its gradient use what they compute. */
static bool stays_inside(tp_gradient *g) {
  const tp_attention *a = g->form->a;
  for (size_t i = 0; i < g->ops.n; i++) {
    MlirOperation op = g->ops.items[i];
    bool is_end = mlirOperationEqual(op, a->ops[a->output].op);
    for (int k = 0; k < g->n_products; k++)
      is_end |= mlirOperationEqual(op, g->products[k].op.op);
    if (is_end || tp__table_get(&g->inside, op.ptr) < 0)
      continue;
    MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(op, 0));
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
      if (tp__table_get(&g->inside, mlirOpOperandGetOwner(use).ptr) < 0)
        return tp__gradient_obstacle(g, more_uses);
  }
  return true;
}

/* ---- the products ---- */

/* True if two numbers are the same but for rounding to f32. */
static bool is_near(double x, double wanted) { return fabs(x - wanted) <= 1e-6 * fabs(wanted); }

/* Which gradient the product makes, and the tensor that it multiplies scores by. */
static bool classify(tp_gradient *g, const tp_gradient_product *p, int *x, int *by) {
  const tp_attention_form *form = g->form;
  tp_score_dim dims[TP_MAX_RANK];
  MlirValue scores = mlirOperationGetOperand(p->op.op, p->scores);
  const tp_terms *terms = &g->values[tp__table_get(&g->known, scores.ptr)].terms;
  bool has_dropout = form->dropout != TPRT_ATTENTION_NO_DROPOUT;
  double factor, of_weight = has_dropout ? form->dropout_scale : 1,
                 wanted = form->scale * of_weight;
  tp__attention_result_dims(&p->op, dims);
  bool has_columns =
      tp__has_loop(dims, (int)tp__value_rank(mlirOperationGetResult(p->op.op, 0)), form->column);
  if (has_columns && tp__terms_are_weight(terms, has_dropout, &factor)) {
    if (!is_near(factor, of_weight))
      return tp__gradient_obstacle(g, "its gradient has another dropout");
    *x = TPRT_ATTENTION_GRADIENT_V;
    *by = TPRT_ATTENTION_GRADIENT;
    return true;
  }
  if (!tp__terms_are_slope(terms, form->cap > 0, has_dropout, &factor))
    return tp__gradient_obstacle(g, "its gradient is not that of a softmax");
  if (!is_near(factor, wanted))
    return tp__gradient_obstacle(g, "the gradient of its scores has another scale");
  if (terms->selects != (UINT32_C(1) << g->n_conditions) - 1)
    return tp__gradient_obstacle(g, "the gradient of its scores is not hidden as they are");
  *x = has_columns ? TPRT_ATTENTION_GRADIENT_K : TPRT_ATTENTION_GRADIENT_Q;
  *by = has_columns ? TPRT_ATTENTION_Q : TPRT_ATTENTION_K;
  return true;
}

static bool read_product(tp_gradient *g, tp_gradient_product *p) {
  tp_attention_form *form = g->form;
  tp_score_dim dims[TP_MAX_RANK];
  MlirOperation op = p->op.op;
  MlirValue other = mlirOperationGetOperand(op, 1 - p->scores);
  uint32_t missing;
  int x = 0, by = 0;
  if (!classify(g, p, &x, &by))
    return false;
  int loop = x == TPRT_ATTENTION_GRADIENT_V ? form->value : form->feature;
  tp__attention_operand_dims(&p->op, p->scores, dims);
  if (!tp__is_zero_tensor(mlirOperationGetOperand(op, 2)))
    return tp__gradient_obstacle(g, "a gradient is added to something");
  if (!mlirValueIsNull(form->tensor[x]) || loop == TP_NO_SCORE_LOOP ||
      !tp__gradient_loops(g, &p->op, p->scores, dims, &missing) || __builtin_popcount(missing) != 1)
    return tp__gradient_obstacle(g, "its scores are not used for three gradients");
  p->op.loops[__builtin_ctz(missing)] = (tp_score_dim){1, {(uint8_t)loop}};
  tp__attention_operand_dims(&p->op, 1 - p->scores, dims);
  if (!tp__gradient_is_tensor(g, by, other, dims))
    return tp__gradient_obstacle(g, "the gradient of its scores multiplies another tensor");
  tp__attention_result_dims(&p->op, dims);
  if (!tp__form_result(form, x, mlirOperationGetResult(op, 0), dims))
    return tp__gradient_obstacle(g, other_dimensions);
  if (mlirOperationIsNull(g->first) || mlirOperationIsBeforeInBlock(op, g->first))
    g->first = op;
  return true;
}

/* Each gradient has the loops of what it is the gradient of, and blocks do not share keys or
 * values: the kernels add up the rows of the group alone. */
static bool check_loops(tp_gradient *g) {
  static const int of[][2] = {{TPRT_ATTENTION_GRADIENT_Q, TPRT_ATTENTION_Q},
                              {TPRT_ATTENTION_GRADIENT_K, TPRT_ATTENTION_K},
                              {TPRT_ATTENTION_GRADIENT_V, TPRT_ATTENTION_V},
                              {TPRT_ATTENTION_GRADIENT, TPRT_ATTENTION_OUT}};
  const tp_attention_form *form = g->form;
  const tp_attention *a = form->a;
  for (int l = 0; l < a->n_loops; l++)
    for (int i = 0; i < TP_LEN(of) && a->sizes[l] != 1; i++)
      if (tp__form_has(form, of[i][0], l) != tp__form_has(form, of[i][1], l))
        return tp__gradient_obstacle(g, other_dimensions);
  for (int i = 0; i < form->n_outer; i++)
    for (int x = TPRT_ATTENTION_Q; x <= TPRT_ATTENTION_V; x++)
      if (a->sizes[form->outer[i]] != 1 && !tp__form_has(form, x, form->outer[i]))
        return tp__gradient_obstacle(
            g, "its queries, keys or values are shared by more than a group of queries");
  return true;
}

static bool check_types(tp_gradient *g) {
  const tp_attention_form *form = g->form;
  MlirType queries = tp__element_type(mlirValueGetType(form->tensor[TPRT_ATTENTION_Q]));
  for (int x = TPRT_ATTENTION_GRADIENT; x <= TPRT_ATTENTION_GRADIENT_V; x++) {
    MlirType element = tp__element_type(mlirValueGetType(form->tensor[x]));
    bool may_be_wide = x != TPRT_ATTENTION_GRADIENT;
    if (!mlirTypeEqual(element, queries) && !(may_be_wide && mlirTypeIsAF32(element)))
      return tp__gradient_obstacle(g, "a gradient has another type than the queries");
  }
  return true;
}

static bool read(tp_gradient *g) {
  static const tp_term exponential = {.factor = 1, .exponential = 1}, sum = {.factor = 1, .sum = 1};
  tp_attention_form *form = g->form;
  const tp_attention *a = form->a;
  tp_score_dim dims[TP_MAX_RANK];
  if (form->zeroes_hidden)
    return tp__gradient_obstacle(g, "rows whose scores are all hidden are 0");
  tp__attention_result_dims(&a->ops[a->maximum], dims);
  tp__form_set_tensor(form, TPRT_ATTENTION_MAX, mlirOperationGetResult(a->ops[a->maximum].op, 0),
                      dims);
  if (!note_attention(g) || !find_conditions(g) || !provide(g, a->exponential, &exponential, -1) ||
      !provide(g, role_index(a, TP_ROW_SUM), &sum, TPRT_ATTENTION_SUM) || !provide_tanh(g) ||
      !follow_all(g))
    return false;
  if (g->n_products != 3 || mlirValueIsNull(form->tensor[TPRT_ATTENTION_GRADIENT]))
    return tp__gradient_obstacle(g, "its scores are not used for three gradients");
  for (int i = 0; i < g->n_products; i++)
    if (!read_product(g, &g->products[i]))
      return false;
  return check_types(g) && check_loops(g) && stays_inside(g);
}

const char *tp__attention_gradient(tp_attention_form *form, tp_gradient *g) {
  *g = (tp_gradient){.form = form, .status = TP_OK};
  return read(g) ? NULL : g->why;
}

void tp__gradient_end(tp_gradient *g) {
  tp__table_destroy(&g->known);
  tp__table_destroy(&g->inside);
  tp__free(g->values);
  tp__free(g->ops.items);
}
