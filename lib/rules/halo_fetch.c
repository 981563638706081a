/* Costs and code of fetches: the elements that a device reads along one dimension, taken from the
 * devices that hold them. */
#include "rules/halo_fetch.h"

#include "ir/collectives.h"

/* ---- gathers: minor axes first, so that each result is a prefix of the next buffer ---- */

/* Returns how many of the first `n` axes of the run one gather covers: all of them if they divide
 * the dimension, otherwise only the last. */
static int at_once(const tp_halo_run *run, int n) {
  int64_t shards = 1;
  for (int i = 0; i < n; i++)
    shards *= run->reading.axes[i];
  return run->reading.size % shards == 0 ? n : 1;
}

/* Returns the gather of the last of the first `n` axes, as a step. */
static tp_step gather_step(const tp_halo_run *run, int n) {
  tp_step step = {
      .kind = TP_STEP_ALL_GATHER, .n_axes = at_once(run, n), .dim = run->dim, .to_dim = -1};
  for (int i = 0; i < n; i++) {
    tp_spec_append(&step.from, run->axes[i], run->dim);
    if (i < n - step.n_axes)
      tp_spec_append(&step.to, run->axes[i], run->dim);
    else
      step.axes[i - (n - step.n_axes)] = run->axes[i];
  }
  return step;
}

static tp_cost gather_cost(const tp_halo_run *run, const tp_pricing *pricing, int rank,
                           int64_t *shape, int64_t element_size) {
  tp_cost cost = 0;
  for (int n = run->n_axes; n > 0;) {
    tp_step step = gather_step(run, n);
    int64_t local[TP_MAX_RANK];
    shape[run->dim] = run->reading.size;
    tp_spec_local_shape(pricing->mesh, step.from, rank, shape, local);
    int64_t elements = tp__shape_elements(rank, local) * tp_step_group_size(pricing->mesh, &step);
    cost = tp_cost_add(
        cost, tp__price(pricing, TP_ALL_GATHER, step.n_axes, step.axes, elements, element_size));
    n -= step.n_axes;
  }
  return cost;
}

/* ---- cost ---- */

tp_cost tp__halo_fetch_cost(const tp_halo_run *run, const tp_pricing *pricing, int rank,
                            int64_t *shape, int64_t element_size) {
  tp__hops hops;
  tp_cost cost = 0;
  if (!tp__plan_hops(&run->reading, &hops))
    return TP_COST_FORBIDDEN;
  if (hops.by == TP__BY_GATHER)
    cost = gather_cost(run, pricing, rank, shape, element_size);
  for (int k = 0; k < hops.n_pieces && hops.by != TP__BY_GATHER; k++) {
    shape[run->dim] = hops.pieces[k].to - hops.pieces[k].from;
    if (hops.pieces[k].moves)
      cost = tp_cost_add(cost, tp__price(pricing, TP_PERMUTE, run->n_axes, run->axes,
                                         tp__shape_elements(rank, shape), element_size));
  }
  shape[run->dim] = hops.run;
  return cost;
}

/* ---- code ---- */

/* A fetch that is being built. */
typedef struct fetch {
  const tp_local *local;
  MlirOperation where;
  const tp_halo_run *run;
  int rank;
  int64_t shape[TP_MAX_RANK]; /* of the local value, before the fetch */
  tp__hops hops;
} fetch;

/* Returns the index of a device's shard in the group. */
static int64_t shard_of(const fetch *f, int64_t device) {
  int64_t shard = 0;
  for (int i = 0; i < f->run->n_axes; i++)
    shard = shard * f->local->mesh->axes[f->run->axes[i]].size +
            tp_mesh_coordinate(f->local->mesh, device, f->run->axes[i]);
  return shard;
}

/* Returns the device of the same group that holds shard `to`, if `device` holds shard `from`. */
static int64_t device_of(const fetch *f, int64_t device, int64_t from, int64_t to) {
  for (int i = f->run->n_axes - 1; i >= 0; i--) {
    int64_t size = f->local->mesh->axes[f->run->axes[i]].size;
    device += (to % size - from % size) * tp_mesh_stride(f->local->mesh, f->run->axes[i]);
    to /= size;
    from /= size;
  }
  return device;
}

/* Gathers the whole dimension of `value`. Null if memory runs out. */
static MlirValue gather(const fetch *f, MlirValue value) {
  int64_t shape[TP_MAX_RANK];
  for (int d = 0; d < f->rank; d++)
    shape[d] = d == f->run->dim ? f->run->reading.size : f->shape[d];
  for (int n = f->run->n_axes; n > 0 && !mlirValueIsNull(value);) {
    tp_step step = gather_step(f->run, n);
    value =
        tp__build_step(f->where, f->local->module, value, f->local->mesh, &step, f->rank, shape);
    n -= step.n_axes;
  }
  return value;
}

/* Builds piece k of `value`: a slice of the device's own buffer, or of another device's. Null if
 * memory runs out. */
