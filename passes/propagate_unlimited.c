/* The cheapest plan without a memory limit, where it keeps the limit after all.
 *
 * What the solver counts under a limit is never less than what a plan holds, but may be more: changes of layout in several steps. A plan that
 * is the cheapest of all, and is seen to keep the limit once it is written, is the cheapest that does. */
#include "passes/propagate_limited.h"

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

tp_status tp__solve_unlimited(tp_planner *p, const tp_solver_options *options, tp_solution *solution) {
  tp_problem *problem = NULL;
  tp_solution cheapest = {0};
  tp_status status = tp__plan_make_problem(p, false, &problem);
  if (status == TP_OK)
    status = tp_solve(problem, options, &cheapest);
  tp_problem_destroy(problem);
  if (status == TP_OK && (!solution->choices || cheapest.cost < solution->cost) && tp__keeps_limit(p, &cheapest)) {
    p->is_cut_short |= cheapest.stopped;
    cheapest.work += solution->work;
    tp_solution_clear(solution);
    *solution = cheapest;
    return TP_OK;
  }
  if (status == TP_OK || status == TP_INFEASIBLE)
    solution->work += cheapest.work;
  tp_solution_clear(&cheapest);
  return status == TP_NO_MEMORY ? status : solution->choices ? TP_OK : TP_INFEASIBLE;
}
