/* The scores of attention as scale * product + mask, hidden by conditions. The ops between the
 * product and the softmax are read as an expression of one score. */
#include "passes/attention/form.h"

#include <math.h>

/* Hidden scores of at most this, in programs that add them instead of selecting them, are as good
 * as selected: what else is added disappears in rounding. */
static const double far_hidden = -1e30;

const char tp__several_masks[] = "there are several masks";
static const char *const unknown = "its scores depend on values that are not tensors of scores";
static const char *const unsupported = "its scores go through an op that the kernel does not have";

typedef struct reader {
  tp_attention_form *form;
  const tp_mesh *mesh;
  int n_conditions;
  const char *why; /* the first obstacle */
} reader;

/* value = scale * product + add + mask; with `inner`, tanh(inner * product) takes the place of the
 * product */
typedef struct term {
  double scale, add;
  bool has_mask;
  double inner; /* 0: none */
} term;

static bool is_number(const term *t) { return t->scale == 0 && !t->has_mask; }

/* Takes an operand of an op of the attention as its mask. */
static bool take_mask(reader *r, const tp_attention_op *op, int input, tprt_attention_mask kind) {
  tp_attention_form *f = r->form;
  tp_score_dim dims[TP_MAX_RANK];
  MlirValue value = mlirOperationGetOperand(op->op, input);
  if (f->mask != TPRT_ATTENTION_NO_MASK)
    return tp__form_obstacle(&r->why, tp__several_masks);
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return tp__form_obstacle(&r->why, unknown); /* a scalar */
  MlirType element = tp__element_type(mlirValueGetType(value));
  MlirType queries = tp__element_type(mlirValueGetType(f->tensor[TPRT_ATTENTION_Q]));
  bool fits = kind == TPRT_ATTENTION_ADD
                  ? mlirTypeIsAF32(element) || mlirTypeEqual(element, queries)
                  : tp__is_bool(element);
  if (!fits)
    return tp__form_obstacle(&r->why, "its mask has another type");
  tp__attention_operand_dims(op, input, dims);
  if (!tp__form_operand(f, TPRT_ATTENTION_MASK, value, dims))
    return tp__form_obstacle(&r->why, "it uses only the first element of a dimension of its mask");
  f->mask = kind;
  return true;
}

/* The op that computes a mask as a whole tensor, which may be read instead of the tensor. */
static const tp_attention_op *mask_op(const tp_attention *a, tp_score_origin o, int input) {
  int maker = tp__score_producer(a, mlirOperationGetOperand(o.op->op, input));
  return maker >= 0 && a->ops[maker].role == TP_MASK && a->ops[maker].nest.is_written
             ? &a->ops[maker]
             : NULL;
}

/* ---- conditions ---- */

static bool read_condition(reader *r, tp_score_origin o, bool inverted);

/* A mask that is computed from positions is read as such; other ones are tensors. */
static bool read_condition_input(reader *r, tp_score_origin o, int input, bool inverted) {
  const tp_attention_op *made = mask_op(r->form->a, o, input);
  tp_attention_form before = *r->form;
  if (made && read_condition(r, tp__form_yielded(made), inverted))
    return true;
  *r->form = before;
  r->why = NULL;
  return take_mask(r, o.op, input, inverted ? TPRT_ATTENTION_HIDE : TPRT_ATTENTION_KEEP);
}

/* True if all elements of the tensor that this input of the body reads are the constant. */
static bool is_everywhere(tp_score_origin o, bool constant) {
  int input = tp__score_input(o);
  MlirOperation op =
      input < 0 ? (MlirOperation){NULL}
                : tp__defined_by(mlirOperationGetOperand(o.op->op, input), "arith.constant");
  MlirAttribute all = mlirOperationIsNull(op) ? (MlirAttribute){NULL} : tp__inherent(op, "value");
  return !mlirAttributeIsNull(all) && mlirAttributeIsADenseElements(all) &&
         mlirDenseElementsAttrIsSplat(all) &&
         mlirDenseElementsAttrGetBoolSplatValue(all) == constant;
}

/* If one operand of an and is true everywhere, or one of an or false everywhere, returns which one
 * is the other operand; else -1. PyTorch writes triangles as a comparison "and true". */
static int beside_neutral(tp_score_origin o, MlirOperation op) {
  bool is_and = tp__op_is(op, "arith.andi");
  for (int i = 0; i < 2 && (is_and || tp__op_is(op, "arith.ori")); i++)
    if (is_everywhere(tp__form_operand_of(o, op, i), is_and))
      return 1 - i;
  return -1;
}

