/* A few strategies of every node, chosen without stating the problem (seed_strategies.c), for plans
 * in little time (time_limited.c). */
#ifndef TP_PASSES_PROPAGATE_FEW_H
#define TP_PASSES_PROPAGATE_FEW_H

#include "passes/propagate/model/planner.h"

/* One end of the way of a value, as its node sees it. */
typedef struct tp_few_end {
  int other; /* the node at the other end */
  const tp_planned_value *v;
  bool makes;               /* this end is where the value comes from */
  int column, other_column; /* output, input */
} tp_few_end;

/* Arrays are of the planner's arena. Rows say which strategies are kept; nodes that are alike in
 * all that a row depends on share it, and it does not change. */
typedef struct tp_few {
  tp_planner *p;
  const bool **rows; /* by node; NULL: none are known yet */
  int *first;        /* by node, and the end: its ends */
  tp_few_end *ends;
  tp_memo same_nodes, same_columns;
} tp_few;

/* `planner` has nodes, and no routes. To be closed also when it fails. */
tp_status tp__few_open(tp_planner *planner, tp_few *few);
void tp__few_close(tp_few *few);
/* Of ops the strategies of least work, and those of least work whose axes stand only where
 * annotations bring them; of what is around them those that cost least to change into those, unless
 * `clock` is over. Always the one that splits least. */
tp_status tp__few_choose(tp_few *few);
/* The strategies of the plan, and those that cost least beside it: with the changes from and into
 * what is chosen for the neighbours. choices[i]: of node i. */
tp_status tp__few_around(tp_few *few, const int *choices);

/* ---- time_limited.c ---- */

/* A planner for the few, with its plan. To be dropped also when it fails. */
tp_status tp__few_plan(const tp_few *few, tp_planner *planned);
/* The strategies of such a plan, by their numbers among all of the planner of the few. NULL when
 * memory runs out. */
int *tp__few_chosen(const tp_planner *planner, const tp_planner *planned);

/* No plan costs less than the least of every node. */
tp_cost tp__least_cost(const tp_planner *planner);

/* ---- price_search.c ---- */

/* A plan without routes: tp__plain_take. */
typedef struct tp_late_plan {
  const int *choices; /* by node of the planner; NULL: none */
  tp_cost cost;       /* TP_COST_FORBIDDEN: none */
  const char *method;
  /* by node of the planner: the strategies of all plans that were tried; NULL: none were */
  const bool *const *tried;
} tp_late_plan;

/* Seeks a plan that keeps the memory limit, until the clock is over; where one is found the grace
 * is, too. `planner` has nodes, and no routes. */
tp_status tp__plan_lean(tp_planner *planner, tp_late_plan *plan);

#endif
