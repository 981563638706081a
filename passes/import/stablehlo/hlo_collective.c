/* Collectives of a manual computation (jax.shard_map): to the shard dialect, or to permutes. Their
 * groups are lists of devices, which must be the devices along axes of the mesh. */
#include "passes/import/stablehlo/hlo.h"

#include "ir/collective_op.h"

#include <stdio.h>

enum { MAX_DEVICES = 65536 };

/* ---- groups ---- */

typedef struct groups {
  int64_t n_devices, size;
  int32_t *group, *rank; /* of each device */
} groups;

static void groups_destroy(groups *g) {
  tp__free(g->group);
  tp__free(g->rank);
}

static tp_status wrong_groups(MlirOperation op, const char *why) {
  return tp__error(op, TP_UNSUPPORTED,
                   "replica_groups %s; a group must have the devices along axes of the mesh", why);
}

static tp_status read_rows(MlirOperation op, MlirAttribute attr, groups *g) {
  int64_t n = mlirElementsAttrGetNumElements(attr);
  g->size = mlirShapedTypeGetDimSize(mlirAttributeGetType(attr), 1);
  for (int64_t d = 0; d < g->n_devices; d++)
    g->group[d] = -1;
  if (n != g->n_devices)
    return wrong_groups(op, "do not have every device of the mesh once");
  for (int64_t i = 0; i < n; i++) {
    int64_t device = mlirDenseElementsAttrGetInt64Value(attr, i);
    if (device < 0 || device >= n || g->group[device] >= 0)
      return wrong_groups(op, "do not have every device of the mesh once");
    g->group[device] = (int32_t)(i / g->size);
    g->rank[device] = (int32_t)(i % g->size);
  }
  return TP_OK;
}

static tp_status read_groups(tp_hlo *hlo, MlirOperation op, groups *g) {
  MlirAttribute attr = tp__property(op, "replica_groups");
  *g = (groups){.n_devices = tp_mesh_size(&hlo->mesh)};
  if (hlo->mesh.n_axes == 0)
    return tp__error(op, TP_NOT_FOUND,
                     "the module has no mesh; collectives need the sdy.mesh or shard.grid of their "
                     "devices");
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsADenseElements(attr) ||
      mlirShapedTypeGetRank(mlirAttributeGetType(attr)) != 2 ||
      mlirIntegerTypeGetWidth(mlirShapedTypeGetElementType(mlirAttributeGetType(attr))) != 64 ||
      g->n_devices > MAX_DEVICES)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "replica_groups is not a table of numbers of at most %d devices", MAX_DEVICES);
  g->group = tp__calloc((size_t)g->n_devices, sizeof *g->group);
  g->rank = tp__calloc((size_t)g->n_devices, sizeof *g->rank);
  return g->group && g->rank ? read_rows(op, attr, g) : tp__out_of_memory(op);
}

/* True if the groups are those over the axes, and ranks count in their order. */
static bool matches(const tp_mesh *mesh, const groups *g, int n, const int *axes) {
  int64_t size = 1;
  for (int i = 0; i < n; i++)
    size *= mesh->axes[axes[i]].size;
  if (size != g->size)
    return false;
  for (int64_t d = 0; d < g->n_devices; d++) {
    int64_t rank = 0, first = d, stride = 1;
    for (int i = 0; i < n; i++)
      rank = rank * mesh->axes[axes[i]].size + tp_mesh_coordinate(mesh, d, axes[i]);
    for (int a = mesh->n_axes - 1; a >= 0; stride *= mesh->axes[a--].size)
      for (int i = 0; i < n; i++)
        first -= axes[i] == a ? stride * tp_mesh_coordinate(mesh, d, a) : 0;
    if (rank != g->rank[d] || g->group[first] != g->group[d])
      return false;
  }
  return true;
}

/* Tries all lists of axes that begin with the n given ones. */
static bool find_axes(const tp_mesh *mesh, const groups *g, int n, int *axes, int *found) {
  if (matches(mesh, g, n, axes)) {
    *found = n;
    return true;
  }
  for (int a = 0; a < mesh->n_axes; a++) {
    bool used = mesh->axes[a].size == 1;
    for (int i = 0; i < n; i++)
      used |= axes[i] == a;
    axes[n] = a;
    if (!used && find_axes(mesh, g, n + 1, axes, found))
      return true;
  }
  return false;
}

