/* Sorts (ir/sort_call.h): rows are independent, and a row is sorted by one device.
 *
 * If only the first elements of each row are kept, the sorted dimension may be split: every device
 * takes the first elements of its part of a row, those of all parts are gathered in the order of
 * the parts, and the first elements of these are the first of the row. Both steps are stable, so
 * equal elements keep their order. Padding is marked by one more operand, and comes last. */
#include "ir/sort_call.h"

#include "ir/collectives.h"
#include "rules/families.h"
#include "rules/mask.h"
#include "rules/ordered_reduction_parts.h"
#include "rules/pointwise_builder.h"

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_sort sort;
  TP_TRY(tp__sort_read(op, &sort));
  TP_TRY(tp__rule_begin(op, arena, rule));
  for (int d = 0; d < sort.rank; d++) {
    bool is_row = d == sort.dim;
    /* a part of a row must have elements */
    if (is_row && (sort.kept == sort.size || sort.kept == 0 || sort.n == TP_MAX_SORTED))
      continue;
    int f = tp__rule_factor(rule, rule->operands[0].shape[d], is_row ? TP_ORDERED : TP_PARALLEL);
    if (f >= 0)
      rule->factors[f].must_divide = tp__sort_may_trap(&sort);
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

typedef struct parts {
  int factor; /* of the sorted dimension */
  int n_axes, axes[TP_MAX_AXES];
  int64_t n, kept; /* parts; the elements kept of each */
  bool is_padded;
} parts;

/* False if rows are whole. */
static bool parts_of(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy,
                     parts *p) {
  int dim = tp__sort_dim(rule->op);
  *p = (parts){.n = 1};
  p->n_axes = tp__ordered_axes_of(rule, mesh, strategy, p->axes);
  if (p->n_axes == 0)
    return false;
  int64_t kept = rule->results[0].shape[dim], size = rule->operands[0].shape[dim];
  p->factor = rule->operands[0].dims[dim].factors[0];
  for (int i = 0; i < p->n_axes; i++)
    p->n *= mesh->axes[p->axes[i]].size;
  int64_t length = tp__strategy_local(rule, mesh, strategy, p->factor);
  p->kept = kept < length ? kept : length;
  p->is_padded = length * p->n != size;
  return true;
}

static tp_cost joining(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *s) {
  parts p;
  const tp_value_map *result = &rule->results[0];
  int64_t shape[TP_MAX_RANK];
  tp_cost cost = 0;
  if (!parts_of(rule, pricing->mesh, s, &p))
    return 0;
  memcpy(shape, result->shape, (size_t)result->rank * sizeof *shape);
  shape[tp__sort_dim(rule->op)] = p.kept * p.n;
  int64_t elements = tp_spec_local_elements(
      pricing->mesh, tp__strategy_result(rule, pricing->mesh, s, 0), result->rank, shape);
  for (int i = 0; i < rule->n_results + p.is_padded; i++)
    cost = tp_cost_add(cost, tp__price(pricing, TP_ALL_GATHER, p.n_axes, p.axes, elements,
                                       i < rule->n_results ? rule->results[i].element_size : 1));
  return cost;
}

static MlirValue gather(const tp_local *local, const parts *p, MlirValue value) {
  const tp_value_map *map = &local->rule->operands[0];
  tp_step step = {.kind = TP_STEP_ALL_GATHER,
                  .dim = tp__sort_dim(local->rule->op),
                  .to_dim = -1,
                  .n_axes = p->n_axes};
  int64_t shape[TP_MAX_RANK];
  memcpy(step.axes, p->axes, (size_t)p->n_axes * sizeof *step.axes);
  step.from = step.to = tp__strategy_operand(local->rule, local->mesh, local->strategy, 0);
  for (int a = 0; a < p->n_axes; a++)
    tp_spec_clear(&step.to, p->axes[a]);
  memcpy(shape, map->shape, (size_t)map->rank * sizeof *shape);
  shape[step.dim] = p->kept * p->n;
  return tp__build_step(local->rule->op, local->module, value, local->mesh, &step, map->rank,
                        shape);
}

/* A tensor of the shape of `like`: 1 where its elements are padding, else 0. */
static MlirValue mark_padding(const tp_local *local, const parts *p, MlirValue like) {
  MlirOperation op = local->rule->op;
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(like), &rank, shape);
  MlirType i8 = mlirIntegerTypeGet(mlirOperationGetContext(op), 8);
  MlirValue valid = tp__valid_size(local, p->factor);
  MlirValue yes = tp__constant(op, i8, mlirIntegerAttrGet(i8, 1)),
            no = tp__constant(op, i8, mlirIntegerAttrGet(i8, 0));
  tp_pointwise points = tp__pointwise_begin(
      op, 0, NULL, tp__empty(op, mlirRankedTensorTypeGet(rank, shape, i8, (MlirAttribute){NULL})));
  MlirValue at = tp__pointwise_index(&points, tp__sort_dim(op));
  MlirValue is_padding = tp__compare(points.yield, TP_SGE, at, valid);
  return tp__pointwise_end(&points, tp__select(points.yield, is_padding, yes, no));
}

