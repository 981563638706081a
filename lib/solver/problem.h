/* The problem as the caller stated it: what tp_solve reads and tp_problem_evaluate judges by. */
#ifndef TP_LIB_SOLVER_PROBLEM_H
#define TP_LIB_SOLVER_PROBLEM_H

#include "solver/pool.h"
#include "tp/solver.h"

/* What a node uses at start <= t < end, by strategy. */
typedef struct tp__problem_life {
  int64_t start, end;
  int64_t *usages;
} tp__problem_life;

typedef struct tp__problem_node {
  int n;
  tp_cost *costs;
  int n_lives, room_lives;
  tp__problem_life *lives; /* at times that may overlap: usages add up */
} tp__problem_node;

typedef struct tp__problem_edge {
  int a, b;
  const tp_cost *table; /* row-major [n of a][n of b]; may be that of another edge too */
} tp__problem_edge;

struct tp_problem {
  tp__pool pool; /* costs and tables */
  tp__problem_node *nodes;
  tp__problem_edge *edges;
  int n_nodes, room_nodes;
  int n_edges, room_edges;
  int n_repeated; /* edges that share the table of another one */
  int64_t limit;  /* of memory at any time; -1 for none */
  tp_cost big;    /* costs from here on are avoided, not forbidden; 0: they are forbidden */
};

/* The exact cost, with big entries at their value. Choices are in range and none is forbidden. */
unsigned __int128 tp__problem_exact_cost(const tp_problem *problem, const int *choices);

/* Lives of all nodes together. */
size_t tp__problem_n_lives(const tp_problem *problem);

/* A time at which `choices` use most memory, and how much that is. choices NULL: every node uses
 * its least at every time. */
tp_status tp__problem_peak(const tp_problem *problem, const int *choices, int64_t *time,
                           unsigned __int128 *usage);

#endif
