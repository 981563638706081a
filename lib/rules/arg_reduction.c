/* Reads the body of a reduction as a pick, and builds the combination of two parts. */
#include "rules/arg_reduction.h"

#include "rules/arg_reduction_proof.h"

/* ---- ops ---- */

static int find_op(MlirOperation op) {
  for (int i = 0; !mlirOperationIsNull(op) && i < tp__n_arg_reduction_ops; i++)
    if (tp__op_is(op, tp__arg_reduction_ops[i].name))
      return i;
  return -1;
}

static MlirValue branch_value(MlirOperation op, int region, MlirValue result) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  return mlirOperationGetOperand(mlirBlockGetTerminator(block),
                                 mlirOpResultGetResultNumber(result));
}

/* Lists the operands in the order that the evaluation expects. A selection has three. */
static int operands_of(MlirOperation op, int row, MlirValue result, MlirValue *operands) {
  int n = tp__arg_reduction_ops[row].shape == TP_PICK_CHOOSE ? 3 : 2;
  bool branches = mlirOperationGetNumRegions(op) == 2;
  for (int i = 0; i < n; i++)
    operands[i] =
        branches && i > 0 ? branch_value(op, i - 1, result) : mlirOperationGetOperand(op, i);
  return n;
}

/* ---- candidates ---- */

/* Returns the index of the accumulator; -1 for other values. */
static int accumulator_of(const tp_arg_reduction *pick, MlirValue value) {
  for (int k = 0; k < pick->n; k++)
    if (mlirValueEqual(value, mlirBlockGetArgument(pick->body.block, pick->body.n_inputs + k)))
      return k;
  return -1;
}

static bool is_independent(const tp_arg_reduction *pick, MlirValue value) {
  return !tp__body_depends(&pick->body, value, ~UINT64_C(0) << pick->body.n_inputs);
}

/* Finds the only value, apart from its accumulator, that output k may take. */
static bool find_candidate(const tp_arg_reduction *pick, int k, MlirValue value, int depth,
                           MlirValue *candidate) {
  enum { MAX_DEPTH = 6 };
  MlirOperation op = tp__defining_op(value);
  MlirValue operands[3];
  int row = find_op(op), accumulator = accumulator_of(pick, value);
  if (accumulator >= 0)
    return accumulator == k;
  if (is_independent(pick, value)) {
    bool first = mlirValueIsNull(*candidate);
    if (first)
      *candidate = value;
    return first || mlirValueEqual(*candidate, value);
  }
  if (row < 0 || depth == MAX_DEPTH ||
      (tp__arg_reduction_ops[row].shape != TP_PICK_CHOOSE &&
       tp__arg_reduction_ops[row].shape != TP_PICK_EXTREME))
    return false;
  int n = operands_of(op, row, value, operands);
  for (int i = n == 3; i < n; i++) /* a selection does not yield its condition */
    if (!find_candidate(pick, k, operands[i], depth + 1, candidate))
      return false;
  return true;
}

static bool read_candidates(tp_arg_reduction *pick) {
  for (int k = 0; k < pick->n; k++) {
    MlirValue candidate = {NULL};
    int c = 0;
    if (!tp__body_reads(&pick->body, pick->body.n_inputs + k) ||
        !find_candidate(pick, k, mlirOperationGetOperand(pick->body.yield, k), 0, &candidate) ||
        mlirValueIsNull(candidate) || tp__is_bool(mlirValueGetType(candidate)))
      return false;
    while (c < pick->n_candidates && !mlirValueEqual(pick->candidates[c], candidate))
      c++;
    if (c == pick->n_candidates)
      pick->candidates[pick->n_candidates++] = candidate;
    pick->candidate_of[k] = c;
  }
  return true;
}

/* ---- the body as a list of steps ---- */

typedef struct reading {
  tp_arg_reduction *pick;
  uint32_t sorts_with[4]; /* by sign: the sorts that are compared in this way */
  int depth;              /* current nesting of operands */
} reading;

static int add_step(reading *r, tp__arg_reduction_step step) {
  if (r->pick->n_steps == TP_MAX_PICK_STEPS)
    return -1;
  r->pick->steps[r->pick->n_steps] = step;
  return r->pick->n_steps++;
}

