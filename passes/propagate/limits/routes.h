/* Under a memory limit: the ways of values from their producers to their uses, with what each
 * stretch holds and for how long. */
#ifndef TP_PASSES_PROPAGATE_ROUTES_H
#define TP_PASSES_PROPAGATE_ROUTES_H

#include "passes/propagate/model/memory_model.h"

/* A place on the way where the layout may change. It is a node (TP_NODE_CHANGE) with a strategy for
 * each layout and whether it is another than the one before. */
typedef struct tp_station {
  int node;   /* -1: a station of one use, in a sketch */
  int before; /* the station before; -1: the producer */
  /* number of the op in front of which a change stands; -1: behind the producer */
  int anchor;
  bool in_op;                         /* the op at `anchor` is itself the change */
  const struct tp_station_plan *plan; /* in a sketch */
} tp_station;

/* Of one value. Without stations its uses take what the producer makes, and are priced by plain
 * edges. */
typedef struct tp_route {
  int n_stations;
  tp_station *stations;
  int *of_use; /* station of each use */
} tp_route;

/* A strategy of a node TP_NODE_CHANGE besides its layout. */
typedef struct tp_station_way {
  bool changed;
  int64_t excess; /* bytes that the change holds beyond its result */
} tp_station_way;

/* What a node holds at start <= t < end: times are twice the number of an op while it runs, and one
 * more just after. */
typedef struct tp_span {
  int64_t start, end;
  const int64_t *bytes; /* by strategy */
} tp_span;

/* All that it holds: spans may overlap, and add up. */
typedef struct tp_usage {
  int n, capacity;
  tp_span *spans;
} tp_usage;

/* What it holds at `time` with strategy s. */
int64_t tp__usage_at(const tp_usage *usage, int64_t time, int s);

/* Adds the nodes of all routes to planner->routes. A sketch has no nodes for changes of layout
 * (route_sketch.h). */
tp_status tp__routes_build(tp_planner *planner, bool is_sketch);
void tp__routes_destroy(struct tp_routes *routes);
/* They are those of another planner now, which has the same nodes and values. */
void tp__routes_move(struct tp_routes *routes, tp_planner *planner);
/* Adds their edges, and what all nodes hold when. */
tp_status tp__routes_state(tp_planner *planner, tp_problem *problem);

const tp_route *tp__route(const struct tp_routes *routes, const tp_planned_value *value);
const tp_usage *tp__usage(const struct tp_routes *routes, int node);
/* Bytes that no node holds, but every plan: numbers that the function is given or returns. */
int64_t tp__routes_numbers(const struct tp_routes *routes);
MlirOperation tp__routes_op(const struct tp_routes *routes, int64_t time);

/* verify_overestimates.c: what planning counts may be more than a plan holds. `solution` is that of
 * the planner's problem, within its limit; it may have no choices, and then has the cost of a plan
 * that is known, or TP_COST_FORBIDDEN. A plan that is counted with more, costs less, and holds no
 * more than the limit is sought. TP_OK: the planner's nodes have their choice, the solution its
 * cost and bound; the planner has no routes if the plan has none (unlimited_reshards.c).
 * TP_INFEASIBLE: nothing was found, and the solution has no choices. */
tp_status tp__solve_beyond(tp_planner *planner, const tp_solver_options *options,
                           tp_solution *solution);

/* memory_limit.c */
/* A remark if the plan may not be the cheapest that keeps the limit. */
void tp__limit_remark(const tp_planner *planner);
/* The options memory-limit and effort, when the topology is known. */
tp_status tp__read_memory_limit(tp_planner *planner);
/* Do arguments and results alone hold more than the limit, in any plan? */
bool tp__limit_is_impossible(const tp_planner *planner);
/* No plan was found that keeps it: says what needs most. */
tp_status tp__limit_exceeded(tp_planner *planner, const tp_solution *solution);

#endif
