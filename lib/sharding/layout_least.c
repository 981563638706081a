/* A lower bound of the bytes of a path, in closed form: what devices have to receive, whatever the
 * moves. It holds for shards that divide.
 *
 * Without partials, a device receives the part of its new shard that it does not hold. Where the
 * axes of a dimension differ behind a common beginning before and after, some device holds no part
 * of it.
 *
 * Of partial parts, k for every element, k - 1 messages are needed until a device has the sum: each
 * joins two parts. Every other device that wants the element receives one more. On average over
 * devices this is the new shard and k - 2 times the tensor over the number of devices.
 *
 * Where the new layout has partials, the bound takes all partial parts for copies. Each path then
 * has a counterpart between layouts without partials that sends no more: where the path masks or
 * sums parts, the counterpart keeps a copy, and where it does a reduce_scatter, the counterpart
 * takes a slice.
 *
 * No collective sends fewer bytes per device than its devices receive on average, and in those
 * without partials all receive equally much. */
#include "sharding/reshard_bytes.h"

/* The axes of a layout on one dimension of every device, without those of size 1. */
static int axes_on(const tp_mesh *mesh, tp_spec spec, int dim, int axes[TP_MAX_AXES]) {
  int n = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    unsigned byte = tp__spec_byte(spec, a);
    if (tp__byte_dim(byte) == dim && mesh->axes[a].size > 1) {
      int at = n++;
      for (; at > 0 && tp__spec_byte(spec, axes[at - 1]) > byte; at--)
        axes[at] = axes[at - 1];
      axes[at] = a;
    }
  }
  return n;
}

static int64_t shards_of(const tp_mesh *mesh, int n, const int *axes) {
  int64_t shards = 1;
  for (int i = 0; i < n; i++)
    shards *= mesh->axes[axes[i]].size;
  return shards;
}

int64_t tp__least_elements(const tp_mesh *mesh, tp_spec from, tp_spec to, int rank,
                           const int64_t *shape) {
  int64_t devices = 1, parts = 1, whole = 1, want = 1, held = 1;
  bool is_apart = false, masks = false;
  for (int a = 0; a < mesh->n_axes; a++) {
    int64_t size = mesh->axes[a].size;
    devices *= size;
    if (size == 1)
      continue;
    masks |= (tp__spec_byte(to, a) & TP__PARTIAL_BIT) != 0;
    parts *= tp__spec_byte(from, a) & TP__PARTIAL_BIT ? size : 1;
  }
  for (int d = 0; d < rank; d++) {
    int before[TP_MAX_AXES], after[TP_MAX_AXES], same = 0;
    int n = axes_on(mesh, from, d, before), m = axes_on(mesh, to, d, after);
    int64_t shards = shards_of(mesh, n, before), new_shards = shards_of(mesh, m, after);
    while (same < n && same < m && before[same] == after[same])
      same++;
    is_apart |= same < n && same < m;
    if (shape[d] % shards != 0 || shape[d] % new_shards != 0)
      return 0;
    whole = tp__multiply(whole, shape[d]);
    want *= shape[d] / new_shards;
    held *= shape[d] / (shards > new_shards ? shards : new_shards);
  }
  if (whole == INT64_MAX)
    return 0;
  if (parts == 1 || masks)
    return is_apart ? want : want - held;
  return want + whole / devices * (parts - 2) + whole % devices * (parts - 2) / devices;
}
