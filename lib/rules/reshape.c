/* tensor.expand_shape and tensor.collapse_shape: the large dimension is the product of the small
 * ones, major to minor. Each small dimension is a factor; of many, only the major ones are. */
#include "rules/families.h"
#include "rules/rule.h"

static bool is_expand(MlirOperation op) { return tp__op_is(op, "tensor.expand_shape"); }

static bool matches(MlirOperation op) {
  return is_expand(op) || tp__op_is(op, "tensor.collapse_shape");
}

static tp_status add_factor(tp_rule *rule, tp_value_map *large, int dim, int64_t size,
                            tp_factor_kind kind, int *factor) {
  *factor = tp__rule_factor(rule, size, kind);
  if (*factor < 0)
    return tp__error(rule->op, TP_UNSUPPORTED, "has more than %d dimensions", TP_MAX_FACTORS);
  large->dims[dim].factors[large->dims[dim].n_factors++] = (uint8_t)*factor;
  return TP_OK;
}

/* Adds the factors of dimension `dim` of the large tensor. Where it is the product of more small
 * dimensions than it may have factors, the minor ones are one factor, which stays whole. */
static tp_status add_group(tp_rule *rule, tp_value_map *large, int dim, tp_value_map *small, int n,
                           const int64_t *group) {
  int n_left = 0, factor;
  for (int k = 0; k < n; k++)
    n_left += small->shape[group[k]] != 1; /* there is nothing to shard in the others */
  bool is_short = n_left > TP_MAX_DIM_FACTORS;
  int64_t rest = 1;
  for (int k = 0; k < n; k++) {
    int64_t size = small->shape[group[k]];
    if (size == 1)
      continue;
    if (is_short && large->dims[dim].n_factors == TP_MAX_DIM_FACTORS - 1) {
      rest *= size;
      continue;
    }
    TP_TRY(add_factor(rule, large, dim, size, TP_PARALLEL, &factor));
    tp__dim_set(small, (int)group[k], factor);
  }
  return is_short ? add_factor(rule, large, dim, rest, TP_FIXED, &factor) : TP_OK;
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  TP_TRY(tp__rule_begin(op, arena, rule));
  tp_value_map *small = is_expand(op) ? &rule->results[0] : &rule->operands[0];
  tp_value_map *large = is_expand(op) ? &rule->operands[0] : &rule->results[0];
  MlirAttribute groups = tp__inherent(op, "reassociation");
  for (int d = 0; d < large->rank; d++) {
    int64_t group[TP_MAX_RANK];
    int n = tp__int_list(mlirArrayAttrGetElement(groups, d), TP_MAX_RANK, group);
    TP_TRY(add_group(rule, large, d, small, n, group));
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
