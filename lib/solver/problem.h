/* The problem as the caller stated it: what tp_solve reads and tp_problem_evaluate judges by. */
#ifndef TP_LIB_SOLVER_PROBLEM_H
#define TP_LIB_SOLVER_PROBLEM_H

#include "solver/pool.h"
#include "tp/solver.h"

typedef struct tp__problem_node {
  int n;
  tp_cost *costs;
} tp__problem_node;

typedef struct tp__problem_edge {
  int a, b;
  const tp_cost *table; /* row-major [n of a][n of b]; may be that of another edge too */
  tp_cost most;         /* the largest entry that is not forbidden */
} tp__problem_edge;

struct tp_problem {
  tp__pool pool; /* costs and tables */
  tp__problem_node *nodes;
  tp__problem_edge *edges;
  int n_nodes, room_nodes;
  int n_edges, room_edges;
};

#endif
