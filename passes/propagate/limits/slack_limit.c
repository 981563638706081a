/* The plan without a memory limit, if it keeps the limit.
 *
 * Planning within a limit places and prices reshards in another way (unrouted_plan.c), so it could
 * find another plan even where the limit is large enough for every plan. It also takes longer. So
 * the plan without the limit is made first. If it keeps the limit, it is the plan, and its bound is
 * the bound. */
#include "passes/propagate/limits/search.h"

/* By node of the planner, which has no copies: the choices of the plan without a limit. NULL when
 * memory runs out. */
static int *choices_of(const tp_planner *p, const tp_planner *unlimited) {
  int *choices = tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof *choices);
  size_t n = 0;
  for (size_t i = 0; choices && i < unlimited->problem.n_nodes; i++)
    if (unlimited->problem.nodes[i].kind != TP_NODE_COPY)
      choices[n++] = tp__number_among_all(unlimited->kept ? unlimited->kept[i] : NULL,
                                          unlimited->problem.nodes[i].chosen);
  return choices;
}

static tp_status keep_if_slack(tp_search *s, const tp_planner *unlimited) {
  tp_planner *p = s->p;
  int *choices = choices_of(p, unlimited);
  if (!choices)
    return tp__plan_no_memory(p);
  tp_cost cost;
  const tp_solution solution = {.choices = choices, .method = unlimited->result.method};
  p->limits.binds = tp__unrouted_peak(p, &solution, &cost, NULL) > p->limits.memory;
  if (p->limits.binds) {
    s->unlimited = choices;
    return TP_OK;
  }
  tp__found_keep_unrouted(s, choices, cost, unlimited->result.method);
  s->best.is_early = unlimited->result.is_cut_short;
  s->floor = unlimited->result.bound;
  s->is_slack = true;
  return TP_OK;
}

static bool applies(const tp_search *s) {
  const tp_plan_limits *limits = &s->p->limits;
  return limits->memory >= 0 && !limits->binds && !s->p->is_restricted && !tp__has_little_time(s);
}

static tp_status run(tp_search *s) {
  tp_planner unlimited, *p = s->p;
  tp_status status = tp__planner_copy(p, &unlimited);
  unlimited.same_layouts = (tp_memo){0};
  unlimited.limits.memory = -1;
  if (status == TP_OK)
    status = tp__plan_copies(&unlimited);
  if (status == TP_OK)
    status = tp__order_nodes(&unlimited);
  tp__clock_phase("searching without the memory limit");
  if (status == TP_OK)
    status = tp__plan(&unlimited);
  tp__clock_phase("searching");
  p->result.work += unlimited.result.work;
  if (status == TP_OK)
    status = keep_if_slack(s, &unlimited);
  tp__memo_destroy(&unlimited.same_layouts);
  tp__planner_drop(&unlimited);
  return status;
}

const tp_search_row tp__slack_row = {"slack", applies, run};
