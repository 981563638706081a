/* Resharding: the cache of distances, and the public functions. */
#include "tp/reshard.h"

#include "sharding/layout_view.h"

#include <string.h>

/* What a search depends on. Problems of equal size share one entry whatever their shape, as far as the same numbers of devices divide it:
 * those are all divisors of the mesh's size, so a dimension counts by its gcd with that. Where `from` or `to` splits a dimension unevenly, its
 * size counts, and of `to` the axes on such dimensions: so one search answers all goals that are alike there. */
typedef struct key {
  int64_t view; /* axes, number of dimensions, flags */
  int64_t element_size;
  int64_t outer;
  uint64_t from;
  uint64_t goal;
  int64_t sizes[TP_MAX_RANK];
} key;

typedef struct entry {
  key key;
  tp__paths *paths; /* NULL: free slot */
} entry;

typedef struct graph_row {
  struct graph_row *next;
  tp__graph *graph;
} graph_row;

/* States of all remembered paths together, about 14 bytes each; beyond that all are forgotten, and found again if asked
 * for. */
enum { DEFAULT_PATH_LIMIT = 1 << 24 };

enum { N_WEIGHTS = 4, N_RECENT = 4 };

/* A search that answered lately: a planner asks for one `from` and many `to`. */
typedef struct recent {
  tp__paths *paths; /* NULL: none */
  tp_spec from;
  int rank;
  int64_t shape[TP_MAX_RANK];
  int64_t element_size;
  bool partial;
  tp_combiner combiner;
  tp__view view;
} recent;

struct tp_reshard_cache {
  tp_mesh mesh;
  tp_topology topology;
  tp__arena arena; /* graphs */
  tp__arena paths; /* of the entries */
  size_t path_states, path_limit;
  graph_row *graphs;
  entry *entries; /* open addressing */
  size_t n_slots; /* a power of two, or 0 */
  size_t n_entries;
  recent recent[N_RECENT];
  int oldest_recent;
  tp__weights weights[N_WEIGHTS]; /* of the last tensors that were searched */
  int oldest_weights;
};

tp_reshard_cache *tp_reshard_cache_create(const tp_mesh *mesh, const tp_topology *topology) {
  tp_reshard_cache *cache = tp__calloc(1, sizeof *cache);
  if (!cache)
    return NULL;
  cache->mesh = *mesh;
  cache->topology = *topology;
  cache->path_limit = DEFAULT_PATH_LIMIT;
  return cache;
}

void tp_reshard_cache_destroy(tp_reshard_cache *cache) {
  if (!cache)
    return;
  for (int i = 0; i < N_WEIGHTS; i++)
    tp__weights_destroy(&cache->weights[i]);
  tp__free(cache->entries);
  tp__arena_destroy(&cache->paths);
  tp__arena_destroy(&cache->arena);
  tp__free(cache);
}

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

/* The key's slot, or the free one where it belongs. */
static entry *find_slot(entry *entries, size_t n_slots, const key *k) {
  size_t at = hash_key(k) & (n_slots - 1);
  while (entries[at].paths && memcmp(&entries[at].key, k, sizeof *k) != 0)
    at = (at + 1) & (n_slots - 1);
  return &entries[at];
}

