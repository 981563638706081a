/* Regroups dimensions of several factors into whole units per device, and back. */
#include "rules/regroup.h"

#include "rules/halo_fetch.h"

/* ---- affected dimensions, and the elements that are read ---- */

/* Describes a reading of `size * unit` elements, where `size` is that of a factor. Into units: the
 * elements are laid out individually, and each point reads one unit. Out of units: the reverse.
 * Major axes that divide the factor give whole units to each device, so only the remaining axes
 * matter. */
static tp_halo_run make_run(const tp_mesh *mesh, int n_axes, const int *axes, int64_t size,
                            int64_t unit, bool into_units) {
  int first = 0;
  while (first < n_axes && size % mesh->axes[axes[first]].size == 0)
    size /= mesh->axes[axes[first++]].size;
  tp_halo_run run = {
      .n_axes = n_axes - first,
      .reading = {.size = size * unit, .points = size, .stride = unit, .extent = unit}};
  if (!into_units)
    run.reading = (tp__window_read){
        .size = size * unit, .points = size * unit, .unit = unit, .stride = 1, .extent = 1};
  run.reading.n_axes = run.n_axes;
  for (int i = 0; i < run.n_axes; i++) {
    run.axes[i] = axes[first + i];
    run.reading.axes[i] = mesh->axes[axes[first + i]].size;
  }
  return run;
}

/* Returns the factor that makes dimension `dim` uneven, and the elements per point of this factor
 * in `unit`; -1 if there is none. */
static int find_uneven(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s,
                       const tp_dim *dim, int64_t *unit) {
  int uneven = -1;
  *unit = 1;
  for (int k = 0; dim->n_factors > 1 && k < dim->n_factors; k++) {
    int f = dim->factors[k];
    if (uneven >= 0)
      *unit *= rule->factors[f].size;
    else if (rule->factors[f].size % tp__strategy_shards(rule, mesh, s, f) != 0)
      uneven = f;
  }
  return uneven;
}

static bool find_run(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s,
                     const tp_value_map *map, int d, bool into_units, tp_halo_run *run) {
  int64_t unit;
  int f = map->is_tensor ? find_uneven(rule, mesh, s, &map->dims[d], &unit) : -1;
  if (f < 0)
    return false;
  int axes[TP_MAX_AXES], n = tp__strategy_axes(mesh, s, f, axes);
  *run = make_run(mesh, n, axes, rule->factors[f].size, unit, into_units);
  run->dim = d;
  return true;
}

static bool has_plan(const tp_halo_run *run) {
  tp__hops hops;
  return tp__plan_hops(&run->reading, &hops);
}

bool tp__can_regroup(const tp_mesh *mesh, int n_axes, const int *axes, int64_t size, int64_t unit) {
  tp_halo_run into = make_run(mesh, n_axes, axes, size, unit, true),
              out = make_run(mesh, n_axes, axes, size, unit, false);
  return has_plan(&into) && has_plan(&out);
}

/* ---- legality and cost ---- */

/* Returns operand or result i; results are numbered after the operands. */
static const tp_value_map *map_of(const tp_rule *rule, int i) {
  return i < rule->n_operands ? &rule->operands[i] : &rule->results[i - rule->n_operands];
}

bool tp__regroups_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  for (int i = 0; i < rule->n_operands + rule->n_results; i++)
    for (int d = 0; d < map_of(rule, i)->rank; d++) {
      tp_halo_run run;
      if (find_run(rule, mesh, s, map_of(rule, i), d, i < rule->n_operands, &run) &&
          !has_plan(&run))
        return false;
    }
  return true;
}

/* Returns the local shape in which an operand arrives, or in which the op produces a result. */
static void shape_of(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int i,
                     int64_t *shape) {
  const tp_value_map *map = map_of(rule, i);
  bool is_operand = i < rule->n_operands;
  tp_spec spec = is_operand ? tp__strategy_operand(rule, mesh, s, i)
                            : tp__strategy_result(rule, mesh, s, i - rule->n_operands);
  tp_spec_local_shape(mesh, spec, map->rank, map->shape, shape);
  for (int d = 0; d < map->rank && !is_operand; d++) {
    int64_t unit;
    int f = find_uneven(rule, mesh, s, &map->dims[d], &unit);
    if (f >= 0)
      shape[d] = tp__strategy_local(rule, mesh, s, f) * unit;
  }
}

