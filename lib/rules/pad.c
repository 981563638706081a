/* tensor.pad with static padding: dimensions that get none. */
#include "rules/families.h"
#include "rules/rule.h"

static bool matches(MlirOperation op) { return tp__op_is(op, "tensor.pad"); }

static tp_status find_use_of_index(MlirOperation op, void *data) {
  MlirBlock block = *(MlirBlock *)data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    MlirValue v = mlirOperationGetOperand(op, i);
    if (mlirValueIsABlockArgument(v) && mlirBlockEqual(mlirBlockArgumentGetOwner(v), block))
      return TP_UNSUPPORTED;
  }
  return TP_OK;
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  int64_t low[TP_MAX_RANK], high[TP_MAX_RANK];
  tp_status status = tp__rule_begin(op, arena, rule);
  if (status != TP_OK)
    return status;
  int rank = tp__int_list(tp__inherent(op, "static_low"), TP_MAX_RANK, low);
  if (rank < 0 || tp__int_list(tp__inherent(op, "static_high"), TP_MAX_RANK, high) != rank)
    return tp__error(op, TP_INTERNAL, "has no static padding attributes");
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (tp__walk(op, find_use_of_index, &block) != TP_OK)
    return tp__error(op, TP_UNSUPPORTED, "computes its padding from the index; pad with one value, or use linalg.generic");
  for (int d = 0; d < rank; d++) {
    if (low[d] != 0 || high[d] != 0)
      continue;
    int f = tp__rule_factor(rule, rule->results[0].shape[d], TP_PARALLEL);
    tp__dim_set(&rule->results[0], d, f);
    tp__dim_set(&rule->operands[0], d, f);
  }
  rule->scalar_ops = (double)tp__shape_elements(rank, rule->results[0].shape);
  return TP_OK;
}

const tp_family tp__pad_family = {
    .name = "pad",
    .ops = "tensor.pad",
    .summary = "Dimensions that are not padded.",
    .communication = "None.",
    .test = "test/rules/pad",
    .matches = matches,
    .rule = rule_of,
};
