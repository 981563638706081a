/* Borders between global values and those of single devices. */
#include "rules/border.h"

#include "ir/collectives.h"
#include "ir/place.h"
#include "rules/families.h"

#include <string.h>

/* ---- the ops ---- */

/* The name of the attribute with the dimension; NULL for other ops. */
static const char *dim_attribute(MlirOperation op) {
  bool cuts = tp__op_is(op, "shard.all_slice"), joins = tp__op_is(op, "shard.all_gather");
  return cuts ? "slice_axis" : joins ? "gather_axis" : NULL;
}

static int dim_of(MlirOperation step) {
  return (int)mlirIntegerAttrGetValueInt(tp__inherent(step, dim_attribute(step)));
}

/* The ops of a region, each of which reads the one before it. Returns their number; 0: others are
 * among them. Capacity: TP_MAX_RANK. */
static int steps_in(MlirOperation region, MlirOperation *steps) {
  int n = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(region, 0));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (mlirOperationGetNumOperands(op) != 1 ||
        (n > 0 &&
         !mlirValueEqual(mlirOperationGetOperand(op, 0), mlirOperationGetResult(steps[n - 1], 0))))
      return 0;
    if (tp__op_is(op, "scf.yield"))
      return n;
    if (!dim_attribute(op) || n == TP_MAX_RANK ||
        (n > 0 && dim_attribute(op) != dim_attribute(steps[0])))
      return 0;
    steps[n++] = op;
  }
  return 0;
}

/* The same for a border, which may be one op; 0: `op` is none. */
static int steps_of(MlirOperation op, MlirOperation *steps) {
  steps[0] = op;
  if (dim_attribute(op))
    return 1;
  bool is_region = tp__op_is(op, "scf.execute_region") && mlirOperationGetNumResults(op) == 1 &&
                   !mlirAttributeIsNull(tp__inherent(op, "no_inline"));
  return is_region ? steps_in(op, steps) : 0;
}

bool tp__is_border(MlirOperation op) {
  MlirOperation steps[TP_MAX_RANK];
  return steps_of(op, steps) > 0;
}

bool tp__border_cuts(MlirOperation op) {
  MlirOperation steps[TP_MAX_RANK];
  return steps_of(op, steps) > 0 && tp__op_is(steps[0], "shard.all_slice");
}

static MlirValue source(MlirOperation op) {
  MlirOperation steps[TP_MAX_RANK];
  return steps_of(op, steps) > 0 ? mlirOperationGetOperand(steps[0], 0) : (MlirValue){NULL};
}

/* ---- the rule ---- */

/* The value that all devices share. */
static tp_value_map *global_map(const tp_rule *rule) {
  return tp__border_cuts(rule->op) ? &rule->operands[0] : &rule->results[0];
}

/* Cut or joined dimensions are factors of the global value alone. What is joined may have the other
 * dimensions split by other axes, if the parts are equal along them. */
static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  TP_TRY(tp__rule_begin(op, arena, rule));
  MlirOperation steps[TP_MAX_RANK];
  uint32_t changed = 0;
  for (int n = steps_of(op, steps), i = 0; i < n; i++)
    changed |= UINT32_C(1) << dim_of(steps[i]);
  tp_value_map *global = global_map(rule);
  for (int d = 0; d < global->rank; d++) {
    bool is_changed = changed >> d & 1;
    if (!is_changed && tp__border_cuts(op))
      continue;
    int f = tp__rule_factor(rule, global->shape[d], TP_PARALLEL);
    tp__dim_set(global, d, f);
    if (!is_changed) {
      tp__dim_set(&rule->operands[0], d, f);
      continue;
    }
    rule->factors[f].must_divide = true;
    rule->border |= (uint16_t)(1u << f);
  }
  rule->is_elementwise = tp__border_cuts(op);
  return TP_OK;
}

static tp_status mark_step(tp_rule *rule, const tp_mesh *mesh, MlirOperation step, int factor) {
  tp__axis_runs runs;
  int axes[TP_MAX_AXES], place = 0;
  TP_TRY(tp__read_axis_runs(step, "grid_axes", mesh, &runs));
  for (int n = tp__axes_of_runs(&runs, axes), i = 0; i < n; i++)
    if (mesh->axes[axes[i]].size > 1)
      rule->border_axes[axes[i]] = (tp_border_axis){true, (uint8_t)place++, (uint8_t)factor};
  return TP_OK;
}

tp_status tp__border_mark(tp_rule *rule, const tp_mesh *mesh, uint32_t operand, uint32_t result) {
  memset(rule->border_axes, 0, sizeof rule->border_axes);
  if (tp__border_cuts(rule->op) ? operand
                                : result) /* the global value differs between devices, too */
    return TP_OK;
  MlirOperation steps[TP_MAX_RANK];
  for (int n = steps_of(rule->op, steps), i = 0; i < n; i++)
    TP_TRY(mark_step(rule, mesh, steps[i], global_map(rule)->dims[dim_of(steps[i])].factors[0]));
  for (int a = 0; a < mesh->n_axes; a++)
    if (rule->border_axes[a].is_set)
      rule->barred_axes &= (uint8_t)~(1u << a);
  return TP_OK;
}

