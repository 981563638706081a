/* Resharding: the public functions. */
#include "tp/reshard.h"

#include "sharding/cut.h"
#include "sharding/layout_cache.h"
#include "sharding/reshard_bytes.h"
#include "sharding/reshard_tables.h"

#include <string.h>

/* Maximum number of states in all cached paths, about 14 bytes each. Beyond that, all paths are
 * dropped and computed again on demand. */
enum { DEFAULT_PATH_LIMIT = 1 << 24 };

/* Maximum number of cached prices, 8 bytes each. */
enum { MAX_PRICES = 1 << 22 };
/* For the objective "bytes": a path's time is less than this part of its cost, and two paths that
 * send different amounts differ by more. */
enum { TIME_SHARE = 1 << 16 };

enum { N_RECENT = 8 };

/* A recent search. A planner queries many `to` for the same `from`. */
typedef struct recent {
  tp__layout_paths *paths; /* NULL: none */
  tp_spec from;
  int rank;
  int64_t shape[TP_MAX_RANK];
  int64_t element_size;
  bool partial;
  tp_combiner combiner;
  tp__layout_view view;
  tp_cost *written; /* by state, for the objective "bytes": 0, or the cost of the path written */
} recent;

struct tp_reshard_cache {
  tp__cache searches;
  tp__bytes_cache bytes;
  tp_reshard_cache *planned; /* whose paths are taken where they can be; NULL: none */
  bool prices_whole_axes;
  tp_memo prices; /* for the objective "bytes": rows of them, by search and tensor */
  tp__arena price_rows;
  size_t n_prices;
  recent recent[N_RECENT];
  size_t n_forgotten; /* value of searches.n_forgotten when these were stored */
  int oldest_recent;
  tp__reshard_tables tables;
};

tp_reshard_cache *tp_reshard_cache_create(const tp_mesh *mesh, const tp_topology *topology) {
  tp_reshard_cache *cache = tp__calloc(1, sizeof *cache);
  if (!cache)
    return NULL;
  cache->searches.mesh = *mesh;
  cache->searches.topology = *topology;
  cache->searches.path_limit = DEFAULT_PATH_LIMIT;
  return cache;
}

static void forget_prices(tp_reshard_cache *cache) {
  tp__memo_destroy(&cache->prices);
  tp__arena_destroy(&cache->price_rows);
  cache->n_prices = 0;
}

void tp_reshard_cache_destroy(tp_reshard_cache *cache) {
  if (!cache)
    return;
  tp__cache_destroy(&cache->searches);
  tp__bytes_cache_destroy(&cache->bytes);
  forget_prices(cache);
  tp__reshard_tables_clear(&cache->tables);
  tp__free(cache);
}

void tp__reshard_cache_limit(tp_reshard_cache *cache, size_t states) {
  cache->searches.path_limit = states;
}

tp__cache *tp__reshard_searches(tp_reshard_cache *cache) { return &cache->searches; }

tp__reshard_tables *tp__reshard_tables_of(tp_reshard_cache *cache) { return &cache->tables; }

/* ---- results ---- */

/* Appends a step, priced at its initial local size. `topology` is that of reshard->mesh. */
static void append_step(const tp_topology *topology, const tp__reshard_problem *p,
                        tp_step_kind kind, tp_spec from, tp_spec to, tp_reshard *reshard) {
  tp_step *step = &reshard->steps[reshard->n_steps++];
  const tp_mesh *mesh = &reshard->mesh;
  tp__step_describe(mesh, kind, from, to, step);
  unsigned axes = 0;
  for (int i = 0; i < step->n_axes; i++)
    axes |= 1u << step->axes[i];
  int64_t elements = tp__move_elements(mesh, kind, from, to, p->rank, p->shape);
  step->bytes = tp__move_bytes(mesh, kind, axes, elements, p->element_size);
  step->cost = tp__move_cost(mesh, topology, kind, axes, elements, p->element_size);
  reshard->bytes += step->bytes;
  reshard->cost = tp_cost_add(reshard->cost, step->cost);
}

static tp_status direct_reshard(const tp__cache *cache, const tp__reshard_problem *p,
                                tp_reshard *reshard) {
  tp_step_kind kinds[TP_MAX_STEPS];
  tp_spec after[TP_MAX_STEPS];
  int n = tp__direct_path(&cache->mesh, p->from, p->to, p->rank, p->shape,
                          p->last_combiner != TP_AVERAGE, kinds, after);
  if (n < 0)
    return TP_UNSUPPORTED;
  for (int i = 0; i < n; i++)
    append_step(&cache->topology, p, kinds[i], i ? after[i - 1] : p->from, after[i], reshard);
  return TP_OK;
}

