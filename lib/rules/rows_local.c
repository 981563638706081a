/* Rows of groups in a per-device program: the rows of the device, and exchanges. */
#include "rules/rows_inside.h"

#include "ir/collectives.h"
#include "ir/route_call.h"
#include "rules/pointwise_builder.h"

/* Bound `i` of a list, limited to [0, limit]. */
static MlirValue bound_at(MlirOperation where, MlirValue list, int64_t i, int64_t limit) {
  MlirValue value = tp__index_at(where, list, tp__index_constant(where, i));
  value = tp__binary(where, "arith.maxsi", value, tp__index_constant(where, 0));
  return tp__binary(where, "arith.minsi", value, tp__index_constant(where, limit));
}

static void mark(MlirValue value, const char *role, MlirAttribute number) {
  MlirOperation op = tp__defining_op(value);
  tp__set(op, "tp.rows", tp__attr_string(mlirOperationGetContext(op), role));
  tp__set(op, "tp.groups", number);
}

/* The rows of a device: [first, last), of type index. */
typedef struct row_range {
  MlirValue first, last;
} row_range;

/* Builds the rows of the device's groups, before a mask. Rows in front of all groups are those of
 * the first device, and rows behind them those of the last one. */
static row_range build_range(const tp_local *local) {
  MlirOperation op = local->rule->op;
  int axes[TP_MAX_AXES], f = tp__rows_factor(&local->rule->results[0], 0),
                         n_axes = tp__strategy_axes(local->mesh, local->strategy, f, axes);
  int64_t rows = local->rule->results[0].shape[1],
          n = tp__strategy_shards(local->rule, local->mesh, local->strategy, f),
          per_device = local->rule->factors[f].size / n;
  if (n_axes == 0)
    return (row_range){tp__index_constant(op, 0), tp__index_constant(op, rows)};
  MlirValue rank = tp__build_group_index(op, local->mesh, n_axes, axes);
  MlirValue is_first = tp__compare(op, TP_EQ, rank, tp__index_constant(op, 0)),
            is_last = tp__compare(op, TP_EQ, rank, tp__index_constant(op, n - 1));
  MlirValue start = bound_at(op, mlirOperationGetOperand(op, 1), 0, rows),
            end = bound_at(op, mlirOperationGetOperand(op, 2), per_device - 1, rows);
  return (row_range){tp__select(op, is_first, tp__index_constant(op, 0), start),
                     tp__select(op, is_last, tp__index_constant(op, rows), end)};
}

/* Builds a list of bounds of groups, limited to the range. */
static MlirValue build_limited(MlirOperation op, MlirValue bounds, row_range range) {
  MlirType type = mlirValueGetType(bounds), element = tp__element_type(type);
  MlirValue first = tp__index_cast(op, range.first, element),
            last = tp__index_cast(op, range.last, element);
  tp_pointwise points = tp__pointwise_begin(op, 1, &bounds, tp__empty(op, type));
  MlirValue limited =
      tp__binary(points.yield, "arith.maxsi", tp__pointwise_value(&points, 0), first);
  return tp__pointwise_end(&points, tp__binary(points.yield, "arith.minsi", limited, last));
}

/* Lists the axes along which an op divides the rows of the groups of a device, major to minor. */
static int part_axes(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int *axes) {
  int n = 0;
  for (int a = 0; a < mesh->n_axes; a++)
    if (tp__rows_by_parts(rule, s->choices[a]))
      axes[n++] = a;
  return n;
}

/* Localizes a mask, whose groups end where the rows of the device do. Returns these rows. */
static row_range localize_mask(const tp_local *local) {
  MlirOperation op = local->rule->op;
  int axes[TP_MAX_AXES], n_axes = part_axes(local->rule, local->mesh, local->strategy, axes);
  row_range own = build_range(local);
  if (n_axes == 0)
    return own;
  tp__route_build_part(op, local->mesh, n_axes, axes, &own.first, &own.last);
  for (int i = 1; i <= 2; i++)
    mlirOperationSetOperand(op, i, build_limited(op, mlirOperationGetOperand(op, i), own));
  return own;
}

enum { DIVIDED_BITS = 2 * TP_MAX_AXES };

bool tp__rows_are_all(int64_t groups) { return (groups & ((INT64_C(1) << DIVIDED_BITS) - 1)) == 0; }

/* Bits: the axes that divide the groups, and above them those that divide the rows of groups. Ops
 * with the same axes and groups have the same rows. */
