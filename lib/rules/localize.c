/* Pieces that localize functions share: shard numbers and slices of whole values. */
#include "ir/collectives.h"
#include "rules/rule.h"

MlirValue tp__shard_index(const tp_local *local, int f) {
  int axes[TP_MAX_AXES], n = 0;
  for (int o = 0; o < local->mesh->n_axes; o++) {
    int a = local->strategy->order[o];
    tp_choice c = local->strategy->choices[a];
    if (c.kind == TP_CHOOSE_FACTOR && c.index == f)
      axes[n++] = a;
  }
  return n ? tp__build_group_index(local->rule->op, local->mesh, n, axes) : (MlirValue){NULL};
}

tp_status tp__slice_whole(const tp_local *local, int result) {
  const tp_value_map *map = &local->rule->results[result];
  tp_spec spec = tp__strategy_result(local->rule, local->mesh, local->strategy, result);
  MlirOperation last = local->rule->op;
  MlirValue value = map->value;
  int64_t shape[TP_MAX_RANK];
  for (int d = 0; d < map->rank; d++)
    shape[d] = map->shape[d];
  for (int d = 0; d < map->rank; d++) {
    int axes[TP_MAX_AXES];
    int n = tp_spec_dim_axes(local->mesh, spec, d, axes);
    if (n == 0)
      continue;
    MlirContext context = mlirOperationGetContext(last);
    MlirAttribute grid, grid_axes;
    tp__grid_axes(context, local->mesh, n, axes, &grid, &grid_axes);
    shape[d] /= tp_spec_dim_shards(local->mesh, spec, d);
    MlirType type = tp__tensor_like(mlirValueGetType(value), map->rank, shape);
    MlirNamedAttribute attrs[] = {tp__named(context, "grid", grid), tp__named(context, "grid_axes", grid_axes),
                                  tp__named(context, "slice_axis", tp__attr_index(context, d))};
    MlirOperation op = tp__create(&(tp_build){.name = "shard.all_slice",
                                              .location = mlirOperationGetLocation(last),
                                              .n_operands = 1,
                                              .operands = &value,
                                              .n_results = 1,
                                              .results = &type,
                                              .n_attributes = 3,
                                              .attributes = attrs});
    tp__insert_after(last, op);
    value = mlirOperationGetResult(op, 0);
    last = op;
  }
  if (!mlirOperationEqual(last, local->rule->op)) {
    /* All users but the first slice see the slice. */
    MlirOperation first = mlirOperationGetNextInBlock(local->rule->op);
    tp__replace_uses_except(map->value, value, first);
  }
  return TP_OK;
}
