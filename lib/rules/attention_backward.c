/* Finds what kernels of attention and of its gradient do not store. */
#include "rules/attention_backward.h"

#include "ir/diagnostics.h"

#include <string.h>

/* ---- the kernel of attention ---- */

typedef struct body_check {
  bool fits, may_cap; /* may_cap: tanh is allowed */
} body_check;

/* The ops on scores that the kernels have, and those that compute positions and masks. */
static tp_status check_scalar(MlirOperation op, void *data) {
  static const char *const functions[] = {"math.", "complex."};
  body_check *check = data;
  MlirStringRef name = tp__op_name(op);
  if (check->may_cap && tp__op_is(op, "math.tanh"))
    return TP_OK;
  for (int i = 0; i < TP_LEN(functions); i++) {
    size_t n = strlen(functions[i]);
    check->fits &= name.length < n || memcmp(name.data, functions[i], n) != 0;
  }
  return TP_OK;
}

/* True if the op computes elements without functions, but for the tanh of a cap. */
static bool has_plain_body(MlirOperation op, bool may_cap) {
  body_check check = {.fits = true, .may_cap = may_cap};
  (void)check_scalar(op, &check);
  (void)tp__walk(op, check_scalar, &check); /* the visitor does not fail */
  return check.fits;
}

static bool is_kernel_type(MlirValue value) {
  MlirType element = tp__element_type(mlirValueGetType(value));
  return mlirTypeIsAF32(element) || mlirTypeIsAF16(element) || mlirTypeIsABF16(element);
}

bool tp__attention_fits_kernel(const tp_attention *a, int64_t features) {
  int n_maxima = 0, n_sums = 0;
  bool fits = strcmp(a->exp, "math.exp") == 0;
  for (int i = 0; i < 2; i++)
    fits &= is_kernel_type(mlirOperationGetOperand(a->ops[0].op, i)) &&
            is_kernel_type(mlirOperationGetOperand(a->ops[a->output].op, i));
  for (int l = 0; l < a->n_loops; l++)
    fits &= !(a->whole >> l & 1) || a->sizes[l] <= features;
  for (int i = 0; i < a->n_ops && fits; i++) {
    tp_attention_role role = a->ops[i].role;
    n_maxima += role == TP_ROW_REDUCTION;
    n_sums += role == TP_ROW_SUM;
    bool on_scores = role == TP_BEFORE || (role == TP_MASK && !a->ops[i].is_of_dropout);
    fits = !on_scores || has_plain_body(a->ops[i].op, role == TP_BEFORE);
  }
  return fits && n_maxima == 1 && n_sums == 1;
}

/* ---- its gradient ---- */

typedef struct search {
  const tp_attention *a;
  tp_attention_backward *made;
  int64_t n_scores; /* elements of the scores */
  MlirValue *pending;
  size_t n, capacity;
  int n_products;
  bool failed; /* memory ran out */
} search;

static int64_t elements_of(MlirValue value) {
  int rank;
  int64_t shape[TP_MAX_RANK], n = 1;
  if (!tp__static_tensor(mlirValueGetType(value), &rank, shape))
    return 0;
  for (int d = 0; d < rank; d++)
    n *= shape[d];
  return n;
}

static bool is_inside(const search *s, MlirOperation op) {
  return tp__table_get(&s->made->inside, op.ptr) >= 0;
}

static void add_value(search *s, MlirValue value) {
  if (tp__table_get(&s->made->values, value.ptr) >= 0)
    return;
  s->failed |= tp__table_put(&s->made->values, value.ptr, 1) != TP_OK ||
               tp__grow((void **)&s->pending, &s->capacity, s->n + 1, sizeof *s->pending) != TP_OK;
  if (!s->failed)
    s->pending[s->n++] = value;
}

static void add_op(search *s, MlirOperation op) {
  s->failed |= tp__table_put(&s->made->inside, op.ptr, 1) != TP_OK ||
               tp__op_list_add(&s->made->ops, op) != TP_OK;
}

/* True if a value multiplies weights of the attention, as numbers of a dropout do. */
static bool is_factor(const search *s, MlirValue value) {
  for (int i = 0; i < s->a->n_ops; i++) {
    MlirOperation op = s->a->ops[i].op;
    for (intptr_t k = 0; s->a->ops[i].role == TP_AFTER && k < mlirOperationGetNumOperands(op); k++)
      if (mlirValueEqual(mlirOperationGetOperand(op, k), value))
        return true;
  }
  return false;
}

/* An operand as large as the scores is one of them, their gradient or computed from it, a mask, a
 * dropout, or what a row has for each column. */
