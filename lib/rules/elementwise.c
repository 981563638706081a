/* arith, math and complex ops on whole tensors, and casts of tensors: one factor per dimension. */
#include "rules/families.h"
#include "rules/mask.h"
#include "rules/rule.h"

static bool matches(MlirOperation op) {
  if (tp__op_is(op, "tensor.cast")) /* between static types it is the identity */
    return true;
  if (!tp__op_has_dialect(op, "arith") && !tp__op_has_dialect(op, "math") &&
      !tp__op_has_dialect(op, "complex"))
    return false;
  return !tp__op_is(op, "arith.constant") && !tp__op_is(op, "complex.constant") &&
         mlirOperationGetNumResults(op) > 0;
}

/* Linear ops: the sets of operands that are partial together. */
static const struct {
  const char *op;
  uint64_t sets[2];
} linear_ops[] = {
    {"arith.addf", {3, 0}},   {"arith.subf", {3, 0}},   {"arith.addi", {3, 0}},
    {"arith.subi", {3, 0}},   {"arith.mulf", {1, 2}},   {"arith.muli", {1, 2}},
    {"arith.divf", {1, 0}},   {"arith.negf", {1, 0}},   {"arith.extf", {1, 0}},
    {"arith.truncf", {1, 0}}, {"arith.trunci", {1, 0}}, {"tensor.cast", {1, 0}},
};

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  TP_TRY(tp__rule_begin(op, arena, rule));
  tp__rule_same_dims(rule);
  for (int i = 0; i < TP_LEN(linear_ops); i++)
    for (int k = 0; k < 2 && tp__op_is(op, linear_ops[i].op); k++)
      if (linear_ops[i].sets[k])
        tp__rule_variant(rule, TP_SUM, linear_ops[i].sets[k]);
  const tp_value_map *result = &rule->results[0];
  rule->scalar_ops = (double)tp__shape_elements(result->rank, result->shape) *
                     (tp__op_has_dialect(op, "math") ? 15 : 1);
  rule->is_elementwise = true;
  return TP_OK;
}

static tp_status localize(const tp_local *local) {
  uint32_t uneven = tp__uneven_factors(local);
  if (uneven)
    tp__mask_divisors(local, uneven);
  return TP_OK;
}

const tp_family tp__elementwise_family = {
    .name = "elementwise",
    .ops = "arith.*, math.*, complex.* on tensors; tensor.cast",
    .summary = "Every dimension.",
    .communication = "None; on partial values where the op is linear.",
    .test = "test/rules/elementwise",
    .matches = matches,
    .rule = rule_of,
    .follows_from_op = tp__always_follows,
    .localize = localize,
};
