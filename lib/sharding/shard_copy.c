/* Cuts arrays into the shards of devices, and joins them. */
#include "tp/layout.h"

void tp_shard_box(const tp_mesh *mesh, const tp_layout *layout, int64_t device, int64_t *at,
                  int64_t *size) {
  for (int d = 0; d < layout->rank; d++)
    tp_spec_shard(mesh, layout->spec, d, layout->shape[d], device, &at[d], &size[d]);
}

static tp_status check(const tp_mesh *mesh, const tp_layout *layout, int64_t device) {
  if (device < 0 || device >= tp_mesh_size(mesh))
    return TP_INVALID_ARGUMENT;
  return tp_spec_has_partial(layout->spec) ? TP_UNSUPPORTED : TP_OK;
}

tp_status tp_shard_cut(const tp_mesh *mesh, const tp_layout *layout, int64_t device,
                       const void *whole, void *shard) {
  static const int64_t zero[TP_MAX_RANK];
  int64_t at[TP_MAX_RANK], size[TP_MAX_RANK];
  TP_TRY(check(mesh, layout, device));
  tp_shard_box(mesh, layout, device, at, size);
  tp_copy_box(&(tp_box_copy){layout->rank, layout->element_size, size, layout->shape, at,
                             layout->local, zero},
              whole, shard);
  return TP_OK;
}

tp_status tp_shard_join(const tp_mesh *mesh, const tp_layout *layout, int64_t device,
                        const void *shard, void *whole) {
  static const int64_t zero[TP_MAX_RANK];
  int64_t at[TP_MAX_RANK], size[TP_MAX_RANK];
  TP_TRY(check(mesh, layout, device));
  tp_shard_box(mesh, layout, device, at, size);
  tp_copy_box(&(tp_box_copy){layout->rank, layout->element_size, size, layout->local, zero,
                             layout->shape, at},
              shard, whole);
  return TP_OK;
}
