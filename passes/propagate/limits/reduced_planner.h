/* Planners with fewer nodes or strategies than another one. */
#ifndef TP_PASSES_PROPAGATE_REDUCED_PLANNER_H
#define TP_PASSES_PROPAGATE_REDUCED_PLANNER_H

#include "passes/propagate/limits/routes.h"

/* Makes a planner of its own with the nodes and values of `planner`, which must have no routes.
 * Must be dropped also when it fails. */
tp_status tp__planner_copy(const tp_planner *planner, tp_planner *copy);
void tp__planner_drop(tp_planner *copy);
/* Moves everything of the copy into `planner`, and drops the copy. */
void tp__planner_take(tp_planner *planner, tp_planner *copy);
/* Node i keeps its strategies s with kept[i][s], at least one of them. `planner` must have no
 * routes. `kept` stays in use as planner->kept. */
tp_status tp__planner_cut(tp_planner *planner, const bool *const *kept);

/* The node at this index (routes are not built) keeps its strategies s with among[s]. The result
 * counts as another function. */
tp_status tp__planner_restrict(tp_planner *planner, int place, const bool *among);
/* True if the node was added for routes. */
bool tp__is_of_routes(const tp_node *node);

#endif
