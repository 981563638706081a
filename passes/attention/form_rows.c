/* The softmax of attention: what is subtracted from the scores is their largest, and what divides
 * the exponentials is their sum. */
#include "passes/attention/form.h"

#include <math.h>
#include <string.h>

bool tp__form_converts(const tp_nest *nest) {
  static const char *const conversions[] = {"arith.extf", "arith.truncf"};
  MlirOperation scalar = tp__nest_scalar(nest);
  for (int i = 0; i < TP_LEN(conversions); i++)
    if (!mlirOperationIsNull(scalar) && tp__op_is(scalar, conversions[i]))
      return tp__nest_input(nest, scalar, 0) == 0;
  return false;
}

bool tp__form_passes_on(MlirOperation op) {
  tp_nest nest;
  if (tp__is_reshape(op))
    return true;
  return tp__nest_of(op, &nest) && nest.n_inputs == 1 && tp__nest_is_elementwise(&nest) &&
         (tp__nest_copies(&nest) || tp__form_converts(&nest));
}

/* The operand of an elementwise op `name` whose other operand is the number; null: it is no such
 * op. `at`: the place of the number, -1 for any. */
static MlirValue beside_number(MlirOperation op, const char *name, int at, double number) {
  tp_nest nest;
  double got;
  if (!tp__nest_of(op, &nest) || !tp__nest_is_elementwise(&nest))
    return (MlirValue){NULL};
  MlirOperation scalar = tp__nest_scalar(&nest);
  if (mlirOperationIsNull(scalar) || !tp__op_is(scalar, name))
    return (MlirValue){NULL};
  for (int i = 0; i < 2; i++) {
    int input = tp__nest_input(&nest, scalar, 1 - i);
    if ((at < 0 || at == i) && tp__read_number(mlirOperationGetOperand(scalar, i), &got) &&
        got == number && input >= 0)
      return mlirOperationGetOperand(op, input);
  }
  return (MlirValue){NULL};
}

/* True if the rows are the result of op `target`, apart from copies, conversions, and a maximum
 * with -infinity. With `inverse`, they are 1 divided by it. */
static bool rows_are(MlirValue rows, MlirOperation target, bool inverse) {
  enum { FARTHEST = 16 };
  for (int n = 0; n < FARTHEST; n++) {
    MlirOperation op = tp__defining_op(rows);
    if (mlirOperationIsNull(op))
      return false;
    if (mlirOperationEqual(op, target))
      return !inverse;
    if (tp__form_passes_on(op)) {
      rows = mlirOperationGetOperand(op, 0);
      continue;
    }
    MlirValue larger = beside_number(op, "arith.maximumf", -1, -INFINITY),
              number = beside_number(op, "arith.maxnumf", -1, -INFINITY),
              inverted = inverse ? beside_number(op, "arith.divf", 0, 1) : (MlirValue){NULL};
    rows = !mlirValueIsNull(larger) ? larger : !mlirValueIsNull(number) ? number : inverted;
    if (mlirValueIsNull(rows))
      return false;
    inverse = inverse && mlirValueIsNull(inverted);
  }
  return false;
}

/* ---- rows whose scores are all hidden ---- */

/* The op that computes an element of the value, if it is elementwise; else null. */
static MlirOperation scalar_of(MlirOperation op, tp_nest *nest) {
  return !mlirOperationIsNull(op) && tp__nest_of(op, nest) && tp__nest_is_elementwise(nest)
             ? tp__nest_scalar(nest)
             : (MlirOperation){NULL};
}

static bool is_true(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  MlirAttribute number =
      mlirOperationIsNull(op) ? (MlirAttribute){NULL} : tp__inherent(op, "value");
  return !mlirAttributeIsNull(number) && mlirAttributeIsAInteger(number) &&
         mlirIntegerAttrGetValueInt(number) != 0;
}

/* Goes back through copies and negations of bools; *inverted changes with each negation. */
static MlirOperation behind_negations(MlirValue value, bool *inverted) {
  enum { FARTHEST = 16 };
  for (int n = 0; n < FARTHEST; n++) {
    tp_nest nest;
    MlirOperation op = tp__defining_op(value);
    if (mlirOperationIsNull(op))
      return op;
    MlirOperation scalar = scalar_of(op, &nest);
    bool copies = tp__is_reshape(op) || (tp__nest_of(op, &nest) && nest.n_inputs == 1 &&
                                         !nest.reduced && tp__nest_copies(&nest));
    int input = -1;
    for (int i = 0; i < 2 && !mlirOperationIsNull(scalar) && tp__op_is(scalar, "arith.xori"); i++)
      if (is_true(mlirOperationGetOperand(scalar, i)))
        input = tp__nest_input(&nest, scalar, 1 - i);
    if (!copies && input < 0)
      return op;
    *inverted ^= !copies;
    value = mlirOperationGetOperand(op, copies ? 0 : input);
  }
  return (MlirOperation){NULL};
}

