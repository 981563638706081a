/* Simulates sharded tensors and reshard steps in memory. */
#include "simulator.h"

#include <stdlib.h>
#include <string.h>

static const int64_t garbage = -987654321;

static int64_t count(int rank, const int64_t *shape) {
  int64_t n = 1;
  for (int d = 0; d < rank; d++)
    n *= shape[d];
  return n;
}

static void unravel(int64_t at, int rank, const int64_t *shape, int64_t *index) {
  for (int d = rank - 1; d >= 0; d--) {
    index[d] = at % shape[d];
    at /= shape[d];
  }
}

static int64_t ravel(int rank, const int64_t *shape, const int64_t *index) {
  int64_t at = 0;
  for (int d = 0; d < rank; d++)
    at = at * shape[d] + index[d];
  return at;
}

static int64_t combine(tp_combiner c, int64_t a, int64_t b) {
  if (c == TP_SUM)
    return a + b;
  return a > b ? a : b; /* TP_MAX: the tests use only these two */
}

static int64_t identity(tp_combiner c) { return c == TP_SUM ? 0 : INT64_MIN; }

/* The test tensor: distinct values. */
static int64_t value_at(int64_t global) { return global * 7 + 3; }

/* Returns part `part` of `parts` of a value. It depends only on the element and the part, so that
 * copies are equal. */
static int64_t part_at(tp_combiner c, int64_t global, int64_t part, int64_t parts) {
  int64_t value = value_at(global), owner = global % parts;
  if (c == TP_MAX)
    return part == owner ? value : value - 1 - part;
  int64_t others = 0;
  for (int64_t p = 0; p < parts; p++)
    others += p == owner ? 0 : (p + 1) * 1000 + global;
  return part == owner ? value - others : (part + 1) * 1000 + global;
}

/* Returns the index of the device's part, and the number of parts. */
static int64_t part_of(const tp_mesh *mesh, tp_spec spec, int64_t device, int64_t *parts) {
  int64_t part = 0;
  *parts = 1;
  for (int a = 0; a < mesh->n_axes; a++) {
    if (tp_spec_place(spec, a).kind != TP_PARTIAL)
      continue;
    part = part * mesh->axes[a].size + tp_mesh_coordinate(mesh, device, a);
    *parts *= mesh->axes[a].size;
  }
  return part;
}

/* Computes the global element of a local one; false for padding. */
static bool global_of(const sim *s, tp_spec spec, int64_t device, const int64_t *index,
                      int64_t *global) {
  int64_t at[SIM_MAX_RANK];
  for (int d = 0; d < s->rank; d++) {
    int64_t offset, valid;
    tp_spec_shard(s->mesh, spec, d, s->shape[d], device, &offset, &valid);
    if (index[d] >= valid)
      return false;
    at[d] = offset + index[d];
  }
  *global = ravel(s->rank, s->shape, at);
  return true;
}

void sim_create(sim *s, const tp_mesh *mesh, tp_spec spec, int rank, const int64_t *shape,
                tp_combiner combiner) {
  *s = (sim){.mesh = mesh, .rank = rank, .combiner = combiner};
  memcpy(s->shape, shape, (size_t)rank * sizeof *shape);
  tp_spec_local_shape(mesh, spec, rank, shape, s->local);
  int64_t n = count(rank, s->local);
  for (int64_t dev = 0; dev < tp_mesh_size(mesh); dev++) {
    int64_t parts, part = part_of(mesh, spec, dev, &parts);
    s->buffers[dev] = malloc((size_t)(n + 1) * sizeof **s->buffers);
    for (int64_t i = 0; i < n; i++) {
      int64_t index[SIM_MAX_RANK], global;
      unravel(i, rank, s->local, index);
      s->buffers[dev][i] = global_of(s, spec, dev, index, &global)
                               ? part_at(combiner, global, part, parts)
                               : garbage;
    }
  }
}

void sim_destroy(sim *s) {
  for (int i = 0; i < SIM_MAX_DEVICES; i++)
    free(s->buffers[i]);
}

/* ---- Execution ---- */

static int64_t rank_in_group(const tp_mesh *mesh, const tp_step *step, int64_t device) {
  int64_t rank = 0;
  for (int i = 0; i < step->n_axes; i++) {
    rank = rank * mesh->axes[step->axes[i]].size + tp_mesh_coordinate(mesh, device, step->axes[i]);
  }
  return rank;
}

