/* Solves a problem with restricted strategies at one node, to find the cost of alternatives. */
#include "solver/problem.h"
#include "support/support.h"

#include <string.h>

/* Copies a problem; only the costs of one node are separate. */
static tp_status share(const tp_problem *problem, int node, tp_problem *shared, tp_cost **costs) {
  size_t bytes = (size_t)problem->n_nodes * sizeof *shared->nodes;
  *shared = *problem;
  shared->nodes = tp__malloc(bytes);
  *costs = tp__malloc((size_t)problem->nodes[node].n * sizeof **costs);
  if (!shared->nodes || !*costs)
    return TP_NO_MEMORY;
  memcpy(shared->nodes, problem->nodes, bytes);
  shared->nodes[node].costs = *costs;
  return TP_OK;
}

tp_status tp_solve_allowing(const tp_problem *problem, const tp_solver_options *options, int node,
                            const bool *allowed, tp_solution *solution) {
  if (!problem || !allowed || !solution || problem->big || node < 0 || node >= problem->n_nodes)
    return TP_INVALID_ARGUMENT;
  tp_problem shared;
  tp_cost *costs = NULL;
  tp_status status = share(problem, node, &shared, &costs);
  for (int x = 0; status == TP_OK && x < problem->nodes[node].n; x++)
    costs[x] = allowed[x] ? problem->nodes[node].costs[x] : TP_COST_FORBIDDEN;
  if (status == TP_OK)
    status = tp_solve(&shared, options, solution);
  tp__free(shared.nodes);
  tp__free(costs);
  return status;
}

tp_status tp_solve_each(const tp_problem *problem, const tp_solver_options *options, int node,
                        tp_cost *bounds) {
  if (!problem || !bounds || problem->big || node < 0 || node >= problem->n_nodes)
    return TP_INVALID_ARGUMENT;
  int n = problem->nodes[node].n;
  bool *allowed = tp__calloc((size_t)n, sizeof *allowed);
  tp_status status = allowed ? TP_OK : TP_NO_MEMORY;
  for (int x = 0; status == TP_OK && x < n; x++) {
    tp_solution solution;
    allowed[x] = true;
    status = tp_solve_allowing(problem, options, node, allowed, &solution);
    allowed[x] = false;
    if (status == TP_INFEASIBLE)
      status = TP_OK;
    if (status != TP_OK)
      break;
    bounds[x] = solution.lower_bound;
    tp_solution_clear(&solution);
  }
  tp__free(allowed);
  return status;
}