static int64_t divided_axes(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  int64_t bits = 0;
  for (int a = 0; a < mesh->n_axes; a++)
    if (tp__rows_divided(rule, s->choices[a]))
      bits |= INT64_C(1) << (tp__rows_by_parts(rule, s->choices[a]) ? TP_MAX_AXES + a : a);
  return bits;
}

/* Localizes an op that needs to compute only the rows of the device. */
static void localize_own(const tp_local *local) {
  MlirOperation op = local->rule->op;
  if (local->rule->first) /* rules of ops with a role are not shared */
    return;
  MlirAttribute number = tp__get(op, "tp.groups"), role = tp__get(op, "tp.rows");
  if (mlirAttributeIsNull(role) || !mlirAttributeIsAString(role) || local->rule->rows->sends ||
      !tp__rows_whole(local->rule, local->mesh, local->strategy))
    return;
  bool is_mask = tp__ref_is(mlirStringAttrGetValue(role), TP_ROWS_MASK);
  row_range own = {{NULL}, {NULL}};
  if (is_mask)
    own = localize_mask(local);
  if (mlirAttributeIsNull(number))
    return;
  MlirContext context = mlirOperationGetContext(op);
  number = tp__attr_i64(context, mlirIntegerAttrGetValueInt(number) << DIVIDED_BITS |
                                     divided_axes(local->rule, local->mesh, local->strategy));
  tp__set(op, "tp.groups", number);
  tp__set(op, "tp.own", role);
  if (is_mask) {
    mark(own.first, TP_ROWS_FIRST, number);
    mark(own.last, TP_ROWS_LAST, number);
    int f = tp__rows_factor(&local->rule->results[0], 0);
    tp__set(op, "tp.n_groups", tp__attr_i64(context, local->rule->factors[f].size));
  }
  tp__set(op, "tp.rows", tp__attr_string(context, TP_ROWS_OWN));
}

static tp_status replace_by_route(const tp_local *local, const tp_row_access *access, int n_axes,
                                  const int *axes) {
  const tp_rule *rule = local->rule;
  MlirOperation op = rule->op;
  const tp_value_map *result = &rule->results[0];
  int n_inputs = (int)mlirOperationGetNumOperands(op) - 1; /* the init follows */
  int64_t shape[TP_MAX_RANK];
  tp_spec_local_shape(local->mesh, tp__strategy_result(rule, local->mesh, local->strategy, 0),
                      result->rank, result->shape, shape);
  bool to_groups = rule->rows->results;
  /* the side whose rows are split in blocks: table, updates or result */
  const tp_value_map *blocks = !to_groups         ? result
                               : access->scatters ? &rule->operands[access->updates]
                                                  : &rule->operands[rule->n_operands - 1];
  tp_route route = {.form = !access->scatters ? TP_ROUTE_GATHER
                            : access->adds    ? TP_ROUTE_ADD
                                              : TP_ROUTE_SET,
                    .to_groups = to_groups,
                    .blocks = blocks->shape[0],
                    .n_axes = n_axes};
  memcpy(route.axes, axes, (size_t)n_axes * sizeof *axes);
  for (int i = 0; i < n_axes; i++)
    if (local->strategy->choices[axes[i]].rows == TP_BY_PARTS)
      route.part_axes |= UINT32_C(1) << i;
  MlirValue operands[] = {
      access->scatters ? mlirOperationGetOperand(op, access->updates) : access->table,
      mlirOperationGetOperand(op, access->index), mlirOperationGetOperand(op, n_inputs - 2),
      mlirOperationGetOperand(op, n_inputs - 1), mlirOperationGetOperand(op, n_inputs)};
  MlirType type = tp__tensor_like(mlirValueGetType(result->value), result->rank, shape);
  MlirValue routed = tp__route_build(op, local->module, local->mesh, &route,
                                     access->scatters ? 5 : 4, operands, type);
  if (mlirValueIsNull(routed))
    return tp__out_of_memory(op);
  mlirValueReplaceAllUsesOfWith(result->value, routed);
  return TP_OK;
}

tp_status tp__rows_localize(const tp_local *local, bool *done) {
  const tp_rule *rule = local->rule;
  tp_row_access access;
  int axes[TP_MAX_AXES], n_axes = tp__rows_route_axes(rule, local->mesh, local->strategy, axes);
  *done = n_axes > 0;
  if (n_axes == 0) {
    localize_own(local);
    return TP_OK;
  }
  if (!tp__rows_access(rule->op, true, &access))
    return tp__error(rule->op, TP_INTERNAL, "has tp.rows, but no rows to exchange");
  return replace_by_route(local, &access, n_axes, axes);
}
