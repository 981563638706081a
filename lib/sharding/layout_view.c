/* Chooses views: omits axes and dimensions that cannot matter, and, if there are too many layouts,
 * those that do not change. */
#include "sharding/layout_view.h"

#include <stdlib.h>

/* ---- problem ---- */

/* Finds the single combiner of the partial axes. False if no axis is partial. */
static bool find_combiner(const tp_mesh *mesh, tp_spec spec, tp_combiner *combiner) {
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    if (!(byte & TP__PARTIAL_BIT))
      continue;
    *combiner = (tp_combiner)(byte & 0x7f);
    return true;
  }
  return false;
}

static bool dims_fit(const tp_mesh *mesh, tp_spec spec, int rank) {
  for (int a = 0; a < mesh->n_axes; a++) {
    if (tp__byte_dim(tp__spec_byte(spec, a)) >= rank)
      return false;
  }
  return true;
}

static int count_bits(unsigned set) {
  int n = 0;
  for (; set; set &= set - 1)
    n++;
  return n;
}

tp_status tp__reshard_problem_create(const tp_mesh *mesh, tp_spec from, tp_spec to, int rank,
                                     const int64_t *shape, int64_t element_size,
                                     tp__reshard_problem *problem) {
  tp__reshard_problem p = {
      .mesh = mesh, .devices = 1, .rank = rank, .shape = shape, .element_size = element_size};
  if (rank < 0 || rank > TP_MAX_RANK || element_size <= 0)
    return TP_UNSUPPORTED;
  if (!dims_fit(mesh, from, rank) || !dims_fit(mesh, to, rank))
    return TP_UNSUPPORTED;
  for (int d = 0; d < rank; d++) {
    if (shape[d] < 0)
      return TP_UNSUPPORTED;
  }
  for (int a = 0; a < mesh->n_axes; a++) {
    p.devices *= mesh->axes[a].size;
    if (mesh->axes[a].size > 1) {
      p.axes |= 1u << a;
      continue;
    }
    tp_spec_clear(&from, a);
    tp_spec_clear(&to, a);
  }
  if (tp__spec_mixes_combiners(from) || tp__spec_mixes_combiners(to))
    return TP_UNSUPPORTED;
  bool partial_from = find_combiner(mesh, from, &p.combiner),
       partial_to = find_combiner(mesh, to, &p.last_combiner);
  /* No path between values without partials gains by partial layouts. But with them, one search
   * answers both kinds of queries. */
  p.partial = partial_from || partial_to ||
              tp__layout_graph_count(count_bits(p.axes), rank, true) <= TP__MAX_STATES;
  if (!partial_from)
    p.combiner = p.last_combiner;
  if (!partial_to)
    p.last_combiner = p.combiner;
  p.from = from;
  p.to = to;
  *problem = p;
  return TP_OK;
}

/* ---- choice of dimensions and axes ---- */

static unsigned dims_used(const tp_mesh *mesh, tp_spec spec) {
  unsigned used = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    int d = tp__byte_dim(tp__spec_byte(spec, a));
    if (d >= 0)
      used |= 1u << d;
  }
  return used;
}

static bool fits(const tp__reshard_problem *p, unsigned axes, unsigned dims) {
  return tp__layout_graph_count(count_bits(axes), count_bits(dims), p->partial) <= TP__MAX_STATES;
}

/* Finds the dimensions whose axes change, the axes on them, and all other axes that change. */
static void find_changed(const tp__reshard_problem *p, unsigned *axes, unsigned *dims) {
  unsigned changed_dims = 0, changed_axes = 0;
  for (int a = 0; a < p->mesh->n_axes; a++) {
    unsigned before = tp__spec_byte(p->from, a), after = tp__spec_byte(p->to, a);
    if (before == after)
      continue;
    changed_axes |= 1u << a;
    if (tp__byte_dim(before) >= 0)
      changed_dims |= 1u << tp__byte_dim(before);
    if (tp__byte_dim(after) >= 0)
      changed_dims |= 1u << tp__byte_dim(after);
  }
  for (int a = 0; a < p->mesh->n_axes; a++) {
    int d = tp__byte_dim(tp__spec_byte(p->from, a));
    if (d >= 0 && changed_dims >> d & 1)
      changed_axes |= 1u << a;
  }
  *axes = changed_axes;
  *dims = changed_dims;
}

/* Adds the dimension that can temporarily hold the most axes, among those that neither layout
 * splits. */
static unsigned add_parking(const tp__reshard_problem *p, unsigned used, unsigned axes,
                            unsigned dims) {
  int64_t most = 1;
  unsigned parking = 0;
  for (int d = 0; d < p->rank; d++) {
    int64_t room = tp__gcd(p->shape[d], p->devices);
    if (used >> d & 1 || room <= most)
      continue;
    most = room;
    parking = 1u << d;
  }
  return parking && fits(p, axes, dims | parking) ? dims | parking : dims;
}

static bool choose(const tp__reshard_problem *p, bool *full, unsigned *axes, unsigned *dims) {
  unsigned used = dims_used(p->mesh, p->from) | dims_used(p->mesh, p->to);
  *axes = p->axes;
  *dims = used;
  for (int d = 0; d < p->rank; d++) {
    if (tp__gcd(p->shape[d], p->devices) > 1)
      *dims |= 1u << d;
  }
  *full = fits(p, *axes, *dims);
  if (*full)
    return true;
  find_changed(p, axes, dims);
  if (!fits(p, *axes, *dims))
    return false;
  *dims = add_parking(p, used, *axes, *dims);
  return true;
}

