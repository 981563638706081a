/* Collectives and the position of a device. Groups are lists of device numbers, row-major in the
 * mesh. */
#include "passes/export/export.h"

#include "ir/collectives.h"
#include "ir/place.h"

typedef struct group {
  int n, axes[TP_MAX_AXES];
  int64_t size;
} group;

static tp_status read_group(tp_export *x, MlirOperation op, group *g) {
  tp__axis_runs runs;
  TP_TRY(tp__read_axis_runs(op, "grid_axes", &x->mesh, &runs));
  g->n = tp__axes_of_runs(&runs, g->axes);
  g->size = 1;
  for (int i = 0; i < g->n; i++)
    g->size *= x->mesh.axes[g->axes[i]].size;
  return TP_OK;
}

/* The rank of a device in its group. */
static int64_t rank_in(const tp_export *x, const group *g, int64_t device) {
  int64_t rank = 0;
  for (int i = 0; i < g->n; i++)
    rank = rank * x->mesh.axes[g->axes[i]].size + tp_mesh_coordinate(&x->mesh, device, g->axes[i]);
  return rank;
}

static bool same_group(const tp_export *x, const group *g, int64_t a, int64_t b) {
  for (int axis = 0; axis < x->mesh.n_axes; axis++) {
    bool is_inside = false;
    for (int i = 0; i < g->n; i++)
      is_inside |= g->axes[i] == axis;
    if (!is_inside &&
        tp_mesh_coordinate(&x->mesh, a, axis) != tp_mesh_coordinate(&x->mesh, b, axis))
      return false;
  }
  return true;
}

/* A table of n_rows x n_columns numbers. */
static MlirAttribute table(tp_export *x, int64_t n_rows, int64_t n_columns, const int64_t *items) {
  MlirType type =
      tp__export_tensor(mlirIntegerTypeGet(x->context, 64), 2, (int64_t[]){n_rows, n_columns});
  return mlirDenseElementsAttrInt64Get(type, n_rows * n_columns, items);
}

/* One row per group, in the order of the lowest device; null when memory runs out. */
static MlirAttribute replica_groups(tp_export *x, const group *g) {
  int64_t n = tp_mesh_size(&x->mesh), n_groups = 0;
  int64_t *items = tp__calloc((size_t)n, sizeof *items);
  for (int64_t first = 0; items && first < n; first++) {
    if (rank_in(x, g, first) != 0)
      continue;
    for (int64_t d = 0; d < n; d++)
      if (same_group(x, g, first, d))
        items[n_groups * g->size + rank_in(x, g, d)] = d;
    n_groups++;
  }
  MlirAttribute attr = items ? table(x, n_groups, g->size, items) : (MlirAttribute){NULL};
  tp__free(items);
  return attr;
}

static MlirAttribute channel(tp_export *x) {
  return tp__export_attr(x, "#stablehlo.channel_handle<handle = %lld, type = 1>",
                         (long long)++x->n_channels);
}

static int64_t int_attr(MlirOperation op, const char *name) {
  return mlirIntegerAttrGetValueInt(tp__inherent(op, name));
}

/* An attribute of StableHLO for that of the shard dialect; NULL: none. */
typedef struct dimension {
  const char *name, *theirs;
} dimension;

typedef struct collective {
  const char *name; /* of StableHLO */
  dimension dims[2];
  bool reduces, splits; /* splits: it says into how many parts */
} collective;

/* Builds a collective of one tensor, by the combiner if it reduces. */
static tp_status build(tp_export *x, MlirOperation op, const collective *c, MlirAttribute groups,
                       tp_combiner combiner, MlirValue *value) {
  MlirType old = tp__element_type(mlirValueGetType(*value));
  MlirType element = c->reduces ? tp__export_combined(old, combiner) : old;
  MlirNamedAttribute attrs[3 + TP_LEN(c->dims)] = {
      tp__named(x->context, "replica_groups", groups),
      tp__named(x->context, "channel_handle", channel(x)),
      c->splits ? tp__named(x->context, "split_count",
                            tp__attr_i64(x->context,
                                         mlirShapedTypeGetDimSize(mlirAttributeGetType(groups), 1)))
                : tp__named(x->context, "use_global_device_ids", mlirUnitAttrGet(x->context)),
  };
  int n_attrs = 3;
  for (int i = 0; i < TP_LEN(c->dims) && c->dims[i].name; i++)
    attrs[n_attrs++] = tp__named(x->context, c->dims[i].name,
                                 tp__attr_i64(x->context, int_attr(op, c->dims[i].theirs)));
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  (void)tp__static_tensor(tp__result_type(op), &rank, sizes);
  MlirType type = tp__export_tensor(element, rank, sizes);
  MlirValue operand = tp__export_bitcast(x, *value, element);
  MlirOperation now = tp__export_build_op(x, &(tp_build){.name = c->name,
                                                         .n_operands = 1,
                                                         .operands = &operand,
                                                         .n_results = 1,
                                                         .results = &type,
                                                         .n_attributes = n_attrs,
                                                         .attributes = attrs,
                                                         .n_regions = c->reduces});
  *value = tp__export_bitcast(x, mlirOperationGetResult(now, 0), old);
  if (!c->reduces)
    return TP_OK;
  MlirType number = tp__export_tensor(element, 0, NULL);
  MlirBlock block = tp__export_region_block(x, now, 0, 2, (MlirType[]){number, number});
  return tp__export_combiner(x, op, combiner, block);
}