static tp_status searched_reshard(tp__cache *cache, const tp__reshard_problem *p,
                                  const tp__layout_view *v, tp_reshard *reshard) {
  tp__layout_paths *found;
  TP_TRY(tp__cache_paths(cache, p, v, &found));
  const tp__layout_paths *paths = found;
  uint32_t state = tp__layout_graph_find(paths->graph, v->to);
  if (state == TP__NO_STATE)
    return TP_INTERNAL; /* verified specs are always layouts of the view */
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
    after[i] = tp__layout_view_restore(p, v, paths->graph->states[state], combiner);
    kinds[i] = (tp_step_kind)paths->kind[state];
    state = paths->previous[state];
  }
  for (int i = 0; i < n; i++)
    append_step(&cache->topology, p, kinds[i], i ? after[i - 1] : p->from, after[i], reshard);
  return TP_OK;
}

/* Finds the prices of all layouts for a search and a tensor; NULL if memory runs out. */
static tp_cost *find_prices(tp_reshard_cache *cache, const tp__reshard_problem *p,
                            const tp__layout_paths *paths) {
  int64_t key[TP_MAX_RANK + 4] = {(int64_t)(intptr_t)paths, (int64_t)p->from.bits, p->element_size,
                                  (int64_t)p->combiner};
  size_t n_states = paths->graph->n_states;
  for (int d = 0; d < p->rank; d++)
    key[4 + d] = p->shape[d];
  void **slot = tp__memo(&cache->prices, &cache->price_rows, key, 4 + (size_t)p->rank);
  if (slot && !*slot) {
    *slot = tp__arena_array(&cache->price_rows, n_states, sizeof(tp_cost));
    cache->n_prices += n_states;
  }
  return slot ? *slot : NULL;
}

static void remember(tp_reshard_cache *cache, const tp__reshard_problem *p,
                     const tp__layout_view *v, tp__layout_paths *paths) {
  if (!v->full || p->combiner != p->last_combiner)
    return; /* the results of these depend on more of `to` */
  if (cache->n_forgotten != cache->searches.n_forgotten || cache->n_prices > MAX_PRICES) {
    memset(cache->recent, 0, sizeof cache->recent);
    forget_prices(cache);
  }
  cache->n_forgotten = cache->searches.n_forgotten;
  recent *r = &cache->recent[cache->oldest_recent];
  cache->oldest_recent = (cache->oldest_recent + 1) % N_RECENT;
  *r = (recent){paths, p->from, p->rank, {0}, p->element_size, p->partial, p->combiner, *v, NULL};
  if (cache->searches.topology.objective == TP_OBJECTIVE_BYTES)
    r->written = find_prices(cache, p, paths);
  for (int d = 0; d < p->rank; d++)
    r->shape[d] = p->shape[d];
}

/* True if this search is for the same tensor in the same layout. */
static bool is_about(const recent *r, tp_spec from, int rank, const int64_t *shape,
                     int64_t element_size) {
  if (!r->paths || !tp_spec_equal(from, r->from) || rank != r->rank ||
      element_size != r->element_size)
    return false;
  for (int d = 0; d < rank; d++)
    if (shape[d] != r->shape[d])
      return false;
  return true;
}

/* Converts `to` to a layout of the search. False if it is not one. */
static bool project_goal(const tp_mesh *mesh, const recent *r, tp_spec to, tp_spec *goal) {
  *goal = tp_spec_replicated();
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(to, a);
    int d = tp__byte_dim(byte);
    if (byte == 0)
      continue;
    if (!(r->view.axes >> a & 1))
      return false;
    if (d < 0 ? !r->partial || (byte & 0x7f) != (unsigned)r->combiner
              : d >= r->rank || r->view.place[d] < 0)
      return false;
    tp__spec_set_byte(goal, a,
                      d < 0 ? TP__PARTIAL_BIT | TP_SUM
                            : (byte & 0x70) | (unsigned)(r->view.place[d] + 1));
  }
  return true;
}

/* True if the search also answers this query. In doubt false; the query then takes the slow
 * path. */
static bool answers(const recent *r, tp_spec goal, uint32_t *state) {
  *state = tp__layout_graph_find(r->paths->graph, goal);
  return *state != TP__NO_STATE && r->paths->answered[*state] &&
         r->paths->cost[*state] < TP_COST_FORBIDDEN;
}

/* Finds the recent search that answers a query, and the state; NULL: none does. */
static const recent *recall(const tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank,
                            const int64_t *shape, int64_t element_size, uint32_t *state) {
  tp_spec goal;
  for (int i = 0; i < N_RECENT && cache->n_forgotten == cache->searches.n_forgotten; i++) {
    const recent *r = &cache->recent[i];
    if (is_about(r, from, rank, shape, element_size) &&
        project_goal(&cache->searches.mesh, r, to, &goal) && answers(r, goal, state))
      return r;
  }
  return NULL;
}

