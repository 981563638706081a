/* Windows of operands: their fetch plans, cost, memory and code. */
#include "rules/window.h"

#include "rules/halo_fetch.h"
#include "rules/padding.h"

/* ---- split windows and their plans ---- */

static bool is_split(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int i, int d) {
  const tp_value_map *map = &rule->operands[i];
  return map->is_tensor && !map->is_unused && map->dims[d].window &&
         tp__strategy_shards(rule, mesh, s, map->dims[d].factors[0]) > 1;
}

bool tp__window_is_split(const tp_local *local, int i, int d) {
  return is_split(local->rule, local->mesh, local->strategy, i, d);
}

static tp_halo_run run_of(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int i,
                          int d) {
  const tp_dim *dim = &rule->operands[i].dims[d];
  tp_halo_run run = {.dim = d,
                     .reading = {.size = rule->operands[i].shape[d],
                                 .points = rule->factors[dim->factors[0]].size,
                                 .stride = dim->window->stride,
                                 .offset = dim->window->offset,
                                 .extent = dim->window->extent,
                                 .cyclic = dim->window->cyclic}};
  run.n_axes = run.reading.n_axes = tp__strategy_axes(mesh, s, dim->factors[0], run.axes);
  for (int k = 0; k < run.n_axes; k++)
    run.reading.axes[k] = mesh->axes[run.axes[k]].size;
  return run;
}

bool tp__windows_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s) {
  for (int i = 0; i < rule->n_operands; i++)
    for (int d = 0; d < rule->operands[i].rank; d++) {
      tp__hops hops;
      if (!is_split(rule, mesh, s, i, d))
        continue;
      tp_halo_run run = run_of(rule, mesh, s, i, d);
      if (!tp__plan_hops(&run.reading, &hops))
        return false;
    }
  return true;
}

/* ---- cost ---- */

/* Dimensions are fetched one after the other, so the pieces of a later dimension have the fetched
 * length along earlier ones. */
static tp_cost operand_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *s,
                            int i) {
  const tp_value_map *map = &rule->operands[i];
  int64_t shape[TP_MAX_RANK];
  tp_cost cost = 0;
  tp_spec_local_shape(pricing->mesh, tp__strategy_operand(rule, pricing->mesh, s, i), map->rank,
                      map->shape, shape);
  for (int d = 0; d < map->rank; d++) {
    if (!is_split(rule, pricing->mesh, s, i, d))
      continue;
    tp_halo_run run = run_of(rule, pricing->mesh, s, i, d);
    cost =
        tp_cost_add(cost, tp__halo_fetch_cost(&run, pricing, map->rank, shape, map->element_size));
  }
  return cost;
}

tp_cost tp__window_cost(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *s) {
  tp_cost cost = 0;
  for (int i = 0; i < rule->n_operands; i++) {
    bool any = false;
    for (int d = 0; d < rule->operands[i].rank; d++)
      any |= is_split(rule, pricing->mesh, s, i, d);
    if (any)
      cost = tp_cost_add(cost, operand_cost(rule, pricing, s, i));
  }
  return cost;
}

/* ---- memory ---- */

int64_t tp__window_bytes(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int i) {
  const tp_value_map *map = &rule->operands[i];
  int64_t shape[TP_MAX_RANK];
  tp_padding padding;
  bool pads = !mlirOperationIsNull(map->in_place) && tp__padding_of(map->in_place, &padding),
       has_window = false, any = false;
  for (int d = 0; d < map->rank; d++)
    has_window |= map->dims[d].window != NULL;
  if (!map->is_tensor || map->is_unused || !(has_window || pads))
    return 0;
  tp_spec_local_shape(mesh, tp__strategy_operand(rule, mesh, s, i), map->rank, map->shape, shape);
  for (int d = 0; d < map->rank; d++) {
    tp__hops hops;
    int64_t before = shape[d];
    if (is_split(rule, mesh, s, i, d)) {
      tp_halo_run run = run_of(rule, mesh, s, i, d);
      shape[d] = tp__plan_hops(&run.reading, &hops) ? hops.run : before;
    } else if (pads) {
      shape[d] += padding.low[d] + padding.high[d];
    }
    any |= shape[d] != before;
  }
  return any ? tp__shape_elements(map->rank, shape) * map->element_size : 0;
}

/* ---- code ---- */

static tp_status fetch_dim(const tp_local *local, int i, int d) {
  MlirOperation op = local->rule->op, in_place = local->rule->operands[i].in_place,
                reader = mlirOperationIsNull(in_place) ? op : in_place;
  int operand = mlirOperationIsNull(in_place) ? i : 0;
  tp_halo_run run = run_of(local->rule, local->mesh, local->strategy, i, d);
  MlirValue value = tp__halo_fetch(local, op, mlirOperationGetOperand(reader, operand), &run);
  if (mlirValueIsNull(value))
    return tp__out_of_memory(op);
  mlirOperationSetOperand(reader, operand, value);
  return TP_OK;
}

tp_status tp__halo_fetch_windows(const tp_local *local) {
  const tp_rule *rule = local->rule;
  for (int i = 0; i < rule->n_operands; i++)
    for (int d = 0; d < rule->operands[i].rank; d++)
      if (tp__window_is_split(local, i, d))
        TP_TRY(fetch_dim(local, i, d));
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