/* The score is kept where the condition, or with `inverted` its negation, holds. */
static bool read_condition(reader *r, tp_score_origin o, bool inverted) {
  int input = tp__score_input(o);
  MlirOperation op = tp__defining_op(o.value);
  tp_tile_causal causal;
  r->n_conditions++;
  if (input >= 0) {
    int maker = tp__score_producer(r->form->a, mlirOperationGetOperand(o.op->op, input));
    if (maker >= 0 && r->form->a->ops[maker].role == TP_BEFORE &&
        r->form->a->ops[maker].nest.is_written)
      return read_condition(r, tp__form_yielded(&r->form->a->ops[maker]), inverted);
    return read_condition_input(r, o, input, inverted);
  }
  if (mlirOperationIsNull(op))
    return tp__form_obstacle(&r->why, unknown);
  int other = beside_neutral(o, op);
  if (other >= 0)
    return read_condition(r, tp__form_operand_of(o, op, other), inverted);
  if (tp__op_is(op, inverted ? "arith.ori" : "arith.andi"))
    return read_condition(r, tp__form_operand_of(o, op, 0), inverted) &&
           read_condition(r, tp__form_operand_of(o, op, 1), inverted);
  if (tp__op_is(op, "arith.xori"))
    for (int i = 0; i < 2; i++) {
      MlirOperation one = tp__defining_op(mlirOperationGetOperand(op, i));
      MlirAttribute value =
          mlirOperationIsNull(one) ? (MlirAttribute){NULL} : tp__inherent(one, "value");
      if (!mlirAttributeIsNull(value) && mlirAttributeIsAInteger(value) &&
          mlirIntegerAttrGetValueInt(value) != 0)
        return read_condition(r, tp__form_operand_of(o, op, 1 - i), !inverted);
    }
  if (!tp__compares_places(r->form->a, r->mesh, o, inverted, &causal))
    return tp__form_obstacle(
        &r->why, "what hides its scores is neither a tensor nor a comparison of row and column");
  if (r->form->causal.found)
    return tp__form_obstacle(&r->why, "several comparisons of row and column hide its scores");
  r->form->causal = causal;
  return true;
}

static bool hide(reader *r, double number) {
  tp_attention_form *f = r->form;
  if (!(number < 0) || (f->hides && f->hidden != number))
    return tp__form_obstacle(&r->why,
                             "hidden scores have several numbers, or one that is not negative");
  f->hides = true;
  f->hidden = number;
  return true;
}

/* ---- numbers ---- */

static bool read_term(reader *r, tp_score_origin o, term *t);

static bool read_input(reader *r, tp_score_origin o, int input, term *t) {
  const tp_attention *a = r->form->a;
  MlirValue value = mlirOperationGetOperand(o.op->op, input);
  int maker = tp__score_producer(a, value);
  *t = (term){0};
  if (maker >= 0 && a->ops[maker].role == TP_SCORES) {
    t->scale = 1;
    return true;
  }
  if (tp__read_number(value, &t->add))
    return true;
  if (maker >= 0 && a->ops[maker].role == TP_BEFORE && a->ops[maker].nest.is_written)
    return read_term(r, tp__form_yielded(&a->ops[maker]), t);
  const tp_attention_op *made = mask_op(a, o, input);
  tp_attention_form before = *r->form;
  if (made && read_term(r, tp__form_yielded(made), t))
    return true;
  *r->form = before;
  r->why = NULL;
  *t = (term){.has_mask = true};
  return take_mask(r, o.op, input, TPRT_ATTENTION_ADD);
}

static bool read_sum(reader *r, tp_score_origin o, MlirOperation op, double sign, term *t) {
  term x, y;
  if (!read_term(r, tp__form_operand_of(o, op, 0), &x) ||
      !read_term(r, tp__form_operand_of(o, op, 1), &y))
    return false;
  if (y.has_mask && sign < 0)
    return tp__form_obstacle(&r->why, "a mask is subtracted");
  int n_conditions = r->n_conditions;
  if (n_conditions && r->form->hides && r->form->hidden > far_hidden)
    return tp__form_obstacle(&r->why, "something is added to hidden scores");
  if ((x.inner != 0 || y.inner != 0) && x.scale != 0 && y.scale != 0)
    return tp__form_obstacle(&r->why, unsupported);
  *t = (term){x.scale + sign * y.scale, x.add + sign * y.add, x.has_mask || y.has_mask,
              x.inner + y.inner};
  return true;
}