static tp_status read_axes(tp_hlo *hlo, MlirOperation op, tp_step *step, int64_t *size) {
  groups g;
  *step = (tp_step){0};
  tp_status status = read_groups(hlo, op, &g);
  if (status == TP_OK && !find_axes(&hlo->mesh, &g, 0, step->axes, &step->n_axes))
    status = wrong_groups(op, "are not those along axes of the mesh");
  *size = g.size;
  groups_destroy(&g);
  return status;
}

/* ---- combiners ---- */

static tp_status read_combiner(MlirOperation op, tp_combiner *combiner) {
  static const struct {
    const char *name;
    tp_combiner combiner, of_unsigned;
  } rows[] = {
      {"stablehlo.add", TP_SUM, TP_SUM},      {"stablehlo.multiply", TP_PRODUCT, TP_PRODUCT},
      {"stablehlo.maximum", TP_MAX, TP_MAXU}, {"stablehlo.minimum", TP_MIN, TP_MINU},
      {"stablehlo.and", TP_AND, TP_AND},      {"stablehlo.or", TP_OR, TP_OR},
      {"stablehlo.xor", TP_XOR, TP_XOR},
  };
  MlirBlock block = tp__region_block(op, 0);
  MlirOperation first =
      mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetFirstOperation(block);
  tp_hlo_kind kind = tp__hlo_kind(tp__hlo_operand_element(op, 0));
  bool is_unsigned = kind == TP_HLO_UNSIGNED || kind == TP_HLO_BOOL;
  MlirOperation end = mlirOperationIsNull(first) ? first : mlirOperationGetNextInBlock(first);
  bool is_one = !mlirOperationIsNull(end) && tp__op_is(end, "stablehlo.return");
  for (int i = 0; is_one && i < TP_LEN(rows); i++)
    if (tp__op_is(first, rows[i].name)) {
      *combiner = is_unsigned ? rows[i].of_unsigned : rows[i].combiner;
      if (kind == TP_HLO_BOOL) /* sums and maxima of booleans are "or" */
        *combiner = i == 0 || i == 2 ? TP_OR : i == 1 || i == 3 ? TP_AND : *combiner;
      return TP_OK;
    }
  return tp__error(op, TP_UNSUPPORTED,
                   "its region is not one add, multiply, maximum, minimum, and, or, xor");
}

/* ---- ops ---- */

typedef struct collective {
  const char *name;       /* of the shard dialect */
  const char *dim, *ours; /* attributes: of StableHLO, of the shard dialect */
  const char *split;
  bool reduces;
} collective;

/* Each operand is a collective of its own. */
static tp_status convert(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  const collective *c = row->detail;
  tp_step step;
  int64_t size, dim = 0, split = 0;
  TP_TRY(tp__hlo_not_in_body(hlo, op));
  TP_TRY(read_axes(hlo, op, &step, &size));
  if (c->reduces)
    TP_TRY(read_combiner(op, &step.combiner));
  if (c->dim)
    TP_TRY(tp__hlo_int(op, c->dim, -1, &dim));
  if (c->split)
    TP_TRY(tp__hlo_int(op, "split_dimension", -1, &split));
  if (mlirOperationGetNumOperands(op) != mlirOperationGetNumResults(op))
    return tp__error(op, TP_INVALID_ARGUMENT, "needs a result for each operand");
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++) {
    MlirValue value = tp__hlo_operand(hlo, op, (int)i);
    MlirType result = tp__hlo_result_type(hlo, op, (int)i);
    int rank = tp__value_rank(value);
    if ((c->dim && (dim < 0 || dim >= rank)) || (c->split && (split < 0 || split >= rank)))
      return tp__error(op, TP_INVALID_ARGUMENT, "dimension %lld is not one of operand %d",
                       (long long)(dim < 0 || dim >= rank ? dim : split), (int)i);
    tp__collective made = {.where = hlo->where,
                           .context = hlo->context,
                           .location = hlo->location,
                           .mesh = &hlo->mesh,
                           .step = &step,
                           .result = result};
    if (size > 1)
      value =
          tp__build_collective(&made, c->name, value, c->ours, dim, c->split, split, c->reduces);
    TP_TRY(tp__hlo_map(hlo, op, mlirOperationGetResult(op, i), value));
  }
  hlo->uses_grid = true;
  return TP_OK;
}

