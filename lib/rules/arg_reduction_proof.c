/* Proves by enumeration of all cases that a pick can combine the results of two parts. */
#include "rules/arg_reduction_proof.h"

#include <math.h>

/* The values of the outputs, or of the candidates of an iteration. The numbers represent all
 * relative orders of three values. */
typedef struct state {
  double v[TP_MAX_PICKED];
} state;

enum { NUMBERS = 3, MAX_STATES = 128, NO_STATE = 255 };

typedef struct states {
  int n;
  state list[MAX_STATES];
} states;

/* All cases: the states that outputs can have, the candidates that can be offered, and the
 * resulting states, by index. */
typedef struct cases {
  states held, offers;
  int n_starts;                         /* the first of `held` are initial values */
  uint8_t next[MAX_STATES][MAX_STATES]; /* [state][offer]: after one more iteration */
  /* [state][state]: of two parts; NO_STATE if the result is not a possible state */
  uint8_t combined[MAX_STATES][MAX_STATES];
} cases;

static bool same_number(double a, double b) { return isnan(a) ? isnan(b) : a == b; }

static int find_state(const tp_arg_reduction *pick, const states *set, const state *s) {
  for (int i = 0; i < set->n; i++) {
    bool same = true;
    for (int k = 0; k < pick->n && same; k++)
      same = same_number(set->list[i].v[k], s->v[k]);
    if (same)
      return i;
  }
  return NO_STATE;
}

/* Evaluates output k of the body for given accumulators and candidates. */
static double run_steps(const tp_arg_reduction *pick, int k, const state *held,
                        const double *candidates) {
  double v[TP_MAX_PICK_STEPS];
  for (int i = 0; i <= pick->yields[k]; i++) {
    const tp__arg_reduction_step *s = &pick->steps[i];
    if (s->kind >= 0) {
      double operands[3] = {v[s->operands[0]], v[s->operands[1]], v[s->operands[2]]};
      v[i] = tp__arg_reduction_ops[s->kind].eval(s->index, operands);
    } else {
      v[i] = s->kind == TP_PICK_ACCUMULATOR ? held->v[s->index]
             : s->kind == TP_PICK_CANDIDATE ? candidates[s->index]
                                            : s->index;
    }
  }
  return v[pick->yields[k]];
}

static state iterate(const tp_arg_reduction *pick, const state *held, const state *offered) {
  state next = {0};
  for (int k = 0; k < pick->n; k++)
    next.v[k] = run_steps(pick, k, held, offered->v);
  return next;
}

static state combine(const tp_arg_reduction *pick, const state *held, const state *part) {
  state next = {0};
  for (int k = 0; k < pick->n; k++) {
    double candidates[TP_MAX_PICKED];
    for (int c = 0; c < pick->n_candidates; c++)
      candidates[c] = part->v[pick->stands_for[k][c]];
    next.v[k] = run_steps(pick, k, held, candidates);
  }
  return next;
}

/* Enumerates all combinations of numbers of the sorts `sorts[0..n)`; floats include NaN. Entries of
 * `tied` that name an earlier entry copy it. */
static bool all_states(const tp_arg_reduction *pick, int n, const int *sorts, const int *tied,
                       states *all) {
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

/* True if outputs of one sort hold the same number, or NaN. Otherwise three numbers would not cover
 * all cases. */
static bool is_simple(const tp_arg_reduction *pick, const state *s) {
  for (int k = 0; k < pick->n; k++)
    for (int l = 0; l < k; l++)
      if (pick->candidate_of[k] == pick->candidate_of[l] && !isnan(s->v[k]) && !isnan(s->v[l]) &&
          s->v[k] != s->v[l])
        return false;
  return true;
}

/* Adds every state that the loop can reach, and fills the tables. */
static bool fill_cases(const tp_arg_reduction *pick, cases *c) {
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

/* Lists the states that a loop can reach from `start`. Returns their number. */
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

/* Every part of the loop starts from the same initial value, so combining with it must change
 * nothing. It remains to check that
 *
 *   combine(a, part + one more iteration) == combine(a, part) + one more iteration.
 *
 * By induction over the iterations of the second part, combining then equals continuing the
 * loop. */
static bool goes_on(const cases *c, int start) {
  uint8_t reached[MAX_STATES];
  int n = reach(c, start, reached);
  for (int i = 0; i < n; i++) {
    const uint8_t *with = c->combined[reached[i]];
    if (with[start] != reached[i])
      return false;
    for (int j = 0; j < n; j++)
      for (int e = 0; e < c->offers.n; e++)
        if (with[reached[j]] == NO_STATE ||
            with[c->next[reached[j]][e]] != c->next[with[reached[j]]][e])
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

bool tp__arg_reduction_prove(tp_arg_reduction *pick, const int *same_init) {
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
