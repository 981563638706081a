/* The problem of layout_fewest.c for a resharding problem: which axes are cut, which dimensions may
 * be split, and the smallest refinement that the found path needs. */
#include "sharding/reshard_bytes.h"

#include "sharding/cut.h"

#include <string.h>

/* Dimensions that neither layout splits are of use only as places for axes on the way. */
enum { N_DIMS_WITH_PARKING = 4 };

/* ---- problem ---- */

/* The axes that split a dimension unevenly. They stay whole, because the shards of an uneven
 * dimension depend on the sizes of its axes. */
static unsigned uneven_axes(const tp__reshard_problem *p, tp_spec spec) {
  return tp_spec_uneven_axes(p->mesh, spec, p->rank, p->shape);
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

/* A way to cut the axes. */
struct tp__cut {
  tp_mesh mesh;
  int first[TP_MAX_AXES], n[TP_MAX_AXES]; /* by axis of the mesh: its parts */
};

/* All ways to cut the axes outside of a set, first the ascending one. Of a power of two there is
 * one. */
struct tp__cuts {
  int n; /* 0: not listed yet */
  struct tp__cut *list;
};

static tp_status list_cuts(tp__bytes_cache *cache, const tp_mesh *mesh, unsigned keep,
                           const struct tp__cuts **found) {
  if (!cache->cuts)
    cache->cuts = tp__arena_array(&cache->arena, (size_t)1 << mesh->n_axes, sizeof *cache->cuts);
  struct tp__cuts *cuts = cache->cuts ? &cache->cuts[keep & ((1u << mesh->n_axes) - 1)] : NULL;
  struct tp__cut all[TP__N_CUT_ORDERS];
  int n = 0;
  *found = cuts;
  if (!cuts)
    return TP_NO_MEMORY;
  if (cuts->n > 0)
    return TP_OK;
  for (int order = 0; order < TP__N_CUT_ORDERS; order++) {
    struct tp__cut *cut = &all[n];
    if (!tp__mesh_cut(mesh, keep, order, &cut->mesh))
      continue;
    for (int a = 0; a < mesh->n_axes; a++)
      cut->n[a] = tp__cut_run(mesh, &cut->mesh, a, &cut->first[a]);
    n++;
  }
  cuts->list = tp__arena_array(&cache->arena, (size_t)n, sizeof *cuts->list);
  if (!cuts->list)
    return TP_NO_MEMORY;
  memcpy(cuts->list, all, (size_t)n * sizeof *all);
  cuts->n = n;
  return TP_OK;
}

/* As tp__spec_cut. */
static tp_spec cut_spec(const tp_mesh *mesh, const struct tp__cut *cut, tp_spec spec) {
  tp_spec result = tp_spec_replicated();
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a), order = 0;
    int dim = tp__byte_dim(byte);
    for (int k = 0; k < mesh->n_axes && dim >= 0; k++) {
      unsigned other = tp__spec_byte(spec, k);
      order += tp__byte_dim(other) == dim && other < byte ? (unsigned)cut->n[k] : 0;
    }
    for (int i = 0; i < cut->n[a]; i++)
      tp__spec_set_byte(&result, cut->first[a] + i,
                        dim < 0 ? byte : (order + (unsigned)i) << 4 | (byte & 15));
  }
  return result;
}

/* Sets *cuts to the ways to cut the axes for this problem; NULL: the search does not cover it. */
static tp_status find_cuts(tp__bytes_cache *cache, const tp__reshard_problem *p,
                           const struct tp__cuts **cuts) {
  unsigned keep = cache->whole | uneven_axes(p, p->from) | uneven_axes(p, p->to);
  *cuts = NULL;
  return p->combiner == p->last_combiner ? list_cuts(cache, p->mesh, keep, cuts) : TP_OK;
}

/* Makes the problem with the axes cut in one way. False if the search does not cover it. */
static bool make_problem(const tp__reshard_problem *p, const struct tp__cut *cut,
                         tp__fewest *made) {
  *made = (tp__fewest){.rank = p->rank, .partial = false, .mesh = cut->mesh};
  made->from = cut_spec(p->mesh, cut, p->from);
  made->to = cut_spec(p->mesh, cut, p->to);
  for (int a = 0; a < p->mesh->n_axes; a++) {
    unsigned bytes[] = {tp__spec_byte(p->from, a), tp__spec_byte(p->to, a)};
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

/* ---- bound ---- */

/* The bound is that of the first cut: those of the others are the same, because it counts parts. */
bool tp__are_fewest(tp__bytes_cache *cache, const tp__reshard_problem *p, int64_t bytes) {
  tp__fewest problem;
  const struct tp__cuts *cuts;
  int64_t bound = tp__least_elements(p->mesh, p->from, p->to, p->rank, p->shape);
  if (bytes <= tp__multiply(bound, p->element_size))
    return true;
  if (find_cuts(cache, p, &cuts) != TP_OK)
    return false;
  if (!cuts || !make_problem(p, &cuts->list[0], &problem))
    return true;
  return tp__fewest_bound(&cache->memo, &problem, &bound) == TP_OK &&
         bytes <= tp__multiply(bound, p->element_size);
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

tp_status tp__find_fewer(tp__bytes_cache *cache, const tp__reshard_problem *p, int64_t bytes,
                         tp__bytes_path *path) {
  const struct tp__cuts *cuts;
  tp__fewest problem, best;
  tp__bytes_path found;
  int64_t limit = bytes / p->element_size + (bytes % p->element_size != 0);
  path->n = 0;
  TP_TRY(find_cuts(cache, p, &cuts));
  for (int i = 0; cuts && i < cuts->n; i++) {
    if (!make_problem(p, &cuts->list[i], &problem))
      return TP_OK;
    TP_TRY(tp__fewest_find(&cache->memo, &problem, &limit, found.kinds, found.after, &found.n));
    if (found.n == 0)
      continue;
    *path = found;
    best = problem;
  }
  if (path->n > 0)
    cut_as_needed(p, &best, path);
  return TP_OK;
}

bool tp__may_be_fewer(tp__bytes_cache *cache, const tp__reshard_problem *p, int64_t bytes) {
  const struct tp__cuts *cuts;
  tp__fewest problem;
  int64_t limit = bytes / p->element_size + (bytes % p->element_size != 0);
  if (find_cuts(cache, p, &cuts) != TP_OK)
    return true;
  for (int i = 0; cuts && i < cuts->n; i++) {
    bool has_path = false;
    if (!make_problem(p, &cuts->list[i], &problem))
      return false;
    if (tp__fewest_below(&cache->memo, &problem, limit, &has_path) != TP_OK || has_path)
      return true;
  }
  return false;
}

void tp__bytes_cache_destroy(tp__bytes_cache *cache) {
  tp__fewest_memo_destroy(&cache->memo);
  tp__arena_destroy(&cache->arena);
}