/* The largest or smallest number that is not NaN. Compilers want regions of one op, so NaN do not
 * count as the identity, and come back where all are NaN. */
static tp_status reduce_numbers(tp_export *x, MlirOperation op, const collective *c,
                                MlirAttribute groups, tp_combiner combiner, MlirValue *value) {
  combiner = combiner == TP_MAXNUM ? TP_MAX : TP_MIN;
  MlirType type = mlirValueGetType(*value), element = tp__element_type(type);
  MlirValue is_nan = tp__export_compare(x, "NE", *value, *value);
  MlirValue none = tp__export_splat(x, type, tp__export_identity(element, combiner));
  *value = tp__export_build(x, "stablehlo.select", type, 3, (MlirValue[]){is_nan, none, *value}, 0,
                            NULL);
  TP_TRY(build(x, op, c, groups, combiner, value));
  TP_TRY(build(x, op, c, groups, TP_AND, &is_nan));
  type = mlirValueGetType(*value);
  MlirValue nan = tp__export_splat(x, type, tp__export_identity(element, TP_MAXNUM));
  *value =
      tp__export_build(x, "stablehlo.select", type, 3, (MlirValue[]){is_nan, nan, *value}, 0, NULL);
  return TP_OK;
}

static tp_status export_collective(tp_export *x, MlirOperation op, const collective *c) {
  group g;
  tp_combiner combiner = TP_SUM;
  TP_TRY(read_group(x, op, &g));
  MlirValue value = tp__export_operand(x, op, 0);
  if (g.size == 1)
    return tp__export_replace(x, op, value);
  MlirAttribute groups = replica_groups(x, &g);
  if (mlirAttributeIsNull(groups))
    return tp__out_of_memory(op);
  if (c->reduces)
    TP_TRY(tp__collective_combiner(op, &combiner));
  bool of_numbers = combiner == TP_MAXNUM || combiner == TP_MINNUM;
  TP_TRY((of_numbers ? reduce_numbers : build)(x, op, c, groups, combiner, &value));
  return tp__export_replace(x, op, value);
}

static tp_status all_reduce(tp_export *x, MlirOperation op) {
  return export_collective(x, op, &(collective){.name = "stablehlo.all_reduce", .reduces = true});
}

static tp_status all_gather(tp_export *x, MlirOperation op) {
  return export_collective(
      x, op,
      &(collective){.name = "stablehlo.all_gather", .dims = {{"all_gather_dim", "gather_axis"}}});
}

static tp_status reduce_scatter(tp_export *x, MlirOperation op) {
  return export_collective(x, op,
                           &(collective){.name = "stablehlo.reduce_scatter",
                                         .dims = {{"scatter_dimension", "scatter_axis"}},
                                         .reduces = true});
}

static tp_status all_to_all(tp_export *x, MlirOperation op) {
  return export_collective(x, op,
                           &(collective){.name = "stablehlo.all_to_all",
                                         .dims = {{"split_dimension", "split_axis"},
                                                  {"concat_dimension", "concat_axis"}},
                                         .splits = true});
}

/* ---- the position of a device ---- */

static MlirType number_type(tp_export *x) {
  return tp__export_tensor(mlirIntegerTypeGet(x->context, 64), 0, NULL);
}

static MlirValue device(tp_export *x) {
  MlirType u32 = mlirIntegerTypeUnsignedGet(x->context, 32);
  MlirValue id = tp__export_build(x, "stablehlo.partition_id", tp__export_tensor(u32, 0, NULL), 0,
                                  NULL, 0, NULL);
  return tp__export_build(x, "stablehlo.convert", number_type(x), 1, &id, 0, NULL);
}

/* The coordinate along one axis: device / stride % size. */
static MlirValue coordinate(tp_export *x, MlirValue id, int axis) {
  int64_t stride = 1;
  for (int a = axis + 1; a < x->mesh.n_axes; a++)
    stride *= x->mesh.axes[a].size;
  MlirValue at = id;
  if (stride > 1)
    at = tp__export_binary(x, "stablehlo.divide", at, tp__export_int(x, number_type(x), stride));
  return axis == 0 ? at
                   : tp__export_binary(x, "stablehlo.remainder", at,
                                       tp__export_int(x, number_type(x), x->mesh.axes[axis].size));
}

static MlirValue group_rank(tp_export *x, int n, const int *axes) {
  MlirValue id = device(x), rank = {NULL};
  for (int i = 0; i < n; i++) {
    MlirValue at = coordinate(x, id, axes[i]);
    if (!mlirValueIsNull(rank)) {
      rank = tp__export_binary(x, "stablehlo.multiply", rank,
                               tp__export_int(x, number_type(x), x->mesh.axes[axes[i]].size));
      at = tp__export_binary(x, "stablehlo.add", rank, at);
    }
    rank = at;
  }
  return mlirValueIsNull(rank) ? tp__export_int(x, number_type(x), 0) : rank;
}

