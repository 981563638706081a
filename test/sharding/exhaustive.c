/* Exhaustive search for the cheapest reshard path. */
#include "exhaustive.h"

#include "simulator.h"

#include <stdlib.h>
#include <string.h>

/* ---- Differences between two shardings ---- */

/* Tests whether `longer` is `shorter` with axes appended at the minor end of one dimension; returns
 * the dimension or -1. */
static int grown_dim(const exhaustive *e, tp_spec shorter, tp_spec longer) {
  int found = -1;
  for (int d = 0; d < e->rank; d++) {
    int few[TP_MAX_AXES], many[TP_MAX_AXES];
    int n = tp_spec_dim_axes(e->mesh, shorter, d, few),
        m = tp_spec_dim_axes(e->mesh, longer, d, many);
    if (n > m || memcmp(few, many, (size_t)n * sizeof *few) != 0 || (m > n && found >= 0))
      return -1;
    if (m > n)
      found = d;
  }
  return found;
}

static bool same_place(tp_place x, tp_place y) {
  return x.kind == y.kind && (x.kind != TP_DIM || (x.dim == y.dim && x.order == y.order)) &&
         (x.kind != TP_PARTIAL || x.combiner == y.combiner);
}

static unsigned changed_axes(const exhaustive *e, tp_spec a, tp_spec b) {
  unsigned set = 0;
  for (int i = 0; i < e->mesh->n_axes; i++)
    if (!same_place(tp_spec_place(a, i), tp_spec_place(b, i)))
      set |= 1u << i;
  return set;
}

static bool all_are(const exhaustive *e, tp_spec spec, unsigned axes, tp_place_kind kind) {
  for (int i = 0; i < e->mesh->n_axes; i++)
    if ((axes >> i & 1) && tp_spec_place(spec, i).kind != kind)
      return false;
  return true;
}

static tp_spec without(const exhaustive *e, tp_spec spec, unsigned axes) {
  for (int i = 0; i < e->mesh->n_axes; i++)
    if (axes >> i & 1)
      tp_spec_clear(&spec, i);
  return spec;
}

/* Returns true if `longer` is `shorter` with axes appended at minor ends; `dims` (bit d: dimension
 * d) are the dimensions that have more. */
static bool grows(const exhaustive *e, tp_spec shorter, tp_spec longer, unsigned *dims) {
  *dims = 0;
  for (int d = 0; d < e->rank; d++) {
    int few[TP_MAX_AXES], many[TP_MAX_AXES];
    int n = tp_spec_dim_axes(e->mesh, shorter, d, few),
        m = tp_spec_dim_axes(e->mesh, longer, d, many);
    if (n > m || memcmp(few, many, (size_t)n * sizeof *few) != 0)
      return false;
    *dims |= m > n ? 1u << d : 0;
  }
  return true;
}

static bool is_one(unsigned set) { return set != 0 && (set & (set - 1)) == 0; }

/* Returns true if two axes that come from one dimension and go to one keep their order. */
static bool keeps_order(const exhaustive *e, tp_spec from, tp_spec to, unsigned axes) {
  for (int a = 0; a < e->mesh->n_axes; a++)
    for (int b = 0; b < e->mesh->n_axes; b++) {
      tp_place x = tp_spec_place(from, a), y = tp_spec_place(from, b), z = tp_spec_place(to, a),
               w = tp_spec_place(to, b);
      if ((axes >> a & 1) && (axes >> b & 1) && x.dim == y.dim && z.dim == w.dim &&
          (x.order < y.order) != (z.order < w.order))
        return false;
    }
  return true;
}

/* Returns true if the moved axes leave minor ends of dimensions for minor ends of others, with a
 * single dimension that loses or a single one that receives. *won: the receiving dimension, -1:
 * several; *several: more than two dimensions take part. */
static bool is_all_to_all(const exhaustive *e, tp_spec from, tp_spec to, unsigned axes, int *won,
                          bool *several) {
  tp_spec middle = without(e, from, axes);
  unsigned lost, wins;
  if (!grows(e, middle, from, &lost) || !grows(e, middle, to, &wins) || (lost & wins) ||
      !(is_one(lost) || is_one(wins)))
    return false;
  *several = !is_one(lost) || !is_one(wins);
  *won = -1;
  for (int d = 0; d < e->rank && is_one(wins); d++)
    *won = wins >> d & 1 ? d : *won;
  return keeps_order(e, from, to, axes);
}

