/* The results of searches, keyed by their inputs. Shared by layout_cache.c and reshard.c. */
#ifndef TP_LIB_SHARDING_LAYOUT_CACHE_H
#define TP_LIB_SHARDING_LAYOUT_CACHE_H

#include "sharding/layout_view.h"

/* Empty if zeroed except for the limit. */
typedef struct tp__cache {
  tp_mesh mesh;
  tp_topology topology;
  tp__arena arena; /* graphs */
  tp__arena paths; /* the paths of the entries */
  size_t path_states, path_limit;
  struct tp__graph_row *graphs;
  struct tp__cache_entry *entries; /* open addressing */
  size_t n_slots;                  /* a power of two, or 0 */
  size_t n_entries;
  /* how often all paths were dropped, which invalidates all paths returned before */
  size_t n_forgotten;
  tp__edge_costs weights[TP__N_EDGE_COSTS]; /* for the tensors searched last */
  int oldest_weights;
} tp__cache;

void tp__cache_destroy(tp__cache *cache);
/* Finds the graph of these axes and of `n_dims` dimensions. It lives as long as the cache. */
tp_status tp__cache_graph(tp__cache *cache, unsigned axes, int n_dims, bool partial,
                          tp__layout_graph **graph);
/* Finds the paths from view->from that are valid for view->to. The dimensions of the view may have
 * any order. The order decides which of several cheapest paths is found. */
tp_status tp__cache_paths(tp__cache *cache, const tp__reshard_problem *problem,
                          const tp__layout_view *view, tp__layout_paths **paths);
/* The same for distances only. These do not depend on the order of the dimensions; a sorted view
 * (tp__layout_view_sort) shares them with more tensors and layouts. */
tp_status tp__cache_distances(tp__cache *cache, const tp__reshard_problem *problem,
                              const tp__layout_view *view, tp__layout_paths **paths);

/* Returns the searches of a cache of reshards (reshard.c). */
tp__cache *tp__reshard_searches(tp_reshard_cache *cache);

#endif