static bool accept_operand(search *s, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  tp_nest nest;
  if (!tp__is_tensor(mlirValueGetType(value)) || elements_of(value) < s->n_scores ||
      tp__table_get(&s->made->values, value.ptr) >= 0)
    return true;
  MlirType element = tp__element_type(mlirValueGetType(value));
  if ((tp__is_bool(element)) || is_factor(s, value))
    return true;
  if (mlirOperationIsNull(op))
    return false;
  if (is_inside(s, op) || tp__is_zero_tensor(value) || tp__op_is(op, "arith.constant"))
    return true;
  bool is_view = tp__is_reshape(op);
  if (!is_view && !tp__nest_of(op, &nest))
    return false;
  if (!is_view && tp__nest_copies(&nest) && elements_of(mlirOperationGetOperand(op, 0)) == 1)
    return true; /* a number, which other attentions may read, too */
  bool multiplies = !is_view && nest.is_written && nest.reduced &&
                    tp__body_is_contraction(&nest.body) && mlirOperationIsNull(s->made->slopes);
  if (!is_view && !multiplies &&
      (nest.reduced || !tp__nest_is_elementwise(&nest) || !has_plain_body(op, false)))
    return false;
  if (multiplies)
    s->made->slopes = op;
  add_op(s, op);
  add_value(s, value);
  return true;
}

/* Checks what the ops found so far read; this may find further ones. */
static bool accept_operands(search *s, MlirOperation op) {
  tp_nest nest;
  bool fits = true;
  if (tp__is_reshape(op))
    return accept_operand(s, mlirOperationGetOperand(op, 0));
  if (!tp__nest_of(op, &nest) || nest.reduced)
    return true; /* a sum of rows, or a product */
  for (int i = 0; i < nest.n_inputs && fits; i++)
    fits = accept_operand(s, mlirOperationGetOperand(op, i));
  return fits;
}

static bool accept_elementwise(search *s, MlirOperation op, const tp_nest *nest) {
  add_op(s, op);
  add_value(s, mlirOperationGetResult(op, 0));
  return tp__nest_is_elementwise(nest) && has_plain_body(op, false) &&
         elements_of(mlirOperationGetResult(op, 0)) == s->n_scores;
}

/* Accepts an op that reads a value as large as the scores. */
static bool accept_user(search *s, MlirOperation op, int operand) {
  tp_nest nest;
  bool here = mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(s->a->ops[0].op));
  if (is_inside(s, op) || tp__leads_nowhere(op, 0))
    return true;
  if (!here || mlirOperationGetNumResults(op) != 1)
    return false;
  if (tp__is_reshape(op)) {
    add_op(s, op);
    add_value(s, mlirOperationGetResult(op, 0));
    return true;
  }
  if (!tp__nest_of(op, &nest))
    return false;
  bool is_overwritten =
      nest.is_written && operand == nest.n_inputs && !tp__body_reads(&nest.body, operand);
  if (is_overwritten)
    return true;
  if (!nest.reduced)
    return accept_elementwise(s, op, &nest);
  bool multiplies = nest.is_written && tp__body_is_contraction(&nest.body);
  add_op(s, op);
  s->n_products += multiplies;
  return elements_of(mlirOperationGetResult(op, 0)) < s->n_scores || multiplies;
}

static bool follow(search *s) {
  size_t n_checked = 0;
  while ((s->n > 0 || n_checked < s->made->ops.n) && !s->failed) {
    if (s->n == 0) {
      if (!accept_operands(s, s->made->ops.items[n_checked++]))
        return false;
      continue;
    }
    MlirValue value = s->pending[--s->n];
    MlirOpOperand use = mlirValueGetFirstUse(value);
    for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
      if (!accept_user(s, mlirOpOperandGetOwner(use), (int)mlirOpOperandGetOperandNumber(use)))
        return false;
  }
  return s->n_products == 3 && !mlirOperationIsNull(s->made->slopes);
}

tp_status tp__attention_backward(const tp_attention *a, tp_attention_backward *made, bool *found) {
  search s = {
      .a = a, .made = made, .n_scores = elements_of(mlirOperationGetResult(a->ops[0].op, 0))};
  *made = (tp_attention_backward){0};
  for (int i = 0; i < a->n_ops; i++)
    s.failed |= tp__table_put(&made->inside, a->ops[i].op.ptr, 1) != TP_OK;
  for (int i = 0; i < a->n_ops; i++)
    if (tp__attention_is_inner(a->ops[i].role) && a->ops[i].role != TP_MASK)
      add_value(&s, mlirOperationGetResult(a->ops[i].op, 0));
  *found = !s.failed && s.n_scores > 0 && follow(&s);
  tp__free(s.pending);
  return s.failed ? tp__out_of_memory(a->ops[0].op) : TP_OK;
}

void tp__attention_backward_destroy(tp_attention_backward *made) {
  tp__free(made->ops.items);
  tp__table_destroy(&made->inside);
  tp__table_destroy(&made->values);
}
