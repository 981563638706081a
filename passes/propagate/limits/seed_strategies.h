/* Selects a few strategies of every node without stating the problem (seed_strategies.c), for plans
 * in little time (seed_search.c). */
#ifndef TP_PASSES_PROPAGATE_SEEDS_H
#define TP_PASSES_PROPAGATE_SEEDS_H

#include "passes/propagate/model/planner.h"

/* One endpoint of a connection between two nodes, as seen from its node. */
typedef struct tp_seed_end {
  int other; /* the node at the other endpoint */
  const tp_planned_value *v;
  bool makes;               /* this endpoint is the producer */
  int column, other_column; /* index of the output or input at each endpoint */
} tp_seed_end;

/* Arrays are allocated in the planner's arena. A row marks the strategies that a node keeps. Nodes
 * that agree in everything a row depends on share it, so rows are immutable. */
typedef struct tp_seeds {
  tp_planner *p;
  const bool **rows; /* by node; NULL: not selected yet */
  int *first;        /* by node, and the end: index of its first endpoint */
  tp_seed_end *ends;
  tp_memo same_nodes, same_columns;
} tp_seeds;

/* `planner` must have nodes and no routes. Must be closed also when it fails. */
tp_status tp__seeds_open(tp_planner *planner, tp_seeds *seeds);
void tp__seeds_close(tp_seeds *seeds);
/* Selects strategies. Of an op: those with the least work, and those with the least work among
 * strategies whose axes stand only where annotations propagate them. Of other nodes: those with the
 * cheapest reshards to the selected ones, unless the clock is over. The strategy that splits least
 * is always selected. */
tp_status tp__seeds_choose(tp_seeds *seeds);
/* Selects the strategies of the plan, and the cheapest others, including the cost of reshards from
 * and to the strategies selected for the neighbors. choices[i]: of node i. */
tp_status tp__seeds_around(tp_seeds *seeds, const int *choices);

/* Makes a planner with the selected strategies, and its plan. Must be dropped also when it
 * fails. */
tp_status tp__seeds_plan(const tp_seeds *seeds, tp_planner *planned);
/* The choices of such a plan, as strategy numbers of the full planner. NULL when memory runs
 * out. */
int *tp__seeds_chosen(const tp_planner *planner, const tp_planner *planned);

/* A lower bound on the cost of any plan: the sum of the cheapest strategy of every node. */
tp_cost tp__min_cost(const tp_planner *planner);

#endif
