/* Ops between tensors and scalars. tensor.extract and tensor.insert keep their tensors whole,
 * unless tp-raise has converted them to slices. tensor.from_elements is kept whole and sliced, like
 * a constant. */
#include "rules/families.h"
#include "rules/rule.h"

static bool from_elements(MlirOperation op) { return tp__op_is(op, "tensor.from_elements"); }

static bool matches(MlirOperation op) {
  return tp__op_is(op, "tensor.extract") || tp__op_is(op, "tensor.insert") || from_elements(op);
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  TP_TRY(tp__rule_begin(op, arena, rule));
  if (from_elements(op)) {
    tp__rule_same_dims(rule);
    rule->keeps_global = true;
  }
  tp__rule_traffic(rule);
  rule->points = 1;
  return TP_OK;
}

static tp_status localize(const tp_local *local) {
  return from_elements(local->rule->op) ? tp__slice_whole(local, 0) : TP_OK;
}

const tp_family tp__scalar_family = {
    .name = "scalar",
    .ops = "tensor.extract, tensor.insert, tensor.from_elements",
    .summary = "tensor.from_elements: every dimension; the op is computed whole and sliced. "
               "Others: nothing, these tensors are replicated; tp-raise turns a tensor.extract or "
               "insert outside of bodies into a slice of one element, which can be split.",
    .communication = "tensor.extract, tensor.insert: an all_gather of a tensor that is split. "
                     "tensor.from_elements: none.",
    .test = "test/rules/scalar",
    .matches = matches,
    .rule = rule_of,
    .localize = localize,
};
