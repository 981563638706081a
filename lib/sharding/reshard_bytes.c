/* The problem of layout_fewest.c for a resharding problem: which axes are cut, which dimensions may
 * be split, and the smallest refinement that the found path needs. */
#include "sharding/reshard_bytes.h"

#include "sharding/cut.h"

/* Dimensions that neither layout splits are of use only as places for axes on the way. */
enum { N_DIMS_WITH_PARKING = 4 };

/* ---- problem ---- */

/* Returns the axes that split a dimension unevenly. They stay whole, because the shards of an
 * uneven dimension depend on the sizes of its axes. */
static unsigned uneven_axes(const tp__reshard_problem *p, tp_spec spec) {
  unsigned axes = 0;
  for (int a = 0; a < p->mesh->n_axes; a++) {
    int d = tp__byte_dim(tp__spec_byte(spec, a));
    if (d >= 0 && p->shape[d] % tp_spec_dim_shards(p->mesh, spec, d) != 0)
      axes |= 1u << a;
  }
  return axes;
}

static unsigned dims_of(const tp_mesh *mesh, tp_spec spec) {
  unsigned dims = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    int d = tp__byte_dim(tp__spec_byte(spec, a));
    dims |= d < 0 ? 0 : 1u << d;
  }
  return dims;
}

/* Returns the dimension outside of `dims` that axes divide best; -1: none. */
static int best_parking(const tp__reshard_problem *p, unsigned dims) {
  int best = -1;
  int64_t most = 0;
  for (int d = 0; d < p->rank; d++) {
    int64_t room = tp__gcd(p->shape[d], p->devices);
    if ((dims >> d & 1) || p->shape[d] < 2 || room <= most)
      continue;
    most = room;
    best = d;
  }
  return best;
}

static bool has_identity(unsigned byte) {
  return !(byte & TP__PARTIAL_BIT) || (byte & 0x7f) != TP_AVERAGE;
}

/* Makes the problem with the axes cut in an order. False if there is no such order, or if the
 * search does not cover the problem. */
static bool make_problem(const tp__bytes_cache *cache, const tp__reshard_problem *p, int order,
                         tp__fewest *made) {
  if (p->combiner != p->last_combiner)
    return false;
  *made = (tp__fewest){.rank = p->rank, .partial = false};
  unsigned keep = cache->whole_axes ? ~0u : uneven_axes(p, p->from) | uneven_axes(p, p->to);
  if (!tp__mesh_cut(p->mesh, keep, order, &made->mesh))
    return false;
  made->from = tp__spec_cut(p->mesh, &made->mesh, p->from);
  made->to = tp__spec_cut(p->mesh, &made->mesh, p->to);
  for (int a = 0; a < made->mesh.n_axes; a++) {
    unsigned bytes[] = {tp__spec_byte(made->from, a), tp__spec_byte(made->to, a)};
    for (int i = 0; i < 2; i++)
      if (bytes[i] & TP__PARTIAL_BIT)
        made->combiner = bytes[i];
  }
  made->partial = made->combiner != 0;
  made->may_mask = has_identity(made->combiner);
  unsigned dims = dims_of(p->mesh, p->from) | dims_of(p->mesh, p->to);
  for (int d = 0; d < p->rank; d++) {
    made->shape[d] = p->shape[d];
    made->n_dims += dims >> d & 1;
  }
  for (int d; made->n_dims < N_DIMS_WITH_PARKING && (d = best_parking(p, dims)) >= 0;
       made->n_dims++)
    dims |= 1u << d;
  if (made->n_dims > TP__MAX_SPLIT_DIMS)
    return false;
  for (int d = 0, n = 0; d < p->rank; d++)
    if (dims >> d & 1)
      made->dims[n++] = d;
  return true;
}

/* ---- bounds ---- */

