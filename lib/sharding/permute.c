/* Permutes: determines the axes that move data, and the source of each device.
 *
 * Axes that are replicated or partial both before and after are fixed: nothing moves along them.
 * The place of a device in a layout is a list of numbers: its shard along every dimension, its part
 * along the other partial axes (taken together, in mesh order, because parts are unordered), and
 * its coordinates on the fixed axes. Packed into one number, these are a weighted sum of the
 * device's coordinates, so a layout is represented by one weight per axis. A permute maps places to
 * equal places. Both layouts have the same number of devices in every place, so a bijection
 * exists. */
#include "sharding/layout.h"

typedef struct weights {
  /* 0 for a replicated axis that is not fixed: its devices hold copies */
  int64_t axis[TP_MAX_AXES];
} weights;

static unsigned fixed_axes(const tp_mesh *mesh, tp_spec from, tp_spec to) {
  unsigned fixed = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(from, a);
    if (byte == tp__spec_byte(to, a) && tp__byte_dim(byte) < 0)
      fixed |= 1u << a;
  }
  return fixed;
}

/* Gives the axes (major to minor) the weights of one more number. *weight is its first weight. */
static void weigh_number(const tp_mesh *mesh, int n, const int *axes, int64_t *weight, weights *w) {
  for (int i = n - 1; i >= 0; i--) {
    w->axis[axes[i]] = *weight;
    *weight *= mesh->axes[axes[i]].size;
  }
}

/* Computes weights that are comparable between specs with equal numbers of shards and parts. */
static weights weigh(const tp_mesh *mesh, tp_spec spec, unsigned fixed) {
  weights w = {{0}};
  int64_t weight = 1;
  int parts[TP_MAX_AXES], rest[TP_MAX_AXES], n_parts = 0, n_rest = 0;
  unsigned dims = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    if (fixed >> a & 1)
      rest[n_rest++] = a;
    else if (byte & TP__PARTIAL_BIT)
      parts[n_parts++] = a;
    else if (byte)
      dims |= 1u << tp__byte_dim(byte);
  }
  for (int d = 0; dims >> d; d++) {
    int axes[TP_MAX_AXES];
    int n = dims >> d & 1 ? tp_spec_dim_axes(mesh, spec, d, axes) : 0;
    weigh_number(mesh, n, axes, &weight, &w);
  }
  weigh_number(mesh, n_parts, parts, &weight, &w);
  weigh_number(mesh, n_rest, rest, &weight, &w);
  return w;
}

/* Nothing moves along an axis with equal weights, which is the same digit of the same number before
 * and after. Digits of different numbers have different weights. */
unsigned tp__permute_axes(const tp_mesh *mesh, tp_spec from, tp_spec to) {
  unsigned moved = 0, fixed = fixed_axes(mesh, from, to);
  weights before = weigh(mesh, from, fixed), after = weigh(mesh, to, fixed);
  for (int a = 0; a < mesh->n_axes; a++)
    moved |= before.axis[a] != after.axis[a] ? 1u << a : 0;
  return moved;
}

static int64_t place_of(const tp_mesh *mesh, const weights *w, int64_t device) {
  int64_t place = 0;
  for (int a = 0; a < mesh->n_axes; a++)
    place += tp_mesh_coordinate(mesh, device, a) * w->axis[a];
  return place;
}

/* Matches the devices that need a place, in order, with the devices that hold it and do not keep
 * it, in order. Uses one list of holders per place. Places are smaller than the number of
 * devices. */
tp_status tp_step_permute_sources(const tp_mesh *mesh, const tp_step *step, int64_t *sources) {
  unsigned fixed = fixed_axes(mesh, step->from, step->to);
  weights before = weigh(mesh, step->from, fixed), after = weigh(mesh, step->to, fixed);
  int64_t devices = tp_mesh_size(mesh);
  int64_t *first = tp__calloc((size_t)devices, sizeof *first),
          *next = tp__calloc((size_t)devices, sizeof *next); /* + 1; 0: none */
  tp_status status = first && next ? TP_OK : TP_NO_MEMORY;
  for (int64_t d = devices - 1; d >= 0 && status == TP_OK; d--) {
    int64_t held = place_of(mesh, &before, d);
    if (held == place_of(mesh, &after, d))
      continue;
    next[d] = first[held];
    first[held] = d + 1;
  }
  for (int64_t d = 0; d < devices && status == TP_OK; d++) {
    int64_t wanted = place_of(mesh, &after, d);
    sources[d] = d;
    if (place_of(mesh, &before, d) == wanted || first[wanted] == 0)
      continue;
    sources[d] = first[wanted] - 1;
    first[wanted] = next[first[wanted] - 1];
  }
  tp__free(first);
  tp__free(next);
  return status;
}
