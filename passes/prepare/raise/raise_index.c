/* Analyzes integers in the body of a generic: finds those that are a loop index plus a constant, or
 * a constant. */
#include "passes/prepare/raise/raise.h"

typedef struct query {
  const tp__generic *generic;
  int budget; /* number of ops that may still be visited; operands are followed as a tree */
} query;

typedef bool (*evaluate)(query *q, MlirOperation op, tp__index *index);

static bool eval(query *q, MlirValue value, tp__index *index);
static bool decide(query *q, MlirValue value, bool *truth);

void tp__index_bounds(const tp__generic *generic, tp__index index, int64_t *lo, int64_t *hi) {
  *lo = (index.loop < 0 ? 0 : generic->lo[index.loop]) + index.offset;
  *hi = (index.loop < 0 ? 0 : generic->hi[index.loop]) + index.offset;
}

/* True if the type can hold all values of the index. An index type has at least 32 bits. */
static bool fits(const query *q, tp__index index, MlirType type) {
  unsigned width = mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 32;
  /* loop bounds and offsets are small enough that tp__index_bounds does not overflow */
  int64_t lo, hi, far = INT64_C(1) << 62;
  if (index.offset < -far || index.offset > far ||
      (index.loop >= 0 && q->generic->hi[index.loop] > INT32_MAX))
    return false;
  int64_t greatest = width == 64 ? INT64_MAX : ((int64_t)1 << (width - 1)) - 1;
  tp__index_bounds(q->generic, index, &lo, &hi);
  return lo >= -greatest - 1 && hi <= greatest;
}

/* Compares a < b. Returns 1 for always, 0 for never, -1 for unknown. */
static int less(const query *q, tp__index a, tp__index b) {
  int64_t a_lo, a_hi, b_lo, b_hi;
  if (a.loop == b.loop)
    return a.offset < b.offset;
  tp__index_bounds(q->generic, a, &a_lo, &a_hi);
  tp__index_bounds(q->generic, b, &b_lo, &b_hi);
  return a_hi < b_lo ? 1 : a_lo >= b_hi ? 0 : -1;
}

static bool is_negative_somewhere(const query *q, tp__index index) {
  int64_t lo, hi;
  tp__index_bounds(q->generic, index, &lo, &hi);
  return lo < 0;
}

/* ---- comparisons ---- */

/* Predicates of arith.cmpi: a < b, or b < a if `swap`, negated if `negate`. */
static const struct {
  bool swap, negate, is_unsigned;
} predicates[] = {
    [2] = {false, false, false}, /* slt */
    [3] = {true, true, false},   /* sle */
    [4] = {true, false, false},  /* sgt */
    [5] = {false, true, false},  /* sge */
    [6] = {false, false, true},  /* ult */
    [7] = {true, true, true},    /* ule */
    [8] = {true, false, true},   /* ugt */
    [9] = {false, true, true},   /* uge */
};

static bool decide_compare(query *q, MlirOperation op, bool *truth) {
  tp__index a, b;
  int64_t predicate = mlirIntegerAttrGetValueInt(tp__inherent(op, "predicate"));
  if (!eval(q, mlirOperationGetOperand(op, 0), &a) || !eval(q, mlirOperationGetOperand(op, 1), &b))
    return false;
  if (predicate < 2) { /* eq, ne */
    int ab = less(q, a, b), ba = less(q, b, a);
    bool differ = ab == 1 || ba == 1;
    *truth = differ == (predicate == 1);
    return differ || (ab == 0 && ba == 0);
  }
  if (predicates[predicate].is_unsigned &&
      (is_negative_somewhere(q, a) || is_negative_somewhere(q, b)))
    return false;
  int known = predicates[predicate].swap ? less(q, b, a) : less(q, a, b);
  *truth = (known == 1) != predicates[predicate].negate;
  return known >= 0;
}

static bool decide(query *q, MlirValue value, bool *truth) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) || q->budget-- <= 0 || !mlirTypeIsAInteger(mlirValueGetType(value)))
    return false;
  if (tp__op_is(op, "arith.cmpi"))
    return decide_compare(q, op, truth);
  MlirAttribute constant =
      tp__op_is(op, "arith.constant") ? tp__inherent(op, "value") : (MlirAttribute){NULL};
  if (mlirAttributeIsNull(constant) || !mlirAttributeIsAInteger(constant))
    return false;
  *truth = mlirIntegerAttrGetValueInt(constant) != 0;
  return true;
}

/* ---- ops that choose one of their operands ---- */

static const struct {
  const char *name;
  bool greater, is_unsigned;
} extremes[] = {
    {"arith.maxsi", true, false},
    {"arith.minsi", false, false},
    {"arith.maxui", true, true},
    {"arith.minui", false, true},
};

