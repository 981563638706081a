/* Communication and device indices written by a user: their effect, and the dimensions that may be
 * sharded around them. */
#include "rules/collective.h"

#include "ir/collectives.h"
#include "ir/place.h"
#include "ir/route_call.h"
#include "rules/families.h"

typedef struct collective_row {
  const char *name;
  tp_equality equality;
  bool communicates; /* blocks until all devices of the group reach it */
  /* attributes that name the dimension that the op multiplies (grown) or divides (shrunk) by the
   * size of the group */
  const char *grown, *shrunk;
} collective_row;

static const collective_row rows[] = {
    {"shard.all_reduce", TP_EQUAL, true, NULL, NULL},
    {"shard.all_gather", TP_EQUAL, true, "gather_axis", NULL},
    {"shard.broadcast", TP_EQUAL, true, NULL, NULL},
    {"shard.all_slice", TP_DIFFER, false, NULL, "slice_axis"},
    {"shard.reduce_scatter", TP_DIFFER, true, NULL, "scatter_axis"},
    {"shard.all_to_all", TP_DIFFER, true, "concat_axis", "split_axis"},
    {"shard.shift", TP_DIFFER, true, NULL, NULL},
    {"shard.reduce", TP_DIFFER, true, NULL, NULL}, /* rooted: undefined on other devices */
    {"shard.gather", TP_DIFFER, true, "gather_axis", NULL},
    {"shard.scatter", TP_DIFFER, true, NULL, "scatter_axis"},
    {"shard.send", TP_KEEP, true, NULL, NULL}, /* its result is its operand */
    {"shard.recv", TP_DIFFER, true, NULL, NULL},
    {"shard.update_halo", TP_DIFFER, true, NULL, NULL},
    {"shard.process_multi_index", TP_INDEX, false, NULL, NULL},
    {"shard.process_linear_index", TP_INDEX, false, NULL, NULL},
    {"shard.neighbors_linear_indices", TP_KEEP, false, NULL, NULL},
    {"shard.grid_shape", TP_KEEP, false, NULL, NULL},
    {"shard.shard", TP_KEEP, false, NULL, NULL},
    {"shard.sharding", TP_KEEP, false, NULL, NULL},
};

static tp_status check_dim(MlirOperation op, const char *attr, int64_t group, bool grows) {
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0)),
           to = mlirValueGetType(mlirOperationGetResult(op, 0));
  int64_t dim = mlirIntegerAttrGetValueInt(tp__inherent(op, attr));
  int rank, result_rank;
  int64_t a[TP_MAX_RANK], b[TP_MAX_RANK];
  if (!tp__static_tensor(from, &rank, a) || !tp__static_tensor(to, &result_rank, b))
    return tp__error(
        op, TP_UNSUPPORTED,
        "works on a tensor without static shape; make all shapes static before sharding");
  bool inside = dim >= 0 && dim < rank && dim < result_rank;
  int64_t before = inside ? a[dim] : 0, behind = inside ? b[dim] : 0;
  if (inside && (grows ? before * group == behind : before == behind * group))
    return TP_OK;
  return tp__error(op, TP_INVALID_ARGUMENT,
                   "dimension %lld has size %lld in the operand and %lld in the result, which does "
                   "not fit a group of %lld "
                   "devices on this mesh",
                   (long long)dim, (long long)before, (long long)behind, (long long)group);
}

static tp_status check_elements(MlirOperation op) {
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0)),
           to = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (mlirTypeEqual(tp__element_type(from), tp__element_type(to)))
    return TP_OK;
  return tp__error(op, TP_UNSUPPORTED,
                   "its operand and its result have different element types; convert the value "
                   "before or after it");
}

/* Returns the axes of the op's group, as bits, and its number of devices. */
static tp_status read_group(MlirOperation op, const tp_mesh *mesh, uint32_t *bits, int64_t *size) {
  tp__axis_runs runs[TP_MAX_RANK];
  int n = 1;
  bool halo = tp__op_is(op, "shard.update_halo");
  tp_status status = halo ? tp__read_split_runs(op, mesh, &n, runs)
                          : tp__read_axis_runs(op, "grid_axes", mesh, &runs[0]);
  *bits = 0;
  *size = 1;
  for (int d = 0; d < n && status == TP_OK; d++) {
    *bits |= tp__run_bits(mesh, &runs[d]);
    for (int i = 0; i < runs[d].n; i++)
      *size *= tp__run_size(mesh, &runs[d], i);
  }
  return status;
}