static bool read_product(reader *r, tp_score_origin o, MlirOperation op, bool divides, term *t) {
  term x, y;
  int n_conditions = r->n_conditions;
  if (!read_term(r, tp__form_operand_of(o, op, 0), &x) ||
      !read_term(r, tp__form_operand_of(o, op, 1), &y))
    return false;
  const term *number = is_number(&y) ? &y : &x, *other = is_number(&y) ? &x : &y;
  if (!is_number(number) || (divides && number != &y))
    return tp__form_obstacle(&r->why, "its scores are multiplied or divided by more than a number");
  double factor = divides ? 1 / number->add : number->add;
  if (factor != 1 && (other->has_mask || r->n_conditions != n_conditions))
    return tp__form_obstacle(&r->why, "scores are multiplied behind a mask");
  *t = (term){other->scale * factor, other->add * factor, other->has_mask, other->inner};
  return true;
}

/* Either branch of a select is the hidden score. A program may also select between 0 and the hidden
 * score, and add that. */
static bool read_select(reader *r, tp_score_origin o, MlirOperation op, term *t) {
  for (int hidden = 2; hidden > 0; hidden--) {
    term number;
    tp_attention_form before = *r->form;
    bool is_hidden = read_term(r, tp__form_operand_of(o, op, hidden), &number) &&
                     is_number(&number) && number.add < 0;
    if (!is_hidden) {
      *r->form = before;
      r->why = NULL;
      continue;
    }
    if (!read_term(r, tp__form_operand_of(o, op, 3 - hidden), t))
      return false;
    if (is_number(t) && (t->add != 0 || number.add > far_hidden))
      return tp__form_obstacle(&r->why, "a mask selects between two numbers");
    return hide(r, number.add) && read_condition(r, tp__form_operand_of(o, op, 0), hidden == 1);
  }
  return tp__form_obstacle(&r->why, "a select between scores has no constant");
}

/* A tanh of scaled products alone. */
static bool read_tanh(reader *r, tp_score_origin o, MlirOperation op, term *t) {
  term x;
  int n_conditions = r->n_conditions;
  if (!read_term(r, tp__form_operand_of(o, op, 0), &x))
    return false;
  if (x.scale == 0 || x.add != 0 || x.has_mask || x.inner != 0 || r->n_conditions != n_conditions)
    return tp__form_obstacle(&r->why, unsupported);
  *t = (term){.scale = 1, .inner = x.scale};
  return true;
}

static bool read_term(reader *r, tp_score_origin o, term *t) {
  int input = tp__score_input(o);
  MlirOperation op = tp__defining_op(o.value);
  *t = (term){0};
  if (input >= 0)
    return read_input(r, o, input, t);
  if (tp__read_number(o.value, &t->add))
    return true;
  if (mlirOperationIsNull(op))
    return tp__form_obstacle(&r->why, unknown);
  if (tp__op_is(op, "arith.addf") || tp__op_is(op, "arith.subf"))
    return read_sum(r, o, op, tp__op_is(op, "arith.addf") ? 1 : -1, t);
  if (tp__op_is(op, "arith.mulf") || tp__op_is(op, "arith.divf"))
    return read_product(r, o, op, tp__op_is(op, "arith.divf"), t);
  if (tp__op_is(op, "arith.extf") || tp__op_is(op, "arith.truncf"))
    return read_term(r, tp__form_operand_of(o, op, 0), t);
  if (tp__op_is(op, "arith.select"))
    return read_select(r, o, op, t);
  if (tp__op_is(op, "math.tanh"))
    return read_tanh(r, o, op, t);
  return tp__form_obstacle(&r->why, unsupported);
}

const char *tp__form_scores(tp_attention_form *form, const tp_mesh *mesh) {
  const tp_attention *a = form->a;
  reader r = {.form = form, .mesh = mesh};
  term t = {1, 0, false, 0};
  MlirValue scores = mlirOperationGetOperand(a->ops[a->maximum].op, 0);
  int maker = tp__score_producer(a, scores);
  if (maker < 0 || (a->ops[maker].role != TP_SCORES && !a->ops[maker].nest.is_written))
    return unsupported;
  if (a->ops[maker].role != TP_SCORES && !read_term(&r, tp__form_yielded(&a->ops[maker]), &t))
    return r.why;
  if (t.scale == 0 || !isfinite(t.scale) || !isfinite(t.inner) || t.add != 0)
    return "its scores are not a multiple of products of queries and keys";
  form->scale = t.inner != 0 ? t.scale * t.inner : t.scale;
  form->cap = t.inner != 0 ? fabs(t.scale) : 0;
  return NULL;
}
