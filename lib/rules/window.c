#include "rules/window.h"

#include "ir/collectives.h"
#include "sharding/hops.h"

/* ---- which windows, and their plans ---- */

static bool is_split(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int i, int d) {
  const tp_value_map *map = &rule->operands[i];
  return map->is_tensor && !map->is_unused && map->dims[d].window &&
         tp__strategy_shards(rule, mesh, s, map->dims[d].factors[0]) > 1;
}

bool tp__window_is_split(const tp_local *local, int i, int d) {
  return is_split(local->rule, local->mesh, local->strategy, i, d);
}

static int axes_of(const tp_mesh *mesh, const tp_strategy *s, int f, int *axes) {
  int n = 0;
  for (int o = 0; o < mesh->n_axes; o++) {
    tp_choice c = s->choices[s->order[o]];
    if (c.kind == TP_CHOOSE_FACTOR && c.index == f)
      axes[n++] = s->order[o];
  }
  return n;
}

static tp__reading reading_of(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int i, int d) {
  const tp_dim *dim = &rule->operands[i].dims[d];
  int f = dim->factors[0], axes[TP_MAX_AXES];
  tp__reading reading = {.n_axes = axes_of(mesh, s, f, axes),
                         .size = rule->operands[i].shape[d],
                         .points = rule->factors[f].size,
                         .stride = dim->window->stride,
                         .offset = dim->window->offset,
                         .extent = dim->window->extent};
  for (int k = 0; k < reading.n_axes; k++)
    reading.axes[k] = mesh->axes[axes[k]].size;
  return reading;
}

bool tp__windows_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  for (int i = 0; i < rule->n_operands; i++)
    for (int d = 0; d < rule->operands[i].rank; d++) {
      tp__hops hops;
      if (!is_split(rule, mesh, s, i, d))
        continue;
      tp__reading reading = reading_of(rule, mesh, s, i, d);
      if (!tp__plan_hops(&reading, &hops))
        return false;
    }
  return true;
}

/* ---- price ---- */

/* Dimensions are fetched one after the other, so the pieces of a later one are as long along an earlier one as the run fetched there. */
static tp_cost operand_cost(const tp_rule *rule, const tp_mesh *mesh, const tp_topology *topology, const tp_strategy *s,
                            int i) {
  const tp_value_map *map = &rule->operands[i];
  int64_t shape[TP_MAX_RANK];
  tp_cost cost = 0;
  tp_spec_local_shape(mesh, tp__strategy_operand(rule, mesh, s, i), map->rank, map->shape, shape);
  for (int d = 0; d < map->rank; d++) {
    tp__hops hops;
    int axes[TP_MAX_AXES];
    if (!is_split(rule, mesh, s, i, d))
      continue;
    tp__reading reading = reading_of(rule, mesh, s, i, d);
    if (!tp__plan_hops(&reading, &hops))
      return TP_COST_FORBIDDEN;
    for (int k = 0; k < hops.n_pieces; k++) {
      shape[d] = hops.pieces[k].to - hops.pieces[k].from;
      if (hops.pieces[k].moves)
        cost = tp_cost_add(cost, tp_cost_collective(topology, mesh, TP_PERMUTE, axes_of(mesh, s, map->dims[d].factors[0], axes),
                                                    axes, tp__shape_elements(map->rank, shape), map->element_size));
    }
    shape[d] = hops.run;
  }
  return cost;
}

tp_cost tp__window_cost(const tp_rule *rule, const tp_mesh *mesh, const tp_topology *topology, const tp_strategy *s) {
  tp_cost cost = 0;
  for (int i = 0; i < rule->n_operands; i++) {
    bool any = false;
    for (int d = 0; d < rule->operands[i].rank; d++)
      any |= is_split(rule, mesh, s, i, d);
    if (any)
      cost = tp_cost_add(cost, operand_cost(rule, mesh, topology, s, i));
  }
  return cost;
}

/* ---- code ---- */

/* One dimension of one operand that is being fetched. */
typedef struct fetch {
  const tp_local *local;
  MlirOperation where;
  int dim, rank;
  int64_t shape[TP_MAX_RANK]; /* of the local value, before */
  tp__reading reading;
  tp__hops hops;
  int n_axes, axes[TP_MAX_AXES];
} fetch;

/* The number of a device's shard in the group. */
static int64_t shard_of(const fetch *f, int64_t device) {
  int64_t shard = 0;
  for (int i = 0; i < f->n_axes; i++)
    shard = shard * f->local->mesh->axes[f->axes[i]].size + tp_mesh_coordinate(f->local->mesh, device, f->axes[i]);
  return shard;
}

