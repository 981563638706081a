/* Prices memory over time in the sketch of a large function under a memory limit, which yields
 * lower bounds for each strategy (priced_sketch.h). */
#include "passes/propagate/limits/priced_sketch.h"

#include "passes/propagate/limits/reduced_planner.h"
#include "support/compare.h"

#include <stdlib.h>
#include <string.h>

enum {
  /* the solve of the sketch without prices gets at most 1/FIRST_SHARE of the work */
  FIRST_SHARE = 2,
  SKETCH_SHARE = 16, /* a solve with prices gets at most 1/SKETCH_SHARE */
  EXACT_SHARE = 3,   /* or 1/EXACT_SHARE for its exact bound */
  IN_ROWS = 4        /* large tables are scanned by rows: IN_ROWS entries take the time of one */
};
#define SKETCH_GAP 0.001 /* accepted gap of priced sketches */
#define MAX_PRICE 0x1p56 /* in fixed point, summed over all times */

tp_status tp__priced_open(tp_priced *l) {
  tp_planner *p = l->p, *sketch = &l->sketch;
  tp_status status = tp__sketch_open(p, sketch);
  if (status != TP_OK)
    return status;
  size_t n_times = l->n_times = tp__sketch_times(sketch);
  l->n_first = p->problem.n_nodes;
  l->limit = p->limits.memory - tp__routes_fixed_bytes(sketch->routes);
  l->left = p->limits.work;
  l->offset = tp__arena_array(p->problem.arena, l->n_first + 1, sizeof *l->offset);
  l->node = tp__arena_array(p->problem.arena, l->n_first + 1, sizeof *l->node);
  l->used = tp__arena_array(p->problem.arena, n_times + 1, sizeof *l->used);
  l->prices = tp__arena_array(p->problem.arena, n_times + 1, sizeof *l->prices);
  l->choices = tp__arena_array(p->problem.arena, sketch->problem.n_nodes + 1, sizeof *l->choices);
  l->price = tp__arena_array(p->problem.arena, n_times + 1, sizeof *l->price);
  l->between = tp__arena_array(p->problem.arena, n_times + 1, sizeof *l->between);
  l->routed = tp__arena_array(p->problem.arena, n_times + 1, sizeof *l->routed);
  l->best = tp__arena_array(p->problem.arena, n_times + 1, sizeof *l->best);
  if (!l->offset || !l->node || !l->used || !l->prices || !l->choices || !l->price || !l->between ||
      !l->best)
    return tp__plan_no_memory(p);
  for (size_t i = 0, k = 0; i < l->n_first; i++, k++) {
    while (tp__is_of_routes(&sketch->problem.nodes[k]))
      k++;
    l->node[i] = (int)k;
    l->offset[i + 1] = l->offset[i] + (size_t)p->problem.nodes[i].n;
  }
  l->must = tp__arena_array(p->problem.arena, l->offset[l->n_first] + 1, sizeof *l->must);
  l->reduced_cost =
      tp__arena_array(p->problem.arena, l->offset[l->n_first] + 1, sizeof *l->reduced_cost);
  l->cheapest = tp__arena_array(p->problem.arena, l->offset[l->n_first] + 1, sizeof *l->cheapest);
  if (!l->must || !l->reduced_cost || !l->cheapest)
    return tp__plan_no_memory(p);
  return tp__plan_make_problem(sketch, false, &l->unpriced);
}

void tp__priced_close(tp_priced *l) {
  tp_problem_destroy(l->unpriced);
  tp__planner_drop(&l->sketch);
}

void tp__priced_set(tp_priced *l, const double *price) {
  double one = (double)((int64_t)1 << TP_PRICE_BITS), max = MAX_PRICE / (double)l->n_times;
  l->current = price;
  for (size_t t = 0; t < l->n_times; t++)
    l->prices[t + 1] = l->prices[t] + (uint64_t)(price[t] * one < max ? price[t] * one : max);
  l->sketch.routes->prices = l->prices[l->n_times] > 0 ? l->prices : NULL;
}

/* Price of the whole capacity, rounded up. TP_COST_FORBIDDEN if it exceeds every cost; then these
 * prices give no bound. */
static tp_cost refund(const tp_priced *l) {
  unsigned __int128 one = (unsigned __int128)1 << TP_PRICE_BITS;
  unsigned __int128 back =
      ((unsigned __int128)l->prices[l->n_times] * (unsigned __int128)l->limit + one - 1) / one;
  return back < (unsigned __int128)TP_COST_FORBIDDEN ? (tp_cost)back : TP_COST_FORBIDDEN;
}