/* True for exactly one sort. Numbers of different sorts are never compared, so three numbers of
 * each sort and NaN cover all cases. */
static bool is_one_sort(uint32_t sorts) { return sorts != 0 && (sorts & (sorts - 1)) == 0; }

/* Checks that the operands fit the op, and sets the sorts of its result. */
static bool check_sorts(reading *r, const tp__arg_reduction_op *row, tp__arg_reduction_step *step) {
  const tp__arg_reduction_step *steps = r->pick->steps;
  uint32_t a = steps[step->operands[0]].sorts, b = steps[step->operands[1]].sorts;
  tp__arg_reduction_sign s = row->sign == TP_PICK_BY_PREDICATE
                                 ? (step->index < 2   ? TP_PICK_NO_SIGN
                                    : step->index < 6 ? TP_PICK_SIGNED
                                                      : TP_PICK_UNSIGNED)
                                 : row->sign;
  r->sorts_with[s] |= a | b;
  switch (row->shape) {
  case TP_PICK_COMPARE:
    step->sorts = 0;
    return is_one_sort(a | b) || (a == 0 && b == 0 && s == TP_PICK_NO_SIGN);
  case TP_PICK_EXTREME:
    step->sorts = a | b;
    return is_one_sort(a | b);
  case TP_PICK_LOGIC:
    return a == 0 && b == 0 && tp__is_bool(mlirValueGetType(step->value));
  case TP_PICK_CHOOSE:
    step->sorts = b | steps[step->operands[2]].sorts;
    return a == 0 && (b == 0) == (steps[step->operands[2]].sorts == 0);
  }
  return false;
}

static int read_step(reading *r, MlirValue value);

static int read_op(reading *r, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  MlirValue operands[3];
  int row = find_op(op);
  MlirAttribute constant = !mlirOperationIsNull(op) && tp__op_is(op, "arith.constant")
                               ? tp__inherent(op, "value")
                               : (MlirAttribute){NULL};
  if (!mlirAttributeIsNull(constant) && tp__is_bool(mlirValueGetType(value)))
    return add_step(r,
                    (tp__arg_reduction_step){.value = value,
                                             .kind = TP_PICK_TRUTH,
                                             .index = mlirIntegerAttrGetValueInt(constant) != 0});
  if (row < 0 || r->depth == TP_MAX_PICK_STEPS)
    return -1;
  tp__arg_reduction_step step = {.value = value, .kind = row};
  int n = operands_of(op, row, value, operands);
  r->depth++;
  for (int i = 0; i < n; i++)
    if ((step.operands[i] = read_step(r, operands[i])) < 0)
      return -1;
  r->depth--;
  if (tp__arg_reduction_ops[row].shape == TP_PICK_COMPARE)
    step.index = (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "predicate"));
  return check_sorts(r, &tp__arg_reduction_ops[row], &step) ? add_step(r, step) : -1;
}

/* Returns the step of a value, after adding the steps that it needs; -1 if the value cannot be part
 * of a pick. */
static int read_step(reading *r, MlirValue value) {
  tp_arg_reduction *pick = r->pick;
  int accumulator = accumulator_of(pick, value);
  for (int i = 0; i < pick->n_steps; i++)
    if (mlirValueEqual(pick->steps[i].value, value))
      return i;
  if (accumulator >= 0)
    return add_step(r, (tp__arg_reduction_step){.value = value,
                                                .kind = TP_PICK_ACCUMULATOR,
                                                .index = accumulator,
                                                .sorts = 1u << pick->candidate_of[accumulator]});
  for (int c = 0; c < pick->n_candidates; c++)
    if (mlirValueEqual(value, pick->candidates[c]))
      return add_step(r,
                      (tp__arg_reduction_step){
                          .value = value, .kind = TP_PICK_CANDIDATE, .index = c, .sorts = 1u << c});
  return read_op(r, value);
}

static bool read_steps(tp_arg_reduction *pick) {
  reading r = {.pick = pick};
  for (int k = 0; k < pick->n; k++)
    if ((pick->yields[k] = read_step(&r, mlirOperationGetOperand(pick->body.yield, k))) < 0)
      return false;
  return !(r.sorts_with[TP_PICK_SIGNED] & r.sorts_with[TP_PICK_UNSIGNED]);
}

