/* Cuts arrays into the shards of devices, and joins them. */
#include "tp/layout.h"

void tp_shard_box(const tp_mesh *mesh, const tp_layout *layout, int64_t device, int64_t *at,
                  int64_t *size) {
  for (int d = 0; d < layout->rank; d++)
    tp_spec_shard(mesh, layout->spec, d, layout->shape[d], device, &at[d], &size[d]);
}

/* Copies the part of a device out of the whole array (`cuts`), or back into it. */
static tp_status copy_part(const tp_mesh *mesh, const tp_layout *layout, int64_t device, bool cuts,
                           const void *from, void *to) {
  static const int64_t zero[TP_MAX_RANK];
  int64_t at[TP_MAX_RANK], size[TP_MAX_RANK];
  if (device < 0 || device >= tp_mesh_size(mesh))
    return TP_INVALID_ARGUMENT;
  if (tp_spec_has_partial(layout->spec))
    return TP_UNSUPPORTED;
  tp_shard_box(mesh, layout, device, at, size);
  tp_copy_box(&(tp_box_copy){.rank = layout->rank,
                             .element_size = layout->element_size,
                             .size = size,
                             .from_shape = cuts ? layout->shape : layout->local,
                             .from_at = cuts ? at : zero,
                             .to_shape = cuts ? layout->local : layout->shape,
                             .to_at = cuts ? zero : at},
              from, to);
  return TP_OK;
}

tp_status tp_shard_cut(const tp_mesh *mesh, const tp_layout *layout, int64_t device,
                       const void *whole, void *shard) {
  return copy_part(mesh, layout, device, true, whole, shard);
}

tp_status tp_shard_join(const tp_mesh *mesh, const tp_layout *layout, int64_t device,
                        const void *shard, void *whole) {
  return copy_part(mesh, layout, device, false, shard, whole);
}