/* ---- conversion of specs ---- */

tp_spec tp__layout_view_project(const tp_mesh *mesh, const tp__layout_view *view, tp_spec spec) {
  tp_spec inside = tp_spec_replicated();
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    int d = tp__byte_dim(byte);
    if (!(view->axes >> a & 1))
      continue;
    if (byte & TP__PARTIAL_BIT)
      byte = TP__PARTIAL_BIT | TP_SUM;
    else if (d >= 0)
      byte = (byte & 0x70) | (unsigned)(view->place[d] + 1);
    tp__spec_set_byte(&inside, a, byte);
  }
  return inside;
}

tp_spec tp__layout_view_restore(const tp__reshard_problem *problem, const tp__layout_view *view,
                                tp_spec spec, tp_combiner combiner) {
  tp_spec whole = problem->from;
  for (int a = 0; a < problem->mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    int d = tp__byte_dim(byte);
    if (!(view->axes >> a & 1))
      continue;
    if (byte & TP__PARTIAL_BIT)
      byte = TP__PARTIAL_BIT | (unsigned)combiner;
    else if (d >= 0)
      byte = (byte & 0x70) | (unsigned)(view->dims[d] + 1);
    tp__spec_set_byte(&whole, a, byte);
  }
  return whole;
}

tp_spec tp__layout_view_uneven(const tp_mesh *mesh, const tp__layout_view *view,
                               const int64_t *shape, tp_spec spec, unsigned *dims) {
  int64_t shards[TP_MAX_RANK];
  tp_spec part = tp_spec_replicated();
  unsigned uneven = 0;
  for (int d = 0; d < view->n_dims; d++)
    shards[d] = 1;
  for (int a = 0; a < mesh->n_axes; a++) {
    int d = tp__byte_dim(tp__spec_byte(spec, a));
    if (d >= 0)
      shards[d] *= mesh->axes[a].size;
  }
  for (int d = 0; d < view->n_dims; d++)
    if (shards[d] > 1 && shape[view->dims[d]] % shards[d] != 0)
      uneven |= 1u << d;
  for (int a = 0; a < mesh->n_axes && uneven; a++) {
    int d = tp__byte_dim(tp__spec_byte(spec, a));
    if (d >= 0 && (uneven >> d & 1))
      tp__spec_set_byte(&part, a, tp__spec_byte(spec, a));
  }
  *dims |= uneven;
  return part;
}

/* Sets the positions of the dimensions, and all members that depend on them. */
static void place_dims(const tp__reshard_problem *p, tp__layout_view *v) {
  for (int d = 0; d < v->n_dims; d++)
    v->place[v->dims[d]] = (int8_t)d;
  v->from = tp__layout_view_project(p->mesh, v, p->from);
  v->to = tp__layout_view_project(p->mesh, v, p->to);
  v->uneven_from = 0;
  tp__layout_view_uneven(p->mesh, v, p->shape, v->from, &v->uneven_from);
  v->uneven = v->uneven_from;
  v->uneven_to = tp__layout_view_uneven(p->mesh, v, p->shape, v->to, &v->uneven);
}

bool tp__layout_view_create(const tp__reshard_problem *p, tp__layout_view *view) {
  unsigned dims;
  tp__layout_view v = {.outer = 1};
  if (!choose(p, &v.full, &v.axes, &dims))
    return false;
  for (int d = 0; d < p->rank; d++) {
    v.place[d] = -1;
    if (dims >> d & 1) {
      v.dims[v.n_dims++] = d;
    } else {
      int axes[TP_MAX_AXES];
      int n = tp_spec_dim_axes(p->mesh, p->from, d, axes);
      v.outer = tp__multiply(v.outer, tp__buffer_size(p->mesh, n, axes, p->shape[d]));
    }
  }
  place_dims(p, &v);
  *view = v;
  return true;
}

/* Encodes the axes of `spec` on dimension d, with their order. */
static uint64_t axes_on(const tp_mesh *mesh, tp_spec spec, int d) {
  uint64_t axes = 0;
  for (int a = 0; a < mesh->n_axes; a++)
    if (tp__byte_dim(tp__spec_byte(spec, a)) == d)
      axes |= (uint64_t)(1 + (tp__spec_byte(spec, a) >> 4)) << (4 * a);
  return axes;
}

/* The properties of a view's dimension that matter to a search. */
typedef struct dim_key {
  int dim;          /* of the tensor */
  uint64_t rows[4]; /* size, whether it is uneven, axes of `from`, axes of an uneven `to` */
} dim_key;

static int compare_dims(const void *a, const void *b) {
  const dim_key *x = a, *y = b;
  for (int i = 0; i < 4; i++)
    if (x->rows[i] != y->rows[i])
      return x->rows[i] < y->rows[i] ? -1 : 1;
  return x->dim - y->dim;
}

void tp__layout_view_sort(const tp__reshard_problem *p, tp__layout_view *v) {
  dim_key keys[TP_MAX_RANK];
  for (int d = 0; d < v->n_dims; d++) {
    int64_t size = p->shape[v->dims[d]];
    bool uneven = v->uneven >> d & 1;
    keys[d] = (dim_key){v->dims[d],
                        {(uint64_t)(uneven ? size : tp__gcd(size, p->devices)), uneven,
                         axes_on(p->mesh, v->from, d), axes_on(p->mesh, v->uneven_to, d)}};
  }
  qsort(keys, (size_t)v->n_dims, sizeof *keys, compare_dims);
  for (int d = 0; d < v->n_dims; d++)
    v->dims[d] = keys[d].dim;
  place_dims(p, v);
}