/* ---- reading ---- */

/* Returns the constant scalar that fills a tensor, looking through reshards. Null if there is
 * none. */
static MlirAttribute content(MlirValue *tensor) {
  MlirOperation op = tp__defining_op(*tensor);
  while (!mlirOperationIsNull(op) && tp__op_is(op, "shard.shard")) {
    *tensor = mlirOperationGetOperand(op, 0);
    op = tp__defining_op(*tensor);
  }
  bool filled =
      !mlirOperationIsNull(op) && (tp__op_is(op, "linalg.fill") || tp__op_is(op, "tensor.splat"));
  MlirOperation scalar =
      filled ? tp__defining_op(mlirOperationGetOperand(op, 0)) : (MlirOperation){NULL};
  return !mlirOperationIsNull(scalar) && tp__op_is(scalar, "arith.constant")
             ? tp__inherent(scalar, "value")
             : (MlirAttribute){NULL};
}

static bool same_content(MlirValue a, MlirValue b) {
  MlirAttribute of_a = content(&a), of_b = content(&b);
  return mlirValueEqual(a, b) || (!mlirAttributeIsNull(of_a) && mlirAttributeEqual(of_a, of_b));
}

/* Chooses the output that takes the place of candidate c when output k of two parts is combined:
 * the second part's output of that candidate. If there are several, output k itself is preferred,
 * otherwise the first or the last. */
static void assign(tp_arg_reduction *pick, bool last) {
  for (int k = 0; k < pick->n; k++)
    for (int c = 0; c < pick->n_candidates; c++) {
      int found = -1;
      for (int l = 0; l < pick->n; l++)
        if (pick->candidate_of[l] == c && (found < 0 || last))
          found = l;
      pick->stands_for[k][c] = pick->candidate_of[k] == c ? k : found;
    }
}

bool tp__arg_reduction_read(MlirOperation op, int n_inputs, const MlirValue *inits,
                            tp_arg_reduction *pick) {
  int same_init[TP_MAX_PICKED];
  *pick = (tp_arg_reduction){.n = (int)mlirOperationGetNumResults(op)};
  if (pick->n == 0 || pick->n > TP_MAX_PICKED || !tp__body_of(op, n_inputs, &pick->body) ||
      pick->body.n_args != n_inputs + pick->n || pick->body.n_args > 64 || !read_candidates(pick) ||
      !read_steps(pick))
    return false;
  for (int k = 0; k < pick->n; k++) {
    same_init[k] = k;
    for (int l = 0; l < k && same_init[k] == k; l++)
      if (pick->candidate_of[l] == pick->candidate_of[k] && same_content(inits[l], inits[k]))
        same_init[k] = l;
  }
  for (int last = 0; last < 2; last++) {
    assign(pick, last);
    if (tp__arg_reduction_prove(pick, same_init))
      return true;
  }
  return false;
}

/* ---- building ---- */

MlirValue tp__arg_reduction_combine(const tp_arg_reduction *pick, int k, MlirOperation where,
                                    const MlirValue *held, const MlirValue *offered) {
  MlirValue built[TP_MAX_PICK_STEPS];
  for (int i = 0; i <= pick->yields[k]; i++) {
    const tp__arg_reduction_step *s = &pick->steps[i];
    MlirOperation op = tp__defining_op(s->value);
    if (s->kind == TP_PICK_ACCUMULATOR)
      built[i] = held[s->index];
    else if (s->kind == TP_PICK_CANDIDATE)
      built[i] = offered[pick->stands_for[k][s->index]];
    else if (s->kind == TP_PICK_TRUTH)
      built[i] = tp__constant(where, mlirValueGetType(s->value), tp__inherent(op, "value"));
    else if (tp__arg_reduction_ops[s->kind].shape == TP_PICK_CHOOSE)
      built[i] =
          tp__select(where, built[s->operands[0]], built[s->operands[1]], built[s->operands[2]]);
    else {
      MlirOperation copy = mlirOperationClone(op);
      for (int o = 0; o < 2; o++)
        mlirOperationSetOperand(copy, o, built[s->operands[o]]);
      tp__insert_before(where, copy);
      built[i] = mlirOperationGetResult(copy, 0);
    }
  }
  return built[pick->yields[k]];
}