/* ---- Permutes ---- */

static int64_t parts_of(const exhaustive *e, tp_spec spec) {
  int64_t parts = 1;
  for (int i = 0; i < e->mesh->n_axes; i++)
    parts *= tp_spec_place(spec, i).kind == TP_PARTIAL ? e->mesh->axes[i].size : 1;
  return parts;
}

static bool is_permute(const exhaustive *e, tp_spec from, tp_spec to) {
  for (int d = 0; d < e->rank; d++)
    if (tp_spec_dim_shards(e->mesh, from, d) != tp_spec_dim_shards(e->mesh, to, d))
      return false;
  return parts_of(e, from) == parts_of(e, to);
}

/* Returns the shard stride of axis `a`, if it splits a dimension. */
static int64_t weight_of(const exhaustive *e, tp_spec spec, int a) {
  int axes[TP_MAX_AXES];
  tp_place place = tp_spec_place(spec, a);
  int64_t weight = 1;
  if (place.kind != TP_DIM)
    return 0;
  int n = tp_spec_dim_axes(e->mesh, spec, place.dim, axes);
  for (int i = place.order + 1; i < n; i++)
    weight *= e->mesh->axes[axes[i]].size;
  return weight;
}

/* Returns the axes along which data moves: not those with the same shards before and after. */
static unsigned moving_axes(const exhaustive *e, tp_spec from, tp_spec to) {
  unsigned set = 0;
  for (int i = 0; i < e->mesh->n_axes; i++) {
    tp_place x = tp_spec_place(from, i), y = tp_spec_place(to, i);
    if (x.kind != y.kind || x.dim != y.dim || weight_of(e, from, i) != weight_of(e, to, i))
      set |= 1u << i;
  }
  return set;
}

/* ---- Sizes that do not divide ---- */

static bool dim_divides(const exhaustive *e, tp_spec spec, int d) {
  return e->shape[d] % tp_spec_dim_shards(e->mesh, spec, d) == 0;
}

/* Tests whether an all-gather is a concatenation: the devices that have one shard of `shorter` hold
 * its contents in `longer`, in the order of their numbers along the additional axes, each beginning
 * where the full buffers of the previous ones end. */
static bool lies_side_by_side(const exhaustive *e, tp_spec shorter, tp_spec longer, int d) {
  int axes[TP_MAX_AXES], kept = tp_spec_dim_axes(e->mesh, shorter, d, axes),
                         n = tp_spec_dim_axes(e->mesh, longer, d, axes);
  int64_t local[TP_MAX_RANK];
  tp_spec_local_shape(e->mesh, longer, e->rank, e->shape, local);
  for (int64_t device = 0; device < tp_mesh_size(e->mesh); device++) {
    int64_t whole, part, valid, number = 0;
    tp_spec_shard(e->mesh, shorter, d, e->shape[d], device, &whole, &valid);
    tp_spec_shard(e->mesh, longer, d, e->shape[d], device, &part, &valid);
    for (int i = kept; i < n; i++)
      number = number * e->mesh->axes[axes[i]].size + tp_mesh_coordinate(e->mesh, device, axes[i]);
    if (valid > 0 && part != whole + number * local[d])
      return false;
  }
  return true;
}

static bool fits_sizes(const exhaustive *e, tp_spec from, tp_spec to, bool permutes) {
  for (int d = 0; d < e->rank; d++) {
    int before[TP_MAX_AXES], after[TP_MAX_AXES];
    int n = tp_spec_dim_axes(e->mesh, from, d, before), m = tp_spec_dim_axes(e->mesh, to, d, after);
    bool same = n == m && memcmp(before, after, (size_t)n * sizeof *before) == 0;
    if (same || (dim_divides(e, from, d) && dim_divides(e, to, d)))
      continue;
    if (permutes || !lies_side_by_side(e, n < m ? from : to, n < m ? to : from, d))
      return false;
  }
  return true;
}

/* ---- Combiners ---- */

/* Returns the combiner of the partial axes; false if there are none. */
static bool combiner_of(const exhaustive *e, tp_spec spec, tp_combiner *combiner) {
  bool found = false;
  for (int a = 0; a < e->mesh->n_axes && !found; a++) {
    tp_place place = tp_spec_place(spec, a);
    found = place.kind == TP_PARTIAL;
    *combiner = place.combiner;
  }
  return found;
}

