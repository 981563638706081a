/* Values without tensor inputs: tensor.empty, tensor.splat, constants.
 *
 * A splat constant becomes a local splat. Any other constant is kept whole on every device and
 * sliced (all_slice); sharding it saves no memory, but reduces the work of its users. Large
 * constants are arguments at this time (tp-lift-constants). */
#include "rules/body.h"
#include "rules/families.h"
#include "rules/rule.h"

static bool is_constant(MlirOperation op) { return tp__op_is(op, "arith.constant"); }

static bool matches(MlirOperation op) {
  return tp__op_is(op, "tensor.empty") || tp__op_is(op, "tensor.splat") ||
         (is_constant(op) && tp__is_tensor(mlirValueGetType(mlirOperationGetResult(op, 0))));
}

static bool is_splat(MlirOperation op) {
  MlirAttribute value = tp__inherent(op, "value");
  return mlirAttributeIsADenseElements(value) && mlirDenseElementsAttrIsSplat(value);
}

static void identity_variants(tp_rule *rule, MlirOperation op) {
  for (tp_combiner c = 0; c < TP_AVERAGE; c++) {
    bool identity = tp__op_is(op, "tensor.splat")
                        ? tp__is_identity(mlirOperationGetOperand(op, 0), c)
                        : is_constant(op) && is_splat(op) &&
                              tp__attr_is_identity(
                                  mlirDenseElementsAttrGetSplatValue(tp__inherent(op, "value")), c);
    if (identity)
      tp__rule_variant(rule, c, 0);
  }
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  TP_TRY(tp__rule_begin(op, arena, rule));
  tp__rule_same_dims(rule);
  identity_variants(rule, op);
  rule->keeps_global = tp__is_stored_constant(op);
  rule->is_free = !rule->keeps_global;
  rule->is_elementwise = true;
  return TP_OK;
}

static tp_status localize(const tp_local *local) {
  const tp_rule *rule = local->rule;
  const tp_value_map *result = &rule->results[0];
  if (!is_constant(rule->op))
    return TP_OK;
  tp_spec spec = tp__strategy_result(rule, local->mesh, local->strategy, 0);
  int64_t shape[TP_MAX_RANK];
  tp_spec_local_shape(local->mesh, spec, result->rank, result->shape, shape);
  MlirType type = tp__tensor_like(mlirValueGetType(result->value), result->rank, shape);
  MlirAttribute value = tp__inherent(rule->op, "value");
  if (is_splat(rule->op)) {
    MlirAttribute local_value =
        mlirDenseElementsAttrSplatGet(type, mlirDenseElementsAttrGetSplatValue(value));
    mlirOperationSetInherentAttributeByName(rule->op, tp__ref("value"), local_value);
    return TP_OK;
  }
  /* The value of the op stays global; its users get the slice. */
  return tp__slice_whole(local, 0);
}

const tp_family tp__constant_family = {
    .name = "constant",
    .ops = "tensor.empty, tensor.splat, arith.constant",
    .summary = "Every dimension. Constants that are not a splat are kept whole and sliced.",
    .communication = "None: each device creates or slices its own shard.",
    .test = "test/rules/constant",
    .matches = matches,
    .rule = rule_of,
    .follows_from_op = tp__always_follows,
    .localize = localize,
};
