/* Searches for plans whose estimated memory exceeds the limit, but which keep it when written.
 *
 * The solver's memory estimate is never less than the memory a plan holds, but may be more. A plan
 * whose estimate exceeds the limit is written into a copy of the module, where its memory is
 * measured (trial_plan.c), with routes and without (unrouted_plan.c). */
#include "passes/propagate/limits/search.h"

#include <stdlib.h>
#include <string.h>

enum {
  ROUNDS = 6,    /* larger capacities that are tried */
  SHARE = 4,     /* each gets at most 1/SHARE of the work, and none starts once it is spent */
  OVER_SHARE = 4 /* of a large function, 1/OVER_SHARE of its work goes to these plans */
};
#define UNLIMITED (INT64_MAX - 1)

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

/* Takes the plan found within `capacity` if it costs less and keeps the limit. Else the bound of
 * that capacity becomes a bound for the limit. */
static void take_if_kept(tp_overestimates *o, int64_t capacity, tp_solution *other) {
  tp_planner *p = o->stated;
  int64_t counted = (int64_t)other->peak.low + tp__routes_fixed_bytes(p->routes), held;
  bool is_cheaper = other->choices && other->cost < o->cost, is_taken = false;
  tp_cost cost;
  o->best.work += other->work;
  if (is_cheaper && (held = tp__written_peak(p, other)) <= p->limits.memory) {
    p->result.is_cut_short |= other->stopped;
    take(o, other);
    is_taken = true;
  } else if (is_cheaper) {
    o->excess = held < INT64_MAX ? counted - held : o->excess;
    is_taken = tp__unrouted_peak(p, other, &cost, NULL) <= p->limits.memory && cost < o->cost;
    p->result.is_cut_short |= is_taken && other->stopped;
    if (is_taken)
      tp__overestimates_take_unrouted(o, other, cost);
  }
  if (is_cheaper && !is_taken)
    o->high = capacity < counted ? capacity : counted;
  else
    o->low = capacity;
  if (!is_cheaper && o->cost < TP_COST_FORBIDDEN && other->lower_bound > o->best.lower_bound)
    o->best.lower_bound = other->lower_bound;
  tp_solution_clear(other);
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

/* The same for a large function, whose problem is not stated yet. */
static bool is_final_large(const tp_search *s) {
  return !s->priced.sketch.problem.nodes || s->is_over || s->p->is_restricted ||
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
  take_if_kept(o, UNLIMITED, &cheapest);
  return TP_OK;
}

/* The plan that is cheapest without a limit: if it keeps the limit as written, it is optimal. Its
 * cost is a bound on all plans: this is the relaxation without the limit. */
const tp_search_row tp__unlimited_row = {"unlimited", unlimited_applies, run_unlimited};

/* ---- larger capacities ---- */

/* The condition that ends the search within a capacity: no plan there is cheaper than the best, or
 * the time is over. */
typedef struct capacity_end {
  tp_cost cost;
  const tp_clock *clock;
} capacity_end;

static bool is_done(const tp_solver_progress *progress, void *data) {
  const capacity_end *end = data;
  return tp_exact_cost_value(progress->lower_bound) >= (double)end->cost ||
         tp__clock_is_over(end->clock);
}

static bool capacities_apply(const tp_search *s) {
  return s->over.has_floor && s->over.cost > s->over.floor;
}

static tp_status run_capacities(tp_search *s) {
  tp_overestimates *o = &s->over;
  const tp_plan_limits *limits = &s->p->limits;
  tp_solver_options options = o->options;
  int64_t max_work = o->best.work + options.work_budget;
  options.work_budget = options.work_budget / SHARE + 1;
  for (int round = 0; round < ROUNDS && o->high - o->low > 1 && o->best.work < max_work &&
                      !tp__clock_is_over(limits->clock);
       round++) {
    int64_t capacity = limits->memory + o->excess;
    if (round % 2 == 1 || capacity <= o->low || capacity >= o->high)
      capacity = o->low + (o->high - o->low) / 2;
    tp_solution other;
    capacity_end end = {o->cost, limits->clock};
    options.interrupted = is_done;
    options.data = &end;
    tp_status status = solve_within(o->stated, options, capacity, &other);
    if (status != TP_OK && status != TP_INFEASIBLE)
      return status;
    take_if_kept(o, capacity, &other);
  }
  return TP_OK;
}

/* The problem is solved with larger capacities, between the limit and the estimate of the cheapest
 * plan. A solution costs no more than any plan whose estimate fits; its bound is that of the larger
 * capacity, so it holds for all plans whose estimate fits too. Capacities are bisected, and
 * alternate with the limit plus the overestimate of the last plan. */
const tp_search_row tp__capacities_row = {"capacities", capacities_apply, run_capacities};
