/* The dropout of an attention: what weights are multiplied by, or whether they are dropped, before
 * they multiply the values. The ops behind the exponentials are read as an expression of one
 * weight. */
#include "passes/attention/form.h"

#include "rules/attention_loops.h"

#include <math.h>

static const char *const unsupported = "its weights go through an op that the kernel does not have";

typedef struct reader {
  tp_attention_form *form;
  const char *why; /* the first obstacle */
} reader;

/* value = scale, times the element of the dropout if it has one, times the weight if `has_weight`
 * */
typedef struct factor {
  double scale;
  bool has_weight;
} factor;

/* The op that computes input `input` of the op of the origin, if it is one of the attention whose
 * body can be read. */
static const tp_attention_op *maker_of(const tp_attention *a, tp_score_origin o, int input) {
  int maker = tp__attention_producer(a, mlirOperationGetOperand(o.op->op, input));
  return maker >= 0 && a->ops[maker].is_nest && a->ops[maker].nest.is_written ? &a->ops[maker]
                                                                              : NULL;
}

/* Takes an input of an op of the attention as the dropout. */
static bool take(reader *r, tp_score_origin o, int input, tprt_attention_dropout kind) {
  tp_attention_form *f = r->form;
  tp_score_dim dims[TP_MAX_RANK];
  MlirValue value = mlirOperationGetOperand(o.op->op, input);
  if (f->dropout != TPRT_ATTENTION_NO_DROPOUT)
    return tp__form_obstacle(&r->why, "its weights are dropped by several tensors");
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return tp__form_obstacle(&r->why, unsupported); /* a scalar */
  MlirType element = tp__element_type(mlirValueGetType(value));
  MlirType queries = tp__element_type(mlirValueGetType(f->tensor[TPRT_ATTENTION_Q]));
  bool fits = kind == TPRT_ATTENTION_MULTIPLY
                  ? mlirTypeIsAF32(element) || mlirTypeEqual(element, queries)
                  : tp__is_bool(element);
  if (!fits)
    return tp__form_obstacle(&r->why, unsupported);
  tp__attention_operand_dims(o.op, input, dims);
  if (!tp__form_operand(f, TPRT_ATTENTION_DROPOUT, value, dims))
    return tp__form_obstacle(&r->why,
                             "it uses only the first element of a dimension of its dropout");
  f->dropout = kind;
  return true;
}

/* A weight is kept where the condition holds, or with `inverted` where it does not. */
static bool read_condition(reader *r, tp_score_origin o, bool inverted) {
  int input = tp__score_input(o);
  return input >= 0
             ? take(r, o, input, inverted ? TPRT_ATTENTION_DROP_WEIGHT : TPRT_ATTENTION_KEEP_WEIGHT)
             : tp__form_obstacle(&r->why,
                                 "its weights are dropped by a condition that is no tensor");
}

static bool read_factor(reader *r, tp_score_origin o, factor *f);

static bool read_input(reader *r, tp_score_origin o, int input, factor *f) {
  const tp_attention *a = r->form->a;
  MlirValue value = mlirOperationGetOperand(o.op->op, input);
  int maker = tp__attention_producer(a, value);
  *f = (factor){.scale = 1};
  if (maker >= 0 && a->ops[maker].role != TP_MASK) {
    f->has_weight = true; /* an op of the chain, which is read for itself */
    return true;
  }
  if (tp__read_number(value, &f->scale))
    return true;
  const tp_attention_op *made = maker_of(a, o, input);
  tp_attention_form before = *r->form;
  if (made && read_factor(r, tp__form_yielded(made), f))
    return true;
  *r->form = before;
  r->why = NULL;
  *f = (factor){.scale = 1};
  return take(r, o, input, TPRT_ATTENTION_MULTIPLY);
}

static bool read_product(reader *r, tp_score_origin o, MlirOperation op, bool divides, factor *f) {
  factor x, y;
  if (!read_factor(r, tp__form_operand_of(o, op, 0), &x))
    return false;
  tprt_attention_dropout before = r->form->dropout;
  if (!read_factor(r, tp__form_operand_of(o, op, 1), &y))
    return false;
  if (divides && (y.has_weight || r->form->dropout != before))
    return tp__form_obstacle(&r->why,
                             "its weights are divided by more than their sum and a number");
  *f = (factor){x.scale * (divides ? 1 / y.scale : y.scale), x.has_weight || y.has_weight};
  return true;
}