/* ---- strategies ---- */

MlirValue tp__border_spec(const tp_rule *rule, tp_spec *spec) {
  const tp_value_map *global = global_map(rule);
  *spec = tp_spec_replicated();
  for (int d = 0; d < global->rank; d++)
    for (int place = 0; place < TP_MAX_AXES; place++)
      for (int a = 0; a < TP_MAX_AXES; a++)
        if (rule->border_axes[a].is_set && rule->border_axes[a].place == place &&
            global->dims[d].n_factors > 0 &&
            global->dims[d].factors[0] == rule->border_axes[a].factor)
          (void)tp_spec_append(spec, a, d); /* each axis once */
  return global->value;
}

uint8_t tp__border_axes(const tp_rule *rule, int f) {
  unsigned axes = 0;
  for (int a = 0; a < TP_MAX_AXES; a++)
    axes |= rule->border_axes[a].is_set && rule->border_axes[a].factor == f ? 1u << a : 0;
  return (uint8_t)axes;
}

bool tp__border_legal(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy) {
  for (int f = 0; f < rule->n_factors; f++) {
    int axes[TP_MAX_AXES], n = tp__strategy_axes(mesh, strategy, f, axes);
    bool is_border = rule->border >> f & 1;
    for (int i = 0; i < n; i++) {
      tp_border_axis axis = rule->border_axes[axes[i]];
      if (axis.is_set ? axis.factor != f || axis.place != i : is_border)
        return false;
    }
  }
  return true;
}

/* ---- the local form ---- */

/* The axes of a step that are left to it, major to minor. Returns their number. */
static int axes_left(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *strategy, int dim,
                     int *axes) {
  int f = global_map(rule)->dims[dim].factors[0], n = 0, split[TP_MAX_AXES];
  int first = tp__strategy_axes(mesh, strategy, f, split);
  for (int place = first; place < TP_MAX_AXES; place++)
    for (int a = 0; a < mesh->n_axes; a++)
      if (rule->border_axes[a].is_set && rule->border_axes[a].factor == f &&
          rule->border_axes[a].place == place)
        axes[n++] = a;
  return n;
}

/* An op without a mark stays. Otherwise what is left takes its place, and tp-partition erases
 * it. */
static tp_status localize(const tp_local *local) {
  const tp_rule *rule = local->rule;
  MlirOperation steps[TP_MAX_RANK];
  int n = steps_of(rule->op, steps);
  bool is_marked = false;
  for (int a = 0; a < local->mesh->n_axes; a++)
    is_marked |= rule->border_axes[a].is_set;
  if (!is_marked && n == 1)
    return TP_OK;
  MlirValue value = source(rule->op);
  for (int i = 0; i < n; i++) {
    int axes[TP_MAX_AXES];
    int n_left = axes_left(rule, local->mesh, local->strategy, dim_of(steps[i]), axes);
    if (n_left == 0)
      continue;
    MlirOperation left =
        tp__create_border(mlirOperationGetLocation(steps[i]), local->mesh,
                          tp__border_cuts(rule->op), value, dim_of(steps[i]), n_left, axes);
    tp__insert_before(rule->op, left);
    value = mlirOperationGetResult(left, 0);
  }
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(rule->op, 0), value);
  return TP_OK;
}

/* Prices the gathers that are left, each of which grows the value. */
static tp_cost joining(const tp_rule *rule, const tp_pricing *pricing,
                       const tp_strategy *strategy) {
  MlirOperation steps[TP_MAX_RANK];
  int n = tp__border_cuts(rule->op) ? 0 : steps_of(rule->op, steps);
  tp_cost cost = 0;
  int64_t elements = 1;
  for (int d = 0; d < rule->operands[0].rank; d++)
    elements *= rule->operands[0].shape[d];
  for (int i = 0; i < n; i++) {
    int axes[TP_MAX_AXES];
    int n_left = axes_left(rule, pricing->mesh, strategy, dim_of(steps[i]), axes);
    for (int k = 0; k < n_left; k++)
      elements *= pricing->mesh->axes[axes[k]].size;
    if (n_left > 0)
      cost = tp_cost_add(cost, tp__price(pricing, TP_ALL_GATHER, n_left, axes, elements,
                                         rule->operands[0].element_size));
  }
  return cost;
}

const tp_family tp__border_family = {
    .name = "border",
    .ops = "shard.all_slice and all_gather, written by a user, and chains of one of them in an "
           "scf.execute_region with no_inline (shard_map)",
    .summary = "The dimensions that are cut or joined, by the axes of the group: nothing is then "
               "left to do. Of an all_gather whose operand is equal on all devices also the other "
               "dimensions, by other axes.",
    .communication = "None added: what is left of the op is kept.",
    .test = "test/rules/border",
    .matches = tp__is_border,
    .rule = rule_of,
    .localize = localize,
    .joining = joining,
};
