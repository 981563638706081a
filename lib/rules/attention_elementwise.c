/* Recognizes the elementwise ops of attention, before and after the exponential. */
#include "rules/attention_scan.h"

static bool is_op_of(MlirOperation op, const char *const *names, int n) {
  for (int i = 0; i < n && !mlirOperationIsNull(op); i++)
    if (tp__op_is(op, names[i]))
      return true;
  return false;
}

static const char *exponential_name(MlirOperation scalar) {
  static const char *const names[] = {"math.exp", "math.exp2"};
  for (int i = 0; i < TP_LEN(names); i++)
    if (is_op_of(scalar, &names[i], 1))
      return names[i];
  return NULL;
}

/* Returns the input that `scalar` subtracts from the inner operand; -1: not such a subtraction. */
static int subtracted(const tp_attention_step *s, MlirOperation scalar) {
  if (mlirOperationIsNull(scalar) || !tp__op_is(scalar, "arith.subf"))
    return -1;
  int minuend = tp__nest_input(&s->nest, scalar, 0), rows = tp__nest_input(&s->nest, scalar, 1);
  return minuend == s->inner && rows != s->inner ? rows : -1;
}

/* True if the op has a single user, which is an exponential of its result. */
static bool feeds_exponential(MlirOperation op) {
  MlirValue value = mlirOperationGetResult(op, 0);
  MlirOpOperand use = mlirValueGetFirstUse(value);
  tp_nest nest;
  if (mlirOpOperandIsNull(use))
    return false;
  MlirOperation user = mlirOpOperandGetOwner(use);
  /* the user may also overwrite the value */
  for (; !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use))
    if (!mlirOperationEqual(mlirOpOperandGetOwner(use), user))
      return false;
  if (!tp__nest_of(user, &nest) || !tp__nest_is_elementwise(&nest))
    return false;
  MlirOperation scalar = tp__nest_scalar(&nest);
  int input = exponential_name(scalar) ? tp__nest_input(&nest, scalar, 0) : -1;
  return input >= 0 && mlirValueEqual(mlirOperationGetOperand(user, input), value);
}

static bool add_exponential(tp_attention_finder *f, const tp_attention_step *s,
                            tp_attention_op *op) {
  tp_attention *a = f->a;
  MlirOperation scalar = tp__nest_scalar(&s->nest);
  int inside = tp__nest_input(&s->nest, scalar, 0);
  op->role = TP_EXPONENTIAL;
  a->exp = exponential_name(scalar);
  a->exponential = (int)(op - a->ops);
  if (inside == s->inner)
    return a->ops[s->maker].role == TP_SHIFT;
  int rows =
      s->nest.is_written ? subtracted(s, tp__defining_op(mlirOperationGetOperand(scalar, 0))) : -1;
  return rows >= 0 && tp__attention_rows_of(f, op, rows);
}

/* Adds an op before the exponential, or the exponential. Values reduced from the scores may only be
 * subtracted, and only here. */
bool tp__attention_before(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op) {
  MlirOperation scalar = tp__nest_scalar(&s->nest);
  if (!mlirOperationIsNull(scalar) && exponential_name(scalar) && f->a->exponential == 0) {
    bool is_shifted = f->a->ops[s->maker].role == TP_SHIFT;
    MlirOperation inside = s->nest.is_written ? tp__defining_op(mlirOperationGetOperand(scalar, 0))
                                              : (MlirOperation){NULL};
    if (is_shifted || subtracted(s, inside) >= 0)
      return s->n_inner == 1 && add_exponential(f, s, op);
  }
  int rows = subtracted(s, scalar);
  if (rows >= 0 && s->n_inner == 1 && feeds_exponential(s->op)) {
    op->role = TP_SHIFT;
    return tp__attention_rows_of(f, op, rows);
  }
  op->role = TP_BEFORE;
  return f->a->ops[s->maker].role != TP_SHIFT;
}

/* True if the body only zeroes columns, selected by the column index alone. Exporters mask padding
 * this way. */
