/* Searches for plans whose estimated memory exceeds the limit, but which keep it when written.
 *
 * The solver's memory estimate is never less than the memory a plan holds, but may be more. A plan
 * whose estimate exceeds the limit is written into a copy of the module, where its memory is
 * measured (trial_plan.c), with routes and without (unrouted_plan.c). */
#include "passes/propagate/limits/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  ROUNDS = 6,    /* larger capacities that are tried */
  SHARE = 4,     /* each gets at most 1/SHARE of the work, and none starts once it is spent */
  OVER_SHARE = 4 /* of a large function, 1/OVER_SHARE of its work goes to these plans */
};
#define UNLIMITED (INT64_MAX - 1)
/* A plan is written once its distance from the bound is this share of what it gains. */
#define OF_GAIN 0.5

/* Solves the stated problem with a capacity in bytes, fixed ones included. TP_INFEASIBLE: no plan
 * was found, and `solution` has no choices. */
static tp_status solve_within(tp_planner *p, tp_solver_options options, int64_t capacity,
                              tp_solution *solution) {
  int64_t fixed = tp__routes_fixed_bytes(p->routes);
  *solution = (tp_solution){0};
  tp_status status = tp_problem_set_limit(p->stated, capacity - fixed);
  if (status == TP_OK)
    status = tp_solve(p->stated, &options, solution);
  if (status == TP_OK || status == TP_INFEASIBLE)
    status =
        tp_problem_set_limit(p->stated, p->limits.memory - fixed) == TP_OK ? status : TP_INTERNAL;
  return status == TP_OK || status == TP_INFEASIBLE ? status : tp__solver_failed(p, status);
}

/* ---- the best plan ---- */

/* Makes the plan of `other` the best, with routes. */
static void take(tp_overestimates *o, tp_solution *other) {
  int64_t work = o->best.work;
  tp__free(o->unrouted);
  o->unrouted = NULL;
  o->cost = other->cost;
  tp_solution_clear(&o->best);
  o->best = *other;
  o->best.work = work;
  *other = (tp_solution){0};
}

void tp__overestimates_take_unrouted(tp_overestimates *o, tp_solution *other, tp_cost cost) {
  tp_cost bound = other->lower_bound;
  tp__free(o->unrouted);
  o->unrouted = other->choices;
  other->choices = NULL;
  o->cost = cost;
  if (bound > o->best.lower_bound || !o->best.choices)
    o->best.lower_bound = bound;
  o->best.method = other->method;
}

/* True if the plans differ in their routes at most, which a plan without routes does not have. */
static bool are_same_without_routes(const tp_planner *p, const int *a, const int *b) {
  bool same = true;
  for (size_t i = 0; same && i < p->problem.n_nodes; i++)
    same = a[i] == b[i] || tp__is_of_routes(&p->problem.nodes[i]);
  return same;
}

/* Measures a plan without its routes; capacities that are close to each other give the same one. */
static tp_status measure_unrouted(tp_overestimates *o, const tp_solution *other) {
  tp_planner *p = o->stated;
  tp_unrouted_trial *last = &o->trial;
  size_t n = p->problem.n_nodes;
  if (last->choices && are_same_without_routes(p, last->choices, other->choices))
    return TP_OK;
  if (!last->choices)
    last->choices = tp__arena_array(p->problem.arena, n + 1, sizeof *last->choices);
  if (!last->choices)
    return tp__plan_no_memory(p);
  memcpy(last->choices, other->choices, n * sizeof *last->choices);
  last->held = tp__unrouted_peak(p, other, &last->cost, NULL);
  return TP_OK;
}

/* Takes the plan found within `capacity` if it costs less and keeps the limit. Else the bound of
 * that capacity becomes a bound for the limit. */