/* True if the op compares scores with -infinity; *hidden: whether its result is true for such. */
static bool compares_scores(const tp_attention *a, MlirOperation op, bool *hidden) {
  enum { OEQ = 1, OGT = 2, UEQ = 8, UNE = 13 };
  tp_nest nest;
  double number;
  MlirOperation scalar = scalar_of(op, &nest);
  MlirOperation maximum = a->ops[a->maximum].op;
  if (mlirOperationIsNull(scalar) || !tp__op_is(scalar, "arith.cmpf"))
    return false;
  int64_t predicate = mlirIntegerAttrGetValueInt(tp__inherent(scalar, "predicate"));
  int input = tp__nest_input(&nest, scalar, 0);
  *hidden = predicate == OEQ || predicate == UEQ;
  return input >= 0 && (*hidden || predicate == OGT || predicate == UNE) &&
         tp__read_number(mlirOperationGetOperand(scalar, 1), &number) && number == -INFINITY &&
         mlirValueEqual(tp__attention_arranged(a, mlirOperationGetOperand(op, input)),
                        tp__attention_arranged(a, mlirOperationGetOperand(maximum, 0)));
}

/* True if op i of the attention makes rows 0 whose scores are all -infinity, and no others. */
static bool zeroes_hidden_rows(const tp_attention *a, int i) {
  bool inverted = a->ops[i].scale == TP_SCALE_ZERO_UNLESS, hidden;
  MlirOperation reduction = behind_negations(a->ops[i].rows, &inverted);
  tp_nest nest;
  if (mlirOperationIsNull(reduction) || !tp__nest_of(reduction, &nest) || !nest.reduced ||
      nest.n_inputs != 1)
    return false;
  MlirOperation combiner = tp__defining_op(mlirOperationGetOperand(nest.body.yield, 0)),
                init = tp__defining_op(mlirOperationGetOperand(reduction, 1));
  if (mlirOperationIsNull(init) || !tp__op_is(init, "linalg.fill"))
    return false;
  bool any = !mlirOperationIsNull(combiner) && tp__op_is(combiner, "arith.ori"),
       all = !mlirOperationIsNull(combiner) && tp__op_is(combiner, "arith.andi");
  bool negated = false;
  MlirOperation test = behind_negations(mlirOperationGetOperand(reduction, 0), &negated);
  if (mlirOperationIsNull(test) || !(any || all) ||
      is_true(mlirOperationGetOperand(init, 0)) != all || !compares_scores(a, test, &hidden))
    return false;
  hidden ^= negated;
  return all ? hidden && !inverted : !hidden && inverted;
}

const char *tp__form_softmax(const tp_attention *a, bool *zeroes_hidden) {
  int sum = -1, n_sums = 0, n_maxima = 0, n_scales = 0, scale = -1;
  *zeroes_hidden = false;
  double first;
  MlirOperation maximum = a->ops[a->maximum].op;
  for (int i = 0; i < a->n_ops; i++) {
    tp_attention_role role = a->ops[i].role;
    n_maxima += role == TP_ROW_REDUCTION;
    n_sums += role == TP_ROW_SUM;
    sum = role == TP_ROW_SUM ? i : sum;
    if (role == TP_SCALE && !*zeroes_hidden && zeroes_hidden_rows(a, i)) {
      *zeroes_hidden = true;
      continue;
    }
    n_scales += role == TP_SCALE;
    scale = role == TP_SCALE ? i : scale;
    bool subtracts =
        (role == TP_SHIFT || role == TP_EXPONENTIAL) && !mlirValueIsNull(a->ops[i].rows);
    if (subtracts && !rows_are(a->ops[i].rows, maximum, false))
      return "what is subtracted from the scores is not just their largest one";
  }
  if (n_maxima != 1 + *zeroes_hidden || n_sums != 1)
    return "rows of the scores are reduced to more than their largest score and their sum";
  if (strcmp(a->exp, "math.exp") != 0)
    return "its exponential is not math.exp";
  int last = (int)mlirOperationGetNumOperands(maximum) - 1;
  if (!tp__read_number(mlirOperationGetOperand(maximum, last), &first) || first > -1e30)
    return "the largest score begins with another number than -infinity";
  bool multiplies = n_scales == 1 && a->ops[scale].scale == TP_SCALE_MULTIPLY;
  if (n_scales != 1 || (a->ops[scale].scale != TP_SCALE_DIVIDE && !multiplies) ||
      !rows_are(a->ops[scale].rows, a->ops[sum].op, multiplies))
    return "the exponentials are not just divided by their sum";
  return NULL;
}
