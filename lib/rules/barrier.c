/* Barriers: the identity on one tensor. */
#include "rules/families.h"
#include "rules/rule.h"

/* Every reduction of partial values commutes with the identity, but strategies multiply with the
 * variants: those are offered that reshapes and elementwise ops pass on, too. */
static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  TP_TRY(tp__rule_begin(op, arena, rule));
  tp__rule_same_dims(rule);
  tp__rule_variant(rule, TP_SUM, 1);
  tp__rule_variant(rule, TP_MAX, 1);
  rule->is_elementwise = true;
  return TP_OK;
}

const tp_family tp__barrier_family = {
    .name = "barrier",
    .ops = "bufferization.alloc_tensor with a copy of a tensor",
    .summary = "Every dimension. The op takes no time and no memory; it keeps equal ops in front "
               "of it and behind it apart, such as those that are computed again to save memory.",
    .communication = "None; on partial values, too.",
    .test = "test/rules/barrier",
    .matches = tp__is_barrier,
    .rule = rule_of,
    .follows_from_op = tp__always_follows,
};