/* Returns the device of the same group whose rank is `rank`. */
static int64_t peer(const tp_mesh *mesh, const tp_step *step, int64_t device, int64_t rank) {
  for (int i = step->n_axes - 1; i >= 0; i--) {
    int axis = step->axes[i];
    int64_t size = mesh->axes[axis].size, stride = tp_mesh_stride(mesh, axis);
    device += (rank % size - tp_mesh_coordinate(mesh, device, axis)) * stride;
    rank /= size;
  }
  return device;
}

typedef struct move {
  const sim *s;
  const tp_step *step;
  const int64_t *local; /* shape after the step */
  int64_t n;            /* group size */
} move;

static int64_t permute_source(const tp_mesh *mesh, const tp_step *step, int64_t device) {
  int64_t sources[SIM_MAX_DEVICES];
  return tp_step_permute_sources(mesh, step, sources) == TP_OK ? sources[device] : device;
}

static int64_t read_at(const sim *s, int64_t device, const int64_t *index) {
  for (int d = 0; d < s->rank; d++) {
    if (index[d] >= s->local[d])
      return garbage; /* padding that a slice of an uneven size reads */
  }
  return s->buffers[device][ravel(s->rank, s->local, index)];
}

static int64_t combined_at(const move *m, int64_t device, const int64_t *index) {
  int64_t value = identity(m->s->combiner);
  for (int64_t r = 0; r < m->n; r++) {
    value =
        combine(m->s->combiner, value, read_at(m->s, peer(m->s->mesh, m->step, device, r), index));
  }
  return value;
}

/* Returns the axes that split a dimension; axes of size 1 may appear and disappear in any step. */
static int splitting_axes(const tp_mesh *mesh, tp_spec spec, int dim, int *axes) {
  int all[TP_MAX_AXES], n_all = tp_spec_dim_axes(mesh, spec, dim, all), n = 0;
  for (int i = 0; i < n_all; i++)
    if (mesh->axes[all[i]].size > 1)
      axes[n++] = all[i];
  return n;
}

/* Returns the source of an element of an all-to-all. In a dimension that receives axes, each axis
 * in turn takes its part of what the axes before it left, and the parts of uneven sizes end with
 * padding. In a dimension that loses axes, the index determines the source device the same way. */
static int64_t exchanged_at(const move *m, int64_t device, const int64_t *index) {
  const sim *s = m->s;
  const tp_mesh *mesh = s->mesh;
  int64_t at[SIM_MAX_RANK], source = device;
  for (int d = 0; d < s->rank; d++) {
    int before[TP_MAX_AXES], after[TP_MAX_AXES];
    int n = splitting_axes(mesh, m->step->from, d, before),
        k = splitting_axes(mesh, m->step->to, d, after);
    int64_t whole = s->local[d], offset = 0, left = s->local[d];
    at[d] = index[d];
    for (int i = n; i < k; i++) {
      int64_t size = mesh->axes[after[i]].size, part = (whole + size - 1) / size,
              skip = tp_mesh_coordinate(mesh, device, after[i]) * part;
      offset += skip;
      left = left - skip < part ? left - skip : part;
      whole = part;
    }
    if (k > n && index[d] >= left)
      return garbage;
    at[d] += offset;
    whole = m->local[d];
    for (int i = k; i < n; i++) {
      int64_t size = mesh->axes[before[i]].size, part = (whole + size - 1) / size;
      if (part == 0)
        break;
      source += (at[d] / part - tp_mesh_coordinate(mesh, device, before[i])) *
                tp_mesh_stride(mesh, before[i]);
      at[d] %= part;
      whole = part;
    }
  }
  return read_at(s, source, at);
}

/* Returns element `index` of `device` after the step. */
static int64_t result_at(const move *m, int64_t device, const int64_t *index) {
  const sim *s = m->s;
  const tp_step *step = m->step;
  int64_t at[SIM_MAX_RANK], r = rank_in_group(s->mesh, step, device);
  memcpy(at, index, (size_t)s->rank * sizeof *at);
  switch (step->kind) {
  case TP_STEP_ALL_GATHER:
    at[step->dim] = index[step->dim] % s->local[step->dim];
    return read_at(s, peer(s->mesh, step, device, index[step->dim] / s->local[step->dim]), at);
  case TP_STEP_SLICE:
    at[step->dim] += r * m->local[step->dim];
    return read_at(s, device, at);
  case TP_STEP_REDUCE_SCATTER:
    at[step->dim] += r * m->local[step->dim];
    return combined_at(m, device, at);
  case TP_STEP_ALL_REDUCE:
    return combined_at(m, device, at);
  case TP_STEP_ALL_TO_ALL:
    return exchanged_at(m, device, index);
  case TP_STEP_PERMUTE:
    return read_at(s, permute_source(s->mesh, step, device), at);
  case TP_STEP_MASK:
    return r == 0 ? read_at(s, device, at) : identity(s->combiner);
  }
  return garbage;
}

