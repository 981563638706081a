/* Builds a path without search, for meshes and ranks with too many layouts: reduce, gather down to
 * the common axes, slice, mask. Always valid, seldom the cheapest. */
#include "sharding/layout.h"

typedef struct path {
  const tp_mesh *mesh;
  const int64_t *shape;
  int rank;
  int n;
  tp_step_kind *kinds;
  tp_spec *after;
  tp_spec now;
} path;

static bool step_to(path *p, tp_step_kind kind, tp_spec to) {
  if (tp_spec_equal(p->now, to))
    return true;
  if (p->n == TP_MAX_STEPS)
    return false;
  p->kinds[p->n] = kind;
  p->after[p->n++] = p->now = to;
  return true;
}

/* Returns the current layout with the partial axes of `goal` added, or with those reduced that are
 * not partial in `goal`. */
static tp_spec with_partials_of(const path *p, tp_spec goal, bool add) {
  tp_spec to = p->now;
  for (int a = 0; a < p->mesh->n_axes; a++) {
    unsigned here = tp__spec_byte(p->now, a), there = tp__spec_byte(goal, a);
    if (add && (there & TP__PARTIAL_BIT))
      tp__spec_set_byte(&to, a, there);
    if (!add && (here & TP__PARTIAL_BIT) && here != there)
      tp__spec_set_byte(&to, a, 0);
  }
  return to;
}

/* Gathers dimension d down to its first `kept` axes, in as few steps as keep every buffer a
 * prefix. */
static bool gather_dim(path *p, int d, int kept) {
  int axes[TP_MAX_AXES];
  int n = tp_spec_dim_axes(p->mesh, p->now, d, axes);
  while (n > kept) {
    tp_spec best = p->now, to = p->now;
    int best_n = n;
    for (int left = n - 1; left >= kept; left--) {
      tp_spec_clear(&to, axes[left]);
      if (left < n - 1 &&
          !tp__move_keeps_prefix(p->mesh, TP_STEP_ALL_GATHER, p->now, to, p->rank, p->shape))
        continue;
      best = to;
      best_n = left;
    }
    if (!step_to(p, TP_STEP_ALL_GATHER, best))
      return false;
    n = best_n;
  }
  return true;
}

/* Slices dimension d by the axes[n..all) of the goal, in as few steps as keep every buffer a
 * prefix. */
static bool slice_dim(path *p, int d, int n, int all, const int *axes) {
  while (n < all) {
    tp_spec best = p->now, to = p->now;
    int best_n = n;
    for (int taken = n; taken < all; taken++) {
      if (tp_spec_append(&to, axes[taken], d) != TP_OK)
        return false;
      if (taken > n &&
          !tp__move_keeps_prefix(p->mesh, TP_STEP_SLICE, p->now, to, p->rank, p->shape))
        continue;
      best = to;
      best_n = taken + 1;
    }
    if (!step_to(p, TP_STEP_SLICE, best))
      return false;
    n = best_n;
  }
  return true;
}

static int common_axes(int n, const int *a, int m, const int *b) {
  int common = 0;
  while (common < n && common < m && a[common] == b[common])
    common++;
  return common;
}

int tp__direct_path(const tp_mesh *mesh, tp_spec from, tp_spec to, int rank, const int64_t *shape,
                    bool may_mask, tp_step_kind *kinds, tp_spec *after) {
  path p = {mesh, shape, rank, 0, kinds, after, from};
  int kept[TP_MAX_RANK];
  if (!step_to(&p, TP_STEP_ALL_REDUCE, with_partials_of(&p, to, false)))
    return -1;
  for (int d = 0; d < rank; d++) {
    int here[TP_MAX_AXES], there[TP_MAX_AXES];
    int n = tp_spec_dim_axes(mesh, from, d, here), m = tp_spec_dim_axes(mesh, to, d, there);
    kept[d] = common_axes(n, here, m, there);
    if (!gather_dim(&p, d, kept[d]))
      return -1;
  }
  for (int d = 0; d < rank; d++) {
    int there[TP_MAX_AXES];
    int m = tp_spec_dim_axes(mesh, to, d, there);
    if (!slice_dim(&p, d, kept[d], m, there))
      return -1;
  }
  tp_spec masked = with_partials_of(&p, to, true);
  if (!tp_spec_equal(masked, p.now) && !may_mask)
    return -1;
  return step_to(&p, TP_STEP_MASK, masked) ? p.n : -1;
}