tp_solver_options tp__priced_options(const tp_priced *l, int share) {
  int64_t work = l->p->limits.work / share, left = l->left > 0 ? l->left : 0;
  tp_solver_options options = {.size = sizeof options,
                               .gap = l->p->limits.gap,
                               .work_budget = (work < left ? work : left) + 1};
  tp__clock_limit_solver(l->p->limits.clock, &options);
  return options;
}

void tp__priced_spend(tp_priced *l, int64_t work) {
  l->left -= work;
  l->p->result.work += work;
}

void tp__priced_keep(tp_priced *l, size_t node, int s) {
  bool *must = &l->must[l->offset[node] + (size_t)s];
  l->n_must += !*must;
  *must = true;
}

static void must_keep(tp_priced *l, const int *choices) {
  for (size_t i = 0; i < l->n_first; i++)
    tp__priced_keep(l, i, choices[l->node[i]]);
}

/* Updates the bound from the bound of the sketch at the current prices. */
static void learn_bound(tp_priced *l, tp_cost priced) {
  tp_cost bound = priced - refund(l);
  /* without prices, TP_COST_FORBIDDEN can be a real bound */
  bool overflows = priced >= TP_COST_FORBIDDEN && l->sketch.routes->prices;
  if (bound <= l->bound || overflows)
    return;
  l->bound = bound;
  if (l->current)
    memcpy(l->best, l->current, l->n_times * sizeof *l->best);
}

int64_t tp__priced_peak(const tp_priced *l) {
  size_t at = 0;
  for (size_t t = 1; t < l->n_times; t++)
    at = l->used[t] > l->used[at] ? t : at;
  return (int64_t)at;
}

static void take_choices(tp_priced *l, const int *choices) {
  memcpy(l->choices, choices, l->sketch.problem.n_nodes * sizeof *l->choices);
  must_keep(l, l->choices);
  tp__sketch_used(&l->sketch, l->choices, l->used);
}

/* Makes the problem of the sketch with all other strategies forbidden; none if the time is over. */
static tp_status make_following(tp_priced *l, const int *chosen, tp_problem **made) {
  tp_node *nodes = l->sketch.problem.nodes;
  tp_cost *costs = tp__calloc(l->offset[l->n_first] + 1, sizeof *costs);
  const tp_cost **own = tp__calloc(l->n_first + 1, sizeof(tp_cost *));
  tp_status status = costs && own ? TP_OK : tp__plan_no_memory(l->p);
  for (size_t i = 0; status == TP_OK && i < l->n_first; i++) {
    tp_node *node = &nodes[l->node[i]];
    tp_cost *only = costs + l->offset[i];
    own[i] = node->costs;
    for (int s = 0; s < node->n; s++)
      only[s] = s == chosen[i] ? node->costs[s] : TP_COST_FORBIDDEN;
    node->costs = only;
  }
  if (status == TP_OK)
    status = tp__plan_make_problem(&l->sketch, false, made);
  for (size_t i = 0; own && costs && i < l->n_first; i++)
    nodes[l->node[i]].costs = (tp_cost *)own[i];
  tp__free(costs);
  tp__free(own);
  return status;
}

tp_status tp__priced_follow(tp_priced *l, const int *chosen) {
  tp_problem *problem = NULL;
  tp_solution solution = {0};
  tp_solver_options options = tp__priced_options(l, SKETCH_SHARE);
  tp_status status = make_following(l, chosen, &problem);
  if (status == TP_OK && problem)
    status = tp_solve(problem, &options, &solution);
  tp_problem_destroy(problem);
  if (status == TP_OK && !solution.choices)
    status = TP_INFEASIBLE; /* the time was over before the problem was stated */
  tp__priced_spend(l, solution.work);
  if (status == TP_OK)
    take_choices(l, solution.choices);
  tp_solution_clear(&solution);
  return status;
}