static bool one_combiner(const exhaustive *e, tp_spec a, tp_spec b) {
  tp_combiner x, y;
  return !combiner_of(e, a, &x) || !combiner_of(e, b, &y) || x == y;
}

static bool has_identity(const exhaustive *e, tp_spec spec) {
  tp_combiner combiner = TP_SUM;
  return !combiner_of(e, spec, &combiner) || combiner != TP_AVERAGE;
}

/* ---- Costs ---- */

static tp_cost lesser(tp_cost a, tp_cost b) { return a < b ? a : b; }

static tp_cost collective(const exhaustive *e, tp_collective kind, unsigned axes,
                          int64_t elements) {
  int list[TP_MAX_AXES], n = 0;
  for (int i = 0; i < e->mesh->n_axes; i++)
    if (axes >> i & 1)
      list[n++] = i;
  tp_cost cost = tp_cost_collective(e->topology, e->mesh, kind, n, list, elements, e->element_size);
  return cost > 0 ? cost : 1;
}

/* Returns the local elements of `spec`, with dimension d padded to `parts` shards of `after` (d <
 * 0: without padding). */
static int64_t filled(const exhaustive *e, tp_spec spec, int d, int64_t parts, tp_spec after) {
  int64_t local[TP_MAX_RANK], small[TP_MAX_RANK], elements = 1;
  tp_spec_local_shape(e->mesh, spec, e->rank, e->shape, local);
  tp_spec_local_shape(e->mesh, after, e->rank, e->shape, small);
  for (int i = 0; i < e->rank; i++)
    elements *= i == d ? parts * small[i] : local[i];
  return elements;
}

static int64_t group_size(const exhaustive *e, unsigned axes) {
  int64_t n = 1;
  for (int i = 0; i < e->mesh->n_axes; i++)
    n *= axes >> i & 1 ? e->mesh->axes[i].size : 1;
  return n;
}

/* Returns the cost of a local step, which writes its result and reads as much. */
static tp_cost local_step(const exhaustive *e, int64_t elements) {
  tp_work copy = {.memory_bytes = 2.0 * (double)elements * (double)e->element_size};
  tp_cost cost = tp_cost_compute(e->topology, &copy);
  return cost > 0 ? cost : 1;
}

/* Returns the cost of the cheapest single move. */
static tp_cost move_cost(const exhaustive *e, tp_spec from, tp_spec to) {
  unsigned axes = changed_axes(e, from, to);
  tp_cost best = TP_COST_FORBIDDEN;
  int64_t n = group_size(e, axes), before = filled(e, from, -1, 1, from),
          after = filled(e, to, -1, 1, to);
  int won, grown = grown_dim(e, from, to);
  bool several = false;
  if (axes == 0)
    return 0;
  bool is_split = all_are(e, to, axes, TP_DIM) && grown >= 0,
       is_whole = all_are(e, to, axes, TP_REPLICATED);
  if (fits_sizes(e, from, to, false)) {
    if (all_are(e, from, axes, TP_DIM) && is_whole && grown_dim(e, to, from) >= 0)
      best = lesser(best, collective(e, TP_ALL_GATHER, axes, n * before));
    if (all_are(e, from, axes, TP_REPLICATED) && is_split)
      best = lesser(best, local_step(e, before / n + (before % n != 0)));
    if (all_are(e, from, axes, TP_PARTIAL) && is_split)
      best = lesser(best, collective(e, TP_REDUCE_SCATTER, axes, filled(e, from, grown, n, to)));
    if (all_are(e, from, axes, TP_PARTIAL) && is_whole)
      best = lesser(best, collective(e, TP_ALL_REDUCE, axes, before));
    if (all_are(e, from, axes, TP_REPLICATED) && all_are(e, to, axes, TP_PARTIAL) &&
        has_identity(e, to))
      best = lesser(best, local_step(e, after));
    if (all_are(e, from, axes, TP_DIM) && all_are(e, to, axes, TP_DIM) &&
        is_all_to_all(e, from, to, axes, &won, &several) &&
        /* with several dimensions, only if they divide */
        (!several || fits_sizes(e, from, to, true)))
      best = lesser(
          best, collective(e, TP_ALL_TO_ALL, axes, several ? before : filled(e, from, won, n, to)));
  }
  if (is_permute(e, from, to) && fits_sizes(e, from, to, true))
    best = lesser(best, collective(e, TP_PERMUTE, moving_axes(e, from, to), before));
  return best;
}