static tp_status permute(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  MlirAttribute attr = tp__property(op, "source_target_pairs");
  TP_TRY(tp__hlo_not_in_body(hlo, op));
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsADenseElements(attr) ||
      mlirShapedTypeGetRank(mlirAttributeGetType(attr)) != 2 ||
      mlirIntegerTypeGetWidth(mlirShapedTypeGetElementType(mlirAttributeGetType(attr))) != 64 ||
      mlirElementsAttrGetNumElements(attr) % 2 != 0)
    return tp__error(op, TP_INVALID_ARGUMENT, "source_target_pairs is not a table of pairs");
  int64_t n = mlirElementsAttrGetNumElements(attr) / 2, n_devices = tp_mesh_size(&hlo->mesh);
  int64_t (*pairs)[2] = tp__calloc((size_t)n + 1, sizeof *pairs);
  if (!pairs)
    return tp__out_of_memory(op);
  for (int64_t i = 0; i < 2 * n; i++) {
    pairs[i / 2][i % 2] = mlirDenseElementsAttrGetInt64Value(attr, i);
    if (hlo->mesh.n_axes == 0 || pairs[i / 2][i % 2] < 0 || pairs[i / 2][i % 2] >= n_devices) {
      int64_t device = pairs[i / 2][i % 2];
      tp__free(pairs);
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "names device %lld, but the mesh of the module has %lld devices",
                       (long long)device, (long long)(hlo->mesh.n_axes == 0 ? 0 : n_devices));
    }
  }
  MlirValue now = tp__build_permute(hlo->where, hlo->module, tp__hlo_operand(hlo, op, 0), n,
                                    (const int64_t (*)[2])pairs);
  tp__free(pairs);
  return mlirValueIsNull(now) ? tp__out_of_memory(op) : tp__hlo_replace(hlo, op, now);
}

static tp_status partition_id(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  MlirType type = tp__hlo_result_type(hlo, op, 0), index = mlirIndexTypeGet(hlo->context);
  MlirAttribute grid, axes;
  TP_TRY(tp__hlo_not_in_body(hlo, op));
  if (hlo->mesh.n_axes == 0)
    return tp__error(op, TP_NOT_FOUND, "the module has no mesh");
  tp__grid_axes(hlo->context, &hlo->mesh, 0, NULL, &grid, &axes);
  MlirNamedAttribute attr = tp__named(hlo->context, "grid", grid);
  MlirOperation id = tp__hlo_build_op(hlo, &(tp_build){.name = "shard.process_linear_index",
                                                       .n_results = 1,
                                                       .results = &index,
                                                       .n_attributes = 1,
                                                       .attributes = &attr});
  MlirValue number = tp__hlo_convert_to(hlo, "arith.index_cast", tp__element_type(type),
                                        mlirOperationGetResult(id, 0));
  hlo->uses_grid = true;
  return tp__hlo_replace(hlo, op, tp__hlo_build(hlo, "tensor.from_elements", type, 1, &number));
}

static tp_status replica_id(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row; /* there is one replica of the program, with a partition per device */
  return tp__hlo_replace(hlo, op, tp__hlo_int_constant(hlo, tp__hlo_result_type(hlo, op, 0), 0));
}

#define COLLECTIVE(...) &(const collective){__VA_ARGS__}

const tp_hlo_row tp__hlo_collective_rows[] = {
    {"stablehlo.all_gather", TP_HLO_ANY, TP_HLO_ANY, 0, convert,
     COLLECTIVE("shard.all_gather", "all_gather_dim", "gather_axis", NULL, false),
     "shard.all_gather"},
    {"stablehlo.all_reduce", TP_HLO_ANY, TP_HLO_ANY, 1, convert,
     COLLECTIVE("shard.all_reduce", NULL, NULL, NULL, true), "shard.all_reduce"},
    {"stablehlo.all_to_all", TP_HLO_ANY, TP_HLO_ANY, 0, convert,
     COLLECTIVE("shard.all_to_all", "concat_dimension", "concat_axis", "split_axis", false),
     "shard.all_to_all"},
    {"stablehlo.collective_permute", 1, 1, 0, permute, NULL, "a call of @tp.permute"},
    {"stablehlo.partition_id", 0, 1, 0, partition_id, NULL, "shard.process_linear_index"},
    {"stablehlo.reduce_scatter", 1, 1, 1, convert,
     COLLECTIVE("shard.reduce_scatter", "scatter_dimension", "scatter_axis", NULL, true),
     "shard.reduce_scatter"},
    {"stablehlo.replica_id", 0, 1, 0, replica_id, NULL, "0"},
    {NULL},
};
