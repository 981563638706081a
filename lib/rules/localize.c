/* Helpers shared by localize functions: slices of whole values. */
#include "ir/collectives.h"
#include "rules/rule.h"

/* Appends the axes of one dimension to `spec` and slices by them. If the axes divide the dimension,
 * this is one step; otherwise one step per axis, so that each shard is a prefix of the buffer that
 * it is cut from. */
static MlirValue slice_dim(const tp_local *local, const tp_value_map *map, int d, int n,
                           const int *axes, tp_spec *spec, MlirOperation where, MlirValue value) {
  int64_t shards = 1;
  for (int i = 0; i < n; i++)
    shards *= local->mesh->axes[axes[i]].size;
  int at_once = map->shape[d] % shards == 0 ? n : 1;
  for (int i = 0; i < n; i += at_once) {
    tp_step step = {
        .kind = TP_STEP_SLICE, .n_axes = at_once, .dim = d, .to_dim = -1, .from = *spec};
    for (int k = 0; k < at_once; k++) {
      step.axes[k] = axes[i + k];
      tp_spec_append(spec, axes[i + k], d);
    }
    step.to = *spec;
    value = tp__build_step(where, local->module, value, local->mesh, &step, map->rank, map->shape);
  }
  return value;
}

/* True if `op`, or the op around it in the block of `next`, is before `next`. */
static bool is_before(MlirOperation op, MlirOperation next) {
  while (!mlirBlockEqual(mlirOperationGetBlock(op), mlirOperationGetBlock(next)))
    op = mlirOperationGetParentOperation(op);
  return !mlirOperationEqual(op, next) && mlirOperationIsBeforeInBlock(op, next);
}

/* Replaces the uses of `value` in the op `next` and behind it. */
static void replace_from(MlirOperation next, MlirValue value, MlirValue with) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  while (!mlirOpOperandIsNull(use)) {
    MlirOpOperand following = mlirOpOperandGetNextUse(use);
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (!is_before(user, next))
      mlirOperationSetOperand(user, mlirOpOperandGetOperandNumber(use), with);
    use = following;
  }
}

tp_status tp__slice_whole(const tp_local *local, int result) {
  const tp_value_map *map = &local->rule->results[result];
  tp_spec spec = tp__strategy_result(local->rule, local->mesh, local->strategy, result),
          now = tp_spec_replicated();
  MlirOperation next = mlirOperationGetNextInBlock(local->rule->op);
  MlirValue value = map->value;
  for (int d = 0; d < map->rank; d++) {
    int axes[TP_MAX_AXES];
    int n = tp_spec_dim_axes(local->mesh, spec, d, axes);
    if (n)
      value = slice_dim(local, map, d, n, axes, &now, next, value);
  }
  if (!mlirValueEqual(value, map->value))
    replace_from(next, map->value, value);
  return TP_OK;
}
