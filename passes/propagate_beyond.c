/* Plans that are counted with more than the limit, and yet keep it.
 *
 * What the solver counts under a limit is never less than what a plan holds, but may be more. A plan that is counted with more is written into a copy of
 * the module, which says what it holds. The first one is the cheapest of all: where that keeps the limit, it is the plan. Else the problem is solved
 * within more room than there is, between the limit and what that plan is counted with. What is found there costs no more than what is counted to fit;
 * the bound is that of the larger room, and so holds for all that is counted to fit too. */
#include "passes/propagate_limited.h"

enum {
  ROUNDS = 4, /* larger rooms that are tried */
  SHARE = 8   /* of the work: each takes no more than one */
};
#define ALL_ROOM (INT64_MAX - 1)

static bool same_nodes(const tp_planner *a, const tp_planner *b) {
  bool same = a->n_nodes == b->n_nodes;
  for (size_t i = 0; same && i < a->n_nodes; i++)
    same = a->nodes[i].kind == b->nodes[i].kind && a->nodes[i].n == b->nodes[i].n;
  return same;
}

bool tp__keeps_limit(const tp_planner *p, const tp_solution *solution) {
  if (p->is_restricted)
    return false; /* what is read anew is not */
  MlirModule copy = mlirModuleFromOperation(mlirOperationClone(p->pass->module));
  tp_pass pass = *p->pass;
  pass.module = mlirModuleGetOperation(copy);
  tp_again again;
  MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(pass.context, tp__swallow, NULL, NULL);
  bool keeps = tp__again_open(&pass, p, true, &again) == TP_OK;
  if (keeps && p->kept)
    keeps = tp__planner_cut(&again.planner, p->kept) == TP_OK;
  keeps = keeps && tp__routes_build(&again.planner, false) == TP_OK && same_nodes(p, &again.planner);
  for (size_t i = 0; keeps && i < p->n_nodes; i++)
    again.planner.nodes[i].chosen = solution->choices[i];
  again.planner.method = solution->method;
  keeps = keeps && tp__plan_write(&again.planner) == TP_OK && again.planner.peak <= p->memory_limit;
  tp__again_close(&again);
  mlirContextDetachDiagnosticHandler(pass.context, handler);
  mlirModuleDestroy(copy);
  return keeps;
}

/* Solves the problem of the planner with so much room. TP_INFEASIBLE: nothing was found, and `solution` has no choices. */
static tp_status solve_within(tp_planner *p, tp_solver_options options, int64_t room, tp_solution *solution) {
  int64_t limit = p->memory_limit - tp__routes_numbers(p->routes);
  *solution = (tp_solution){0};
  tp_status status = tp_problem_set_limit(p->problem, room);
  if (status == TP_OK)
    status = tp_solve(p->problem, &options, solution);
  if (status == TP_OK || status == TP_INFEASIBLE)
    status = tp_problem_set_limit(p->problem, limit) == TP_OK ? status : TP_INTERNAL;
  return status;
}

/* Takes `other` instead of `best` if it costs less and keeps the limit; clears it else. */
static bool take_if_kept(tp_planner *p, tp_solution *other, tp_solution *best) {
  int64_t work = best->work + other->work;
  bool is_taken = other->choices && (!best->choices || other->cost < best->cost) && tp__keeps_limit(p, other);
  p->is_cut_short |= is_taken && other->stopped;
  tp_solution_clear(is_taken ? best : other);
  if (is_taken)
    *best = *other;
  best->work = work;
  return is_taken;
}

/* Halves the room between what keeps the limit and what does not, as long as that may find something cheaper. */
static tp_status search_rooms(tp_planner *p, tp_solver_options options, int64_t most, tp_solution *best) {
  int64_t low = p->memory_limit - tp__routes_numbers(p->routes), high = most;
  tp_status status = TP_OK;
  options.work_budget = options.work_budget / SHARE + 1;
  for (int round = 0; round < ROUNDS && high - low > 1 && status == TP_OK && !tp__clock_is_over(p->clock); round++) {
    int64_t room = low + (high - low) / 2;
    tp_solution other;
    status = solve_within(p, options, room, &other);
    bool is_cheaper = status == TP_OK && (!best->choices || other.cost < best->cost);
    if (status != TP_OK && status != TP_INFEASIBLE)
      break;
    status = TP_OK;
    if (take_if_kept(p, &other, best) || !is_cheaper)
      low = room;
    else
      high = room;
  }
  return status;
}

tp_status tp__solve_beyond(tp_planner *p, const tp_solver_options *options, tp_solution *best) {
  tp_solution cheapest;
  tp_status status = best->choices ? TP_OK : TP_INFEASIBLE;
  if (p->is_restricted || p->kept || tp__clock_is_over(p->clock))
    return status; /* what is written would be read anew with other strategies; or there is no time */
  if (best->choices && (double)(best->cost - best->unlimited_bound) <= p->gap * (double)best->unlimited_bound)
    return TP_OK;
  tp_status solved = solve_within(p, *options, ALL_ROOM, &cheapest);
  bool is_dearer = solved == TP_OK && (!best->choices || cheapest.cost < best->cost);
  int64_t most = (int64_t)cheapest.peak.low;
  if (solved != TP_OK && solved != TP_INFEASIBLE)
    return solved;
  if (!take_if_kept(p, &cheapest, best) && is_dearer)
    solved = search_rooms(p, *options, most, best);
  if (solved != TP_OK && solved != TP_INFEASIBLE)
    return solved;
  return best->choices ? TP_OK : TP_INFEASIBLE;
}
