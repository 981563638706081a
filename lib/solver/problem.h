/* The problem as the caller stated it. tp_solve reads it, and tp_problem_evaluate computes costs
 * from it. */
#ifndef TP_LIB_SOLVER_PROBLEM_H
#define TP_LIB_SOLVER_PROBLEM_H

#include "solver/hash_cons.h"
#include "tp/solver.h"

/* The usage of a node at start <= t < end, by strategy. */
typedef struct tp__problem_live_range {
  int64_t start, end;
  int64_t *usages;
} tp__problem_live_range;

typedef struct tp__problem_node {
  int n;
  tp_cost *costs;
  int n_live_ranges, live_range_capacity;
  tp__problem_live_range *lives; /* may overlap; usages add up */
} tp__problem_node;

typedef struct tp__problem_edge {
  int a, b;
  const tp_cost *table; /* row-major [n of a][n of b]; edges may share a table */
} tp__problem_edge;

struct tp_problem {
  tp__pool pool; /* costs and tables */
  /* finds the costs of earlier nodes: nodes with equal costs share an array, which must not
   * change */
  tp__hash_cons *costs;
  tp__problem_node *nodes;
  tp__problem_edge *edges;
  int n_nodes, node_capacity;
  int n_edges, edge_capacity;
  int n_repeated; /* edges that share the table of another one */
  int64_t limit;  /* of memory at any time; -1: none */
  /* costs of this size and above are avoided instead of forbidden; 0: they are forbidden */
  tp_cost big;
};

/* Returns the exact cost, with big entries at their value. The choices must be in range and not
 * forbidden. */
unsigned __int128 tp__problem_exact_cost(const tp_problem *problem, const int *choices);

/* Returns the total number of lives of all nodes. */
size_t tp__problem_n_live_ranges(const tp_problem *problem);

/* Computes a time at which `choices` use most memory, and the usage then. With choices NULL, every
 * node uses its minimum at every time. */
tp_status tp__problem_peak(const tp_problem *problem, const int *choices, int64_t *time,
                           unsigned __int128 *usage);

#endif
