/* The parts of routes under a memory limit (routes.h): what the files that make them share. */
#ifndef TP_PASSES_PROPAGATE_STATIONS_H
#define TP_PASSES_PROPAGATE_STATIONS_H

#include "passes/propagate/limits/routes.h"

enum { TP_MAX_STATION_LAYOUTS = 256 };

/* The strategies of a station, and what they cost from each layout in front of it. Shared by equal
 * stations. */
typedef struct tp_station_table {
  int n, n_before, n_layouts;
  tp_spec *specs;       /* by strategy */
  tp_station_way *ways; /* by strategy */
  int *layout;          /* by strategy: number among the layouts */
  tp_cost *costs;       /* [n_before][n_layouts] */
  int64_t *excess;      /* [n_before][n_layouts] */
} tp_station_table;

/* A node TP_NODE_SPACE: its strategy for each of the node that needs it. With `before` >= 0 it is
 * needed by a station, where that changes the layout: its strategy is 0 where nothing changes, else
 * the one for the strategy of node `before`, which makes what the change starts from. */
typedef struct tp_space {
  int node, before;
  int *strategy;
} tp_space;

struct tp_routes {
  tp_planner *p;
  bool is_sketch;
  const uint64_t *prices; /* in a sketch that is priced: see route_sketch.h */
  tp_timeline timeline;
  int64_t numbers; /* bytes of arguments and results that are no tensors */
  int *until;      /* by op: when the last op that runs as a part of it does */
  tp_route *routes;
  tp_usage *usages; /* by node */
  size_t usage_capacity, n_usages;
  const tp_station_table **tables; /* by node */
  size_t table_capacity;
  tp_memo same_stations, same_moves;
  tp_space *spaces;
  size_t n_spaces, space_capacity;
  tp_value_table
      /* value -> the op in which its memory becomes that of another value, if its layout does not
       * change on the way */
      ends;
  int *
      /* by value: since when its memory is that of a result of the function, if no layout changes
       * on the way; -1: it is not */
      since;
};

/* What a station is made of. */
typedef struct tp_station_plan {
  int before, anchor;
  bool in_op;
  int64_t start, end; /* when a changed layout is held; it changes at the start */
  bool keeps;         /* the producer holds nothing: a change holds what it starts from too ... */
  int64_t keep_start; /* ... from then on, and until it is done */
  bool elsewhere;     /* the result lies in memory that is there anyway */
  /* a change makes what its user then cannot overwrite: it holds that too ... */
  bool twice;
  int64_t twice_start; /* ... from then on */
  bool is_alone;       /* it has one use */
  int64_t source_start,
      /* when what a change starts from is held, if that is not while its result is; equal: it is */
      source_end;
} tp_station_plan;

/* ---- route_stations.c ---- */

tp_status tp__routes_node(struct tp_routes *routes, tp_node_kind kind, int index, int *number);
/* Until when the steps of a change are held, and what it starts from if it keeps that. One behind
 * its producer takes as long as what it makes. */
int64_t tp__change_end(const tp_station_plan *plan);
/* Since when. */
int64_t tp__change_start(const tp_station_plan *plan);
/* Node `node` holds what it gives `value` at start <= t < end, besides what it holds already. */
tp_status tp__hold_output(struct tp_routes *routes, int node, const tp_planned_value *value,
                          int64_t start, int64_t end);
/* Node `node` needs bytes[s] with strategy s at start <= t < end, rounded up to one of a few
 * amounts; `value` is one that belongs to it. */
tp_status tp__hold_space(struct tp_routes *routes, int value, int node, const int64_t *bytes,
                         int64_t start, int64_t end);
/* What the output of node `before` takes, as long as the station after it changes the layout. */
tp_status tp__hold_source(struct tp_routes *routes, int value, int station, int before, int output,
                          int64_t start, int64_t end);
/* Lists of different layouts, of at most TP_MAX_STATION_LAYOUTS; each returns the new length. */
int tp__add_distinct(tp_spec *specs, int n, tp_spec spec);
int tp__add_outputs(const tp_planner *planner, int node, int output, tp_spec *specs, int n);
int tp__add_inputs(const tp_planner *planner, const tp_use *use, tp_spec *specs, int n);
/* A station that offers these layouts; `station` is its number on the route of `value`. */
tp_status tp__add_station(struct tp_routes *routes, int value, int n_layouts,
                          const tp_spec *layouts, const tp_station_plan *plan, int *station);

/* ---- shared_places.c: which memory is that of others, as long as no layout changes on the way
 * ---- */

/* Fills `ends` and `since`. */
tp_status tp__routes_places(struct tp_routes *routes);
/* Does an op make the value, and the function return it? */
bool tp__is_returned(const tp_planner *planner, const tp_planned_value *value);
/* Is the memory of carried value `slot` that of another one? */
bool tp__carried_is_passed_on(const tp_item *item, int slot);
/* The number of the while whose condition and body hand their memory on to each other by this use;
 * -1: of none. */
int tp__passing_loop(const struct tp_routes *routes, const tp_use *use);

/* ---- fixed_usage.c ---- */

/* The rule of the op that makes a value; NULL: an argument, what a loop carries. */
const tp_rule *tp__route_rule(const tp_planner *planner, const tp_planned_value *value);
/* Arguments and results without layouts: an error if they alone exceed the limit. */
tp_status tp__hold_numbers(struct tp_routes *routes);
/* Those with layouts. */
tp_status tp__hold_boundary(struct tp_routes *routes);
/* What a loop carries, from its start to the last use of its result, which may overwrite it. */
tp_status tp__hold_carried(struct tp_routes *routes);
/* What ops need within themselves, and rings. */
tp_status tp__hold_workspaces(struct tp_routes *routes);

/* ---- route_edges.c ---- */

/* Puts the stations of a value behind its producer: messages of the solver run along the order of
 * nodes. */
tp_status tp__routes_order(struct tp_routes *routes);

#endif
