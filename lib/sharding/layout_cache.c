/* The cache of searches: graphs, weights, paths and distances. */
#include "sharding/layout_cache.h"

#include <string.h>

/* The inputs of a search. Problems with the same local sizes share an entry, even if their shapes
 * differ. Only the divisors of the mesh's size matter, so a dimension counts as its gcd with that
 * size. Exception: if `from` or `to` splits a dimension unevenly, its size counts, and so do the
 * axes of `to` on such dimensions. One search thus serves all goals that agree in these axes. */
typedef struct key {
  int64_t view; /* axes, number of dimensions, flags */
  int64_t element_size;
  int64_t outer;
  uint64_t from;
  uint64_t goal;
  int64_t sizes[TP_MAX_RANK];
} key;

typedef struct tp__cache_entry {
  key key;
  tp__layout_paths *paths; /* NULL: free slot */
} entry;

typedef struct tp__graph_row {
  struct tp__graph_row *next;
  tp__layout_graph *graph;
} graph_row;

/* ---- table ---- */

static uint64_t hash_key(const key *k) {
  uint64_t words[sizeof *k / sizeof(uint64_t)], hash = 0;
  memcpy(words, k, sizeof words);
  for (size_t i = 0; i < TP__COUNT(words); i++) {
    hash = (hash ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15);
    hash ^= hash >> 32;
  }
  return hash;
}

/* Returns the key's slot, or the free one where it belongs. */
static entry *find_slot(entry *entries, size_t n_slots, const key *k) {
  size_t at = hash_key(k) & (n_slots - 1);
  while (entries[at].paths && memcmp(&entries[at].key, k, sizeof *k) != 0)
    at = (at + 1) & (n_slots - 1);
  return &entries[at];
}

/* Keeps the table at most half full. */
static tp_status reserve_slot(tp__cache *cache) {
  if (2 * (cache->n_entries + 1) <= cache->n_slots)
    return TP_OK;
  size_t n_slots = cache->n_slots ? 2 * cache->n_slots : 64;
  entry *entries = tp__calloc(n_slots, sizeof *entries);
  if (!entries)
    return TP_NO_MEMORY;
  for (size_t i = 0; i < cache->n_slots; i++) {
    if (cache->entries[i].paths)
      *find_slot(entries, n_slots, &cache->entries[i].key) = cache->entries[i];
  }
  tp__free(cache->entries);
  cache->entries = entries;
  cache->n_slots = n_slots;
  return TP_OK;
}

static void forget_paths(tp__cache *cache) {
  tp__arena_destroy(&cache->paths);
  if (cache->n_slots)
    memset(cache->entries, 0, cache->n_slots * sizeof *cache->entries);
  cache->n_entries = 0;
  cache->path_states = 0;
  cache->n_forgotten++;
}

/* Ensures capacity for the states of new paths. Drops all paths if the limit would be exceeded. */
static void reserve_states(tp__cache *cache, size_t states) {
  if (cache->path_states + states > cache->path_limit)
    forget_paths(cache);
}

tp_status tp__cache_graph(tp__cache *cache, unsigned axes, int n_dims, bool partial,
                          tp__layout_graph **graph) {
  for (graph_row *row = cache->graphs; row; row = row->next) {
    tp__layout_graph *g = row->graph;
    if (g->axes == axes && g->n_dims == n_dims && g->partial == partial) {
      *graph = g;
      return TP_OK;
    }
  }
  graph_row *row = tp__arena_alloc(&cache->arena, sizeof *row);
  if (!row)
    return TP_NO_MEMORY;
  tp_status status = tp__layout_graph_create(&cache->arena, &cache->mesh, axes, n_dims, partial,
                                             NULL, &row->graph);
  if (status != TP_OK)
    return status;
  row->next = cache->graphs;
  cache->graphs = row;
  *graph = row->graph;
  return TP_OK;
}

/* ---- search ---- */

static void fill_search(const tp__cache *cache, const tp__reshard_problem *p,
                        const tp__layout_view *v, tp__layout_search *s) {
  *s = (tp__layout_search){.mesh = &cache->mesh,
                           .topology = &cache->topology,
                           .element_size = p->element_size,
                           .outer = v->outer,
                           .uneven = v->uneven != 0,
                           .may_mask = p->combiner != TP_AVERAGE,
                           .changes_combiner = p->combiner != p->last_combiner,
                           .may_mask_after = p->last_combiner != TP_AVERAGE,
                           .from = v->from,
                           .goal = v->uneven_to};
  for (int d = 0; d < v->n_dims; d++) {
    int64_t size = p->shape[v->dims[d]], part = tp__gcd(size, p->devices);
    s->sizes[d] = v->uneven >> d & 1 ? size : part;
    if (!(v->uneven >> d & 1))
      s->outer = tp__multiply(s->outer, size / part);
  }
}