void sim_execute(sim *s, const tp_step *step) {
  int64_t *after[SIM_MAX_DEVICES] = {0}, local[SIM_MAX_RANK];
  tp_spec_local_shape(s->mesh, step->to, s->rank, s->shape, local);
  move m = {s, step, local, tp_step_group_size(s->mesh, step)};
  int64_t n = count(s->rank, local);
  for (int64_t dev = 0; dev < tp_mesh_size(s->mesh); dev++) {
    after[dev] = malloc((size_t)(n + 1) * sizeof **after);
    for (int64_t i = 0; i < n; i++) {
      int64_t index[SIM_MAX_RANK];
      unravel(i, s->rank, local, index);
      after[dev][i] = result_at(&m, dev, index);
    }
  }
  for (int i = 0; i < SIM_MAX_DEVICES; i++)
    free(s->buffers[i]);
  memcpy(s->buffers, after, sizeof after);
  memcpy(s->local, local, sizeof local);
}

/* ---- Check ---- */

/* Returns a step that would reduce the partial axes: used only for its groups. */
static tp_step partial_group(const tp_mesh *mesh, tp_spec spec) {
  tp_step step = {.kind = TP_STEP_ALL_REDUCE};
  for (int a = 0; a < mesh->n_axes; a++) {
    if (tp_spec_place(spec, a).kind == TP_PARTIAL)
      step.axes[step.n_axes++] = a;
  }
  return step;
}

/* Returns a step that spans the replicas of a device. */
static tp_step replica_group(const tp_mesh *mesh, tp_spec spec) {
  tp_step step = {.kind = TP_STEP_ALL_REDUCE};
  for (int a = 0; a < mesh->n_axes; a++) {
    if (tp_spec_place(spec, a).kind == TP_REPLICATED)
      step.axes[step.n_axes++] = a;
  }
  return step;
}

bool sim_holds(const sim *s, tp_spec spec) {
  int64_t local[SIM_MAX_RANK];
  tp_spec_local_shape(s->mesh, spec, s->rank, s->shape, local);
  if (memcmp(local, s->local, (size_t)s->rank * sizeof *local) != 0)
    return false;
  tp_step parts = partial_group(s->mesh, spec), replicas = replica_group(s->mesh, spec);
  move m = {s, &parts, local, tp_step_group_size(s->mesh, &parts)};
  for (int64_t dev = 0; dev < tp_mesh_size(s->mesh); dev++) {
    int64_t first = peer(s->mesh, &replicas, dev, 0);
    for (int64_t i = 0; i < count(s->rank, local); i++) {
      int64_t index[SIM_MAX_RANK], global;
      unravel(i, s->rank, local, index);
      if (!global_of(s, spec, dev, index, &global))
        continue;
      if (combined_at(&m, dev, index) != value_at(global))
        return false;
      if (s->buffers[dev][i] != s->buffers[first][i])
        return false;
    }
  }
  return true;
}

/* ---- Specs and meshes ---- */

static int extend(const tp_mesh *mesh, int rank, bool partial, tp_combiner combiner, int room,
                  int n, tp_spec *specs, tp_spec spec, unsigned left) {
  /* Axes are appended to dimensions in every order; the axes that remain become replicated or
   * partial at the end. */
  for (unsigned set = partial ? left : 0;; set = (set - 1) & left) {
    tp_spec done = spec;
    for (int a = 0; a < mesh->n_axes; a++) {
      if (set >> a & 1)
        tp_spec_set_partial(&done, a, combiner);
    }
    bool known = false;
    for (int i = 0; i < n && !known; i++)
      known = tp_spec_equal(specs[i], done);
    if (!known && n < room)
      specs[n++] = done;
    if (set == 0)
      break;
  }
  for (int a = 0; a < mesh->n_axes; a++) {
    if (!(left >> a & 1))
      continue;
    for (int d = 0; d < rank; d++) {
      tp_spec next = spec;
      tp_spec_append(&next, a, d);
      n = extend(mesh, rank, partial, combiner, room, n, specs, next, left & ~(1u << a));
    }
  }
  return n;
}

int all_specs(const tp_mesh *mesh, int rank, bool partial, tp_combiner combiner, int room,
              tp_spec *specs) {
  return extend(mesh, rank, partial, combiner, room, 0, specs, tp_spec_replicated(),
                (1u << mesh->n_axes) - 1);
}

tp_mesh make_mesh(int n, const int64_t *sizes) {
  static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
  tp_mesh mesh;
  if (tp_mesh_create("m", n, names, sizes, &mesh) != TP_OK)
    abort();
  return mesh;
}
