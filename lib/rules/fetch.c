#include "rules/fetch.h"

#include "ir/collectives.h"

/* ---- price ---- */

tp_cost tp__fetch_cost(const tp_run *run, const tp_mesh *mesh, const tp_topology *topology, int rank, int64_t *shape,
                       int64_t element_size) {
  tp__hops hops;
  tp_cost cost = 0;
  if (!tp__plan_hops(&run->reading, &hops))
    return TP_COST_FORBIDDEN;
  for (int k = 0; k < hops.n_pieces; k++) {
    shape[run->dim] = hops.pieces[k].to - hops.pieces[k].from;
    if (hops.pieces[k].moves)
      cost = tp_cost_add(cost, tp_cost_collective(topology, mesh, TP_PERMUTE, run->n_axes, run->axes,
                                                  tp__shape_elements(rank, shape), element_size));
  }
  shape[run->dim] = hops.run;
  return cost;
}

/* ---- code ---- */

/* A fetch in the making. */
typedef struct fetch {
  const tp_local *local;
  MlirOperation where;
  const tp_run *run;
  int rank;
  int64_t shape[TP_MAX_RANK]; /* of the local value, before */
  tp__hops hops;
} fetch;

/* The number of a device's shard in the group. */
static int64_t shard_of(const fetch *f, int64_t device) {
  int64_t shard = 0;
  for (int i = 0; i < f->run->n_axes; i++)
    shard = shard * f->local->mesh->axes[f->run->axes[i]].size + tp_mesh_coordinate(f->local->mesh, device, f->run->axes[i]);
  return shard;
}

/* The device of the same group that has shard `to` where `device` has shard `from`. */
static int64_t device_of(const fetch *f, int64_t device, int64_t from, int64_t to) {
  for (int i = f->run->n_axes - 1; i >= 0; i--) {
    int64_t size = f->local->mesh->axes[f->run->axes[i]].size;
    device += (to % size - from % size) * tp_mesh_stride(f->local->mesh, f->run->axes[i]);
    to /= size;
    from /= size;
  }
  return device;
}

/* Piece k of `value`: a slice of one's own buffer, or that of another device. Null when memory runs out. */
static MlirValue fetch_piece(const fetch *f, MlirValue value, int k) {
  const tp__piece *piece = &f->hops.pieces[k];
  int64_t offsets[TP_MAX_RANK] = {0}, sizes[TP_MAX_RANK], n_pairs = 0, devices = tp_mesh_size(f->local->mesh);
  for (int d = 0; d < f->rank; d++)
    sizes[d] = f->shape[d];
  offsets[f->run->dim] = piece->from;
  sizes[f->run->dim] = piece->to - piece->from;
  MlirValue slice = tp__extract_slice(f->where, value, offsets, sizes), moved = {NULL};
  if (!piece->moves)
    return slice;
  int64_t (*pairs)[2] = tp__calloc((size_t)devices, sizeof *pairs);
  if (!pairs)
    return moved;
  for (int64_t device = 0; device < devices; device++) {
    int64_t reader = shard_of(f, device);
    tp__needed needed = tp__hops_needed(&f->run->reading, &f->hops, reader);
    int64_t source = tp__hops_source(&f->hops, &needed, reader, k);
    if (source < 0)
      continue;
    pairs[n_pairs][0] = device_of(f, device, reader, source);
    pairs[n_pairs++][1] = device;
  }
  moved = tp__build_permute(f->where, f->local->module, slice, n_pairs, (const int64_t (*)[2])pairs);
  tp__free(pairs);
  return moved;
}

/* All pieces at their places of a workspace. Null when memory runs out. */
static MlirValue build_workspace(const fetch *f, MlirValue value, MlirType type) {
  MlirValue workspace = {NULL};
  for (int k = 0; k < f->hops.n_pieces; k++) {
    const tp__piece *piece = &f->hops.pieces[k];
    int64_t offsets[TP_MAX_RANK] = {0};
    if (piece->from == piece->to)
      continue;
    MlirValue part = fetch_piece(f, value, k);
    if (mlirValueIsNull(part) || mlirTypeEqual(mlirValueGetType(part), type))
      return part;
    if (mlirValueIsNull(workspace))
      workspace = tp__empty(f->where, type);
    offsets[f->run->dim] = k * f->hops.buffer + piece->from - f->hops.low;
    workspace = tp__insert_slice(f->where, part, workspace, offsets);
  }
  return mlirValueIsNull(workspace) ? tp__empty(f->where, type) : workspace;
}

/* Where the run of this device begins in the workspace: looked up by the number of its shard. Null when memory runs out. */
static MlirValue run_offset(const fetch *f) {
  MlirContext context = mlirOperationGetContext(f->where);
  MlirType i64 = mlirIntegerTypeGet(context, 64), index = mlirIndexTypeGet(context);
  int64_t *offsets = tp__calloc((size_t)f->hops.devices, sizeof *offsets);
  if (!offsets)
    return (MlirValue){NULL};
  for (int64_t p = 0; p < f->hops.devices; p++) {
    tp__needed needed = tp__hops_needed(&f->run->reading, &f->hops, p);
    offsets[p] = tp__hops_offset(&f->hops, &needed, p);
  }
  MlirType table = mlirRankedTensorTypeGet(1, &f->hops.devices, i64, (MlirAttribute){NULL});
  MlirAttribute values = mlirDenseElementsAttrInt64Get(table, (intptr_t)f->hops.devices, offsets);
  tp__free(offsets);
  MlirValue operands[] = {tp__constant(f->where, table, values),
                          tp__build_group_index(f->where, f->local->mesh, f->run->n_axes, f->run->axes)};
  MlirOperation extract = tp__create(&(tp_build){.name = "tensor.extract",
                                                 .location = mlirOperationGetLocation(f->where),
                                                 .n_operands = 2,
                                                 .operands = operands,
                                                 .n_results = 1,
                                                 .results = &i64});
  tp__insert_before(f->where, extract);
  MlirValue entry = mlirOperationGetResult(extract, 0);
  MlirOperation cast = tp__create(&(tp_build){.name = "arith.index_cast",
                                              .location = mlirOperationGetLocation(f->where),
                                              .n_operands = 1,
                                              .operands = &entry,
                                              .n_results = 1,
                                              .results = &index});
  tp__insert_before(f->where, cast);
  return mlirOperationGetResult(cast, 0);
}

MlirValue tp__fetch(const tp_local *local, MlirOperation where, MlirValue value, const tp_run *run) {
  fetch f = {.local = local, .where = where, .run = run};
  MlirType type = mlirValueGetType(value);
  int64_t sizes[TP_MAX_RANK];
  if (!tp__plan_hops(&run->reading, &f.hops) || !tp__static_tensor(type, &f.rank, f.shape))
    return (MlirValue){NULL};
  for (int d = 0; d < f.rank; d++)
    sizes[d] = f.shape[d];
  sizes[run->dim] = f.hops.length;
  value = build_workspace(&f, value, tp__tensor_like(type, f.rank, sizes));
  if (mlirValueIsNull(value) || f.hops.length == f.hops.run)
    return value;
  MlirValue offset = run_offset(&f);
  sizes[run->dim] = f.hops.run;
  return mlirValueIsNull(offset) ? offset : tp__extract_slice_at(where, value, run->dim, offset, sizes);
}
