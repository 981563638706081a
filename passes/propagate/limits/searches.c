/* The table of searches, and the plan that they lead to. */
#include "passes/propagate/limits/search.h"

#include <stdlib.h>
#ifdef TP_SEARCH_ABLATION
#include <stdio.h>
#include <string.h>
#endif

enum { N_QUICK = 4 };

static const tp_search_row *const rows[] = {
    &tp__seed_row,         &tp__neighborhood_row, /* little time, no memory limit */
    &tp__price_row,        &tp__tried_row,        /* little time within a memory limit */
    &tp__slack_row,                               /* a memory limit, and time */
    &tp__many_row,                                /* many axes, no memory limit */
    &tp__whole_row,                               /* small functions, or no memory limit */
    &tp__cheapest_row,     &tp__ascent_row,       /* large functions within a memory limit */
    &tp__generation_row,   &tp__nearest_row,      /* the same; the latter for huge functions */
    &tp__reduced_cost_row,                        /* the same */
    &tp__unlimited_row,    &tp__k_best_row,       /* plans that are counted with too much memory */
    &tp__capacities_row,                          /* the same */
};

/* ---- ablation ---- */

#ifdef TP_SEARCH_ABLATION
/* bench/limits/measure.py leaves out one search, and learns which ones run. */
static bool is_left_out(const char *name) {
  const char *without = getenv("TP_WITHOUT_SEARCH");
  bool out = without && strcmp(without, name) == 0;
  if (!out)
    fprintf(stderr, "search: %s\n", name);
  return out;
}
#else
static bool is_left_out(const char *name) {
  (void)name;
  return false;
}
#endif

/* ---- the plan ---- */

/* A bound above the cost of the plan is not hidden: it would be wrong. */
static void take_found(tp_search *s, tp_cost bound) {
  tp_planner *p = s->p, *from = &s->best.planner;
  p->result.cost = from->result.cost;
  p->result.overlapped = from->result.overlapped;
  p->result.width = from->result.width;
  p->result.method = s->best.method;
  p->result.bound = bound;
  p->result.is_cut_short |= s->best.is_early;
  tp__planner_take(p, from);
}

static tp_status take_unrouted(tp_search *s, tp_cost bound) {
  tp_planner *p = s->p;
  tp_status status = tp__unrouted_take(p, s->best.unrouted);
  p->result.cost = s->best.cost;
  p->result.method = s->best.method;
  p->result.bound = bound < p->result.cost ? bound : p->result.cost;
  p->result.is_cut_short |= s->best.is_early;
  return status;
}

/* Takes the plan of few strategies if it is cheaper than that of all of them. */
static tp_status finish_unlimited(tp_search *s) {
  tp_planner *p = s->p;
  bool has_plan = s->best.cost < TP_COST_FORBIDDEN;
  if (s->is_solved && (!has_plan || s->best.cost >= tp__plan_worth(p)))
    return TP_OK;
  if (!has_plan)
    return tp__clock_exceeded(p);
  tp_cost bound = tp__min_cost(p);
  bound = s->floor > bound ? s->floor : bound;
  if (s->is_solved && p->result.bound > bound)
    bound = p->result.bound;
  p->result.work += s->best.planner.result.work; /* a limit that is not reached changes nothing */
  take_found(s, bound);
  return TP_OK;
}

static tp_status finish_small(tp_search *s) {
  tp_planner *p = s->p;
  tp_solution *best = &s->over.best;
  tp_status status = tp__overestimates_choose(&s->over);
  if (status == TP_INFEASIBLE)
    return tp__plan_infeasible(p, best);
  p->result.bound = best->lower_bound;
  p->result.work += best->work;
  return status;
}

/* Emits the error that no plan of a large function was found. */
static tp_status fail(tp_search *s) {
  tp_priced *l = &s->priced;
  tp_solution solution = {.peak = s->min_peak, .optimal = l->bound >= TP_COST_FORBIDDEN};
  if (l->sketch.is_given_up)
    return tp__clock_exceeded(s->p);
  tp__sketch_used(&l->sketch, NULL, l->used);
  solution.least_peak_time = tp__priced_peak(l);
  solution.least_peak.low = (uint64_t)l->used[solution.least_peak_time];
  solution.optimal |= l->used[solution.least_peak_time] > l->limit;
  if (s->p->result.is_cut_short && !solution.optimal)
    return tp__clock_exceeded(s->p);
  return tp__plan_infeasible(&l->sketch, &solution);
}

static tp_status finish_large(tp_search *s) {
  tp_planner *p = s->p;
  tp_overestimates *o = &s->over;
  tp_status status = o->stated ? tp__overestimates_choose(o) : TP_INFEASIBLE;
  tp__priced_spend(&s->priced, o->best.work);
  if (status != TP_OK && status != TP_INFEASIBLE)
    return status;
  if (status == TP_OK) {
    p->result.is_cut_short |= o->reduced.result.is_cut_short;
    tp__found_keep(s, &o->reduced);
  }
  if (s->best.cost >= TP_COST_FORBIDDEN)
    return fail(s);
  tp_cost bound = s->priced.bound, min = s->best.is_early ? tp__min_cost(p) : 0;
  bound = min > bound ? min : bound;
  if (s->best.unrouted)
    return take_unrouted(s, bound);
  tp_cost cost = s->best.planner.result.cost;
  take_found(s, bound < cost ? bound : cost);
  return TP_OK;
}

bool tp__has_little_time(const tp_search *s) {
  return s->p->limits.clock->is_limited || tp__clock_is_interrupted();
}

static tp_status run_searches(tp_search *s, size_t n) {
  tp_status status = TP_OK;
  for (size_t i = 0; i < n && status == TP_OK && !s->is_slack; i++)
    if (rows[i]->applies(s) && !is_left_out(rows[i]->name))
      status = rows[i]->run(s);
  return status;
}

/* The searches for little time come first, but it may be known only later that there is little. */
static tp_status run_all(tp_search *s) {
  tp_status status = run_searches(s, TP_LEN(rows));
  bool has_plan = s->best.cost < TP_COST_FORBIDDEN || s->is_solved || s->over.stated;
  if (status == TP_OK && !has_plan && tp__clock_is_interrupted())
    status = run_searches(s, N_QUICK);
  return status;
}

tp_status tp__plan(tp_planner *p) {
  tp_search s = {.p = p,
                 .is_large = tp__is_large(p),
                 .has_many = tp__has_many_strategies(p),
                 .end = p->limits.clock->deadline,
                 .best = {.cost = TP_COST_FORBIDDEN},
                 .threshold = TP_ONLY_FOUND};
  tp_status status;
  /* the bound of that search is about these prices */
  tp_reshard_cache_price_whole_axes(p->problem.reshards, s.has_many);
  p->limits.clock->has_ended = false;
  tp__clock_phase("searching");
  status = run_all(&s);
  if (status == TP_OK)
    status = p->limits.memory < 0 ? finish_unlimited(&s)
             : s.is_slack         ? take_unrouted(&s, s.floor)
             : s.is_large         ? finish_large(&s)
                                  : finish_small(&s);
  /* Also where the clock kept searches from being started */
  p->result.is_cut_short |=
      status == TP_OK && p->limits.clock->has_ended && p->result.cost > p->result.bound;
  tp_reshard_cache_price_whole_axes(p->problem.reshards, false);
  tp_solution_clear(&s.over.best);
  tp__free(s.over.unrouted);
  tp__seeds_close(&s.seeds);
  tp__priced_close(&s.priced);
  tp__planner_drop(&s.over.reduced);
  tp__planner_drop(&s.best.planner);
  return status;
}