/* The device of the same group that has shard `to` where `device` has shard `from`. */
static int64_t device_of(const fetch *f, int64_t device, int64_t from, int64_t to) {
  for (int i = f->n_axes - 1; i >= 0; i--) {
    int64_t size = f->local->mesh->axes[f->axes[i]].size;
    device += (to % size - from % size) * tp_mesh_stride(f->local->mesh, f->axes[i]);
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
  offsets[f->dim] = piece->from;
  sizes[f->dim] = piece->to - piece->from;
  MlirValue slice = tp__extract_slice(f->where, value, offsets, sizes), moved = {NULL};
  if (!piece->moves)
    return slice;
  int64_t (*pairs)[2] = tp__calloc((size_t)devices, sizeof *pairs);
  if (!pairs)
    return moved;
  for (int64_t device = 0; device < devices; device++) {
    int64_t reader = shard_of(f, device);
    tp__needed needed = tp__hops_needed(&f->reading, &f->hops, reader);
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
    offsets[f->dim] = k * f->hops.buffer + piece->from - f->hops.low;
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
    tp__needed needed = tp__hops_needed(&f->reading, &f->hops, p);
    offsets[p] = tp__hops_offset(&f->hops, &needed, p);
  }
  MlirType table = mlirRankedTensorTypeGet(1, &f->hops.devices, i64, (MlirAttribute){NULL});
  MlirAttribute values = mlirDenseElementsAttrInt64Get(table, (intptr_t)f->hops.devices, offsets);
  tp__free(offsets);
  MlirValue operands[] = {tp__constant(f->where, table, values),
                          tp__build_group_index(f->where, f->local->mesh, f->n_axes, f->axes)};
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

static tp_status fetch_dim(const tp_local *local, int i, int d) {
  const tp_rule *rule = local->rule;
  fetch f = {.local = local, .where = rule->op, .dim = d, .reading = reading_of(rule, local->mesh, local->strategy, i, d)};
  MlirValue value = mlirOperationGetOperand(rule->op, i);
  MlirType type = mlirValueGetType(value);
  f.n_axes = axes_of(local->mesh, local->strategy, rule->operands[i].dims[d].factors[0], f.axes);
  if (!tp__plan_hops(&f.reading, &f.hops) || !tp__static_tensor(type, &f.rank, f.shape))
    return tp__error(rule->op, TP_INTERNAL, "operand %d: no plan for the window of dimension %d", i, d);
  int64_t sizes[TP_MAX_RANK];
  for (int e = 0; e < f.rank; e++)
    sizes[e] = f.shape[e];
  sizes[d] = f.hops.length;
  value = build_workspace(&f, value, tp__tensor_like(type, f.rank, sizes));
  if (!mlirValueIsNull(value) && f.hops.length > f.hops.run) {
    MlirValue offset = run_offset(&f);
    sizes[d] = f.hops.run;
    value = mlirValueIsNull(offset) ? offset : tp__extract_slice_at(f.where, value, d, offset, sizes);
  }
  if (mlirValueIsNull(value))
    return tp__error(rule->op, TP_NO_MEMORY, "out of memory");
  mlirOperationSetOperand(rule->op, i, value);
  return TP_OK;
}

tp_status tp__fetch_windows(const tp_local *local) {
  const tp_rule *rule = local->rule;
  for (int i = 0; i < rule->n_operands; i++)
    for (int d = 0; d < rule->operands[i].rank; d++) {
      tp_status status = tp__window_is_split(local, i, d) ? fetch_dim(local, i, d) : TP_OK;
      if (status != TP_OK)
        return status;
    }
  return TP_OK;
}

MlirValue tp__window_start(const tp_local *local, int i, int d) {
  const tp_dim *dim = &local->rule->operands[i].dims[d];
  int f = dim->factors[0];
  int64_t stride = dim->window->stride, offset = dim->window->offset;
  MlirOperation where = local->rule->op;
  MlirValue start = tp__shard_offset(local, f);
  if (stride != 1)
    start = tp__binary(where, "arith.muli", start, tp__index_constant(where, stride));
  if (stride < 0)
    offset += stride * (tp__strategy_local(local->rule, local->mesh, local->strategy, f) - 1);
  return offset ? tp__binary(where, "arith.addi", start, tp__index_constant(where, offset)) : start;
}
