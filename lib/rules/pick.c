#include "rules/pick.h"

#include <math.h>

/* ---- the ops of such bodies ---- */

enum { EQUAL = 1, GREATER = 2, LESS = 4, UNORDERED = 8 };

static double compare(int relations, const double *v) {
  int relation = isnan(v[0]) || isnan(v[1]) ? UNORDERED : v[0] < v[1] ? LESS : v[0] > v[1] ? GREATER : EQUAL;
  return (relations & relation) != 0;
}

/* false, oeq, ogt, oge, olt, ole, one, ord, ueq, ugt, uge, ult, ule, une, uno, true. */
static double compare_floats(int predicate, const double *v) {
  bool with_unordered = predicate >= 8 && predicate != 14;
  return compare(predicate < 8 ? predicate : with_unordered ? UNORDERED | (predicate - 7) : UNORDERED, v);
}

/* eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge. Numbers of one sort are compared signed or unsigned, not both; each is an order. */
static double compare_integers(int predicate, const double *v) {
  static const int bits[] = {EQUAL,           LESS | GREATER, LESS,         LESS | EQUAL, GREATER,
                             GREATER | EQUAL, LESS,           LESS | EQUAL, GREATER,      GREATER | EQUAL};
  return compare(bits[predicate], v);
}

static double choose(int unused, const double *v) {
  (void)unused;
  return v[0] != 0 ? v[1] : v[2];
}

static double maximum(int unused, const double *v) {
  (void)unused;
  return isnan(v[0]) || isnan(v[1]) ? (double)NAN : fmax(v[0], v[1]);
}

static double minimum(int unused, const double *v) {
  (void)unused;
  return isnan(v[0]) || isnan(v[1]) ? (double)NAN : fmin(v[0], v[1]);
}

static double maximum_number(int unused, const double *v) {
  (void)unused;
  return fmax(v[0], v[1]);
}

static double minimum_number(int unused, const double *v) {
  (void)unused;
  return fmin(v[0], v[1]);
}

static double both(int unused, const double *v) {
  (void)unused;
  return v[0] != 0 && v[1] != 0;
}

static double either(int unused, const double *v) {
  (void)unused;
  return v[0] != 0 || v[1] != 0;
}

static double one_of(int unused, const double *v) {
  (void)unused;
  return (v[0] != 0) != (v[1] != 0);
}

/* What an op takes and gives: truth values (i1), or numbers of one sort. */
typedef enum shape { COMPARE, CHOOSE, EXTREME, LOGIC } shape;
typedef enum sign { NO_SIGN, SIGNED, UNSIGNED, BY_PREDICATE } sign;

static const struct pick_op {
  const char *name;
  shape shape;
  sign sign;
  double (*eval)(int predicate, const double *v);
} ops[] = {
    {"arith.cmpf", COMPARE, NO_SIGN, compare_floats},
    {"arith.cmpi", COMPARE, BY_PREDICATE, compare_integers},
    {"arith.select", CHOOSE, NO_SIGN, choose},
    {"scf.if", CHOOSE, NO_SIGN, choose},
    {"arith.maximumf", EXTREME, NO_SIGN, maximum},
    {"arith.minimumf", EXTREME, NO_SIGN, minimum},
    {"arith.maxnumf", EXTREME, NO_SIGN, maximum_number},
    {"arith.minnumf", EXTREME, NO_SIGN, minimum_number},
    {"arith.maxsi", EXTREME, SIGNED, maximum},
    {"arith.minsi", EXTREME, SIGNED, minimum},
    {"arith.maxui", EXTREME, UNSIGNED, maximum},
    {"arith.minui", EXTREME, UNSIGNED, minimum},
    {"arith.andi", LOGIC, NO_SIGN, both},
    {"arith.ori", LOGIC, NO_SIGN, either},
    {"arith.xori", LOGIC, NO_SIGN, one_of},
};

/* Kinds of steps that are no row. */
enum { ACCUMULATOR = -1, CANDIDATE = -2, TRUTH = -3 };

static int find_op(MlirOperation op) {
  for (int i = 0; !mlirOperationIsNull(op) && i < TP_LEN(ops); i++)
    if (tp__op_is(op, ops[i].name))
      return i;
  return -1;
}

