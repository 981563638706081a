/* Selects a few strategies of every node without stating the problem (seed_strategies.c), for plans
 * in little time (time_limited.c). */
#ifndef TP_PASSES_PROPAGATE_FEW_H
#define TP_PASSES_PROPAGATE_FEW_H

#include "passes/propagate/model/planner.h"

/* One endpoint of a connection between two nodes, as seen from its node. */
typedef struct tp_few_end {
  int other; /* the node at the other endpoint */
  const tp_planned_value *v;
  bool makes;               /* this endpoint is the producer */
  int column, other_column; /* index of the output or input at each endpoint */
} tp_few_end;

/* Arrays are allocated in the planner's arena. A row marks the strategies that a node keeps. Nodes
 * that agree in everything a row depends on share it, so rows are immutable. */
typedef struct tp_few {
  tp_planner *p;
  const bool **rows; /* by node; NULL: not selected yet */
  int *first;        /* by node, and the end: index of its first endpoint */
  tp_few_end *ends;
  tp_memo same_nodes, same_columns;
} tp_few;

/* `planner` must have nodes and no routes. Must be closed also when it fails. */
tp_status tp__few_open(tp_planner *planner, tp_few *few);
void tp__few_close(tp_few *few);
/* Selects strategies. Of an op: those with the least work, and those with the least work among
 * strategies whose axes stand only where annotations propagate them. Of other nodes: those with the
 * cheapest reshards to the selected ones, unless the clock is over. The strategy that splits least
 * is always selected. */
tp_status tp__few_choose(tp_few *few);
/* Selects the strategies of the plan, and the cheapest others, including the cost of reshards from
 * and to the strategies selected for the neighbors. choices[i]: of node i. */
tp_status tp__few_around(tp_few *few, const int *choices);

/* ---- time_limited.c ---- */

/* Makes a planner with the selected strategies, and its plan. Must be dropped also when it
 * fails. */
tp_status tp__few_plan(const tp_few *few, tp_planner *planned);
/* The choices of such a plan, as strategy numbers of the full planner. NULL when memory runs
 * out. */
int *tp__few_chosen(const tp_planner *planner, const tp_planner *planned);

/* A lower bound on the cost of any plan: the sum of the cheapest strategy of every node. */
tp_cost tp__least_cost(const tp_planner *planner);

/* ---- price_search.c ---- */

/* A plan without routes; take it with tp__plain_take. */
typedef struct tp_late_plan {
  const int *choices; /* by node of the planner; NULL: no plan */
  tp_cost cost;       /* TP_COST_FORBIDDEN: no plan */
  const char *method;
  /* by node of the planner: the strategies of all plans tried; NULL: none were tried */
  const bool *const *tried;
} tp_late_plan;

/* Searches for a plan that keeps the memory limit until the clock is over. The grace of the clock
 * ends once a plan is found. `planner` must have nodes and no routes. */
tp_status tp__plan_lean(tp_planner *planner, tp_late_plan *plan);

#endif
