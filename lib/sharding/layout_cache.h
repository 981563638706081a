/* What searches found, by what they depend on. Shared by layout_cache.c and reshard.c. */
#ifndef TP_LIB_SHARDING_LAYOUT_CACHE_H
#define TP_LIB_SHARDING_LAYOUT_CACHE_H

#include "sharding/layout_view.h"

/* Zeroed, but for the limit: empty. */
typedef struct tp__cache {
  tp_mesh mesh;
  tp_topology topology;
  tp__arena arena; /* graphs */
  tp__arena paths; /* of the entries */
  size_t path_states, path_limit;
  struct tp__graph_row *graphs;
  struct tp__cache_entry *entries; /* open addressing */
  size_t n_slots;                  /* a power of two, or 0 */
  size_t n_entries;
  /* how often all paths were forgotten: those that were given out before are gone */
  size_t n_forgotten;
  tp__weights weights[TP__N_WEIGHTS]; /* of the last tensors that were searched */
  int oldest_weights;
} tp__cache;

void tp__cache_destroy(tp__cache *cache);
/* The paths from view->from that answer for view->to. The view may have its dimensions in any
 * order; which of several cheapest paths is found depends on it. */
tp_status tp__cache_paths(tp__cache *cache, const tp__problem *problem, const tp__view *view,
                          tp__paths **paths);
/* The same, but distances alone. They do not depend on the order of the dimensions: those of a
 * sorted view (tp__view_sort) are found for more tensors and layouts. */
tp_status tp__cache_distances(tp__cache *cache, const tp__problem *problem, const tp__view *view,
                              tp__paths **paths);

#endif