/* Keeps the table at most half full. */
static tp_status reserve_slot(tp_reshard_cache *cache) {
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

static void forget_paths(tp_reshard_cache *cache) {
  tp__arena_destroy(&cache->paths);
  if (cache->n_slots)
    memset(cache->entries, 0, cache->n_slots * sizeof *cache->entries);
  cache->n_entries = 0;
  cache->path_states = 0;
  memset(cache->recent, 0, sizeof cache->recent);
}

void tp__reshard_cache_limit(tp_reshard_cache *cache, size_t states) { cache->path_limit = states; }

static tp_status find_graph(tp_reshard_cache *cache, unsigned axes, int n_dims, bool partial, tp__graph **graph) {
  for (graph_row *row = cache->graphs; row; row = row->next) {
    tp__graph *g = row->graph;
    if (g->axes == axes && g->n_dims == n_dims && g->partial == partial) {
      *graph = g;
      return TP_OK;
    }
  }
  graph_row *row = tp__arena_alloc(&cache->arena, sizeof *row);
  if (!row)
    return TP_NO_MEMORY;
  tp_status status = tp__graph_create(&cache->arena, &cache->mesh, axes, n_dims, partial, &row->graph);
  if (status != TP_OK)
    return status;
  row->next = cache->graphs;
  cache->graphs = row;
  *graph = row->graph;
  return TP_OK;
}

/* ---- search ---- */

static void fill_search(const tp_reshard_cache *cache, const tp__problem *p, const tp__view *v, tp__search *s) {
  *s = (tp__search){.mesh = &cache->mesh,
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

static key make_key(const tp__problem *p, const tp__view *v, const tp__search *s) {
  key k = {.view = (int64_t)v->axes << 16 | v->n_dims << 8 | s->changes_combiner << 4 | s->may_mask_after << 3 |
                   p->partial << 2 | s->may_mask << 1 | s->uneven,
           .element_size = s->element_size,
           .outer = s->outer,
           .from = s->from.bits,
           .goal = s->goal.bits};
  memcpy(k.sizes, s->sizes, sizeof k.sizes);
  return k;
}

static tp_status find_weights(tp_reshard_cache *cache, const tp__search *search, tp__weights **weights) {
  for (int i = 0; i < N_WEIGHTS; i++)
    if (tp__weights_fit(&cache->weights[i], search)) {
      *weights = &cache->weights[i];
      return TP_OK;
    }
  tp__weights *slot = &cache->weights[cache->oldest_weights];
  tp__weights_destroy(slot);
  tp_status status = tp__weights_create(search, slot);
  if (status != TP_OK)
    return status;
  cache->oldest_weights = (cache->oldest_weights + 1) % N_WEIGHTS;
  *weights = slot;
  return TP_OK;
}

static tp_status find_paths(tp_reshard_cache *cache, const tp__problem *p, const tp__view *v, tp__paths **paths) {
  tp__search s;
  fill_search(cache, p, v, &s);
  key k = make_key(p, v, &s);
  if (cache->n_slots) {
    const entry *found = find_slot(cache->entries, cache->n_slots, &k);
    if (found->paths) {
      *paths = found->paths;
      return TP_OK;
    }
  }
  tp__graph *graph;
  tp__weights *weights;
  tp__paths *made;
  tp_status status = find_graph(cache, v->axes, v->n_dims, p->partial, &graph);
  if (status != TP_OK)
    return status;
  s.graph = graph;
  size_t n_states = s.changes_combiner ? 2 * graph->n_states : graph->n_states;
  if (cache->path_states + n_states > cache->path_limit)
    forget_paths(cache);
  status = reserve_slot(cache);
  if (status == TP_OK)
    status = find_weights(cache, &s, &weights);
  if (status == TP_OK)
    status = tp__search_run(&cache->paths, &s, weights, &made);
  if (status != TP_OK)
    return status;
  *find_slot(cache->entries, cache->n_slots, &k) = (entry){k, made};
  cache->n_entries++;
  cache->path_states += n_states;
  *paths = made;
  return TP_OK;
}

/* ---- answers ---- */

/* Appends a step and prices it at the local size it starts from. */
static void append_step(const tp_reshard_cache *cache, const tp__problem *p, tp_step_kind kind, tp_spec from, tp_spec to,
                        tp_reshard *reshard) {
  tp_step *step = &reshard->steps[reshard->n_steps++];
  tp__step_describe(&cache->mesh, kind, from, to, step);
  unsigned axes = 0;
  for (int i = 0; i < step->n_axes; i++)
    axes |= 1u << step->axes[i];
  int64_t elements = tp__move_elements(&cache->mesh, kind, from, to, p->rank, p->shape);
  step->bytes = tp__move_bytes(&cache->mesh, kind, axes, elements, p->element_size);
  step->cost = tp__move_cost(&cache->mesh, &cache->topology, kind, axes, elements, p->element_size);
  reshard->bytes += step->bytes;
  reshard->cost = tp_cost_add(reshard->cost, step->cost);
}

static tp_status direct_reshard(const tp_reshard_cache *cache, const tp__problem *p, tp_reshard *reshard) {
  tp_step_kind kinds[TP_MAX_STEPS];
  tp_spec after[TP_MAX_STEPS];
  int n = tp__direct_path(&cache->mesh, p->from, p->to, p->rank, p->shape, p->last_combiner != TP_AVERAGE, kinds, after);
  if (n < 0)
    return TP_UNSUPPORTED;
  for (int i = 0; i < n; i++)
    append_step(cache, p, kinds[i], i ? after[i - 1] : p->from, after[i], reshard);
  return TP_OK;
}

static tp_status searched_reshard(tp_reshard_cache *cache, const tp__problem *p, const tp__view *v, tp_reshard *reshard) {
  tp__paths *found;
  tp_status status = find_paths(cache, p, v, &found);
  if (status != TP_OK)
    return status;
  const tp__paths *paths = found;
  uint32_t state = tp__graph_find(paths->graph, v->to);
  if (state == TP__NO_STATE)
    return TP_INTERNAL; /* verified specs are layouts of the view */
  if (paths->cost[state] >= TP_COST_FORBIDDEN)
    return TP_UNSUPPORTED;
  tp_spec after[TP_MAX_STEPS];
  tp_step_kind kinds[TP_MAX_STEPS];
  int n = paths->steps[state];
  tp_combiner combiner = p->last_combiner;
  for (int i = n - 1; i >= 0; i--) {
    if (paths->before && paths->previous[state] == state) {
      paths = paths->before;
      combiner = p->combiner;
    }
    after[i] = tp__view_restore(p, v, paths->graph->states[state], combiner);
    kinds[i] = (tp_step_kind)paths->kind[state];
    state = paths->previous[state];
  }
  for (int i = 0; i < n; i++)
    append_step(cache, p, kinds[i], i ? after[i - 1] : p->from, after[i], reshard);
  return TP_OK;
}

static void remember(tp_reshard_cache *cache, const tp__problem *p, const tp__view *v, tp__paths *paths) {
  if (!v->full || p->combiner != p->last_combiner)
    return; /* more of `to` matters to these */
  recent *r = &cache->recent[cache->oldest_recent];
  cache->oldest_recent = (cache->oldest_recent + 1) % N_RECENT;
  *r = (recent){paths, p->from, p->rank, {0}, p->element_size, p->partial, p->combiner, *v};
  for (int d = 0; d < p->rank; d++)
    r->shape[d] = p->shape[d];
}

/* Is this search about the same tensor, in the same layout? */
static bool is_about(const recent *r, tp_spec from, int rank, const int64_t *shape, int64_t element_size) {
  if (!r->paths || !tp_spec_equal(from, r->from) || rank != r->rank || element_size != r->element_size)
    return false;
  for (int d = 0; d < rank; d++)
    if (shape[d] != r->shape[d])
      return false;
  return true;
}

/* Is `to` a layout of the search? */
static bool has_goal(const tp_mesh *mesh, const recent *r, tp_spec to) {
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(to, a);
    if (byte == 0)
      continue;
    if (!(r->view.axes >> a & 1))
      return false;
    int d = tp__byte_dim(byte);
    if (d < 0 ? !r->partial || (byte & 0x7f) != (unsigned)r->combiner : d >= r->rank || r->view.place[d] < 0)
      return false;
  }
  return true;
}

/* True if the search answers this too; any doubt is left to the long way. */
static bool answers(const tp_mesh *mesh, const recent *r, tp_spec to, tp_cost *cost) {
  tp_spec goal = tp__view_project(mesh, &r->view, to);
  unsigned uneven = r->view.uneven_from;
  if (!tp_spec_equal(tp__view_uneven(mesh, &r->view, r->shape, goal, &uneven), r->view.uneven_to) || uneven != r->view.uneven)
    return false;
  uint32_t state = tp__graph_find(r->paths->graph, goal);
  if (state == TP__NO_STATE || r->paths->cost[state] >= TP_COST_FORBIDDEN)
    return false;
  *cost = r->paths->cost[state];
  return true;
}

static bool recall(const tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank, const int64_t *shape,
                   int64_t element_size, tp_cost *cost) {
  for (int i = 0; i < N_RECENT; i++) {
    const recent *r = &cache->recent[i];
    if (is_about(r, from, rank, shape, element_size) && has_goal(&cache->mesh, r, to) && answers(&cache->mesh, r, to, cost))
      return true;
  }
  return false;
}

tp_cost tp_reshard_cost(tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank, const int64_t *shape,
                        int64_t element_size) {
  tp__problem p;
  tp__view v;
  tp_cost known;
  if (tp_spec_equal(from, to))
    return 0;
  if (recall(cache, from, to, rank, shape, element_size, &known))
    return known;
  if (tp__problem_create(&cache->mesh, from, to, rank, shape, element_size, &p) != TP_OK)
    return TP_COST_FORBIDDEN;
  if (tp_spec_equal(p.from, p.to))
    return 0;
  if (!tp__view_create(&p, &v)) {
    tp_reshard reshard = {0};
    return direct_reshard(cache, &p, &reshard) == TP_OK ? reshard.cost : TP_COST_FORBIDDEN;
  }
  tp__paths *paths;
  if (find_paths(cache, &p, &v, &paths) != TP_OK)
    return TP_COST_FORBIDDEN;
  remember(cache, &p, &v, paths);
  uint32_t state = tp__graph_find(paths->graph, v.to);
  return state == TP__NO_STATE ? TP_COST_FORBIDDEN : paths->cost[state];
}

tp_status tp_reshard_path(tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank, const int64_t *shape,
                          int64_t element_size, tp_reshard *reshard) {
  const tp_mesh *mesh = &cache->mesh;
  tp__problem p;
  tp__view v;
  tp_reshard made = {0};
  if (tp_spec_verify(mesh, from, rank, NULL, 0) != TP_OK || tp_spec_verify(mesh, to, rank, NULL, 0) != TP_OK) {
    return TP_INVALID_ARGUMENT;
  }
  if (tp_spec_equal(from, to)) {
    *reshard = made;
    return TP_OK;
  }
  tp_status status = tp__problem_create(mesh, from, to, rank, shape, element_size, &p);
  if (status == TP_OK && !tp_spec_equal(p.from, p.to)) {
    status = tp__view_create(&p, &v) ? searched_reshard(cache, &p, &v, &made) : direct_reshard(cache, &p, &made);
  }
  if (status != TP_OK)
    return status;
  if (made.n_steps > 0) { /* the search leaves out axes of size 1 */
    made.steps[0].from = from;
    made.steps[made.n_steps - 1].to = to;
  }
  *reshard = made;
  return TP_OK;
}
