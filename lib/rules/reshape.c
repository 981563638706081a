/* tensor.expand_shape and tensor.collapse_shape: the large dimension is the product of the small
 * ones, major to minor. Each small dimension is a factor. */
#include "rules/families.h"
#include "rules/rule.h"

static bool is_expand(MlirOperation op) { return tp__op_is(op, "tensor.expand_shape"); }

static bool matches(MlirOperation op) {
  return is_expand(op) || tp__op_is(op, "tensor.collapse_shape");
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  TP_TRY(tp__rule_begin(op, arena, rule));
  tp_value_map *small = is_expand(op) ? &rule->results[0] : &rule->operands[0];
  tp_value_map *large = is_expand(op) ? &rule->operands[0] : &rule->results[0];
  MlirAttribute groups = tp__inherent(op, "reassociation");
  for (int d = 0; d < large->rank; d++) {
    int64_t group[TP_MAX_RANK];
    int n = tp__int_list(mlirArrayAttrGetElement(groups, d), TP_MAX_RANK, group), kept = 0;
    for (int k = 0; k < n; k++) {
      int64_t size = small->shape[group[k]];
      if (size == 1)
        continue; /* nothing to shard */
      if (kept == TP_MAX_DIM_FACTORS)
        return tp__error(op, TP_UNSUPPORTED,
                         "joins more than %d dimensions of size above 1 into one",
                         TP_MAX_DIM_FACTORS);
      int f = tp__rule_factor(rule, size, TP_PARALLEL);
      if (f < 0)
        return tp__error(op, TP_UNSUPPORTED, "has more than %d dimensions", TP_MAX_FACTORS);
      tp__dim_set(small, (int)group[k], f);
      large->dims[d].factors[kept++] = (uint8_t)f;
      large->dims[d].n_factors = (uint8_t)kept;
    }
  }
  tp__rule_variant(rule, TP_SUM, 1);
  tp__rule_variant(rule, TP_MAX, 1);
  rule->is_elementwise = true;
  return TP_OK;
}

static tp_status localize(const tp_local *local) {
  const tp_rule *rule = local->rule;
  if (!is_expand(rule->op))
    return TP_OK;
  const tp_value_map *result = &rule->results[0];
  int64_t shape[TP_MAX_RANK];
  tp_spec_local_shape(local->mesh, tp__strategy_result(rule, local->mesh, local->strategy, 0),
                      result->rank, result->shape, shape);
  mlirOperationSetInherentAttributeByName(
      rule->op, tp__ref("static_output_shape"),
      tp__attr_i64s(mlirOperationGetContext(rule->op), result->rank, shape));
  return TP_OK;
}

const tp_family tp__reshape_family = {
    .name = "reshape",
    .ops = "tensor.expand_shape, tensor.collapse_shape",
    .summary = "Every dimension of the expanded shape, also over axes that do not divide it; a "
               "minor dimension of a group only if the dimensions before it are split completely.",
    .communication =
        "Permutes between neighbors along dimensions whose shards end inside of a part.",
    .test = "test/rules/reshape",
    .matches = matches,
    .rule = rule_of,
    .follows_from_op = tp__always_follows,
    .localize = localize,
};