static bool masks_columns(const tp_attention_step *s, const tp_attention *a,
                          const tp_attention_op *op) {
  MlirOperation scalar = tp__nest_scalar(&s->nest);
  if (!s->nest.is_written || mlirOperationIsNull(scalar) || !tp__op_is(scalar, "arith.select") ||
      tp__nest_input(&s->nest, scalar, 1) != s->inner ||
      !tp__is_identity(mlirOperationGetOperand(scalar, 2), TP_SUM) ||
      tp__body_depends(&s->nest.body, mlirOperationGetOperand(scalar, 0), UINT64_MAX))
    return false;
  for (MlirOperation o = mlirBlockGetFirstOperation(s->nest.body.block); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(o)) {
    int loop =
        tp__op_is(o, "linalg.index") ? (int)mlirIntegerAttrGetValueInt(tp__inherent(o, "dim")) : -1;
    if (loop >= 0 && (op->loops[loop].n != 1 || op->loops[loop].loops[0] != a->column))
      return false;
  }
  return true;
}

/* True if operand `i` of a scalar op of the body is zero: a constant, or an element of a zero
 * tensor. */
static bool reads_zero(const tp_attention_step *s, MlirOperation scalar, int i) {
  int input = tp__nest_input(&s->nest, scalar, i);
  return input >= 0
             ? tp__is_zero_tensor(mlirOperationGetOperand(s->op, input))
             : s->nest.is_written && tp__is_identity(mlirOperationGetOperand(scalar, i), TP_SUM);
}

/* Takes input `input` as the row values of the op, if it has no columns. */
static bool take_rows(tp_attention_finder *f, tp_attention_op *op, int input, tp_row_scale scale) {
  int n_ops = f->a->n_ops;
  op->scale = scale;
  if (tp__attention_rows_of(f, op, input)) {
    op->role = TP_SCALE;
    op->is_scaled = true;
    return true;
  }
  f->a->n_ops = n_ops;
  op->rows = (MlirValue){NULL};
  op->n_rows = 0;
  return false;
}

/* Adds a select between the inner value and zero, by a condition per row, with which exporters zero
 * fully masked rows ("safe" softmax), or per score, which drops weights (dropout). */
static bool add_selection(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op) {
  MlirOperation scalar = tp__nest_scalar(&s->nest);
  int condition = tp__nest_input(&s->nest, scalar, 0);
  bool keeps_first = tp__nest_input(&s->nest, scalar, 1) == s->inner,
       keeps_second = tp__nest_input(&s->nest, scalar, 2) == s->inner;
  if (condition < 0 || condition == s->inner || keeps_first == keeps_second ||
      !reads_zero(s, scalar, keeps_first ? 2 : 1))
    return false;
  op->drops = !take_rows(f, op, condition, keeps_first ? TP_SCALE_ZERO_UNLESS : TP_SCALE_ZERO_IF);
  op->condition = condition;
  return true;
}

/* Adds an op after the exponential. It must commute with sums along the columns: a row scale is
 * applied to the sums, any other op to the blocks. */
bool tp__attention_after(tp_attention_finder *f, const tp_attention_step *s, tp_attention_op *op) {
  static const char *const conversions[] = {"arith.extf", "arith.truncf"};
  MlirOperation scalar = tp__nest_scalar(&s->nest);
  if (s->n_inner != 1)
    return false;
  op->role = TP_AFTER;
  if (tp__nest_copies(&s->nest) || masks_columns(s, f->a, op))
    return true;
  if (is_op_of(scalar, conversions, TP_LEN(conversions)))
    return tp__nest_input(&s->nest, scalar, 0) == s->inner;
  if (!mlirOperationIsNull(scalar) && tp__op_is(scalar, "arith.select"))
    return add_selection(f, s, op);
  bool divides = !mlirOperationIsNull(scalar) && tp__op_is(scalar, "arith.divf");
  if (!divides && (mlirOperationIsNull(scalar) || !tp__op_is(scalar, "arith.mulf")))
    return false;
  int x = tp__nest_input(&s->nest, scalar, 0), y = tp__nest_input(&s->nest, scalar, 1);
  int other = x == s->inner ? y : x;
  if (x < 0 || y < 0 || x == y || (divides && x != s->inner))
    return false;
  /* without row values, it is a factor per score */
  (void)take_rows(f, op, other, divides ? TP_SCALE_DIVIDE : TP_SCALE_MULTIPLY);
  return true;
}
