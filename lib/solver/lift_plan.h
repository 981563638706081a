/* Finds an assignment in which equal nodes of a graph have the same strategy.
 *
 * Where layers repeat, an assignment that repeats with them is near the cheapest one. Messages give
 * the bound of all layers (lift.h), but leave ties, among which each layer may be decided
 * differently. Here there is one decision for all of them: a problem of one node per class, the
 * quotient of the graph by an almost equitable partition. It is as large as that of a few layers.
 * */
#ifndef TP_LIB_SOLVER_LIFT_PLAN_H
#define TP_LIB_SOLVER_LIFT_PLAN_H

#include "solver/search.h"
#include "solver/wcsp.h"

/* Sets at[v] of each alive node of `g`, which has a shelf. *found is false, and `at` unchanged, if
 * few nodes have equals, or if every assignment that is the same within each class is forbidden.
 * Fails with TP_NO_MEMORY only. */
tp_status tp__lift_plan(tp__search *s, const tp__wcsp *g, int *at, bool *found);

#endif