static tp_status take_if_kept(tp_overestimates *o, int64_t capacity, tp_solution *other) {
  tp_planner *p = o->stated;
  int64_t counted = (int64_t)other->peak.low + tp__routes_fixed_bytes(p->routes), held;
  bool is_cheaper = other->choices && other->cost < o->cost, is_taken = false;
  tp_status status = TP_OK;
  o->best.work += other->work;
  if (is_cheaper && (held = tp__written_peak(p, other)) <= p->limits.memory) {
    p->result.is_cut_short |= other->stopped;
    take(o, other);
    is_taken = true;
  } else if (is_cheaper) {
    o->excess = held < INT64_MAX ? counted - held : o->excess;
    status = measure_unrouted(o, other);
    is_taken = status == TP_OK && o->trial.held <= p->limits.memory && o->trial.cost < o->cost;
    p->result.is_cut_short |= is_taken && other->stopped;
    if (is_taken)
      tp__overestimates_take_unrouted(o, other, o->trial.cost);
  }
  if (is_cheaper && !is_taken) {
    o->high = capacity < counted ? capacity : counted;
    o->high_cost = other->cost;
  } else {
    o->low = capacity;
  }
  if (!is_cheaper && o->cost < TP_COST_FORBIDDEN && other->lower_bound > o->best.lower_bound)
    o->best.lower_bound = other->lower_bound;
  tp_solution_clear(other);
  return status;
}

tp_status tp__overestimates_choose(tp_overestimates *o) {
  tp_planner *p = o->stated;
  tp_solution *best = &o->best;
  if (best->lower_bound > o->cost) /* a bound from a capacity below the estimate of the best plan */
    best->lower_bound = o->cost;
  if (!o->unrouted && !best->choices)
    return TP_INFEASIBLE;
  tp_status status = TP_OK;
  if (o->unrouted)
    status = tp__unrouted_take(p, o->unrouted);
  else
    tp__choose(p, best);
  p->result.cost = o->unrouted ? o->cost : best->cost;
  p->result.method = best->method;
  p->result.width = best->width;
  return status;
}

/* ---- stating the problem ---- */

/* True if nothing can be gained or measured. A restricted planner cannot be measured, because a
 * module that is read again has all strategies. */
static bool is_final(const tp_planner *p, const tp_solution *best) {
  return p->is_restricted || tp__clock_is_over(p->limits.clock) || tp__limit_is_impossible(p) ||
         (best->cost < TP_COST_FORBIDDEN && (double)(best->cost - best->unlimited_bound) <=
                                                p->limits.gap * (double)best->unlimited_bound);
}

/* The same for a large function, whose problem is not stated yet. In a huge one, the strategies of
 * plans that keep the limit are too few to save what such plans cost. */
static bool is_final_large(const tp_search *s) {
  return !s->priced.sketch.problem.nodes || s->is_over || s->p->is_restricted || tp__is_huge(s) ||
         s->priced.left <= 0 || tp__clock_is_over(s->p->limits.clock) ||
         tp__limit_is_impossible(&s->priced.sketch) ||
         (s->best.cost < TP_COST_FORBIDDEN &&
          (double)(s->best.cost - s->floor) <= TP_NEAR / s->p->limits.effort * (double)s->floor);
}

/* States the problem for the strategies of all plans found, or for all strategies tried if these
 * are few. */
static tp_status state_large(tp_search *s) {
  tp_overestimates *o = &s->over;
  int64_t n_entries;
  const bool *const *kept = tp__select_strategies(s, s->priced.must, s->threshold, &n_entries);
  if (kept && n_entries > TP_FEW_ENTRIES)
    kept = tp__select_strategies(s, s->priced.must, TP_ONLY_FOUND, &n_entries);
  if (!kept)
    return tp__plan_no_memory(s->p);
  o->stated = &o->reduced;
  o->options = tp__priced_options(&s->priced, OVER_SHARE);
  o->best.cost = o->cost = s->best.cost;
  return tp__state_strategies(s->p, kept, true, &o->reduced);
}

/* ---- the cheapest plan without a limit ---- */

static bool unlimited_applies(const tp_search *s) {
  return s->over.stated ? !is_final(s->over.stated, &s->over.best)
                        : s->is_large && !is_final_large(s);
}

static tp_status run_unlimited(tp_search *s) {
  tp_overestimates *o = &s->over;
  tp_status status = o->stated ? TP_OK : state_large(s);
  if (status != TP_OK || is_final(o->stated, &o->best))
    return status;
  o->low = s->p->limits.memory;
  o->high = UNLIMITED;
  tp_solution cheapest;
  status = solve_within(o->stated, o->options, UNLIMITED, &cheapest);
  if (status != TP_OK)
    return status == TP_INFEASIBLE ? TP_OK : status;
  o->has_floor = true;
  o->floor = cheapest.lower_bound;
  return take_if_kept(o, UNLIMITED, &cheapest);
}

