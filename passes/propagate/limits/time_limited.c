/* Plans in little time.
 *
 * Under a time limit, planning of a large function starts from a few strategies of every node
 * (seed_strategies.h). Their problem is stated and solved in a fraction of the time of the full
 * problem. Then all strategies are priced against that plan, the cheapest are added to it, and
 * their problem is solved; this repeats while plans get cheaper. The remaining time goes to the
 * problem of all strategies, stated and solved as without a limit. If that finds no cheaper plan in
 * time, the best plan of the few is taken. It is valid and may be far from the cheapest. If no
 * better bound is known, the bound of a plan is the sum of the cheapest strategy of every node. */
#include "passes/propagate/limits/reduced_planner.h"
#include "passes/propagate/limits/seed_strategies.h"

#include <string.h>

enum { ROUNDS = 6 }; /* improvement rounds */
#define GRACE 0.2    /* seconds, at least, to select the few; the same again to plan with them */
#define GRACE_OF_OP 5e-6 /* additional seconds for each op */
#define FEW_GAP 0.002    /* accepted gap of a plan of few strategies */
#define WORTHWHILE 1e-3  /* share of the cost that a round must gain for another one to follow */

tp_cost tp__least_cost(const tp_planner *p) {
  tp_cost sum = 0;
  for (size_t i = 0; i < p->n_nodes; i++) {
    const tp_node *node = &p->nodes[i];
    tp_cost least = TP_COST_FORBIDDEN;
    for (int s = 0; s < node->n; s++)
      least = node->costs[s] < least ? node->costs[s] : least;
    sum = tp_cost_add(
        sum,
        tp__cost_times(least, node->kind == TP_NODE_OP ? p->program.items[node->index].trips : 1));
  }
  return sum;
}

/* The value by which plans are compared. */
static tp_cost worth(const tp_planner *p) { return p->overlaps ? p->overlapped : p->cost; }

/* ---- few strategies ---- */

tp_status tp__few_plan(const tp_few *f, tp_planner *few) {
  const tp_planner *p = f->p;
  /* a copy, since rows in use must stay */
  const bool **rows = tp__arena_array(p->arena, p->n_nodes + 1, sizeof(const bool *));
  tp_status status = tp__planner_copy(p, few);
  few->gap = p->gap > FEW_GAP ? p->gap : FEW_GAP;
  if (status == TP_OK && !rows)
    status = tp__plan_no_memory(p);
  if (status == TP_OK) {
    memcpy(rows, f->rows, p->n_nodes * sizeof *rows);
    status = tp__planner_cut(few, rows);
  }
  if (status == TP_OK && few->memory_limit >= 0)
    status = tp__routes_build(few, false);
  if (status == TP_OK)
    status = tp__plan_make_problem(few, true, &few->problem);
  return status == TP_OK ? tp__plan_solve(few) : status;
}

int *tp__few_chosen(const tp_planner *p, const tp_planner *few) {
  int *choices = tp__arena_array(p->arena, p->n_nodes + 1, sizeof *choices);
  for (size_t i = 0, k = 0; choices && i < p->n_nodes; i++, k++) {
    while (tp__is_of_routes(&few->nodes[k]))
      k++;
    int left = few->nodes[k].chosen, s = 0;
    while (!few->kept[i][s] || left-- > 0)
      s++;
    choices[i] = s;
  }
  return choices;
}

/* Improves the plan while there is time. It is no error to find no better plan in time. */
static tp_status improve(tp_few *f, tp_planner *best) {
  tp_planner *p = f->p;
  tp_status status = TP_OK;
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(p->pass->context, tp__swallow, NULL, NULL);
  bool is_better = true;
  for (int round = 0;
       round < ROUNDS && is_better && status == TP_OK && !tp__clock_is_over(p->clock); round++) {
    tp_planner next;
    const int *choices = tp__few_chosen(p, best);
    status = choices ? tp__few_around(f, choices) : TP_NO_MEMORY;
    if (status != TP_OK || tp__clock_is_over(p->clock))
      break;
    status = tp__few_plan(f, &next);
    bool is_taken = status == TP_OK && worth(&next) < worth(best);
    is_better = is_taken && (double)(worth(best) - worth(&next)) > WORTHWHILE * (double)worth(best);
    if (is_taken) {
      tp__planner_drop(best);
      *best = next;
      if (best->routes)
        tp__routes_move(best->routes, best);
    } else {
      tp__planner_drop(&next);
    }
  }
  mlirContextDetachDiagnosticHandler(p->pass->context, handler);
  return status == TP_NO_MEMORY ? tp__plan_no_memory(p) : TP_OK;
}

static tp_status find_few(tp_planner *p, tp_planner *best) {
  tp_few few;
  double grace = GRACE + GRACE_OF_OP * (double)p->program.n_items;
  tp__clock_extend(p->clock, grace);
  tp_status status = tp__few_open(p, &few);
  if (status == TP_OK)
    status = tp__few_choose(&few);
  tp__clock_extend(p->clock, grace);
  if (status == TP_OK)
    status = tp__few_plan(&few, best);
  if (status == TP_OK)
    status = improve(&few, best);
  tp__few_close(&few);
  tp__clock_extend(p->clock, 0); /* the grace was for the steps above */
  return status;
}

/* ---- all strategies ---- */

/* Plans with all strategies. *found: there is a plan in time. */
static tp_status plan_all(tp_planner *p, bool *found) {
  p->heeds_clock = true;
  tp_status status =
      tp__clock_is_over(p->clock) ? TP_OK : tp__plan_make_problem(p, true, &p->problem);
  p->heeds_clock = false;
  *found = status == TP_OK && p->problem;
  return *found ? tp__plan_solve(p) : status;
}

static void take(tp_planner *p, tp_planner *few, tp_cost bound) {
  p->cost = few->cost;
  p->method = few->method;
  p->width = few->width;
  p->work += few->work;
  p->overlapped = few->overlapped;
  p->bound = bound < p->cost ? bound : p->cost;
  p->is_cut_short = true;
  tp__planner_take(p, few);
}

/* The few strategies may be infeasible where all together have a plan. So diagnostics are emitted
 * only if nothing else will be tried. */
static tp_status find_first(tp_planner *p, bool is_last, tp_planner *few) {
  if (is_last)
    return find_few(p, few);
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(p->pass->context, tp__swallow, NULL, NULL);
  tp_status status = find_few(p, few);
  mlirContextDetachDiagnosticHandler(p->pass->context, handler);
  return status;
}

tp_status tp__plan_late(tp_planner *p) {
  tp_cost bound = tp__least_cost(p);
  tp_planner few = {0};
  bool found = false, is_last = p->is_given_up || p->memory_limit >= 0;
  p->is_given_up = p->heeds_clock = false;
  tp_status status = find_first(p, is_last, &few);
  bool has_few = status == TP_OK;
  if (!is_last)
    status = plan_all(p, &found);
  if (status == TP_OK && found && p->bound > bound)
    bound = p->bound;
  if (status == TP_OK && has_few && (!found || worth(&few) < worth(p)))
    take(p, &few, bound);
  else if (status == TP_OK && !found)
    status = tp__clock_exceeded(p);
  tp__planner_drop(&few);
  return status;
}
