/* A sketch of the routes under a memory limit (routes.h): the same stations, without strategies for
 * the memory of reshards.
 *
 * A station that several uses share is a node with one strategy per layout. A station of a single
 * use has no node. Edges price the reshards, so a sketch is not much larger than the problem
 * without a limit, and some ten times smaller than that of the routes. Once memory has prices, the
 * memory of a reshard is a part of its cost. For any prices, the cost of the cheapest plan of the
 * priced sketch, minus the price of the whole capacity, is a lower bound on the cost of every plan
 * within the limit, because reshards hold at least the memory they pay for (intermediate steps are
 * left out). */
#ifndef TP_PASSES_PROPAGATE_SKETCH_H
#define TP_PASSES_PROPAGATE_SKETCH_H

#include "passes/propagate/limits/route_stations.h"

/* Prices are in fixed point, cost per byte. planner->routes->prices[t] is the sum of the prices of
 * all times before t; there are tp__sketch_times() + 1 such sums. */
enum { TP_PRICE_BITS = 32 };

/* Price of `bytes` held over times whose prices sum to `weight`; rounded down, and capped. */
static inline tp_cost tp__memory_payment(uint64_t weight, int64_t bytes) {
  const unsigned __int128 max = (unsigned __int128)1 << 55;
  unsigned __int128 paid = (unsigned __int128)weight * (unsigned __int128)bytes >> TP_PRICE_BITS;
  return (tp_cost)(paid < max ? paid : max);
}

/* Opens a planner of its own with the nodes and values of `planner`, and a sketch as its routes.
 * Ops, arguments and results keep their order. `planner` must have no routes. Release the sketch
 * with tp__planner_drop, also when this fails. */
tp_status tp__sketch_open(const tp_planner *planner, tp_planner *sketch);

/* The planner of a sketch: number of its times (half steps). */
size_t tp__sketch_times(const tp_planner *sketch);
/* Adds the edges of the stations of a value. */
tp_status tp__sketch_value(struct tp_routes *routes, tp_problem *problem,
                           const tp_planned_value *value);
/* Price of the memory that strategy s of a node holds. */
tp_cost tp__sketch_payment(const tp_planner *sketch, int node, int s);
/* used[t] becomes the bytes that the choices hold at time t; `used` needs one extra element. If
 * choices is NULL: the minimum of each node, and nothing for reshards. */
void tp__sketch_used(const tp_planner *sketch, const int *choices, int64_t *used);

#endif
