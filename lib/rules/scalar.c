/* Ops between tensors and scalars: tensor.extract, insert, from_elements, dim, cast of static shape. The tensors stay whole. */
#include "rules/families.h"
#include "rules/rule.h"

static bool matches(MlirOperation op) {
  static const char *const names[] = {"tensor.extract", "tensor.insert", "tensor.from_elements", "tensor.rank"};
  for (int i = 0; i < TP_LEN(names); i++)
    if (tp__op_is(op, names[i]))
      return true;
  return false;
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) { return tp__rule_begin(op, arena, rule); }

const tp_family tp__scalar_family = {
    .name = "scalar",
    .ops = "tensor.extract, tensor.insert, tensor.from_elements, tensor.rank",
    .summary = "Nothing: these tensors are replicated. tp-raise makes a slice of one element, which can be split, of a "
               "tensor.extract or insert outside of bodies.",
    .communication = "An all_gather of a tensor that is split.",
    .test = "test/rules/scalar",
    .matches = matches,
    .rule = rule_of,
};