static MlirValue fetch_piece(const fetch *f, MlirValue value, int k) {
  const tp__hop_piece *piece = &f->hops.pieces[k];
  int64_t offsets[TP_MAX_RANK] = {0}, sizes[TP_MAX_RANK], n_pairs = 0,
          devices = tp_mesh_size(f->local->mesh);
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
    tp__read_range needed = tp__hops_needed(&f->hops, reader);
    int64_t source = tp__hops_source(&f->hops, &needed, reader, k);
    if (source < 0)
      continue;
    pairs[n_pairs][0] = device_of(f, device, reader, source);
    pairs[n_pairs++][1] = device;
  }
  moved =
      tp__build_permute(f->where, f->local->module, slice, n_pairs, (const int64_t (*)[2])pairs);
  tp__free(pairs);
  return moved;
}

/* A position in the workspace: static, or an index value. */
typedef struct place {
  int64_t fixed;
  MlirValue value; /* null: the position is `fixed` */
} place;

/* Builds a lookup of this device's entry in a table with one entry per shard, as an index value. */
static MlirValue build_table_lookup(const fetch *f, const int64_t *entries) {
  MlirContext context = mlirOperationGetContext(f->where);
  MlirLocation location = mlirOperationGetLocation(f->where);
  MlirType i64 = mlirIntegerTypeGet(context, 64), index = mlirIndexTypeGet(context);
  MlirType table = mlirRankedTensorTypeGet(1, &f->hops.devices, i64, (MlirAttribute){NULL});
  MlirValue operands[] = {
      tp__constant(f->where, table,
                   mlirDenseElementsAttrInt64Get(table, (intptr_t)f->hops.devices, entries)),
      tp__build_group_index(f->where, f->local->mesh, f->run->n_axes, f->run->axes)};
  MlirOperation extract = tp__create(&(tp_build){.name = "tensor.extract",
                                                 .location = location,
                                                 .n_operands = 2,
                                                 .operands = operands,
                                                 .n_results = 1,
                                                 .results = &i64});
  tp__insert_before(f->where, extract);
  MlirValue entry = mlirOperationGetResult(extract, 0);
  MlirOperation cast = tp__create(&(tp_build){.name = "arith.index_cast",
                                              .location = location,
                                              .n_operands = 1,
                                              .operands = &entry,
                                              .n_results = 1,
                                              .results = &index});
  tp__insert_before(f->where, cast);
  return mlirOperationGetResult(cast, 0);
}

/* Finds the position of piece k in the workspace, or, for k < 0, the start of the run. False if
 * memory runs out. */
static bool find_place(const fetch *f, int k, place *at) {
  int64_t *entries = tp__calloc((size_t)f->hops.devices, sizeof *entries);
  bool found = false, differs = false;
  if (!entries)
    return false;
  for (int64_t p = 0; p < f->hops.devices; p++) {
    tp__read_range needed = tp__hops_needed(&f->hops, p);
    entries[p] =
        k < 0 ? tp__hops_offset(&f->hops, &needed, p) : tp__hops_place(&f->hops, &needed, p, k);
    if (needed.from == needed.to) /* the device needs nothing, so any position will do */
      continue;
    differs |= found && entries[p] != at->fixed;
    at->fixed = entries[p];
    found = true;
  }
  at->value = differs ? build_table_lookup(f, entries) : (MlirValue){NULL};
  tp__free(entries);
  return true;
}

/* Builds a workspace with all pieces at their positions. Null if memory runs out. */
static MlirValue build_workspace(const fetch *f, MlirValue value, MlirType type) {
  MlirValue workspace = {NULL};
  for (int k = 0; k < f->hops.n_pieces; k++) {
    place at = {0};
    int64_t offsets[TP_MAX_RANK] = {0};
    if (f->hops.pieces[k].from == f->hops.pieces[k].to)
      continue;
    MlirValue part = f->hops.by == TP__BY_GATHER ? gather(f, value) : fetch_piece(f, value, k);
    if (mlirValueIsNull(part) || mlirTypeEqual(mlirValueGetType(part), type))
      return part;
    if (!find_place(f, k, &at))
      return (MlirValue){NULL};
    if (mlirValueIsNull(workspace))
      workspace = tp__empty(f->where, type);
    offsets[f->run->dim] = at.fixed;
    workspace = mlirValueIsNull(at.value)
                    ? tp__insert_slice(f->where, part, workspace, offsets)
                    : tp__insert_slice_at(f->where, part, workspace, f->run->dim, at.value);
  }
  return mlirValueIsNull(workspace) ? tp__empty(f->where, type) : workspace;
}

MlirValue tp__halo_fetch(const tp_local *local, MlirOperation where, MlirValue value,
                         const tp_halo_run *run) {
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
  place at = {0};
  int64_t offsets[TP_MAX_RANK] = {0};
  if (!find_place(&f, -1, &at))
    return (MlirValue){NULL};
  offsets[run->dim] = at.fixed;
  sizes[run->dim] = f.hops.run;
  return mlirValueIsNull(at.value) ? tp__extract_slice(where, value, offsets, sizes)
                                   : tp__extract_slice_at(where, value, run->dim, at.value, sizes);
}