static tp_status solve(tp_priced *l, int share) {
  tp_planner *p = l->p;
  tp_problem *priced = NULL;
  bool is_priced = l->sketch.routes->prices != NULL;
  tp_solver_options options = tp__priced_options(l, share);
  tp_solution solution = {0};
  options.work_budget *= IN_ROWS;
  options.gap = is_priced && options.gap < SKETCH_GAP ? SKETCH_GAP : options.gap;
  tp_status status = is_priced ? tp__plan_make_problem(&l->sketch, false, &priced) : TP_OK;
  p->result.is_cut_short |= l->sketch.is_given_up;
  if (status == TP_OK && l->sketch.is_given_up)
    return TP_INFEASIBLE;
  if (status == TP_OK)
    status = tp_solve(is_priced ? priced : l->unpriced, &options, &solution);
  tp_problem_destroy(priced);
  if (status != TP_OK && status != TP_INFEASIBLE)
    return tp__plan_no_memory(p);
  p->result.is_cut_short |= solution.stopped;
  tp__priced_spend(l, solution.work / IN_ROWS);
  learn_bound(l, solution.lower_bound);
  if (status == TP_OK)
    take_choices(l, solution.choices);
  tp_solution_clear(&solution);
  return status;
}

tp_status tp__priced_solve(tp_priced *l) {
  return solve(l, l->sketch.routes->prices ? SKETCH_SHARE : FIRST_SHARE);
}

tp_status tp__priced_solve_exactly(tp_priced *l) { return solve(l, EXACT_SHARE); }

void tp__priced_take(tp_priced *l, const tp_solution *solution) {
  l->has_routed = solution->n_prices > 0;
  memset(l->routed, 0, l->n_times * sizeof *l->routed);
  for (int k = 0; k < solution->n_prices && solution->price_times[k] < (int64_t)l->n_times; k++)
    l->routed[solution->price_times[k]] = solution->prices[k];
}

/* ---- strategies ---- */

static void count_must(tp_priced *l) {
  l->n_must = 0;
  for (size_t at = 0; at < l->offset[l->n_first]; at++)
    l->n_must += l->must[at];
}

tp_status tp__priced_keep_nearest(tp_priced *l, int n) {
  tp_problem *priced = NULL;
  bool **kept = tp__calloc(l->sketch.problem.n_nodes + 1, sizeof(bool *));
  tp_status status = kept ? tp__plan_make_problem(&l->sketch, false, &priced) : TP_NO_MEMORY;
  for (size_t i = 0; status == TP_OK && i < l->n_first; i++)
    kept[l->node[i]] = l->must + l->offset[i];
  if (status == TP_OK && priced)
    status = tp_problem_keep_nearest(priced, n, kept);
  count_must(l);
  tp_problem_destroy(priced);
  tp__free(kept);
  return status == TP_OK ? TP_OK : tp__plan_no_memory(l->p);
}

tp_status tp__priced_reduced_costs(tp_priced *l) {
  tp_planner *p = l->p;
  tp_problem *priced = NULL;
  tp_sensitivity *sensitivity = NULL;
  tp_solver_options options = tp__priced_options(l, 1);
  tp__priced_set(l, l->best);
  tp_status status = tp__plan_make_problem(&l->sketch, false, &priced);
  if (status != TP_OK || !priced) {
    tp_problem_destroy(priced);
    return status;
  }
  status = tp_sensitivity_create(priced, &options, NULL, TP_COST_FORBIDDEN, &sensitivity);
  tp_cost back = refund(l);
  for (size_t i = 0; i < l->n_first && status == TP_OK; i++) {
    tp_cost *reduced = l->reduced_cost + l->offset[i], lowest = TP_COST_FORBIDDEN;
    status = tp_sensitivity_bounds(sensitivity, l->node[i], reduced);
    for (int s = 0; s < p->problem.nodes[i].n; s++) {
      reduced[s] -= reduced[s] < TP_COST_FORBIDDEN ? back : 0;
      lowest = reduced[s] < lowest ? reduced[s] : lowest;
    }
    l->bound = lowest > l->bound && lowest < TP_COST_FORBIDDEN ? lowest : l->bound;
  }
  tp_sensitivity_destroy(sensitivity);
  tp_problem_destroy(priced);
  return status == TP_OK ? TP_OK : tp__plan_no_memory(p);
}

tp_status tp__priced_threshold(const tp_priced *l, size_t share, tp_cost *threshold) {
  size_t n = l->offset[l->n_first], at = share * l->n_first;
  tp_cost *sorted = tp__calloc(n + 1, sizeof *sorted);
  if (!sorted)
    return tp__plan_no_memory(l->p);
  memcpy(sorted, l->reduced_cost, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, tp__compare_i64s);
  /* includes all strategies with the same cost */
  *threshold = at < n ? sorted[at] + 1 : TP_COST_FORBIDDEN;
  tp__free(sorted);
  return TP_OK;
}