static tp__bounds *find_bounds(tp__bytes_cache *cache, const tp__fewest *problem) {
  for (int i = 0; i < TP__N_BOUNDS; i++)
    if (cache->bounds[i] && tp__bounds_fit(cache->bounds[i], problem))
      return cache->bounds[i];
  tp__bounds **slot = &cache->bounds[cache->oldest_bounds];
  cache->oldest_bounds = (cache->oldest_bounds + 1) % TP__N_BOUNDS;
  tp__bounds_destroy(*slot);
  *slot = tp__bounds_create(problem);
  return *slot;
}

bool tp__are_fewest(tp__bytes_cache *cache, const tp__reshard_problem *p, int64_t bytes) {
  tp__fewest problem;
  if (!make_problem(cache, p, 0, &problem))
    return true;
  const tp__bounds *bounds = find_bounds(cache, &problem);
  tp__counts from = tp__counts_of(&problem, problem.from);
  return bounds && bytes <= tp__multiply(tp__bound(bounds, &from), p->element_size);
}

/* ---- the path ---- */

/* True if axes a and a + 1 act as one axis in this layout. */
static bool act_as_one(const tp__fewest *p, tp_spec spec, int a) {
  unsigned major = tp__spec_byte(spec, a), minor = tp__spec_byte(spec, a + 1);
  int d = tp__byte_dim(major);
  if (d < 0)
    return major == minor;
  return minor == major + 16 && p->shape[d] % tp_spec_dim_shards(&p->mesh, spec, d) == 0;
}

/* Cuts the mesh only where the path needs it. */
static void cut_as_needed(const tp__reshard_problem *p, const tp__fewest *problem,
                          tp__bytes_path *path) {
  const tp_mesh *fine = &problem->mesh;
  tp_mesh mesh = *p->mesh;
  for (int a = 0; a + 1 < fine->n_axes; a++) {
    const tp_axis *minor = &fine->axes[a + 1];
    bool one = fine->axes[a].parent == minor->parent && act_as_one(problem, problem->from, a);
    for (int i = 0; i < path->n && one; i++)
      one = act_as_one(problem, path->after[i], a);
    if (!one && fine->axes[a].parent == minor->parent)
      tp_mesh_refine(&mesh, minor->name, 1, minor->pre);
  }
  path->mesh = mesh;
  path->from = tp__spec_join(&mesh, fine, problem->from);
  for (int i = 0; i < path->n; i++)
    path->after[i] = tp__spec_join(&mesh, fine, path->after[i]);
}

/* Replaces a path by one that sends fewer elements than *limit, with the axes cut in one order, if
 * there is one. *limit becomes what it sends. */
static tp_status find_in_order(tp__bytes_cache *cache, const tp__reshard_problem *p, int order,
                               int64_t *limit, tp__bytes_path *path) {
  tp__fewest problem;
  tp__bytes_path found = {.n = 0};
  if (!make_problem(cache, p, order, &problem))
    return TP_OK;
  const tp__bounds *bounds = find_bounds(cache, &problem);
  if (!bounds)
    return TP_NO_MEMORY;
  TP_TRY(tp__fewest_path(&problem, bounds, limit, found.kinds, found.after, &found.n));
  if (found.n == 0)
    return TP_OK;
  cut_as_needed(p, &problem, &found);
  *path = found;
  return TP_OK;
}

tp_status tp__find_fewer(tp__bytes_cache *cache, const tp__reshard_problem *p, int64_t bytes,
                         tp__bytes_path *path) {
  int64_t limit = bytes / p->element_size + (bytes % p->element_size != 0);
  path->n = 0;
  for (int order = 0; order < TP__N_CUT_ORDERS; order++)
    if (order == 0 || !tp__are_fewest(cache, p, tp__multiply(limit, p->element_size)))
      TP_TRY(find_in_order(cache, p, order, &limit, path));
  return TP_OK;
}

void tp__bytes_cache_destroy(tp__bytes_cache *cache) {
  for (int i = 0; i < TP__N_BOUNDS; i++)
    tp__bounds_destroy(cache->bounds[i]);
}
