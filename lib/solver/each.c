/* What other decisions would cost. */
#include "solver/problem.h"

#include <stdlib.h>
#include <string.h>

static tp_status solve_with(const tp_problem *fixed, const tp_solver_options *options, tp_cost *bound) {
  tp_solution solution;
  tp_status status = tp_solve(fixed, options, &solution);
  if (status && status != TP_INFEASIBLE)
    return status;
  *bound = solution.lower_bound;
  tp_solution_clear(&solution);
  return TP_OK;
}

tp_status tp_solve_each(const tp_problem *problem, const tp_solver_options *options, int node, tp_cost *bounds) {
  if (!problem || !bounds || problem->big || node < 0 || node >= problem->n_nodes)
    return TP_INVALID_ARGUMENT;
  /* A problem that shares all but the costs of the one node. */
  tp_problem fixed = *problem;
  size_t n = (size_t)problem->nodes[node].n, bytes = (size_t)problem->n_nodes * sizeof *fixed.nodes;
  fixed.nodes = malloc(bytes);
  tp_cost *costs = malloc(n * sizeof *costs);
  tp_status status = fixed.nodes && costs ? TP_OK : TP_NO_MEMORY;
  if (status == TP_OK) {
    memcpy(fixed.nodes, problem->nodes, bytes);
    fixed.nodes[node].costs = costs;
  }
  for (size_t x = 0; status == TP_OK && x < n; x++) {
    for (size_t y = 0; y < n; y++)
      costs[y] = y == x ? problem->nodes[node].costs[x] : TP_COST_FORBIDDEN;
    status = solve_with(&fixed, options, &bounds[x]);
  }
  free(fixed.nodes);
  free(costs);
  return status;
}
