/* tensor.concat: every dimension but the concatenated one. */
#include "rules/families.h"
#include "rules/rule.h"

static bool matches(MlirOperation op) { return tp__op_is(op, "tensor.concat"); }

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_status status = tp__rule_begin(op, arena, rule);
  if (status != TP_OK)
    return status;
  int64_t along = mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
  const tp_value_map *result = &rule->results[0];
  uint64_t all = 0;
  for (int i = 0; i < rule->n_operands; i++)
    all |= UINT64_C(1) << i;
  for (int d = 0; d < result->rank; d++) {
    if (d == along)
      continue;
    int f = tp__rule_factor(rule, result->shape[d], TP_PARALLEL);
    tp__dim_set(&rule->results[0], d, f);
    for (int i = 0; i < rule->n_operands; i++)
      tp__dim_set(&rule->operands[i], d, f);
  }
  tp__rule_variant(rule, TP_SUM, all);
  rule->scalar_ops = (double)tp__shape_elements(result->rank, result->shape);
  return TP_OK;
}

const tp_family tp__concat_family = {
    .name = "concat",
    .ops = "tensor.concat",
    .summary = "Every dimension but the concatenated one.",
    .communication = "None.",
    .test = "test/rules/concat",
    .matches = matches,
    .rule = rule_of,
};
