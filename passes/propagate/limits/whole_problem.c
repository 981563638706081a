/* Solves the problem of all strategies. */
#include "passes/propagate/limits/search.h"

/* at least 1/OVER_SHARE of the work goes to plans whose estimated memory exceeds the limit */
enum { OVER_SHARE = 3 };

static bool applies(const tp_search *s) {
  return s->p->limits.memory < 0 ? !s->is_planned : !s->is_large;
}

/* Without a memory limit. Stating the problem may be given up when the time is over. */
static tp_status run_unlimited(tp_search *s) {
  tp_planner *p = s->p;
  if (tp__clock_is_over(p->limits.clock))
    return TP_OK;
  tp__clock_phase("pricing changes of layout");
  tp_status status = tp__plan_state(p);
  tp__clock_phase("searching");
  p->is_given_up = false;
  if (status == TP_OK && p->stated) {
    status = tp__plan_stated(p);
    s->is_solved = true;
  }
  return status;
}

/* Within a memory limit. The problem is small. */
static tp_status run_limited(tp_search *s) {
  tp_planner *p = s->p;
  tp_overestimates *o = &s->over;
  int64_t rest = p->limits.work / OVER_SHARE;
  tp_status status = tp__routes_build(p, false);
  if (status == TP_OK)
    status = tp__plan_make_problem(p, true, &p->stated);
  if (status != TP_OK)
    return status;
  o->options = (tp_solver_options){
      .size = sizeof o->options, .work_budget = p->limits.work - rest, .gap = p->limits.gap};
  tp__clock_limit_solver(p->limits.clock, &o->options);
  p->limits.clock->shows_plans = p->limits.clock->shows_bounds = true;
  status = tp_solve(p->stated, &o->options, &o->best);
  p->limits.clock->shows_plans = p->limits.clock->shows_bounds = false;
  if (status != TP_OK && status != TP_INFEASIBLE)
    return tp__solver_failed(p, status);
  p->result.is_cut_short |= o->best.stopped;
  if (status == TP_INFEASIBLE && !o->best.optimal && o->best.stopped)
    return tp__clock_exceeded(p);
  int64_t left = p->limits.work - o->best.work;
  o->options.work_budget = left > rest ? left : rest;
  o->stated = p;
  o->cost = o->best.cost;
  return TP_OK;
}

static tp_status run(tp_search *s) {
  return s->p->limits.memory < 0 ? run_unlimited(s) : run_limited(s);
}

/* The solver's exact elimination, messages and branching; see include/tp/solver.h. */
const tp_search_row tp__whole_row = {"whole", applies, run};
