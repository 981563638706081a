/* Internal parts of resharding: moves between layouts, the graph of layouts, and distances in it.
 *
 * A view is the part of a problem that a search covers: a subset of the mesh axes (all of size > 1)
 * and n_dims dimensions, renumbered from 0 in tensor order. In specs of a view, every partial byte
 * is that of TP_SUM. A search only needs to know whether there are two combiners, and which of them
 * have an identity. */
#ifndef TP_LIB_SHARDING_LAYOUT_H
#define TP_LIB_SHARDING_LAYOUT_H

#include "sharding/sharding.h"
#include "support/support.h"
#include "tp/reshard.h"

/* ---- moves (layout_moves.c) ---- */

/* Receives one move: its kind, the set of axes of its group, and the spec after it. A failure ends
 * the enumeration. */
typedef tp_status tp__move_fn(void *context, tp_step_kind kind, unsigned axes, tp_spec to);

/* Enumerates all moves from `from` except permutes, in a fixed order. */
tp_status tp__layout_moves(const tp_mesh *mesh, unsigned axes, int n_dims, bool partial,
                           tp_spec from, tp__move_fn *emit, void *context);

/* layout_exchange.c: enumerates the exchanges between more than two dimensions, which are some of
 * these moves. */
tp_status tp__exchange_moves(const tp_mesh *mesh, int n_dims, tp_spec from, tp__move_fn *emit,
                             void *context);

/* Fills kind, axes, dim, to_dim, combiner, from and to of the step of `kind` that leads from one
 * spec to the other. */
void tp__step_describe(const tp_mesh *mesh, tp_step_kind kind, tp_spec from, tp_spec to,
                       tp_step *step);

/* Return the bytes and the time of a move of `kind` over the set `axes`, for a local buffer of
 * `elements`. */
int64_t tp__move_bytes(const tp_mesh *mesh, tp_step_kind kind, unsigned axes, int64_t elements,
                       int64_t element_size);
tp_cost tp__move_cost(const tp_mesh *mesh, const tp_topology *topology, tp_step_kind kind,
                      unsigned axes, int64_t elements, int64_t element_size);

/* True if a move of `kind` can make the changes of dimensions from `from` to `to` when the
 * dimensions have `sizes`. See "Uneven sizes" in tp/reshard.h. True for every move between specs
 * that divide the sizes. */
bool tp__move_keeps_prefix(const tp_mesh *mesh, tp_step_kind kind, tp_spec from, tp_spec to,
                           int n_dims, const int64_t *sizes);

/* Returns the elements of the local buffer that a move starts from, including the padding that
 * makes its shards equal. */
int64_t tp__move_elements(const tp_mesh *mesh, tp_step_kind kind, tp_spec from, tp_spec to,
                          int n_dims, const int64_t *sizes);

/* Returns the axes along which a permute between two specs moves data. */
unsigned tp__permute_axes(const tp_mesh *mesh, tp_spec from, tp_spec to);

/* ---- graph (layout_graph.c) ---- */

typedef struct tp__layout_edge {
  uint32_t to;
  uint16_t price;
  uint16_t kind;
} tp__layout_edge;

/* An edge as seen from its target state. */
typedef struct tp__in_edge {
  uint32_t from, edge;
} tp__in_edge;

/* The price class of edges: edges of one class cost the same for the same local buffer. */
typedef struct tp__price_class {
  tp_step_kind kind;
  unsigned axes;
} tp__price_class;

typedef struct tp__layout_graph {
  unsigned axes;
  int n_dims;
  bool partial; /* the graph has partial states */
  uint32_t n_states;
  uint32_t n_prices;
  tp_spec *states;
  uint32_t *first_edge; /* n_states + 1 entries */
  tp__layout_edge *edges;
  uint32_t *first_into;    /* the edges by target: n_states + 1 entries ... */
  tp__in_edge *into;       /* ... and for each target in the order of source states */
  tp__price_class *prices; /* capacity for every kind and set of axes; n_prices are used */
  uint32_t *slots;         /* hash table: state number + 1; 0: free */
  uint32_t slot_mask;
} tp__layout_graph;

/* Maximum number of layouts of a graph: of one that has all of its view, and of any. */
enum { TP__MAX_STATES = 7200, TP__MAX_CHOSEN_STATES = 20000, TP__NO_STATE = UINT32_MAX >> 1 };

/* Chooses layouts of a view. */
typedef struct tp__layout_filter {
  bool (*includes)(const void *context, tp_spec spec);
  const void *context;
} tp__layout_filter;

/* Returns the number of layouts of a view. */
int64_t tp__layout_graph_count(int n_axes, int n_dims, bool partial);
/* Builds the graph of the layouts that `filter` includes, with the moves between them, in `arena`.
 * `filter` NULL: of all layouts. TP_UNSUPPORTED if these are too many. */