/* ---- fewest bytes ---- */

/* Replaces a path by one that sends less, if there is one. In stages (tp_cost_form) an all_reduce
 * sends less than tp_cost_bytes says, and its cost is that of the stages: a path without it must
 * not send more than these. */
static tp_status send_less(tp_reshard_cache *cache, const tp__reshard_problem *p,
                           tp_reshard *reshard) {
  tp__bytes_path path;
  int64_t in_stages = reshard->cost / TP_BYTE_PS;
  if (cache->searches.topology.objective != TP_OBJECTIVE_BYTES ||
      tp__are_fewest(&cache->bytes, p, reshard->bytes))
    return TP_OK;
  TP_TRY(tp__find_fewer(&cache->bytes, p,
                        in_stages < reshard->bytes ? in_stages + 1 : reshard->bytes, &path));
  if (path.n == 0)
    return TP_OK;
  tp_topology topology = tp__topology_cut(&cache->searches.topology, p->mesh, &path.mesh);
  *reshard = (tp_reshard){.mesh = path.mesh};
  for (int i = 0; i < path.n; i++)
    append_step(&topology, p, path.kinds[i], i ? path.after[i - 1] : path.from, path.after[i],
                reshard);
  return TP_OK;
}

/* Returns the cost of the path that is written, given that of the other search. */
static tp_cost written_cost(tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank,
                            const int64_t *shape, int64_t element_size, tp_cost cost) {
  tp__reshard_problem p;
  tp_reshard reshard;
  int64_t bytes = cost / TP_BYTE_PS;
  if (cost >= TP_COST_FORBIDDEN || bytes == 0)
    return cost;
  int64_t least =
      tp__multiply(tp__least_elements(&cache->searches.mesh, from, to, rank, shape), element_size);
  if (bytes <= least + least / TIME_SHARE ||
      tp__reshard_problem_create(&cache->searches.mesh, from, to, rank, shape, element_size, &p) !=
          TP_OK ||
      !tp__may_be_fewer(&cache->bytes, &p, bytes - bytes / TIME_SHARE) ||
      tp_reshard_path(cache, from, to, rank, shape, element_size, &reshard) != TP_OK)
    return cost;
  return reshard.cost;
}

/* ---- rows of groups ---- */

static unsigned rows_axes(const tp_mesh *mesh, tp_spec spec) {
  unsigned set = 0;
  for (int a = 0; a < mesh->n_axes; a++)
    set |= tp_place_is_rows(tp_spec_place(spec, a)) ? 1u << a : 0;
  return set;
}

/* True if either layout has rows of groups. The only step between two such layouts is a mask,
 * which does nothing: it goes from a layout that replicates the axes, and *kept tells if this is
 * it. */
static bool about_rows(const tp_mesh *mesh, tp_spec from, tp_spec to, bool *kept) {
  unsigned before = rows_axes(mesh, from), after = rows_axes(mesh, to);
  for (int a = 0; a < mesh->n_axes; a++)
    if (after >> a & 1)
      tp_spec_clear(&to, a);
  *kept = before == 0 && tp_spec_equal(from, to);
  return before || after;
}

/* ---- entry points ---- */

/* Returns the cost by the search over whole axes. */
static tp_cost searched_cost(tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank,
                             const int64_t *shape, int64_t element_size) {
  tp__reshard_problem p;
  tp__layout_view v;
  if (tp__reshard_problem_create(&cache->searches.mesh, from, to, rank, shape, element_size, &p) !=
      TP_OK)
    return TP_COST_FORBIDDEN;
  if (tp_spec_equal(p.from, p.to))
    return 0;
  if (!tp__layout_view_create(&p, &v)) {
    tp_reshard reshard = {.mesh = cache->searches.mesh};
    return direct_reshard(&cache->searches, &p, &reshard) == TP_OK ? reshard.cost
                                                                   : TP_COST_FORBIDDEN;
  }
  tp__layout_paths *paths;
  tp__layout_view_sort(&p, &v);
  if (tp__cache_distances(&cache->searches, &p, &v, &paths) != TP_OK)
    return TP_COST_FORBIDDEN;
  remember(cache, &p, &v, paths);
  uint32_t state = tp__layout_graph_find(paths->graph, v.to);
  return state == TP__NO_STATE ? TP_COST_FORBIDDEN : paths->cost[state];
}

