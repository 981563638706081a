/* A sketch of the routes under a memory limit (routes.h): the same stations, without what a change
 * of layout holds as a choice of its own.
 *
 * A station that several uses share is a node with a strategy for each layout, one of a single use
 * is none. Its changes are priced by the edges, so a sketch is not much larger than the problem
 * without a limit, some ten times smaller than that of the routes. Memory that changes hold is a
 * part of their cost once memory has prices. Whatever the prices are, no plan within the limit
 * costs less than the cheapest one of the priced sketch, less what all the room is worth: changes
 * hold at least as much as they are priced for (the steps of those in several are left out). */
#ifndef TP_PASSES_PROPAGATE_SKETCH_H
#define TP_PASSES_PROPAGATE_SKETCH_H

#include "passes/propagate/limits/route_stations.h"

/* Prices are in fixed point, cost for a byte. planner->routes->prices[t] is the sum of those of the
 * times before t; there are tp__sketch_times() + 1 of these sums. */
enum { TP_PRICE_BITS = 32 };

/* What `bytes` cost for which the sum of the prices is `weight`; rounded down, and bounded. */
static inline tp_cost tp__memory_payment(uint64_t weight, int64_t bytes) {
  const unsigned __int128 most = (unsigned __int128)1 << 55;
  unsigned __int128 paid = (unsigned __int128)weight * (unsigned __int128)bytes >> TP_PRICE_BITS;
  return (tp_cost)(paid < most ? paid : most);
}

/* A planner of its own, whose nodes and values are those of `planner`, with a sketch as its routes.
 * Its ops, arguments and results come in the same order. For tp__planner_drop, also when it fails.
 * `planner` has no routes. */
tp_status tp__sketch_open(const tp_planner *planner, tp_planner *sketch);

/* Of the planner of a sketch: */
size_t tp__sketch_times(const tp_planner *sketch);
/* Edges of the stations of a value. */
tp_status tp__sketch_value(struct tp_routes *routes, tp_problem *problem,
                           const tp_planned_value *value);
/* What strategy s of a node pays for what it holds. */
tp_cost tp__sketch_payment(const tp_planner *sketch, int node, int s);
/* used[t]: bytes that the choices hold at each time, which has room for one more. choices NULL: the
 * least that each node can hold, and nothing for changes. */
void tp__sketch_used(const tp_planner *sketch, const int *choices, int64_t *used);

#endif
