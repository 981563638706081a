/* The problem of the routes for some strategies of a large function, which is never stated as a
 * whole. */
#include "passes/propagate/limits/search.h"

enum {
  FOUND_SHARE = 2,  /* 1/FOUND_SHARE of the work goes to the strategies of plans that were found */
  BETTER_SHARE = 4, /* 1/BETTER_SHARE of it if there is a plan, which these may improve */
  PROOF_SHARE = 16  /* 1/PROOF_SHARE if the plan is good enough and little can be gained */
};
/* entries of a function for whose strategies lower bounds take too long */
#define HUGE_ENTRIES (50 * (int64_t)TP_FEW_ENTRIES)
#define FOUND_GAP 0.0005 /* accepted gap for the strategies of plans that were found */
#define GOOD 0.001       /* gap below which more strategies serve only the proof */

static int64_t entries(const tp_planner *p, const size_t *n_kept) {
  int64_t sum = 0;
  for (size_t k = 0; k < p->problem.n_values; k++)
    for (int u = 0; u < p->problem.values[k].n_uses; u++) {
      int a = p->problem.values[k].node, b = p->problem.values[k].uses[u].node;
      sum += n_kept ? (int64_t)(n_kept[a] * n_kept[b])
                    : (int64_t)p->problem.nodes[a].n * p->problem.nodes[b].n;
    }
  return sum;
}

bool tp__is_large(const tp_planner *p) { return entries(p, NULL) > TP_FEW_ENTRIES; }

bool tp__is_huge(const tp_search *s) {
  return s->best.cost < TP_COST_FORBIDDEN && entries(s->p, NULL) > HUGE_ENTRIES;
}

const bool *const *tp__select_strategies(const tp_search *s, const bool *must, tp_cost threshold,
                                         int64_t *n_entries) {
  const tp_priced *l = &s->priced;
  const tp_planner *p = s->p;
  const bool **rows = tp__arena_array(p->problem.arena, l->n_first + 1, sizeof(const bool *));
  bool *kept = tp__arena_array(p->problem.arena, l->offset[l->n_first] + 1, sizeof *kept);
  size_t *n_kept = tp__arena_array(p->problem.arena, l->n_first + 1, sizeof *n_kept);
  if (!rows || !kept || !n_kept)
    return NULL;
  for (size_t i = 0; i < l->n_first; i++) {
    rows[i] = kept + l->offset[i];
    for (size_t at = l->offset[i]; at < l->offset[i + 1]; at++)
      n_kept[i] += kept[at] = must[at] || l->reduced_cost[at] < threshold;
  }
  *n_entries = entries(p, n_kept);
  return rows;
}

tp_status tp__state_strategies(const tp_planner *p, const bool *const *kept, bool limited,
                               tp_planner *reduced) {
  tp_status status = tp__planner_copy(p, reduced);
  if (status == TP_OK)
    status = tp__planner_cut(reduced, kept);
  if (status == TP_OK)
    status = tp__routes_build(reduced, false);
  return status == TP_OK ? tp__plan_make_problem(reduced, limited, &reduced->stated) : status;
}

void tp__choose(tp_planner *p, const tp_solution *solution) {
  for (size_t i = 0; i < p->problem.n_nodes; i++)
    p->problem.nodes[i].chosen = solution->choices[i];
  p->result.cost = solution->cost;
  p->result.method = solution->method;
  p->result.width = solution->width;
}

/* Marks the strategies of a solution, by their numbers among all strategies. */
static void keep_chosen(tp_priced *l, const tp_planner *reduced, const int *choices) {
  for (size_t i = 0, k = 0; i < l->n_first; i++, k++) {
    while (tp__is_of_routes(&reduced->problem.nodes[k]))
      k++;
    int left = choices[k];
    for (int s = 0; s < l->p->problem.nodes[i].n; s++)
      if (reduced->kept[i][s] && left-- == 0)
        tp__priced_keep(l, i, s);
  }
}

/* The divisor of the total work. With more effort, a smaller gap is required before only the proof
 * is left. */
static int share_of(const tp_search *s, tp_cost threshold) {
  if (threshold == TP_ONLY_FOUND)
    return s->best.cost < TP_COST_FORBIDDEN ? BETTER_SHARE : FOUND_SHARE;
  return tp__found_exceeds(s, GOOD / s->p->limits.effort) ? 1 : PROOF_SHARE;
}

tp_status tp__solve_strategies(tp_search *s, tp_cost threshold) {
  tp_priced *l = &s->priced;
  tp_planner reduced;
  tp_solution solution = {0};
  tp_solver_options options = tp__priced_options(l, share_of(s, threshold));
  int64_t n_entries;
  const bool *const *kept = tp__select_strategies(s, l->must, threshold, &n_entries);
  double gap = FOUND_GAP / s->p->limits.effort;
  if (threshold == TP_ONLY_FOUND && options.gap < gap)
    options.gap = gap;
  if (s->best.cost < TP_COST_FORBIDDEN && !s->p->problem.overlaps)
    options.known_cost = s->best.cost;
  if (!kept)
    return tp__plan_no_memory(s->p);
  s->threshold = threshold;
  tp_status status = tp__state_strategies(s->p, kept, true, &reduced);
  if (status != TP_OK) {
    tp__planner_drop(&reduced);
    return status;
  }
  tp__clock_show(s->best.cost, l->bound);
  s->p->limits.clock->shows_plans = true;
  status = tp_solve(reduced.stated, &options, &solution);
  s->p->limits.clock->shows_plans = false;
  if (status != TP_OK && status != TP_INFEASIBLE)
    status = tp__plan_no_memory(s->p);
  if (status == TP_OK || status == TP_INFEASIBLE) {
    s->p->result.is_cut_short |= solution.stopped;
    tp__priced_spend(l, solution.work);
    tp_cost bound = solution.lower_bound < threshold ? solution.lower_bound : threshold;
    l->bound = bound > l->bound ? bound : l->bound;
    tp__priced_take(l, &solution);
    s->min_peak = status == TP_OK ? s->min_peak : solution.peak;
  }
  if (status == TP_OK && solution.cost < s->best.cost) {
    keep_chosen(l, &reduced, solution.choices);
    tp__choose(&reduced, &solution);
    tp__found_keep(s, &reduced);
  }
  tp_solution_clear(&solution);
  tp__planner_drop(&reduced);
  return status == TP_INFEASIBLE ? TP_OK : status;
}