/* Compares the marks first, then as the comparator of the op. */
static MlirAttribute padding_last(const tp_local *local, int n, const MlirValue *operands) {
  MlirOperation op = local->rule->op;
  MlirType elements[TP_MAX_SORTED];
  for (int i = 0; i < n; i++)
    elements[i] = tp__element_type(mlirValueGetType(operands[i]));
  tp_comparator made =
      tp__comparator_build(local->module, mlirOperationGetLocation(op), n, elements);
  MlirValue a = made.arguments[0], b = made.arguments[1];
  MlirValue same = tp__compare(made.end, TP_EQ, a, b);
  MlirValue by_keys = tp__comparator_inline(tp__sort_comparator(op), made.end, made.arguments + 2);
  MlirValue less = tp__select(made.end, same, by_keys, tp__compare(made.end, TP_SLT, a, b));
  mlirOperationSetOperands(made.end, 1, &less);
  return made.symbol;
}

/* The op itself, which then has no users, is erased when declarations are localized. */
static tp_status localize(const tp_local *local) {
  MlirOperation op = local->rule->op;
  MlirLocation location = mlirOperationGetLocation(op);
  parts p;
  if (!parts_of(local->rule, local->mesh, local->strategy, &p))
    return TP_OK;
  int dim = tp__sort_dim(op), n_own = local->rule->n_operands, first = p.is_padded;
  int n = n_own + first;
  MlirValue operands[TP_MAX_SORTED];
  for (int i = 0; i < n_own; i++)
    operands[first + i] = mlirOperationGetOperand(op, i);
  if (p.is_padded)
    operands[0] = mark_padding(local, &p, operands[1]);
  MlirAttribute less = p.is_padded ? padding_last(local, n, operands) : tp__sort_less(op);
  MlirOperation part = tp__sort_build(op, location, local->module, n, operands, dim, p.kept, less);
  for (int i = 0; i < n; i++) {
    operands[i] = gather(local, &p, mlirOperationGetResult(part, i));
    if (mlirValueIsNull(operands[i]))
      return tp__out_of_memory(op);
  }
  MlirOperation whole = tp__sort_build(op, location, local->module, n, operands, dim,
                                       local->rule->results[0].shape[dim], less);
  for (int i = 0; i < n_own; i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i),
                                  mlirOperationGetResult(whole, first + i));
  return TP_OK;
}

const tp_family tp__sort_family = {
    .name = "sort",
    .ops = "func.call of a declaration, with tp.sort: stablehlo.sort and chlo.top_k",
    .summary = "Every dimension but the sorted one; that, too, if only the first elements of each "
               "row are kept.",
    .communication = "Split rows: an all_gather of the first elements of each part.",
    .test = "test/rules/sort",
    .matches = tp__is_sort,
    .rule = rule_of,
    .localize = localize,
    .joining = joining,
};