static MlirValue branch_value(MlirOperation op, int region, MlirValue result) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  return mlirOperationGetOperand(mlirBlockGetTerminator(block), mlirOpResultGetResultNumber(result));
}

/* Operands in the order that the evaluation wants them; a choice has three. */
static int operands_of(MlirOperation op, int row, MlirValue result, MlirValue *operands) {
  int n = ops[row].shape == CHOOSE ? 3 : 2;
  bool branches = mlirOperationGetNumRegions(op) == 2;
  for (int i = 0; i < n; i++)
    operands[i] = branches && i > 0 ? branch_value(op, i - 1, result) : mlirOperationGetOperand(op, i);
  return n;
}

static bool is_truth(MlirValue value) {
  MlirType type = mlirValueGetType(value);
  return mlirTypeIsAInteger(type) && mlirIntegerTypeGetWidth(type) == 1;
}

/* ---- candidates ---- */

/* The number of the accumulator; -1 for other values. */
static int accumulator_of(const tp_pick *pick, MlirValue value) {
  for (int k = 0; k < pick->n; k++)
    if (mlirValueEqual(value, mlirBlockGetArgument(pick->body.block, pick->body.n_inputs + k)))
      return k;
  return -1;
}

static bool is_independent(const tp_pick *pick, MlirValue value) {
  return !tp__body_depends(&pick->body, value, ~UINT64_C(0) << pick->body.n_inputs);
}

/* Finds the one value, besides its accumulator, that output k may be. */
static bool find_candidate(const tp_pick *pick, int k, MlirValue value, int depth, MlirValue *candidate) {
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
  if (row < 0 || depth == MAX_DEPTH || (ops[row].shape != CHOOSE && ops[row].shape != EXTREME))
    return false;
  int n = operands_of(op, row, value, operands);
  for (int i = n == 3; i < n; i++) /* a choice does not yield its condition */
    if (!find_candidate(pick, k, operands[i], depth + 1, candidate))
      return false;
  return true;
}