static bool choice(query *q, MlirOperation op, int *which) {
  bool truth;
  tp__index a, b;
  if (tp__op_is(op, "arith.select")) {
    if (!decide(q, mlirOperationGetOperand(op, 0), &truth))
      return false;
    *which = truth ? 1 : 2;
    return true;
  }
  for (int i = 0; i < TP_LEN(extremes); i++) {
    if (!tp__op_is(op, extremes[i].name))
      continue;
    if (!eval(q, mlirOperationGetOperand(op, 0), &a) ||
        !eval(q, mlirOperationGetOperand(op, 1), &b) ||
        (extremes[i].is_unsigned && (is_negative_somewhere(q, a) || is_negative_somewhere(q, b))))
      return false;
    if (less(q, a, b) == 0) /* a >= b */
      *which = extremes[i].greater ? 0 : 1;
    else if (less(q, b, a) == 0)
      *which = extremes[i].greater ? 1 : 0;
    else
      return false;
    return true;
  }
  return false;
}

static bool eval_choice(query *q, MlirOperation op, tp__index *index) {
  int which;
  return choice(q, op, &which) && eval(q, mlirOperationGetOperand(op, which), index);
}

/* ---- values ---- */

static bool eval_constant(query *q, MlirOperation op, tp__index *index) {
  (void)q;
  MlirAttribute value = tp__inherent(op, "value");
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAInteger(value))
    return false;
  *index = (tp__index){-1, mlirIntegerAttrGetValueInt(value)};
  return true;
}

static bool eval_loop(query *q, MlirOperation op, tp__index *index) {
  /* the structured op that the loop belongs to */
  MlirOperation owner = mlirOperationGetParentOperation(op);
  while (!mlirOperationIsNull(owner) && !tp__op_has_dialect(owner, "linalg"))
    owner = mlirOperationGetParentOperation(owner);
  int loop = (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
  if (!mlirOperationEqual(owner, q->generic->op) || q->generic->hi[loop] < q->generic->lo[loop])
    return false;
  *index = (tp__index){loop, 0};
  return true;
}

/* Casts keep the value if the new type can hold it. eval checks that. */
static bool eval_cast(query *q, MlirOperation op, tp__index *index) {
  return eval(q, mlirOperationGetOperand(op, 0), index);
}

static bool eval_unsigned_cast(query *q, MlirOperation op, tp__index *index) {
  return eval_cast(q, op, index) && !is_negative_somewhere(q, *index);
}

static bool eval_add(query *q, MlirOperation op, tp__index *index) {
  tp__index a, b;
  if (!eval(q, mlirOperationGetOperand(op, 0), &a) ||
      !eval(q, mlirOperationGetOperand(op, 1), &b) || (a.loop >= 0 && b.loop >= 0))
    return false;
  index->loop = a.loop >= 0 ? a.loop : b.loop;
  return !__builtin_add_overflow(a.offset, b.offset, &index->offset);
}

static bool eval_subtract(query *q, MlirOperation op, tp__index *index) {
  tp__index a, b;
  if (!eval(q, mlirOperationGetOperand(op, 0), &a) ||
      !eval(q, mlirOperationGetOperand(op, 1), &b) || (b.loop >= 0 && b.loop != a.loop))
    return false;
  index->loop = b.loop >= 0 ? -1 : a.loop;
  return !__builtin_sub_overflow(a.offset, b.offset, &index->offset);
}

static const struct {
  const char *name;
  evaluate eval;
} evaluators[] = {
    {"arith.constant", eval_constant},   {"linalg.index", eval_loop},
    {"arith.index_cast", eval_cast},     {"arith.extsi", eval_cast},
    {"arith.trunci", eval_cast},         {"arith.index_castui", eval_unsigned_cast},
    {"arith.extui", eval_unsigned_cast}, {"arith.addi", eval_add},
    {"arith.subi", eval_subtract},       {"arith.select", eval_choice},
    {"arith.maxsi", eval_choice},        {"arith.minsi", eval_choice},
    {"arith.maxui", eval_choice},        {"arith.minui", eval_choice},
};

/* Evaluates `value`. Each intermediate result fits its type, so no addition or cast wrapped
 * around. */
static bool eval(query *q, MlirValue value, tp__index *index) {
  MlirOperation op = tp__defining_op(value);
  MlirType type = mlirValueGetType(value);
  bool is_index = mlirTypeIsAIndex(type);
  if (mlirOperationIsNull(op) || q->budget-- <= 0 ||
      !(is_index || (mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) <= 64)))
    return false;
  for (int i = 0; i < TP_LEN(evaluators); i++)
    if (tp__op_is(op, evaluators[i].name))
      return evaluators[i].eval(q, op, index) && fits(q, *index, type);
  return false;
}

enum { BUDGET = 200 };

bool tp__index_of(const tp__generic *generic, MlirValue value, tp__index *index) {
  query q = {generic, BUDGET};
  return eval(&q, value, index);
}

bool tp__truth_of(const tp__generic *generic, MlirValue value, bool *truth) {
  query q = {generic, BUDGET};
  return decide(&q, value, truth);
}

bool tp__choice_of(const tp__generic *generic, MlirOperation op, int *which) {
  query q = {generic, BUDGET};
  return choice(&q, op, which);
}