tp_cost tp__regroup_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *s) {
  tp_cost cost = 0;
  for (int i = 0; i < rule->n_operands + rule->n_results; i++) {
    const tp_value_map *map = map_of(rule, i);
    int64_t shape[TP_MAX_RANK];
    bool known = false;
    for (int d = 0; d < map->rank; d++) {
      tp_halo_run run;
      if (!find_run(rule, pricing->mesh, s, map, d, i < rule->n_operands, &run))
        continue;
      if (!known)
        shape_of(rule, pricing->mesh, s, i, shape);
      known = true;
      cost = tp_cost_add(cost,
                         tp__halo_fetch_cost(&run, pricing, map->rank, shape, map->element_size));
    }
  }
  return cost;
}

/* ---- code ---- */

/* Fetches all dimensions of `value` that need it. Returns `value` itself if none does, null if
 * memory runs out. */
static MlirValue regroup(const tp_local *local, const tp_value_map *map, bool into_units,
                         MlirOperation where, MlirValue value) {
  for (int d = 0; d < map->rank && !mlirValueIsNull(value); d++) {
    tp_halo_run run;
    if (find_run(local->rule, local->mesh, local->strategy, map, d, into_units, &run))
      value = tp__halo_fetch(local, where, value, &run);
  }
  return value;
}

tp_status tp__regroup_operands(const tp_local *local) {
  MlirOperation op = local->rule->op;
  for (int i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue before = mlirOperationGetOperand(op, i),
              value = regroup(local, &local->rule->operands[i], true, op, before);
    if (mlirValueIsNull(value))
      return tp__out_of_memory(op);
    if (!mlirValueEqual(value, before))
      mlirOperationSetOperand(op, i, value);
  }
  return TP_OK;
}

/* Replaces all uses of `value` by `other`, except in the ops between `op` and `next`, which build
 * `other` from it. */
static void replace_uses_after(MlirOperation op, MlirOperation next, MlirValue value,
                               MlirValue other) {
  mlirValueReplaceAllUsesOfWith(value, other);
  for (MlirOperation at = mlirOperationGetNextInBlock(op); !mlirOperationEqual(at, next);
       at = mlirOperationGetNextInBlock(at))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(at); i++)
      if (mlirValueEqual(mlirOperationGetOperand(at, i), other))
        mlirOperationSetOperand(at, i, value);
}

/* True if the op produces buffers of another size than the sharding of the result requires. */
static bool has_uneven(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s,
                       const tp_value_map *map) {
  for (int d = 0; d < map->rank; d++) {
    int64_t unit;
    if (find_uneven(rule, mesh, s, &map->dims[d], &unit) >= 0)
      return true;
  }
  return false;
}

tp_status tp__regroup_results(const tp_local *local) {
  const tp_rule *rule = local->rule;
  MlirOperation next = mlirOperationGetNextInBlock(rule->op);
  for (int i = 0; i < rule->n_results; i++) {
    const tp_value_map *map = &rule->results[i];
    int64_t shape[TP_MAX_RANK];
    /* the result has its local type already */
    if (!map->is_tensor || !has_uneven(rule, local->mesh, local->strategy, map))
      continue;
    shape_of(rule, local->mesh, local->strategy, rule->n_operands + i, shape);
    mlirValueSetType(map->value, tp__tensor_like(mlirValueGetType(map->value), map->rank, shape));
    MlirValue value = regroup(local, map, false, next, map->value);
    if (mlirValueIsNull(value))
      return tp__out_of_memory(rule->op);
    if (!mlirValueEqual(value, map->value))
      replace_uses_after(rule->op, next, map->value, value);
  }
  return TP_OK;
}