/* One branch is 0. */
static bool read_select(reader *r, tp_score_origin o, MlirOperation op, factor *f) {
  for (int zero = 2; zero > 0; zero--) {
    double number;
    tp_score_origin branch = tp__form_operand_of(o, op, zero);
    int input = tp__score_input(branch);
    MlirValue value = input >= 0 ? mlirOperationGetOperand(o.op->op, input) : branch.value;
    if (!tp__read_number(value, &number) || number != 0)
      continue;
    if (!read_factor(r, tp__form_operand_of(o, op, 3 - zero), f))
      return false;
    r->form->zeroes_dropped = f->has_weight;
    return read_condition(r, tp__form_operand_of(o, op, 0), zero == 1);
  }
  return tp__form_obstacle(&r->why, unsupported);
}

bool tp__form_is_number_of_bool(MlirOperation scalar) {
  MlirType element = mlirValueGetType(mlirOperationGetOperand(scalar, 0));
  return tp__op_is(scalar, "arith.uitofp") && tp__is_bool(element);
}

static bool read_factor(reader *r, tp_score_origin o, factor *f) {
  int input = tp__score_input(o);
  MlirOperation op = tp__defining_op(o.value);
  *f = (factor){.scale = 1};
  if (input >= 0)
    return read_input(r, o, input, f);
  if (tp__read_number(o.value, &f->scale))
    return true;
  if (!mlirOperationIsNull(op)) {
    if (tp__op_is(op, "arith.mulf") || tp__op_is(op, "arith.divf"))
      return read_product(r, o, op, tp__op_is(op, "arith.divf"), f);
    if (tp__op_is(op, "arith.extf") || tp__op_is(op, "arith.truncf"))
      return read_factor(r, tp__form_operand_of(o, op, 0), f);
    if (tp__op_is(op, "arith.select"))
      return read_select(r, o, op, f);
    if (tp__form_is_number_of_bool(op))
      return read_condition(r, tp__form_operand_of(o, op, 0), false);
  }
  return tp__form_obstacle(&r->why, unsupported);
}

/* The operand of an op behind the exponentials that comes from them; null: there is none. */
static MlirValue weights_of(const tp_attention *a, MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    int maker = tp__attention_producer(a, mlirOperationGetOperand(op, i));
    tp_attention_role role = maker < 0 ? TP_MASK : a->ops[maker].role;
    if (role == TP_EXPONENTIAL || role == TP_SCALE || role == TP_AFTER)
      return mlirOperationGetOperand(op, i);
  }
  return (MlirValue){NULL};
}

const char *tp__form_dropout(tp_attention_form *form) {
  const tp_attention *a = form->a;
  reader r = {.form = form};
  int n_changing = 0, sum = 0;
  double scale = 1;
  for (int i = 0; i < a->n_ops; i++) {
    n_changing += a->ops[i].role == TP_AFTER && !tp__form_passes_on(a->ops[i].op);
    sum = a->ops[i].role == TP_ROW_SUM ? i : sum;
  }
  MlirValue weights = weights_of(a, a->ops[a->output].op);
  for (int i = tp__attention_producer(a, weights); i != a->exponential;
       i = tp__attention_producer(a, weights)) {
    factor f;
    weights = weights_of(a, a->ops[i].op);
    if (mlirValueIsNull(weights))
      return unsupported;
    if (a->ops[i].role != TP_AFTER || tp__form_passes_on(a->ops[i].op))
      continue;
    if (!a->ops[i].nest.is_written || !read_factor(&r, tp__form_yielded(&a->ops[i]), &f))
      return r.why ? r.why : unsupported;
    n_changing--;
    scale *= f.scale;
  }
  MlirValue summed = weights_of(a, a->ops[sum].op);
  for (int i = tp__attention_producer(a, summed); i != a->exponential;
       i = tp__attention_producer(a, summed)) {
    if (!tp__form_passes_on(a->ops[i].op))
      return "weights are changed before they are summed";
    summed = mlirOperationGetOperand(a->ops[i].op, 0);
  }
  if (n_changing > 0)
    return "its weights are changed in several ways";
  if (form->dropout == TPRT_ATTENTION_NO_DROPOUT)
    return scale == 1 ? NULL : "its weights are multiplied by a number, without a dropout";
  if (!(scale > 0) || !isfinite(scale))
    return "its dropout multiplies weights by a number that is not positive";
  form->dropout_scale = scale;
  return NULL;
}
