/* Internals of routes under a memory limit (routes.h), shared by the files that build them. */
#ifndef TP_PASSES_PROPAGATE_STATIONS_H
#define TP_PASSES_PROPAGATE_STATIONS_H

#include "passes/propagate/limits/routes.h"

enum { TP_MAX_STATION_LAYOUTS = 256 };

/* The strategies of a station, and the cost of reshards into them from each preceding layout. Equal
 * stations share one table. */
typedef struct tp_station_table {
  int n, n_before, n_layouts;
  tp_spec *specs;                          /* by strategy */
  tp_station_strategy *station_strategies; /* by strategy */
  int *layout;                             /* by strategy: index of its layout */
  tp_cost *costs;                          /* [n_before][n_layouts] */
  int64_t *excess;                         /* [n_before][n_layouts] */
} tp_station_table;

/* A TP_NODE_SPACE node, with a strategy for each amount of extra memory. If `before` < 0,
 * strategy[s] is the one that matches strategy s of the node that needs the memory. If `before` >=
 * 0, a station needs the memory while it reshards: its strategy is 0 if the station changes
 * nothing, else strategy[s] for strategy s of node `before`, which makes the source of the
 * reshard. */
typedef struct tp_space {
  int node, before;
  int *strategy;
} tp_space;

struct tp_routes {
  tp_planner *p;
  bool is_sketch;
  const uint64_t *prices; /* NULL, or the prices of a priced sketch: see route_sketch.h */
  tp_timeline timeline;
  int64_t fixed_bytes; /* of the function's scalar arguments and results, and of its constants */
  int *until;          /* by op: the end of the last op fused with it */
  tp_route *routes;
  tp_usage *usages; /* by node */
  size_t usage_capacity, n_usages;
  const tp_station_table **tables; /* by node */
  size_t table_capacity;
  tp_memo same_stations, same_moves;
  tp_space *spaces;
  size_t n_spaces, space_capacity;
  /* value -> the op in which its buffer becomes that of another value, if no layout changes in
   * between */
  tp_value_table ends;
  /* by value: the op since which its memory is that of a function result, if no layout changes
   * in between; -1: it is not */
  int *since;
};

/* The parameters from which a station is built. Times are half steps (routes.c). */
typedef struct tp_station_plan {
  int before, anchor;
  bool in_op;
  int64_t start, end; /* live range of the resharded value; the reshard runs at `start` */
  bool keeps;         /* the producer holds nothing, so a reshard also holds its source */
  int64_t keep_start; /* if `keeps`: the source is held from then on, until the reshard is done */
  bool elsewhere;     /* the result lies in memory that is counted elsewhere */
  /* the user cannot overwrite a resharded value, so its result counts as a second copy */
  bool twice;
  int64_t twice_start; /* if `twice`: from then on */
  bool is_alone;       /* it has one use */
  /* live range of the source of a reshard that nothing else counts; empty if something does */
  int64_t source_start, source_end;
} tp_station_plan;

/* ---- route_stations.c ---- */

tp_status tp__routes_node(struct tp_routes *routes, tp_node_kind kind, int index, int *number);
/* Time until which a reshard holds its steps, and its source if `keeps`. A reshard behind its
 * producer takes as long as its result lives. */
int64_t tp__change_end(const tp_station_plan *plan);
/* Time from which it holds them. */
int64_t tp__change_start(const tp_station_plan *plan);
/* Node `node` holds its output for `value` at start <= t < end, in addition to what it already
 * holds. */
tp_status tp__hold_output(struct tp_routes *routes, int node, const tp_planned_value *value,
                          int64_t start, int64_t end);
/* Node `node` holds bytes[s] with strategy s at start <= t < end, rounded up to one of a few
 * amounts. The memory is attributed to `value`. */
tp_status tp__hold_space(struct tp_routes *routes, int value, int node, const int64_t *bytes,
                         int64_t start, int64_t end);
/* Holds the output of node `before` at start <= t < end if the station behind it changes the
 * layout. */
tp_status tp__hold_source(struct tp_routes *routes, int value, int station, int before, int output,
                          int64_t start, int64_t end);
/* Append to lists of distinct layouts, of at most TP_MAX_STATION_LAYOUTS entries. Each returns the
 * new length. */
int tp__add_distinct(tp_spec *specs, int n, tp_spec spec);
int tp__add_outputs(const tp_planner *planner, int node, int output, tp_spec *specs, int n);
int tp__add_inputs(const tp_planner *planner, const tp_use *use, tp_spec *specs, int n);
/* Adds a station that offers these layouts. *station becomes its index on the route of `value`. */
tp_status tp__add_station(struct tp_routes *routes, int value, int n_layouts,
                          const tp_spec *layouts, const tp_station_plan *plan, int *station);

/* ---- shared_places.c: values that share the buffer of another value while no layout changes
 * ---- */

/* Fills in `ends` and `since`. */
tp_status tp__routes_places(struct tp_routes *routes);
/* True if an op makes the value and the function returns it. */
bool tp__is_returned(const tp_planner *planner, const tp_planned_value *value);
/* True if carried value `slot` shares its memory with another carried value. */
bool tp__carried_is_passed_on(const tp_item *item, int slot);
/* The number of the scf.while whose condition and body pass memory to each other by this use; -1:
 * none. */
int tp__passing_loop(const struct tp_routes *routes, const tp_use *use);

/* ---- fixed_usage.c ---- */

/* The rule of the op that makes a value; NULL for arguments and carried values. */
const tp_rule *tp__route_rule(const tp_planner *planner, const tp_planned_value *value);
/* Counts scalar arguments and results; an error if they alone exceed the limit. */
tp_status tp__hold_fixed(struct tp_routes *routes);
/* Holds tensor arguments and results. */
tp_status tp__hold_boundary(struct tp_routes *routes);
/* Holds carried values from the start of their loop to the last use of its result, which may
 * overwrite them. */
tp_status tp__hold_carried(struct tp_routes *routes);
/* Holds the scratch of ops, and ring buffers. */
tp_status tp__hold_workspaces(struct tp_routes *routes);

/* ---- route_edges.c ---- */

/* Moves the stations of a value behind its producer, because the solver passes messages in node
 * order. */
tp_status tp__routes_order(struct tp_routes *routes);

#endif