/* The plan that is cheapest without a limit: if it keeps the limit as written, it is optimal. Its
 * cost is a bound on all plans: this is the relaxation without the limit. */
const tp_search_row tp__unlimited_row = {"unlimited", unlimited_applies, run_unlimited};

/* ---- larger capacities ---- */

/* The conditions that end the search within a capacity. */
typedef struct capacity_end {
  tp_cost cost; /* no plan there is cheaper than this, the cost of the best plan */
  bool is_exact;
  double gap; /* or, unless it must be exact, the plan found is cheaper and this near the bound */
  tp_clock *clock; /* or the time is over */
  bool is_coarse, is_late;
} capacity_end;

static bool is_done(const tp_solver_progress *progress, void *data) {
  capacity_end *end = data;
  double bound = tp_exact_cost_value(progress->lower_bound);
  double cost = progress->found ? tp_exact_cost_value(progress->cost) : INFINITY;
  double gain = end->cost < TP_COST_FORBIDDEN ? (double)end->cost - cost : 0;
  end->is_coarse |= !end->is_exact && cost < (double)end->cost &&
                    cost - bound <= fmax(end->gap * bound, OF_GAIN * gain);
  end->is_late |= tp__clock_is_over(end->clock);
  return end->is_coarse || end->is_late || bound >= (double)end->cost;
}

static bool capacities_apply(const tp_search *s) {
  return s->over.has_floor && s->over.cost > s->over.floor;
}

/* Solves within a capacity, and takes the plan if it keeps the limit. A plan is written as soon as
 * it is nearly the cheapest, because most plans do not keep the limit. If it does, *again asks for
 * the cheapest one within the same capacity. */
static tp_status try_capacity(tp_search *s, int64_t capacity, bool *again) {
  tp_overestimates *o = &s->over;
  tp_solver_options options = o->options;
  tp_solution other;
  capacity_end end = {.cost = o->cost,
                      .is_exact = *again,
                      .gap = TP_NEAR / s->p->limits.effort,
                      .clock = s->p->limits.clock};
  options.work_budget = options.work_budget / SHARE + 1;
  options.interrupted = is_done;
  options.data = &end;
  tp_status status = solve_within(o->stated, options, capacity, &other);
  if (status != TP_OK && status != TP_INFEASIBLE)
    return status;
  other.stopped = end.is_late;
  status = take_if_kept(o, capacity, &other);
  *again = end.is_coarse && end.cost > o->cost;
  return status;
}

/* True if plans within larger capacities can be cheaper by little only, in a large function, whose
 * plan is not improved further then. */
static bool is_near(const tp_search *s) {
  const tp_overestimates *o = &s->over;
  return s->is_large &&
         (double)(o->cost - o->high_cost) <= TP_NEAR / s->p->limits.effort * (double)o->high_cost;
}

static tp_status run_capacities(tp_search *s) {
  tp_overestimates *o = &s->over;
  const tp_plan_limits *limits = &s->p->limits;
  int64_t max_work = o->best.work + o->options.work_budget, capacity = 0;
  tp_status status = TP_OK;
  bool again = false;
  for (int round = 0; round < ROUNDS && o->high - o->low > 1 && o->best.work < max_work &&
                      !is_near(s) && !tp__clock_is_over(limits->clock) && status == TP_OK;
       round++) {
    if (!again)
      capacity = limits->memory + o->excess;
    if (!again && (round % 2 == 1 || capacity <= o->low || capacity >= o->high))
      capacity = o->low + (o->high - o->low) / 2;
    status = try_capacity(s, capacity, &again);
  }
  return status;
}

/* The problem is solved with larger capacities, between the limit and the estimate of the cheapest
 * plan. A solution costs no more than any plan whose estimate fits; its bound is that of the larger
 * capacity, so it holds for all plans whose estimate fits too. Capacities are bisected, and
 * alternate with the limit plus the overestimate of the last plan. */
const tp_search_row tp__capacities_row = {"capacities", capacities_apply, run_capacities};
