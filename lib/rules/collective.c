/* Communication and questions about the own place, written by a user: their effect, and which dimensions may be sharded around them. */
#include "rules/collective.h"

#include "rules/families.h"

typedef struct collective_row {
  const char *name;
  tp_equality equality;
  const char *grown,
      *shrunk; /* attributes that name the dimension that is the group's size times larger, or smaller, in the result */
} collective_row;

static const collective_row rows[] = {
    {"shard.all_reduce", TP_EQUAL, NULL, NULL},
    {"shard.all_gather", TP_EQUAL, "gather_axis", NULL},
    {"shard.broadcast", TP_EQUAL, NULL, NULL},
    {"shard.all_slice", TP_DIFFER, NULL, "slice_axis"},
    {"shard.reduce_scatter", TP_DIFFER, NULL, "scatter_axis"},
    {"shard.all_to_all", TP_DIFFER, "concat_axis", "split_axis"},
    {"shard.shift", TP_DIFFER, NULL, NULL},
    {"shard.reduce", TP_DIFFER, NULL, NULL}, /* rooted: undefined elsewhere */
    {"shard.gather", TP_DIFFER, "gather_axis", NULL},
    {"shard.scatter", TP_DIFFER, NULL, "scatter_axis"},
    {"shard.process_multi_index", TP_INDEX, NULL, NULL},
    {"shard.process_linear_index", TP_INDEX, NULL, NULL},
    {"shard.grid_shape", TP_KEEP, NULL, NULL},
    {"shard.shard", TP_KEEP, NULL, NULL},
    {"shard.sharding", TP_KEEP, NULL, NULL},
};

static const collective_row *row_of(MlirOperation op) {
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].name))
      return &rows[i];
  return NULL;
}

static tp_status check_dim(MlirOperation op, const char *attr, int64_t group, bool grows) {
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0)), to = mlirValueGetType(mlirOperationGetResult(op, 0));
  int64_t dim = mlirIntegerAttrGetValueInt(tp__inherent(op, attr));
  int rank, result_rank;
  int64_t a[TP_MAX_RANK], b[TP_MAX_RANK];
  if (!tp__static_tensor(from, &rank, a) || !tp__static_tensor(to, &result_rank, b))
    return tp__error(op, TP_UNSUPPORTED, "works on a tensor without static shape; make all shapes static before sharding");
  bool inside = dim >= 0 && dim < rank && dim < result_rank;
  int64_t before = inside ? a[dim] : 0, behind = inside ? b[dim] : 0;
  if (inside && (grows ? before * group == behind : before == behind * group))
    return TP_OK;
  return tp__error(op, TP_INVALID_ARGUMENT,
                   "dimension %lld has size %lld in the operand and %lld in the result, which does not fit a group of %lld "
                   "devices on this mesh",
                   (long long)dim, (long long)before, (long long)behind, (long long)group);
}

uint32_t tp__index_axes(MlirOperation op, const tp_mesh *mesh, int result) {
  int64_t list[TP_MAX_AXES];
  uint32_t axes = 0;
  bool linear = tp__op_is(op, "shard.process_linear_index");
  bool refined = !tp__ref_is(mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "grid")), mesh->name);
  int n = linear ? 0 : tp__int_list(tp__inherent(op, "axes"), TP_MAX_AXES, list);
  int axis = result < n ? (int)list[result] : result;
  for (int a = 0; a < mesh->n_axes; a++)
    if (mesh->axes[a].size > 1 && (linear || (refined ? a : mesh->axes[a].parent) == axis))
      axes |= 1u << a;
  return axes;
}

static tp_status check_elements(MlirOperation op) {
  MlirType from = mlirValueGetType(mlirOperationGetOperand(op, 0)), to = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (mlirTypeEqual(tp__element_type(from), tp__element_type(to)))
    return TP_OK;
  return tp__error(op, TP_UNSUPPORTED, "its operand and its result have different element types; convert before or behind it");
}

tp_status tp__collective_effect(MlirOperation op, const tp_mesh *mesh, tp_equality *equality, uint32_t *axes) {
  const collective_row *row = row_of(op);
  int n, list[TP_MAX_AXES];
  int64_t group = 1;
  *axes = 0;
  if (!row)
    return tp__error(
        op, TP_UNSUPPORTED,
        "has no meaning in a program that is not partitioned yet; use all_reduce, all_gather, all_to_all, reduce_scatter, "
        "all_slice, broadcast or shift");
  *equality = row->equality;
  if (row->equality == TP_KEEP || row->equality == TP_INDEX)
    return TP_OK;
  tp_status status = tp__read_grid_axes(op, mesh, &n, list);
  for (int i = 0; i < n && status == TP_OK; i++) {
    *axes |= mesh->axes[list[i]].size > 1 ? 1u << list[i] : 0;
    group *= mesh->axes[list[i]].size;
  }
  if (status == TP_OK)
    status = check_elements(op);
  bool same = row->grown && row->shrunk && mlirAttributeEqual(tp__inherent(op, row->grown), tp__inherent(op, row->shrunk));
  if (status == TP_OK && row->grown && !same)
    status = check_dim(op, row->grown, group, true);
  if (status == TP_OK && row->shrunk && !same)
    status = check_dim(op, row->shrunk, group, false);
  return status;
}

/* Also those without a row, which tp__mark_differing refuses. */
static bool matches(MlirOperation op) {
  return tp__op_has_dialect(op, "shard") && mlirOperationGetNumOperands(op) > 0 &&
         !(row_of(op) && row_of(op)->equality == TP_KEEP);
}

/* Along the axes that are not of its group the devices work apart, each group on its part of a dimension; but not of one that changes. */
static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_status status = tp__rule_begin(op, arena, rule);
  const collective_row *row = row_of(op);
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
    .ops = "shard.all_reduce, all_gather, broadcast, all_slice, reduce_scatter, all_to_all, shift, reduce, gather, scatter, "
           "written by a user",
    .summary = "all_reduce, all_gather, broadcast: every dimension that does not change, over axes that are not of the group. "
               "What differs between devices stays as it is.",
    .communication = "None of its own: it is kept as written.",
    .test = "test/rules/collective",
    .matches = matches,
    .rule = rule_of,
};