tp_status tp__layout_graph_create(tp__arena *arena, const tp_mesh *mesh, unsigned axes, int n_dims,
                                  bool partial, const tp__layout_filter *filter,
                                  tp__layout_graph **graph);
/* Returns the number of `spec`; TP__NO_STATE if it is not a layout of the view. */
uint32_t tp__layout_graph_find(const tp__layout_graph *graph, tp_spec spec);

/* ---- distances (layout_search.c) ---- */

typedef struct tp__layout_search {
  const tp_mesh *mesh;
  const tp_topology *topology;
  const tp__layout_graph *graph;
  int64_t element_size;
  /* Local elements = outer * the local elements of `sizes`. Of an evenly split dimension, `sizes`
   * has only the factor that devices may divide; the rest is in `outer`. Tensors that differ only
   * in that rest share one search. */
  int64_t outer;
  int64_t sizes[TP_MAX_RANK]; /* of the view's dimensions */
  bool uneven;                /* `from` or `goal` does not divide the sizes */
  bool may_mask;              /* the combiner has an identity */
  /* paths may leave the partial layouts of one combiner and then enter those of another */
  bool changes_combiner;
  bool may_mask_after; /* the other combiner has an identity */
  tp_spec from;
  tp_spec goal; /* only its axes on dimensions that it does not divide, in order */
} tp__layout_search;

/* ---- weights (layout_weights.c) ---- */

/* A move between layouts that divide all dimensions. */
typedef struct tp__even_edge {
  tp_cost cost;
  uint16_t to, kind;
} tp__even_edge;

/* The costs shared by searches in one graph that differ only in their endpoints. Zeroed: none. */
typedef struct tp__edge_costs {
  const tp__layout_graph *graph;
  bool uneven;
  int64_t element_size, outer, sizes[TP_MAX_RANK];
  int64_t *elements; /* local elements, by state */
  /* by state: no dimension is uneven; moves between two such layouts need no padding */
  bool *divides;
  /* n_states + 1 entries: the edges between such layouts, which every search uses ... */
  uint32_t *first_even;
  tp__even_edge *even; /* ... in the order of the graph */
  /* by edge; 0: not known yet; TP_COST_FORBIDDEN: the sizes do not allow the move */
  tp_cost *costs;
  struct tp__memo_entry *memos;
} tp__edge_costs;

enum { TP__N_EDGE_COSTS = 16 }; /* number of cached weights */

bool tp__edge_costs_fit(const tp__edge_costs *weights, const tp__layout_search *search);
tp_status tp__edge_costs_create(const tp__layout_search *search, tp__edge_costs *weights);
void tp__edge_costs_destroy(tp__edge_costs *weights);
/* Returns the cost of an edge from the state `from`. Computed once. `search` must be uneven. */
tp_cost tp__edge_cost(tp__edge_costs *weights, const tp__layout_search *search, uint32_t from,
                      const tp__layout_edge *edge);

/* Shortest paths from one layout to all others. If the combiner changes, the partial layouts are
 * those of the second combiner, and `before` has the first parts of the paths, which end in layouts
 * without partials. */
typedef struct tp__layout_paths {
  const tp__layout_graph *graph;
  const struct tp__layout_paths *before;
  tp_cost *cost;  /* TP_COST_FORBIDDEN: unreachable */
  uint8_t *steps; /* number of steps */
  bool *answered; /* by state: the search has the right `goal` for a path to this state */
  /* Previous state. With `before`, the state itself where the second part begins. NULL: only
   * distances are known. */
  uint32_t *previous;
  uint8_t *kind; /* tp_step_kind of the last step; NULL likewise */
} tp__layout_paths;

/* Runs a search. Results are in `arena`; `weights` must fit the search. With `distances`, the paths
 * are not stored. */
tp_status tp__layout_search_run(tp__arena *arena, const tp__layout_search *search,
                                tp__edge_costs *weights, bool distances, tp__layout_paths **paths);
/* Computes distances for a search that differs from that of `known` only in its goal: its layout is
 * uneven, the goal of `known` is not. The combiner must not change. */
tp_status tp__layout_search_extend(tp__arena *arena, const tp__layout_search *search,
                                   tp__edge_costs *weights, const tp__layout_paths *known,
                                   tp__layout_paths **paths);

/* ---- cache (reshard.c) ---- */

/* Sets the maximum number of path states in the cache, for tests. */
void tp__reshard_cache_limit(tp_reshard_cache *cache, size_t states);

/* ---- problems too large to search (layout_direct.c) ---- */

/* Fills the kinds and the specs of at most TP_MAX_STEPS steps of a simple valid path. Returns their
 * number; -1 if the path would be longer, or needs a mask that is not allowed. */
int tp__direct_path(const tp_mesh *mesh, tp_spec from, tp_spec to, int rank, const int64_t *shape,
                    bool may_mask, tp_step_kind *kinds, tp_spec *after);

#endif
