/* Under a memory limit: routes of values from their producers to their uses, with the memory and
 * the live range of each segment. */
#ifndef TP_PASSES_PROPAGATE_ROUTES_H
#define TP_PASSES_PROPAGATE_ROUTES_H

#include "passes/propagate/model/memory_model.h"

/* A point on a route where the layout may change. It is a node (TP_NODE_CHANGE) whose strategies
 * are pairs: a layout, and whether it differs from the preceding one. */
typedef struct tp_station {
  int node;   /* -1: a station of a single use, in a sketch */
  int before; /* the preceding station; -1: the producer */
  int anchor; /* number of the op in front of which a reshard is placed; -1: behind the producer */
  bool in_op; /* the op at `anchor` itself is the reshard */
  const struct tp_station_plan *plan; /* set in a sketch only */
} tp_station;

/* The route of one value. If it has no stations, uses connect directly to the producer by ordinary
 * reshard edges. */
typedef struct tp_route {
  int n_stations;
  tp_station *stations;
  int *of_use; /* by use: index of its station */
} tp_route;

/* Properties of a TP_NODE_CHANGE strategy besides its layout. */
typedef struct tp_station_strategy {
  bool changed;
  int64_t excess; /* bytes that the reshard holds besides its result */
} tp_station_strategy;

/* Memory that a node holds at start <= t < end. Time 2k is while op k runs, 2k + 1 just after
 * it. */
typedef struct tp_span {
  int64_t start, end;
  const int64_t *bytes; /* by strategy */
} tp_span;

/* All memory of a node. Spans may overlap; they add up. */
typedef struct tp_usage {
  int n, capacity;
  tp_span *spans;
} tp_usage;

/* Bytes that the node holds at `time` with strategy s. */
int64_t tp__usage_at(const tp_usage *usage, int64_t time, int s);

/* Adds the nodes of all routes to planner->routes. A sketch has no strategies for the memory of
 * reshards (route_sketch.h). */
tp_status tp__routes_build(tp_planner *planner, bool is_sketch);
void tp__routes_destroy(struct tp_routes *routes);
/* Moves the routes to another planner that has the same nodes and values. */
void tp__routes_move(struct tp_routes *routes, tp_planner *planner);
/* Adds their edges, and the memory use of all nodes over time. */
tp_status tp__routes_state(tp_planner *planner, tp_problem *problem);

const tp_route *tp__route(const struct tp_routes *routes, const tp_planned_value *value);
const tp_usage *tp__usage(const struct tp_routes *routes, int node);
/* Bytes that every plan holds and no node accounts for: scalar arguments and results, constants. */
int64_t tp__routes_fixed_bytes(const struct tp_routes *routes);
MlirOperation tp__routes_op(const struct tp_routes *routes, int64_t time);

/* memory_limit.c */
/* Emits a remark if the plan may not be the cheapest that keeps the limit. */
void tp__limit_remark(const tp_planner *planner);
/* Returns the budget of solver work for an effort. */
int64_t tp__limited_work(double effort);
/* True if arguments, results and constants alone exceed the limit in every plan. */
bool tp__limit_is_impossible(const tp_planner *planner);
/* Emits the error that no plan within the limit was found, with the values that need the most
 * memory. */
tp_status tp__limit_exceeded(tp_planner *planner, const tp_solution *solution);

#endif
