/* The strategy-selection problem: choose one strategy for every node so that node costs plus edge costs are least.
 *
 * Nodes have a vector of costs, edges a table cost[strategy of a][strategy of b]. TP_COST_FORBIDDEN (tp/cost.h) marks
 * an impossible combination. Costs are int64 picoseconds >= 0. Every solution comes with a certified lower bound on the
 * optimum: gap = cost - lower_bound, 0 when proven optimal.
 *
 * Deterministic: the effort is counted in solver work, not in seconds, so the same input gives the same answer.
 * Thread rule: one problem belongs to one thread at a time. */
#ifndef TP_SOLVER_H
#define TP_SOLVER_H

#include "tp/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tp_problem tp_problem;

TP_API tp_problem *tp_problem_create(void);
TP_API void tp_problem_destroy(tp_problem *problem);

/* Adds a node with 1 <= n <= 65535 strategies; `costs` has n entries and is copied. Returns its number (0, 1, ...), or
 * -1 when memory runs out or an argument is out of range. */
TP_API int tp_problem_add_node(tp_problem *problem, int n, const tp_cost *costs);

/* Adds an edge between different nodes a and b; `table` is row-major [strategies of a][strategies of b] and is copied.
 * Parallel and reversed edges add up. Errors: TP_INVALID_ARGUMENT (no such node, a == b, a negative cost),
 * TP_NO_MEMORY. */
TP_API tp_status tp_problem_add_edge(tp_problem *problem, int a, int b, const tp_cost *table);

/* Adds an edge between a and b with the table of edge `edge` (edges are numbered 0, 1, ... as they are added), which is kept once for both.
 * Errors: TP_INVALID_ARGUMENT (no such edge or node, a == b, other numbers of strategies than the edge's ends), TP_NO_MEMORY. */
TP_API tp_status tp_problem_repeat_edge(tp_problem *problem, int a, int b, int edge);

TP_API int tp_problem_n_nodes(const tp_problem *problem);
TP_API int tp_problem_n_edges(const tp_problem *problem);

typedef struct tp_solver_options {
  size_t size;          /* sizeof(tp_solver_options), set by the caller; a zeroed rest means defaults */
  int64_t table_budget; /* largest table of the exact elimination, entries; 0: 2e7; at most 2^32 */
  /* Of the heuristic, in table entries looked at (about 1 ns each). 0: 2000 looks at every table, at least 3e8, at most
   * 6e9. Reductions, and an exact elimination that fits, are not cut short. */
  int64_t work_budget;
} tp_solver_options;

typedef struct tp_solution {
  int *choices; /* one per node; freed by tp_solution_clear; NULL if none was found */
  int n_nodes;
  tp_cost cost;        /* of `choices`; TP_COST_FORBIDDEN if no feasible choice was found */
  tp_cost lower_bound; /* certified: no choice costs less */
  bool optimal;        /* cost == lower_bound; without choices: it is proven that there are none */
  const char *method;  /* "elimination", "message passing + local search", ...; static storage */
  int64_t work;        /* solver work spent: table entries looked at */
  /* Largest number of neighbours of a node eliminated exactly; nodes with two or fewer are reduced away and do not
   * count. -1 if none was. */
  int width;
} tp_solution;

/* Solves. TP_INFEASIBLE when it is proven that every choice is forbidden, or when none was found; `solution` is written
 * then too and `optimal` tells the two apart. Other errors (TP_INVALID_ARGUMENT, TP_NO_MEMORY) leave it alone.
 * `options` may be NULL. */
TP_API tp_status tp_solve(const tp_problem *problem, const tp_solver_options *options, tp_solution *solution);
TP_API void tp_solution_clear(tp_solution *solution);

/* Cost of given choices (n_nodes entries), evaluated from the problem itself. Choices out of range are forbidden. */
TP_API tp_cost tp_problem_evaluate(const tp_problem *problem, const int *choices);

#ifdef __cplusplus
}
#endif
#endif