static key make_key(const tp__reshard_problem *p, const tp__layout_view *v,
                    const tp__layout_search *s, bool distances) {
  key k = {.view = (int64_t)v->axes << 16 | v->n_dims << 8 | distances << 5 |
                   s->changes_combiner << 4 | s->may_mask_after << 3 | p->partial << 2 |
                   s->may_mask << 1 | s->uneven,
           .element_size = s->element_size,
           .outer = s->outer,
           .from = s->from.bits,
           .goal = s->goal.bits};
  memcpy(k.sizes, s->sizes, sizeof k.sizes);
  return k;
}

static tp_status find_weights(tp__cache *cache, const tp__layout_search *search,
                              tp__edge_costs **weights) {
  for (int i = 0; i < TP__N_EDGE_COSTS; i++)
    if (tp__edge_costs_fit(&cache->weights[i], search)) {
      *weights = &cache->weights[i];
      return TP_OK;
    }
  tp__edge_costs *slot = &cache->weights[cache->oldest_weights];
  tp__edge_costs_destroy(slot);
  TP_TRY(tp__edge_costs_create(search, slot));
  cache->oldest_weights = (cache->oldest_weights + 1) % TP__N_EDGE_COSTS;
  *weights = slot;
  return TP_OK;
}

static tp__layout_paths *find_entry(const tp__cache *cache, const key *k) {
  return cache->n_slots ? find_slot(cache->entries, cache->n_slots, k)->paths : NULL;
}

/* Finds the graph, the weights and a slot for a search. */
static tp_status prepare(tp__cache *cache, const tp__reshard_problem *p, const tp__layout_view *v,
                         tp__layout_search *s, tp__edge_costs **weights) {
  tp__layout_graph *graph = NULL;
  tp_status status = tp__cache_graph(cache, v->axes, v->n_dims, p->partial, &graph);
  if (status == TP_OK)
    status = reserve_slot(cache);
  s->graph = graph;
  return status == TP_OK ? find_weights(cache, s, weights) : status;
}

static void add_entry(tp__cache *cache, const key *k, const tp__layout_search *s,
                      tp__layout_paths *paths) {
  *find_slot(cache->entries, cache->n_slots, k) = (entry){*k, paths};
  cache->n_entries++;
  cache->path_states += s->changes_combiner ? 2 * s->graph->n_states : s->graph->n_states;
}

static tp_status find_paths(tp__cache *cache, const tp__reshard_problem *p,
                            const tp__layout_view *v, bool distances, tp__layout_paths **paths) {
  tp__layout_search s;
  tp__edge_costs *weights;
  fill_search(cache, p, v, &s);
  key k = make_key(p, v, &s, distances);
  *paths = find_entry(cache, &k);
  if (*paths)
    return TP_OK;
  TP_TRY(prepare(cache, p, v, &s, &weights));
  reserve_states(cache, s.changes_combiner ? 2 * s.graph->n_states : s.graph->n_states);
  TP_TRY(tp__layout_search_run(&cache->paths, &s, weights, distances, paths));
  add_entry(cache, &k, &s, *paths);
  return TP_OK;
}

tp_status tp__cache_paths(tp__cache *cache, const tp__reshard_problem *p, const tp__layout_view *v,
                          tp__layout_paths **paths) {
  return find_paths(cache, p, v, false, paths);
}

/* Distances to an uneven layout extend those to all even layouts, which are computed once, by the
 * edges of the uneven layouts. */
tp_status tp__cache_distances(tp__cache *cache, const tp__reshard_problem *p,
                              const tp__layout_view *v, tp__layout_paths **paths) {
  tp__layout_search s;
  tp__edge_costs *weights;
  tp__layout_paths *known;
  if (v->uneven_to.bits == 0 || p->combiner != p->last_combiner)
    return find_paths(cache, p, v, true, paths);
  fill_search(cache, p, v, &s);
  key k = make_key(p, v, &s, true);
  *paths = find_entry(cache, &k);
  if (*paths)
    return TP_OK;
  tp__layout_view even = *v;
  even.uneven = v->uneven_from;
  even.uneven_to = tp_spec_replicated();
  TP_TRY(prepare(cache, p, v, &s, &weights));
  reserve_states(cache, 2 * (size_t)s.graph->n_states);
  TP_TRY(find_paths(cache, p, &even, true, &known));
  /* again, because few weights are cached at a time */
  TP_TRY(prepare(cache, p, v, &s, &weights));
  TP_TRY(tp__layout_search_extend(&cache->paths, &s, weights, known, paths));
  add_entry(cache, &k, &s, *paths);
  return TP_OK;
}

void tp__cache_destroy(tp__cache *cache) {
  for (int i = 0; i < TP__N_EDGE_COSTS; i++)
    tp__edge_costs_destroy(&cache->weights[i]);
  tp__free(cache->entries);
  tp__arena_destroy(&cache->paths);
  tp__arena_destroy(&cache->arena);
}