static tp_status multi_index(tp_export *x, MlirOperation op) {
  tp__axis_runs runs;
  TP_TRY(tp__read_axis_runs(op, "axes", &x->mesh, &runs));
  if (runs.n == 0)
    TP_TRY(tp__all_axis_runs(op, &x->mesh, &runs));
  for (int i = 0; i < runs.n; i++) {
    int axes[TP_MAX_AXES];
    for (int k = 0; k < runs.count[i]; k++)
      axes[k] = runs.first[i] + k;
    TP_TRY(
        tp__export_map(x, op, mlirOperationGetResult(op, i), group_rank(x, runs.count[i], axes)));
  }
  return TP_OK;
}

static tp_status linear_index(tp_export *x, MlirOperation op) {
  return tp__export_replace(x, op, device(x));
}

static tp_status all_slice(tp_export *x, MlirOperation op) {
  group g;
  int rank = 0;
  int64_t sizes[TP_MAX_RANK], dim = int_attr(op, "slice_axis");
  TP_TRY(read_group(x, op, &g));
  MlirType type = tp__export_type(tp__result_type(op));
  (void)tp__static_tensor(type, &rank, sizes);
  MlirValue operands[1 + TP_MAX_RANK] = {tp__export_operand(x, op, 0)};
  MlirValue zero = tp__export_int(x, number_type(x), 0);
  for (int d = 0; d < rank; d++)
    operands[1 + d] = zero;
  operands[1 + dim] = tp__export_binary(x, "stablehlo.multiply", group_rank(x, g.n, g.axes),
                                        tp__export_int(x, number_type(x), sizes[dim]));
  MlirNamedAttribute attr = tp__export_list(x, "slice_sizes", rank, sizes);
  return tp__export_replace(
      x, op, tp__export_build(x, "stablehlo.dynamic_slice", type, 1 + rank, operands, 1, &attr));
}

/* ---- permutes ---- */

/* A source may serve several destinations, but serves one in a collective_permute. Devices that are
 * no destination get zeros, so the results of several rounds are added. */
static tp_status permute_rounds(tp_export *x, MlirOperation op, int64_t n, const int64_t *pairs,
                                bool *sent, int64_t *round) {
  MlirValue value = tp__export_operand(x, op, 0), sum = {NULL};
  for (int64_t n_left = n; n_left > 0;) {
    int64_t n_round = 0;
    for (int64_t i = 0; i < n; i++) {
      bool is_free = !sent[i];
      for (int64_t k = 0; k < n_round; k++)
        is_free &= round[2 * k] != pairs[2 * i];
      if (!is_free)
        continue;
      sent[i] = true;
      round[2 * n_round] = pairs[2 * i];
      round[2 * n_round++ + 1] = pairs[2 * i + 1];
    }
    n_left -= n_round;
    MlirNamedAttribute attrs[] = {
        tp__named(x->context, "source_target_pairs", table(x, n_round, 2, round)),
        tp__named(x->context, "channel_handle", channel(x)),
    };
    MlirValue got = tp__export_build(x, "stablehlo.collective_permute", mlirValueGetType(value), 1,
                                     &value, TP_LEN(attrs), attrs);
    sum = mlirValueIsNull(sum) ? got : tp__export_binary(x, "stablehlo.add", sum, got);
  }
  return tp__export_replace(x, op, sum);
}

tp_status tp__export_permute(tp_export *x, MlirOperation op) {
  MlirAttribute attr = tp__get(op, "tp.pairs");
  int64_t n = mlirArrayAttrGetNumElements(attr);
  int64_t *pairs = tp__calloc((size_t)(2 * n) + 1, sizeof *pairs);
  int64_t *round = tp__calloc((size_t)(2 * n) + 1, sizeof *round);
  bool *sent = tp__calloc((size_t)n + 1, sizeof *sent);
  tp_status status = pairs && round && sent ? TP_OK : tp__out_of_memory(op);
  for (int64_t i = 0; i < n && status == TP_OK; i++)
    if (tp__int_list(mlirArrayAttrGetElement(attr, i), 2, pairs + 2 * i) != 2)
      status = tp__error(op, TP_INVALID_ARGUMENT, "tp.pairs is not a list of pairs");
  if (status == TP_OK && n == 0)
    status = tp__error(op, TP_UNSUPPORTED, "permutes nothing");
  if (status == TP_OK)
    status = permute_rounds(x, op, n, pairs, sent, round);
  tp__free(pairs);
  tp__free(round);
  tp__free(sent);
  return status;
}

const tp_export_row tp__export_collective_rows[] = {
    {"shard.all_gather", all_gather},
    {"shard.all_reduce", all_reduce},
    {"shard.all_slice", all_slice},
    {"shard.all_to_all", all_to_all},
    {"shard.process_linear_index", linear_index},
    {"shard.process_multi_index", multi_index},
    {"shard.reduce_scatter", reduce_scatter},
    {NULL, NULL},
};