tp_cost tp_reshard_cost(tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank,
                        const int64_t *shape, int64_t element_size) {
  bool as_written =
      cache->searches.topology.objective == TP_OBJECTIVE_BYTES && !cache->prices_whole_axes;
  uint32_t state;
  bool kept;
  if (tp_spec_equal(from, to))
    return 0;
  if (about_rows(&cache->searches.mesh, from, to, &kept))
    return kept ? 1 : TP_COST_FORBIDDEN;
  const recent *r = recall(cache, from, to, rank, shape, element_size, &state);
  if (r && as_written && r->written && r->written[state])
    return r->written[state];
  tp_cost cost =
      r ? r->paths->cost[state] : searched_cost(cache, from, to, rank, shape, element_size);
  if (!as_written)
    return cost;
  /* the steps of a path may make the cache drop all searches */
  tp_cost *price = r ? r->written : NULL;
  size_t n_forgotten = cache->searches.n_forgotten;
  cost = written_cost(cache, from, to, rank, shape, element_size, cost);
  if (price && n_forgotten == cache->searches.n_forgotten)
    price[state] = cost;
  return cost;
}

/* Writes the path of cache->planned on the axes of this cache. Returns false if there is none:
 * parts of an axis are apart in `from` or `to`, or the path cuts an axis that is whole here. */
static bool take_planned(tp_reshard_cache *cache, const tp__reshard_problem *p,
                         tp_reshard *reshard) {
  const tp_mesh *mesh = &cache->searches.mesh, *coarse = &cache->planned->searches.mesh;
  tp_spec from = tp__spec_join(coarse, mesh, p->from), to = tp__spec_join(coarse, mesh, p->to);
  tp_reshard path;
  int first;
  if (!tp_spec_equal(tp__spec_cut(coarse, mesh, from), p->from) ||
      !tp_spec_equal(tp__spec_cut(coarse, mesh, to), p->to) ||
      tp_reshard_path(cache->planned, from, to, p->rank, p->shape, p->element_size, &path) != TP_OK)
    return false;
  for (int a = 0; a < path.mesh.n_axes; a++)
    if (path.mesh.axes[a].size > 1 && tp__cut_run(&path.mesh, mesh, a, &first) == 0)
      return false;
  for (int i = 0; i < path.n_steps; i++)
    append_step(&cache->searches.topology, p, path.steps[i].kind,
                tp__spec_cut(&path.mesh, mesh, path.steps[i].from),
                tp__spec_cut(&path.mesh, mesh, path.steps[i].to), reshard);
  return true;
}

tp_status tp_reshard_path(tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank,
                          const int64_t *shape, int64_t element_size, tp_reshard *reshard) {
  const tp_mesh *mesh = &cache->searches.mesh;
  tp__reshard_problem p;
  tp__layout_view v;
  tp_reshard made = {.mesh = *mesh};
  if (tp_spec_verify(mesh, from, rank, NULL, 0) != TP_OK ||
      tp_spec_verify(mesh, to, rank, NULL, 0) != TP_OK) {
    return TP_INVALID_ARGUMENT;
  }
  if (tp_spec_equal(from, to)) {
    *reshard = made;
    return TP_OK;
  }
  bool kept;
  if (about_rows(mesh, from, to, &kept)) {
    if (!kept)
      return TP_UNSUPPORTED;
    tp__step_describe(mesh, TP_STEP_MASK, from, to, &made.steps[made.n_steps++]);
    made.steps[0].cost = made.cost = 1; /* every step has a positive cost */
    *reshard = made;
    return TP_OK;
  }
  TP_TRY(tp__reshard_problem_create(mesh, from, to, rank, shape, element_size, &p));
  if (!tp_spec_equal(p.from, p.to) && !(cache->planned && take_planned(cache, &p, &made))) {
    TP_TRY(tp__layout_view_create(&p, &v) ? searched_reshard(&cache->searches, &p, &v, &made)
                                          : direct_reshard(&cache->searches, &p, &made));
    TP_TRY(send_less(cache, &p, &made));
  }
  if (made.n_steps > 0) { /* the search omits axes of size 1 */
    made.steps[0].from = tp__spec_cut(mesh, &made.mesh, from);
    made.steps[made.n_steps - 1].to = tp__spec_cut(mesh, &made.mesh, to);
  }
  *reshard = made;
  return TP_OK;
}

void tp_reshard_cache_keep_axes(tp_reshard_cache *cache, tp_reshard_cache *planned) {
  cache->bytes.whole = ~0u;
  cache->planned = planned;
}

void tp_reshard_cache_keep_whole(tp_reshard_cache *cache, unsigned axes) {
  cache->bytes.whole = axes;
}

void tp_reshard_cache_price_whole_axes(tp_reshard_cache *cache, bool whole) {
  if (cache->prices_whole_axes != whole && cache->searches.topology.objective == TP_OBJECTIVE_BYTES)
    tp__reshard_tables_clear(&cache->tables);
  cache->prices_whole_axes = whole;
}
