#include "rules/regroup.h"

#include "rules/fetch.h"

/* ---- which dimensions, and what is read ---- */

/* What is read of `size * unit` elements, `size` of a factor. Into units: they lie as elements do,
 * and each point is a unit. Out of units: the other way round. Major axes that divide the factor
 * leave whole units to each of their devices, so the rest is a matter of the other axes. */
static tp_run make_run(const tp_mesh *mesh, int n_axes, const int *axes, int64_t size, int64_t unit,
                       bool into_units) {
  int first = 0;
  while (first < n_axes && size % mesh->axes[axes[first]].size == 0)
    size /= mesh->axes[axes[first++]].size;
  tp_run run = {.n_axes = n_axes - first,
                .reading = {.size = size * unit, .points = size, .stride = unit, .extent = unit}};
  if (!into_units)
    run.reading = (tp__reading){
        .size = size * unit, .points = size * unit, .unit = unit, .stride = 1, .extent = 1};
  run.reading.n_axes = run.n_axes;
  for (int i = 0; i < run.n_axes; i++) {
    run.axes[i] = axes[first + i];
    run.reading.axes[i] = mesh->axes[axes[first + i]].size;
  }
  return run;
}

/* The factor that makes dimension `dim` uneven, and the elements behind each of its points; -1 when
 * none does. */
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
                     const tp_value_map *map, int d, bool into_units, tp_run *run) {
  int64_t unit;
  int f = map->is_tensor ? find_uneven(rule, mesh, s, &map->dims[d], &unit) : -1;
  if (f < 0)
    return false;
  int axes[TP_MAX_AXES], n = tp__strategy_axes(mesh, s, f, axes);
  *run = make_run(mesh, n, axes, rule->factors[f].size, unit, into_units);
  run->dim = d;
  return true;
}

static bool has_plan(const tp_run *run) {
  tp__hops hops;
  return tp__plan_hops(&run->reading, &hops);
}

bool tp__can_regroup(const tp_mesh *mesh, int n_axes, const int *axes, int64_t size, int64_t unit) {
  tp_run into = make_run(mesh, n_axes, axes, size, unit, true),
         out = make_run(mesh, n_axes, axes, size, unit, false);
  return has_plan(&into) && has_plan(&out);
}

/* ---- legality and price ---- */

/* Operand or result i, the results being counted behind the operands. */
static const tp_value_map *map_of(const tp_rule *rule, int i) {
  return i < rule->n_operands ? &rule->operands[i] : &rule->results[i - rule->n_operands];
}

bool tp__regroups_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  for (int i = 0; i < rule->n_operands + rule->n_results; i++)
    for (int d = 0; d < map_of(rule, i)->rank; d++) {
      tp_run run;
      if (find_run(rule, mesh, s, map_of(rule, i), d, i < rule->n_operands, &run) &&
          !has_plan(&run))
        return false;
    }
  return true;
}

/* The local shape of an operand as it comes, or of a result as the op makes it. */
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
      tp_run run;
      if (!find_run(rule, pricing->mesh, s, map, d, i < rule->n_operands, &run))
        continue;
      if (!known)
        shape_of(rule, pricing->mesh, s, i, shape);
      known = true;
      cost = tp_cost_add(cost, tp__fetch_cost(&run, pricing, map->rank, shape, map->element_size));
    }
  }
  return cost;
}

/* ---- code ---- */

/* Fetches all dimensions of `value` that need it; `value` itself when none does, null when memory
 * runs out. */
static MlirValue regroup(const tp_local *local, const tp_value_map *map, bool into_units,
                         MlirOperation where, MlirValue value) {
  for (int d = 0; d < map->rank && !mlirValueIsNull(value); d++) {
    tp_run run;
    if (find_run(local->rule, local->mesh, local->strategy, map, d, into_units, &run))
      value = tp__fetch(local, where, value, &run);
  }
  return value;
}

tp_status tp__regroup_operands(const tp_local *local) {
  MlirOperation op = local->rule->op;
  for (int i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue value =
        regroup(local, &local->rule->operands[i], true, op, mlirOperationGetOperand(op, i));
    if (mlirValueIsNull(value))
      return tp__error(op, TP_NO_MEMORY, "out of memory");
    mlirOperationSetOperand(op, i, value);
  }
  return TP_OK;
}

/* All users of `value` but those between `op` and `next`, which make `other` of it, get `other`. */
static void replace_behind(MlirOperation op, MlirOperation next, MlirValue value, MlirValue other) {
  mlirValueReplaceAllUsesOfWith(value, other);
  for (MlirOperation at = mlirOperationGetNextInBlock(op); !mlirOperationEqual(at, next);
       at = mlirOperationGetNextInBlock(at))
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(at); i++)
      if (mlirValueEqual(mlirOperationGetOperand(at, i), other))
        mlirOperationSetOperand(at, i, value);
}

/* Does the op make buffers of another size than the layout of the result has? */
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
    /* it has its local type */
    if (!map->is_tensor || !has_uneven(rule, local->mesh, local->strategy, map))
      continue;
    shape_of(rule, local->mesh, local->strategy, rule->n_operands + i, shape);
    mlirValueSetType(map->value, tp__tensor_like(mlirValueGetType(map->value), map->rank, shape));
    MlirValue value = regroup(local, map, false, next, map->value);
    if (mlirValueIsNull(value))
      return tp__error(rule->op, TP_NO_MEMORY, "out of memory");
    if (!mlirValueEqual(value, map->value))
      replace_behind(rule->op, next, map->value, value);
  }
  return TP_OK;
}