/* Returns the axes along which result `result` of a device-index op varies. */
static tp_status read_index(MlirOperation op, const tp_mesh *mesh, int result, uint32_t *axes) {
  tp__axis_runs runs;
  TP_TRY(tp__read_axis_runs(op, "axes", mesh, &runs));
  if (runs.n == 0)
    TP_TRY(tp__all_axis_runs(op, mesh, &runs));
  if (tp__op_is(op, "shard.process_multi_index")) { /* one coordinate */
    runs.first[0] = runs.first[result];
    runs.count[0] = runs.count[result];
    runs.n = 1;
  }
  *axes = tp__run_bits(mesh, &runs);
  return TP_OK;
}

/* Returns the axes along which some pair moves. If no pair moves, the group is the whole mesh, so
 * returns all axes. */
static uint32_t moved_axes(MlirOperation op, const tp_mesh *mesh) {
  MlirAttribute pairs = tp__get(op, "tp.pairs");
  intptr_t n = mlirAttributeIsAArray(pairs) ? mlirArrayAttrGetNumElements(pairs) : 0;
  uint32_t axes = 0;
  for (intptr_t i = 0; i < n; i++) {
    int64_t pair[2] = {0};
    /* the lowering reports malformed pairs */
    bool ok = tp__int_list(mlirArrayAttrGetElement(pairs, i), 2, pair) == 2;
    for (int a = 0; a < mesh->n_axes && ok; a++)
      axes |= tp_mesh_coordinate(mesh, pair[0], a) != tp_mesh_coordinate(mesh, pair[1], a) ? 1u << a
                                                                                           : 0;
  }
  return axes ? axes : (1u << mesh->n_axes) - 1;
}

/* Fills in, by device, the device that a permute sends it a value from; -1: none. False if a pair
 * is malformed, which the lowering reports. */
static bool read_sources(MlirOperation op, int64_t n_devices, int *sources) {
  MlirAttribute pairs = tp__get(op, "tp.pairs");
  intptr_t n = mlirAttributeIsAArray(pairs) ? mlirArrayAttrGetNumElements(pairs) : 0;
  for (int64_t i = 0; i < n_devices; i++)
    sources[i] = -1;
  for (intptr_t i = 0; i < n; i++) {
    int64_t pair[2];
    if (tp__int_list(mlirArrayAttrGetElement(pairs, i), 2, pair) != 2 || pair[0] < 0 ||
        pair[0] >= n_devices || pair[1] < 0 || pair[1] >= n_devices)
      return false;
    sources[pair[1]] = (int)pair[0];
  }
  return true;
}

/* True if two devices that differ along the axis only get values from devices that do so, too, or
 * both none: then what is equal along the axis stays so. */
static bool keeps_equal(const tp_mesh *mesh, const int *sources, int axis) {
  int64_t n = tp_mesh_size(mesh), stride = tp_mesh_stride(mesh, axis);
  for (int64_t i = 0; i < n; i++) {
    int64_t first = i - tp_mesh_coordinate(mesh, i, axis) * stride;
    int x = sources[first], y = sources[i];
    if ((x < 0) != (y < 0))
      return false;
    if (x >= 0 && x - tp_mesh_coordinate(mesh, x, axis) * stride !=
                      y - tp_mesh_coordinate(mesh, y, axis) * stride)
      return false;
  }
  return true;
}

/* Returns the axes along which the result of a permute differs where its operand does not. */
static uint32_t permuted_axes(MlirOperation op, const tp_mesh *mesh) {
  enum { MAX_DEVICES = 1 << 20 };
  uint32_t axes = (1u << mesh->n_axes) - 1;
  int64_t n = tp_mesh_size(mesh);
  int *sources = n <= MAX_DEVICES ? tp__calloc((size_t)n, sizeof *sources) : NULL;
  if (sources && read_sources(op, n, sources))
    for (int a = 0; a < mesh->n_axes; a++)
      axes &= keeps_equal(mesh, sources, a) ? ~(1u << a) : ~0u;
  tp__free(sources);
  return axes;
}

