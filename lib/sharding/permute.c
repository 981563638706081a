/* Permutes: which axes move data, and who receives from whom.
 *
 * Axes that are replicated, or partial, both before and after are fixed: nothing moves along them. A device's place in a
 * layout is a list of numbers: its shard along every dimension, its part along the other partial axes (taken together, in
 * mesh order; parts have no order of their own), and its coordinates on the fixed axes. A permute maps places to equal
 * places. Both layouts have the same number of devices in every place, so a bijection exists. */
#include "sharding/layout.h"

static unsigned fixed_axes(const tp_mesh *mesh, tp_spec from, tp_spec to) {
  unsigned fixed = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(from, a);
    if (byte == tp__spec_byte(to, a) && tp__byte_dim(byte) < 0) fixed |= 1u << a;
  }
  return fixed;
}

/* The list of axes on `dim`, or of the partial axes that are not fixed for dim == -1. */
static int list_axes(const tp_mesh *mesh, tp_spec spec, unsigned fixed, int dim, int *axes) {
  if (dim >= 0) return tp_spec_dim_axes(mesh, spec, dim, axes);
  int n = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    if (tp__spec_byte(spec, a) & TP__PARTIAL_BIT && !(fixed >> a & 1)) axes[n++] = a;
  }
  return n;
}

/* Number of shards that differ by one step of `axis`: the product of the sizes of the axes after it in its list; 0 if the
 * list does not have it. */
static int64_t stride_in(const tp_mesh *mesh, int n, const int *axes, int axis) {
  int64_t stride = 1;
  for (int i = n - 1; i >= 0; i--) {
    if (axes[i] == axis) return stride;
    stride *= mesh->axes[axes[i]].size;
  }
  return 0;
}

/* Nothing moves along an axis that is the same digit of the same number before and after. */
unsigned tp__permute_axes(const tp_mesh *mesh, tp_spec from, tp_spec to) {
  unsigned moved = 0, fixed = fixed_axes(mesh, from, to);
  for (int d = -1; d < TP_MAX_RANK; d++) {
    int before[TP_MAX_AXES], after[TP_MAX_AXES];
    int n = list_axes(mesh, from, fixed, d, before), m = list_axes(mesh, to, fixed, d, after);
    for (int a = 0; a < mesh->n_axes && n + m > 0; a++) {
      if (stride_in(mesh, n, before, a) != stride_in(mesh, m, after, a)) moved |= 1u << a;
    }
  }
  return moved;
}

typedef struct place {
  int64_t numbers[TP_MAX_RANK + 1]; /* dimensions, then the part */
  int64_t replica;                  /* coordinates on the fixed axes */
} place;

static place find_place(const tp_mesh *mesh, tp_spec spec, unsigned fixed, int rank, int64_t device) {
  place p = {{0}, 0};
  for (int d = 0; d <= rank; d++) {
    int axes[TP_MAX_AXES];
    int n = list_axes(mesh, spec, fixed, d < rank ? d : -1, axes);
    for (int i = 0; i < n; i++) {
      p.numbers[d] = p.numbers[d] * mesh->axes[axes[i]].size + tp_mesh_coordinate(mesh, device, axes[i]);
    }
  }
  for (int a = 0; a < mesh->n_axes; a++) {
    if (fixed >> a & 1) p.replica = p.replica * mesh->axes[a].size + tp_mesh_coordinate(mesh, device, a);
  }
  return p;
}

static bool same_place(const place *a, const place *b, int rank) {
  for (int d = 0; d <= rank; d++) {
    if (a->numbers[d] != b->numbers[d]) return false;
  }
  return a->replica == b->replica;
}

int64_t tp_step_permute_source(const tp_mesh *mesh, const tp_step *step, int rank, int64_t to_device) {
  unsigned fixed = fixed_axes(mesh, step->from, step->to);
  place wanted = find_place(mesh, step->to, fixed, rank, to_device);
  place held = find_place(mesh, step->from, fixed, rank, to_device);
  if (same_place(&wanted, &held, rank)) return to_device;
  /* Of those that must receive this place, to_device is number `turn`; the sender is that number among those that hold
   * it and do not keep it. */
  int64_t devices = tp_mesh_size(mesh), turn = 0;
  for (int64_t d = 0; d < to_device; d++) {
    place after = find_place(mesh, step->to, fixed, rank, d), before = find_place(mesh, step->from, fixed, rank, d);
    turn += same_place(&after, &wanted, rank) && !same_place(&before, &wanted, rank);
  }
  for (int64_t d = 0; d < devices; d++) {
    place after = find_place(mesh, step->to, fixed, rank, d), before = find_place(mesh, step->from, fixed, rank, d);
    if (!same_place(&before, &wanted, rank) || same_place(&after, &wanted, rank)) continue;
    if (turn-- == 0) return d;
  }
  return to_device; /* not reached for a permute */
}
