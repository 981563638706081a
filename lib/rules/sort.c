/* Sorts (ir/sort.h): rows are independent, and a row is sorted by one device.
 *
 * If only the first elements of each row are kept, the sorted dimension may be split: every device
 * takes the first elements of its part of a row, those of all parts are gathered in the order of
 * the parts, and the first elements of these are the first of the row. Both steps are stable, so
 * equal elements keep their order. */
#include "ir/sort.h"

#include "ir/collectives.h"
#include "rules/families.h"
#include "rules/ordered_reduction_parts.h"

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_sort sort;
  TP_TRY(tp__sort_read(op, &sort));
  TP_TRY(tp__rule_begin(op, arena, rule));
  for (int d = 0; d < sort.rank; d++) {
    bool is_row = d == sort.dim;
    if (is_row && sort.kept == sort.size)
      continue;
    int f = tp__rule_factor(rule, rule->operands[0].shape[d], is_row ? TP_ORDERED : TP_PARALLEL);
    /* padding would be among the first elements */
    if (is_row && f >= 0)
      rule->factors[f].must_divide = true;
    for (int i = 0; i < sort.n; i++) {
      tp__dim_set(&rule->operands[i], d, f);
      if (!is_row)
        tp__dim_set(&rule->results[i], d, f);
    }
  }
  rule->scalar_ops = tp__sort_work(op, &sort);
  return TP_OK;
}

/* ---- a split row ---- */

/* The parts of a row: the axes that split it, their number, and the elements kept of each. */
typedef struct parts {
  int n_axes, axes[TP_MAX_AXES];
  int64_t n, kept;
} parts;

static parts parts_of(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy) {
  parts p = {.n = 1};
  int dim = tp__sort_dim(rule->op);
  int64_t kept = rule->results[0].shape[dim], size = rule->operands[0].shape[dim];
  p.n_axes = tp__ordered_axes_of(rule, mesh, strategy, p.axes);
  for (int i = 0; i < p.n_axes; i++)
    p.n *= mesh->axes[p.axes[i]].size;
  p.kept = kept < size / p.n ? kept : size / p.n;
  return p;
}

static tp_cost joining(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *s) {
  parts p = parts_of(rule, pricing->mesh, s);
  int dim = tp__sort_dim(rule->op);
  tp_cost cost = 0;
  for (int i = 0; i < rule->n_operands && p.n > 1; i++) {
    const tp_value_map *result = &rule->results[i];
    int64_t shape[TP_MAX_RANK];
    memcpy(shape, result->shape, (size_t)result->rank * sizeof *shape);
    shape[dim] = p.kept * p.n;
    int64_t elements = tp_spec_local_elements(
        pricing->mesh, tp__strategy_result(rule, pricing->mesh, s, i), result->rank, shape);
    cost = tp_cost_add(cost, tp__price(pricing, TP_ALL_GATHER, p.n_axes, p.axes, elements,
                                       result->element_size));
  }
  return cost;
}

static MlirValue gather(const tp_local *local, const parts *p, int i, MlirValue value) {
  const tp_value_map *map = &local->rule->operands[i];
  tp_step step = {.kind = TP_STEP_ALL_GATHER,
                  .dim = tp__sort_dim(local->rule->op),
                  .to_dim = -1,
                  .n_axes = p->n_axes};
  int64_t shape[TP_MAX_RANK];
  memcpy(step.axes, p->axes, (size_t)p->n_axes * sizeof *step.axes);
  step.from = step.to = tp__strategy_operand(local->rule, local->mesh, local->strategy, i);
  for (int a = 0; a < p->n_axes; a++)
    tp_spec_clear(&step.to, p->axes[a]);
  memcpy(shape, map->shape, (size_t)map->rank * sizeof *shape);
  shape[step.dim] = p->kept * p->n;
  return tp__build_step(local->rule->op, local->module, value, local->mesh, &step, map->rank,
                        shape);
}

static tp_status localize(const tp_local *local) {
  MlirOperation op = local->rule->op;
  parts p = parts_of(local->rule, local->mesh, local->strategy);
  int n = local->rule->n_operands;
  MlirValue operands[TP_MAX_SORTED];
  if (p.n == 1)
    return TP_OK;
  for (int i = 0; i < n; i++)
    operands[i] = mlirOperationGetOperand(op, i);
  MlirOperation part = tp__sort_build(op, mlirOperationGetLocation(op), local->module, n, operands,
                                      tp__sort_dim(op), p.kept, tp__sort_less(op));
  for (int i = 0; i < n; i++) {
    MlirValue whole = gather(local, &p, i, mlirOperationGetResult(part, i));
    if (mlirValueIsNull(whole))
      return tp__out_of_memory(op);
    mlirOperationSetOperand(op, i, whole);
  }
  return TP_OK;
}

const tp_family tp__sort_family = {
    .name = "sort",
    .ops = "func.call of a declaration, with tp.sort: stablehlo.sort and chlo.top_k",
    .summary = "Every dimension but the sorted one; that, too, if only the first elements of each "
               "row are kept, and the axes divide it.",
    .communication = "Split rows: an all_gather of the first elements of each part.",
    .test = "test/rules/sort",
    .matches = tp__is_sort,
    .rule = rule_of,
    .localize = localize,
    .joining = joining,
};