tp_status tp__collective_effect(MlirOperation op, const tp_mesh *mesh, int result,
                                tp_effect *effect) {
  const collective_row *row = tp__op_row(op, rows, TP_LEN(rows), sizeof *rows);
  int64_t size;
  *effect = (tp_effect){.equality = TP_KEEP};
  if (tp__is_permute(op)) {
    *effect = (tp_effect){TP_DIFFER, permuted_axes(op, mesh), moved_axes(op, mesh)};
    return TP_OK;
  }
  if (tp__is_route(op)) {
    tp_route route;
    TP_TRY(tp__route_read(op, mesh, &route));
    effect->equality = TP_DIFFER;
    for (int i = 0; i < route.n_axes; i++)
      effect->axes |= 1u << route.axes[i];
    effect->waits = effect->axes;
    return TP_OK;
  }
  if (!tp__op_has_dialect(op, "shard"))
    return TP_OK;
  if (!row)
    return tp__error(op, TP_UNSUPPORTED,
                     "is not a supported collective or index op; use all_reduce, all_gather, "
                     "reduce_scatter, all_to_all, all_slice, broadcast, shift, send and recv, "
                     "update_halo, or process_multi_index");
  effect->equality = row->equality;
  if (row->equality == TP_INDEX)
    return read_index(op, mesh, result, &effect->axes);
  if (row->equality == TP_KEEP && !row->communicates)
    return TP_OK;
  tp_status status = read_group(op, mesh, &effect->axes, &size);
  effect->waits = row->communicates ? effect->axes : 0;
  if (status == TP_OK)
    status = check_elements(op);
  bool same = row->grown && row->shrunk &&
              mlirAttributeEqual(tp__inherent(op, row->grown), tp__inherent(op, row->shrunk));
  if (status == TP_OK && row->grown && !same)
    status = check_dim(op, row->grown, size, true);
  if (status == TP_OK && row->shrunk && !same)
    status = check_dim(op, row->shrunk, size, false);
  return status;
}

/* Also matches ops of the shard dialect without a row, which tp__mark_divergent reports. */
static bool matches(MlirOperation op) {
  const collective_row *row =
      tp__op_has_dialect(op, "shard") ? tp__op_row(op, rows, TP_LEN(rows), sizeof *rows) : NULL;
  if (tp__is_permute(op))
    return true;
  if (row)
    return row->communicates || row->equality == TP_DIFFER;
  return tp__op_has_dialect(op, "shard") && mlirOperationGetNumOperands(op) > 0;
}

/* Along axes outside of its group, the devices work independently, and each group may hold a part
 * of a dimension. Dimensions whose size changes are excluded. */
static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_status status = tp__rule_begin(op, arena, rule);
  const collective_row *row = tp__op_row(op, rows, TP_LEN(rows), sizeof *rows);
  if (status != TP_OK || !row || row->equality != TP_EQUAL)
    return status;
  const tp_value_map *result = &rule->results[0];
  int64_t changed = row->grown ? mlirIntegerAttrGetValueInt(tp__inherent(op, row->grown)) : -1;
  for (int d = 0; d < result->rank; d++) {
    if (d == changed)
      continue;
    int f = tp__rule_factor(rule, result->shape[d], TP_PARALLEL);
    tp__dim_set(&rule->operands[0], d, f);
    tp__dim_set(&rule->results[0], d, f);
  }
  rule->scalar_ops = (double)tp__shape_elements(result->rank, result->shape);
  return TP_OK;
}

const tp_family tp__collective_family = {
    .name = "collective",
    .ops = "shard.all_reduce, all_gather, broadcast, all_slice, reduce_scatter, all_to_all, shift, "
           "reduce, gather, scatter, "
           "send, recv, update_halo, and calls with tp.pairs (permutes), written by a user",
    .summary = "all_reduce, all_gather, broadcast: every dimension whose size does not change, "
               "over axes outside the group. Values that differ between devices are not sharded.",
    .communication = "None added: the op is kept as written.",
    .test = "test/rules/collective",
    .matches = matches,
    .rule = rule_of,
};