/* ---- Search ---- */

tp_spec exhaustive_bare(const tp_mesh *mesh, tp_spec spec) {
  for (int a = 0; a < mesh->n_axes; a++)
    if (mesh->axes[a].size == 1)
      tp_spec_clear(&spec, a);
  return spec;
}

bool exhaustive_create(exhaustive *e, const tp_mesh *mesh, const tp_topology *topology, int rank,
                       const int64_t *shape, int64_t element_size, int n_combiners,
                       const tp_combiner *combiners) {
  *e = (exhaustive){.mesh = mesh, .topology = topology, .rank = rank, .element_size = element_size};
  memcpy(e->shape, shape, (size_t)rank * sizeof *shape);
  tp_spec *partials = calloc(EXHAUSTIVE_MOST + 1, sizeof *partials);
  e->specs = calloc(EXHAUSTIVE_MOST + 1, sizeof *e->specs);
  e->bare = calloc(EXHAUSTIVE_MOST + 1, sizeof *e->bare);
  if (!e->specs || !e->bare || !partials) {
    free(partials);
    exhaustive_destroy(e);
    return false;
  }
  e->n = all_specs(mesh, rank, false, TP_SUM, EXHAUSTIVE_MOST + 1, e->specs);
  for (int c = 0; c < n_combiners; c++) {
    int n = all_specs(mesh, rank, true, combiners[c], EXHAUSTIVE_MOST + 1, partials);
    for (int i = 0; i < n && e->n <= EXHAUSTIVE_MOST; i++)
      if (tp_spec_has_partial(partials[i]))
        e->specs[e->n++] = partials[i];
  }
  free(partials);
  for (int i = 0; i < e->n; i++)
    e->bare[i] = exhaustive_bare(mesh, e->specs[i]);
  e->edges = e->n <= EXHAUSTIVE_MOST ? calloc((size_t)e->n * (size_t)e->n, sizeof *e->edges) : NULL;
  if (!e->edges) {
    exhaustive_destroy(e);
    return false;
  }
  for (int i = 0; i < e->n; i++)
    for (int j = 0; j < e->n; j++)
      e->edges[i * e->n + j] = one_combiner(e, e->bare[i], e->bare[j])
                                   ? move_cost(e, e->bare[i], e->bare[j])
                                   : TP_COST_FORBIDDEN;
  return true;
}

void exhaustive_destroy(exhaustive *e) {
  free(e->specs);
  free(e->bare);
  free(e->edges);
  *e = (exhaustive){0};
}

/* Returns true if the axes of `spec` on `dim` are the leading ones of `whole`. */
static bool is_leading(const exhaustive *e, tp_spec spec, tp_spec whole, int d) {
  int few[TP_MAX_AXES], all[TP_MAX_AXES];
  int n = tp_spec_dim_axes(e->mesh, spec, d, few);
  return n <= tp_spec_dim_axes(e->mesh, whole, d, all) &&
         memcmp(few, all, (size_t)n * sizeof *few) == 0;
}

static bool is_allowed(const exhaustive *e, tp_spec spec, tp_spec from, tp_spec to) {
  for (int d = 0; d < e->rank; d++)
    if (!dim_divides(e, spec, d) && !is_leading(e, spec, from, d) && !is_leading(e, spec, to, d))
      return false;
  return true;
}

tp_cost exhaustive_cost(const exhaustive *e, int from, int to) {
  tp_cost cost[EXHAUSTIVE_MOST];
  bool open[EXHAUSTIVE_MOST];
  for (int i = 0; i < e->n; i++) {
    cost[i] = i == from ? 0 : TP_COST_FORBIDDEN;
    open[i] = is_allowed(e, e->bare[i], e->bare[from], e->bare[to]);
  }
  for (;;) {
    int at = -1;
    for (int i = 0; i < e->n; i++)
      if (open[i] && cost[i] < TP_COST_FORBIDDEN && (at < 0 || cost[i] < cost[at]))
        at = i;
    if (at < 0 || at == to)
      return cost[to];
    open[at] = false;
    for (int i = 0; i < e->n; i++)
      cost[i] = open[i] ? lesser(cost[i], tp_cost_add(cost[at], e->edges[at * e->n + i])) : cost[i];
  }
}