static bool read_candidates(tp_pick *pick) {
  for (int k = 0; k < pick->n; k++) {
    MlirValue candidate = {NULL};
    int c = 0;
    if (!tp__body_reads(&pick->body, pick->body.n_inputs + k) ||
        !find_candidate(pick, k, mlirOperationGetOperand(pick->body.yield, k), 0, &candidate) || mlirValueIsNull(candidate) ||
        is_truth(candidate))
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
  tp_pick *pick;
  uint32_t sorts_with[4]; /* by sign: the sorts that are compared so */
  int depth;              /* of operands of operands */
} reading;

static int add_step(reading *r, tp__pick_step step) {
  if (r->pick->n_steps == TP_MAX_PICK_STEPS)
    return -1;
  r->pick->steps[r->pick->n_steps] = step;
  return r->pick->n_steps++;
}

/* Not more than one sort: numbers of two sorts are not compared, so that three of each and NaN are all the cases there are. */
static bool is_one_sort(uint32_t sorts) { return sorts != 0 && (sorts & (sorts - 1)) == 0; }

/* Do the operands fit the op, and which sorts are its results? */
static bool check_sorts(reading *r, const struct pick_op *row, tp__pick_step *step) {
  const tp__pick_step *steps = r->pick->steps;
  uint32_t a = steps[step->operands[0]].sorts, b = steps[step->operands[1]].sorts;
  sign s = row->sign == BY_PREDICATE ? (step->index < 2 ? NO_SIGN : step->index < 6 ? SIGNED : UNSIGNED) : row->sign;
  r->sorts_with[s] |= a | b;
  switch (row->shape) {
  case COMPARE:
    step->sorts = 0;
    return is_one_sort(a | b) || (a == 0 && b == 0 && s == NO_SIGN);
  case EXTREME:
    step->sorts = a | b;
    return is_one_sort(a | b);
  case LOGIC:
    return a == 0 && b == 0 && is_truth(step->value);
  case CHOOSE:
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
  MlirAttribute constant =
      !mlirOperationIsNull(op) && tp__op_is(op, "arith.constant") ? tp__inherent(op, "value") : (MlirAttribute){NULL};
  if (!mlirAttributeIsNull(constant) && is_truth(value))
    return add_step(r, (tp__pick_step){.value = value, .kind = TRUTH, .index = mlirIntegerAttrGetValueInt(constant) != 0});
  if (row < 0 || r->depth == TP_MAX_PICK_STEPS)
    return -1;
  tp__pick_step step = {.value = value, .kind = row};
  int n = operands_of(op, row, value, operands);
  r->depth++;
  for (int i = 0; i < n; i++)
    if ((step.operands[i] = read_step(r, operands[i])) < 0)
      return -1;
  r->depth--;
  if (ops[row].shape == COMPARE)
    step.index = (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "predicate"));
  return check_sorts(r, &ops[row], &step) ? add_step(r, step) : -1;
}

/* The step of a value, after those that it needs; -1 for what is no part of a pick. */
static int read_step(reading *r, MlirValue value) {
  tp_pick *pick = r->pick;
  int accumulator = accumulator_of(pick, value);
  for (int i = 0; i < pick->n_steps; i++)
    if (mlirValueEqual(pick->steps[i].value, value))
      return i;
  if (accumulator >= 0)
    return add_step(
        r, (tp__pick_step){
               .value = value, .kind = ACCUMULATOR, .index = accumulator, .sorts = 1u << pick->candidate_of[accumulator]});
  for (int c = 0; c < pick->n_candidates; c++)
    if (mlirValueEqual(value, pick->candidates[c]))
      return add_step(r, (tp__pick_step){.value = value, .kind = CANDIDATE, .index = c, .sorts = 1u << c});
  return read_op(r, value);
}

static bool read_steps(tp_pick *pick) {
  reading r = {.pick = pick};
  for (int k = 0; k < pick->n; k++)
    if ((pick->yields[k] = read_step(&r, mlirOperationGetOperand(pick->body.yield, k))) < 0)
      return false;
  return !(r.sorts_with[SIGNED] & r.sorts_with[UNSIGNED]);
}

/* ---- the proof ---- */

/* What the outputs hold, or what an iteration offers: numbers that stand for all orders in which three values can be. */
typedef struct state {
  double v[TP_MAX_PICKED];
} state;

enum { NUMBERS = 3, MAX_STATES = 128, NO_STATE = 255 };

typedef struct states {
  int n;
  state list[MAX_STATES];
} states;

/* All cases: what can be held, what can be offered, and what comes of it, as numbers of states. */
typedef struct cases {
  states held, offers;
  int n_starts;                             /* the first of `held` are initial values */
  uint8_t next[MAX_STATES][MAX_STATES];     /* [state][offer]: one more iteration */
  uint8_t combined[MAX_STATES][MAX_STATES]; /* [state][state]: of two parts; NO_STATE where that can not be held */
} cases;

static bool same_number(double a, double b) { return isnan(a) ? isnan(b) : a == b; }

static int find_state(const tp_pick *pick, const states *set, const state *s) {
  for (int i = 0; i < set->n; i++) {
    bool same = true;
    for (int k = 0; k < pick->n && same; k++)
      same = same_number(set->list[i].v[k], s->v[k]);
    if (same)
      return i;
  }
  return NO_STATE;
}

/* Output k of the body, with accumulators and candidates given. */
static double run_steps(const tp_pick *pick, int k, const state *held, const double *candidates) {
  double v[TP_MAX_PICK_STEPS];
  for (int i = 0; i <= pick->yields[k]; i++) {
    const tp__pick_step *s = &pick->steps[i];
    if (s->kind >= 0) {
      double operands[3] = {v[s->operands[0]], v[s->operands[1]], v[s->operands[2]]};
      v[i] = ops[s->kind].eval(s->index, operands);
    } else {
      v[i] = s->kind == ACCUMULATOR ? held->v[s->index] : s->kind == CANDIDATE ? candidates[s->index] : s->index;
    }
  }
  return v[pick->yields[k]];
}

static state iterate(const tp_pick *pick, const state *held, const state *offered) {
  state next = {0};
  for (int k = 0; k < pick->n; k++)
    next.v[k] = run_steps(pick, k, held, offered->v);
  return next;
}

static state combine(const tp_pick *pick, const state *held, const state *part) {
  state next = {0};
  for (int k = 0; k < pick->n; k++) {
    double candidates[TP_MAX_PICKED];
    for (int c = 0; c < pick->n_candidates; c++)
      candidates[c] = part->v[pick->stands_for[k][c]];
    next.v[k] = run_steps(pick, k, held, candidates);
  }
  return next;
}

/* All combinations of the numbers of the sorts `sorts[0..n)`, floats with NaN. Entries of `tied` that name an earlier entry follow it. */
static bool all_states(const tp_pick *pick, int n, const int *sorts, const int *tied, states *all) {
  int digits[TP_MAX_PICKED] = {0}, i = 0;
  all->n = 0;
  while (i < n) {
    state s = {0};
    for (int k = 0; k < n; k++)
      s.v[k] = tied[k] < k ? s.v[tied[k]] : digits[k] == NUMBERS ? (double)NAN : digits[k];
    if (all->n == MAX_STATES)
      return false;
    all->list[all->n++] = s;
    for (i = 0; i < n; i++) { /* count up */
      bool is_float = mlirTypeIsAFloat(mlirValueGetType(pick->candidates[sorts[i]]));
      if (tied[i] == i && ++digits[i] < NUMBERS + is_float)
        break;
      digits[i] = 0;
    }
  }
  return true;
}

/* Outputs of one sort hold one number, or NaN: else three numbers would not be all cases. */
static bool is_simple(const tp_pick *pick, const state *s) {
  for (int k = 0; k < pick->n; k++)
    for (int l = 0; l < k; l++)
      if (pick->candidate_of[k] == pick->candidate_of[l] && !isnan(s->v[k]) && !isnan(s->v[l]) && s->v[k] != s->v[l])
        return false;
  return true;
}

/* Adds everything that the loop can hold, and fills the tables. */
static bool fill_cases(const tp_pick *pick, cases *c) {
  c->n_starts = c->held.n;
  for (int i = 0; i < c->held.n; i++)
    for (int e = 0; e < c->offers.n; e++) {
      state next = iterate(pick, &c->held.list[i], &c->offers.list[e]);
      int found = find_state(pick, &c->held, &next);
      if (found == NO_STATE && c->held.n < MAX_STATES)
        c->held.list[found = c->held.n++] = next;
      if (found == NO_STATE || !is_simple(pick, &c->held.list[i]))
        return false;
      c->next[i][e] = (uint8_t)found;
    }
  for (int i = 0; i < c->held.n; i++)
    for (int j = 0; j < c->held.n; j++) {
      state joined = combine(pick, &c->held.list[i], &c->held.list[j]);
      c->combined[i][j] = (uint8_t)find_state(pick, &c->held, &joined);
    }
  return true;
}

/* The states that a loop can hold which starts from one; returns their number. */
static int reach(const cases *c, int start, uint8_t *reached) {
  bool seen[MAX_STATES] = {false};
  int n = 1;
  reached[0] = (uint8_t)start;
  seen[start] = true;
  for (int i = 0; i < n; i++)
    for (int e = 0; e < c->offers.n; e++) {
      uint8_t next = c->next[reached[i]][e];
      if (!seen[next])
        reached[n++] = next;
      seen[next] = true;
    }
  return n;
}

/* Every part of the loop starts from the same initial value, so that must change nothing when it comes again. Then
 *   combine(a, part + one more iteration) == combine(a, part) + one more iteration:
 * by induction over the iterations of the second part, to combine is to go on with it. */
static bool goes_on(const cases *c, int start) {
  uint8_t reached[MAX_STATES];
  int n = reach(c, start, reached);
  for (int i = 0; i < n; i++) {
    const uint8_t *with = c->combined[reached[i]];
    if (with[start] != reached[i])
      return false;
    for (int j = 0; j < n; j++)
      for (int e = 0; e < c->offers.n; e++)
        if (with[reached[j]] == NO_STATE || with[c->next[reached[j]][e]] != c->next[with[reached[j]]][e])
          return false;
  }
  return true;
}

static bool commutes(const cases *c) {
  for (int i = 0; i < c->held.n; i++)
    for (int e = 0; e < c->offers.n; e++)
      for (int f = 0; f < e; f++)
        if (c->next[c->next[i][e]][f] != c->next[c->next[i][f]][e])
          return false;
  return true;
}

static bool prove(tp_pick *pick, const int *same_init) {
  cases c = {0};
  int sorts[TP_MAX_PICKED], own[TP_MAX_PICKED];
  for (int k = 0; k < TP_MAX_PICKED; k++)
    sorts[k] = own[k] = k;
  if (!all_states(pick, pick->n_candidates, sorts, own, &c.offers) ||
      !all_states(pick, pick->n, pick->candidate_of, same_init, &c.held) || !fill_cases(pick, &c))
    return false;
  for (int i = 0; i < c.n_starts; i++)
    if (!goes_on(&c, i))
      return false;
  pick->any_order = commutes(&c);
  return true;
}

/* ---- reading ---- */

/* The scalar that fills a tensor, or its constant; behind changes of layout. */
static MlirAttribute content(MlirValue *tensor) {
  MlirOperation op = tp__defining_op(*tensor);
  while (!mlirOperationIsNull(op) && tp__op_is(op, "shard.shard")) {
    *tensor = mlirOperationGetOperand(op, 0);
    op = tp__defining_op(*tensor);
  }
  bool filled = !mlirOperationIsNull(op) && (tp__op_is(op, "linalg.fill") || tp__op_is(op, "tensor.splat"));
  MlirOperation scalar = filled ? tp__defining_op(mlirOperationGetOperand(op, 0)) : (MlirOperation){NULL};
  return !mlirOperationIsNull(scalar) && tp__op_is(scalar, "arith.constant") ? tp__inherent(scalar, "value")
                                                                             : (MlirAttribute){NULL};
}

static bool same_content(MlirValue a, MlirValue b) {
  MlirAttribute of_a = content(&a), of_b = content(&b);
  return mlirValueEqual(a, b) || (!mlirAttributeIsNull(of_a) && mlirAttributeEqual(of_a, of_b));
}

/* Where output k of two parts is combined, candidate c is what the second part has in its own output of that candidate; where there are several,
 * in output k itself, else in the first or the last. */
static void assign(tp_pick *pick, bool last) {
  for (int k = 0; k < pick->n; k++)
    for (int c = 0; c < pick->n_candidates; c++) {
      int found = -1;
      for (int l = 0; l < pick->n; l++)
        if (pick->candidate_of[l] == c && (found < 0 || last))
          found = l;
      pick->stands_for[k][c] = pick->candidate_of[k] == c ? k : found;
    }
}

bool tp__pick_read(MlirOperation op, int n_inputs, const MlirValue *inits, tp_pick *pick) {
  int same_init[TP_MAX_PICKED];
  *pick = (tp_pick){.n = (int)mlirOperationGetNumResults(op)};
  if (pick->n == 0 || pick->n > TP_MAX_PICKED || !tp__body_of(op, n_inputs, &pick->body) ||
      pick->body.n_args != n_inputs + pick->n || pick->body.n_args > 64 || !read_candidates(pick) || !read_steps(pick))
    return false;
  for (int k = 0; k < pick->n; k++) {
    same_init[k] = k;
    for (int l = 0; l < k && same_init[k] == k; l++)
      if (pick->candidate_of[l] == pick->candidate_of[k] && same_content(inits[l], inits[k]))
        same_init[k] = l;
  }
  for (int last = 0; last < 2; last++) {
    assign(pick, last);
    if (prove(pick, same_init))
      return true;
  }
  return false;
}

/* ---- building ---- */

MlirValue tp__pick_combine(const tp_pick *pick, int k, MlirOperation where, const MlirValue *held, const MlirValue *offered) {
  MlirValue built[TP_MAX_PICK_STEPS];
  for (int i = 0; i <= pick->yields[k]; i++) {
    const tp__pick_step *s = &pick->steps[i];
    MlirOperation op = tp__defining_op(s->value);
    if (s->kind == ACCUMULATOR)
      built[i] = held[s->index];
    else if (s->kind == CANDIDATE)
      built[i] = offered[pick->stands_for[k][s->index]];
    else if (s->kind == TRUTH)
      built[i] = tp__constant(where, mlirValueGetType(s->value), tp__inherent(op, "value"));
    else if (ops[s->kind].shape == CHOOSE)
      built[i] = tp__select(where, built[s->operands[0]], built[s->operands[1]], built[s->operands[2]]);
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
