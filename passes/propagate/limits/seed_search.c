/* Plans in little time, from a few strategies of every node (seed_strategies.h).
 *
 * The remaining time goes to the problem of all strategies (whole_problem.c). If that finds no
 * cheaper plan in time, the best plan of the few is taken. It is valid and may be far from the
 * cheapest. If no better bound is known, the bound of a plan is the sum of the cheapest strategy of
 * every node. */
#include "passes/propagate/limits/search.h"

#include <string.h>

enum { ROUNDS = 6 }; /* improvement rounds */
#define GRACE 0.4    /* seconds, at least, to select the few; the same again to plan with them */
#define GRACE_OF_OP 5e-6 /* additional seconds for each op */
#define WORTHWHILE 1e-3  /* share of the cost that a round must gain for another one to follow */

/* ---- searches ---- */

/* The few strategies may be infeasible where all together have a plan, and there may be no better
 * plan in time: that is no error. */
static tp_status unless_no_memory(const tp_planner *p, tp_status status) {
  return status == TP_NO_MEMORY ? tp__plan_no_memory(p) : TP_OK;
}

static bool seed_applies(const tp_search *s) {
  return tp__has_little_time(s) && s->p->limits.memory < 0;
}

static tp_status find_first(tp_search *s) {
  tp_clock *clock = s->p->limits.clock;
  double grace = GRACE + GRACE_OF_OP * (double)s->p->problem.graph.n_items;
  tp_planner planned = {0};
  tp__clock_extend(clock, grace);
  tp_status status = tp__seeds_open(s->p, &s->seeds);
  if (status == TP_OK)
    status = tp__seeds_choose(&s->seeds);
  tp__clock_extend(clock, grace);
  if (status == TP_OK)
    status = tp__seeds_plan(&s->seeds, &planned);
  if (status == TP_OK) {
    tp__found_keep(s, &planned);
    s->best.is_early = true;
  }
  tp__planner_drop(&planned);
  return status;
}

static tp_status run_seed(tp_search *s) {
  const tp_planner *p = s->p;
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(
      p->problem.pass->context, tp__discard_diagnostic, NULL, NULL);
  tp_status status = find_first(s);
  mlirContextDetachDiagnosticHandler(p->problem.pass->context, handler);
  if (s->best.cost >= TP_COST_FORBIDDEN)
    tp__clock_extend(p->limits.clock, 0);
  return unless_no_memory(p, status);
}

/* A plan of a few strategies of every node, those that are cheapest by themselves: a restricted
 * problem, as in beam search (Lowerre 1976). Its problem is stated and solved in a fraction of the
 * time of the full problem. */
const tp_search_row tp__seed_row = {"seeds", seed_applies, run_seed};

static bool neighborhood_applies(const tp_search *s) {
  return s->p->limits.memory < 0 && s->best.cost < TP_COST_FORBIDDEN;
}

static tp_status improve(tp_search *s) {
  tp_planner *p = s->p;
  tp_status status = TP_OK;
  bool is_better = true;
  for (int round = 0;
       round < ROUNDS && is_better && status == TP_OK && !tp__clock_is_over(p->limits.clock);
       round++) {
    tp_planner next = {0};
    const int *choices = tp__seeds_chosen(p, &s->best.planner);
    status = choices ? tp__seeds_around(&s->seeds, choices) : TP_NO_MEMORY;
    if (status != TP_OK || tp__clock_is_over(p->limits.clock))
      break;
    status = tp__seeds_plan(&s->seeds, &next);
    tp_cost before = s->best.cost, now = tp__plan_worth(&next);
    is_better =
        status == TP_OK && now < before && (double)(before - now) > WORTHWHILE * (double)before;
    if (status == TP_OK && now < before) {
      tp__found_keep(s, &next);
      s->best.is_early = true;
    }
    tp__planner_drop(&next);
  }
  return status;
}

static tp_status run_neighborhood(tp_search *s) {
  const tp_planner *p = s->p;
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(
      p->problem.pass->context, tp__discard_diagnostic, NULL, NULL);
  tp_status status = improve(s);
  mlirContextDetachDiagnosticHandler(p->problem.pass->context, handler);
  tp__clock_extend(p->limits.clock, 0); /* the grace was for the plans of few strategies */
  return unless_no_memory(p, status);
}

/* All strategies are priced against the plan, the cheapest are added to it, and their problem is
 * solved; this repeats while plans get cheaper: a large neighborhood search (Shaw 1998). */
const tp_search_row tp__neighborhood_row = {"neighborhoods", neighborhood_applies,
                                            run_neighborhood};
