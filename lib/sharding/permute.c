/* Permutes: which axes move data, and who receives from whom.
 *
 * A device's place in a layout is a list of numbers: its shard along every dimension, its part along the partial axes (taken
 * together, in mesh order), and its coordinates on the axes that are replicated before and after. A permute maps places
 * to equal places. Both layouts have the same number of devices in every place, so a bijection exists. */
#include "sharding/layout.h"

/* The list of axes on `dim`, or of the partial axes for dim == -1. */
static int list_axes(const tp_mesh *mesh, tp_spec spec, int dim, int *axes) {
  if (dim >= 0) return tp_spec_dim_axes(mesh, spec, dim, axes);
  int n = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    if (tp__spec_byte(spec, a) & TP__PARTIAL_BIT) axes[n++] = a;
  }
  return n;
}

/* Equal leading and equal trailing axes are the same digits of the shard's number before and after, so nothing moves
 * along them. */
unsigned tp__permute_axes(const tp_mesh *mesh, tp_spec from, tp_spec to) {
  unsigned moved = 0;
  for (int d = -1; d < TP_MAX_RANK; d++) {
    int before[TP_MAX_AXES], after[TP_MAX_AXES];
    int n = list_axes(mesh, from, d, before), m = list_axes(mesh, to, d, after);
    int head = 0;
    while (head < n && head < m && before[head] == after[head]) head++;
    while (n > head && m > head && before[n - 1] == after[m - 1]) n--, m--;
    for (int i = head; i < n; i++) moved |= 1u << before[i];
    for (int i = head; i < m; i++) moved |= 1u << after[i];
  }
  return moved;
}

typedef struct place {
  int64_t numbers[TP_MAX_RANK + 1]; /* dimensions, then the part */
  int64_t replica;                  /* coordinates on axes replicated in both specs */
} place;

static place find_place(const tp_mesh *mesh, tp_spec spec, unsigned fixed, int rank, int64_t device) {
  place p = {{0}, 0};
  for (int d = 0; d <= rank; d++) {
    int axes[TP_MAX_AXES];
    int n = list_axes(mesh, spec, d < rank ? d : -1, axes);
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
  unsigned fixed = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    fixed |= tp__spec_byte(step->from, a) == 0 && tp__spec_byte(step->to, a) == 0 ? 1u << a : 0;
  }
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
