/* tensor.concat: every dimension can be sharded. Along the concatenated one, each device fetches
 * the elements of each operand that its points of the result read, and selects by position. */
#include "rules/families.h"
#include "rules/pointwise_builder.h"
#include "rules/shift.h"
#include "rules/window.h"

static bool matches(MlirOperation op) { return tp__op_is(op, "tensor.concat"); }

/* A window on an empty dimension has no plan, so an empty operand keeps the dimension whole. */
static bool has_empty(const tp_rule *rule, int along) {
  for (int i = 0; i < rule->n_operands; i++)
    if (rule->operands[i].shape[along] == 0)
      return true;
  return false;
}

/* A rotation: a cyclic window on the tensor of which both operands are slices. */
static tp_status rotation_rule(tp_rule *rule, const tp_shift *shift, tp__arena *arena) {
  TP_TRY(tp__shift_operands(rule, shift, arena));
  tp_value_map *source = &rule->operands[0], *result = &rule->results[0];
  tp_window rotated = {.stride = 1, .offset = shift->offset, .extent = 1, .cyclic = true};
  for (int d = 0; d < result->rank; d++) {
    int f = tp__rule_factor(rule, result->shape[d], TP_PARALLEL);
    tp__dim_set(result, d, f);
    tp__dim_set(source, d, f);
    if (d == shift->dim)
      TP_TRY(tp__dim_window(rule, source, d, f, rotated, arena));
  }
  tp__rule_variant(rule, TP_SUM, 1);
  rule->scalar_ops = (double)tp__shape_elements(result->rank, result->shape);
  return TP_OK;
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_shift shift;
  tp_status status = tp__rule_begin(op, arena, rule);
  if (status != TP_OK)
    return status;
  if (tp__shift_in_place(op, &shift))
    return rotation_rule(rule, &shift, arena);
  int along = tp__dim_of(op);
  const tp_value_map *result = &rule->results[0];
  uint64_t all = 0;
  for (int i = 0; i < rule->n_operands; i++)
    all |= UINT64_C(1) << i;
  for (int d = 0; d < result->rank; d++) {
    if (d == along && has_empty(rule, along))
      continue;
    int f = tp__rule_factor(rule, result->shape[d], TP_PARALLEL);
    int64_t start = 0;
    tp__dim_set(&rule->results[0], d, f);
    for (int i = 0; i < rule->n_operands && status == TP_OK; i++) {
      if (d == along)
        status = tp__dim_window(rule, &rule->operands[i], d, f,
                                (tp_window){.stride = 1, .offset = -start, .extent = 1}, arena);
      else
        tp__dim_set(&rule->operands[i], d, f);
      start += rule->operands[i].shape[d];
    }
  }
  tp__rule_variant(rule, TP_SUM, all);
  rule->scalar_ops = (double)tp__shape_elements(result->rank, result->shape);
  return status;
}

/* Builds this device's points of the result, each read from the operand that contains it. */
static MlirValue pick(const tp_local *local, int along) {
  const tp_rule *rule = local->rule;
  MlirOperation op = rule->op;
  MlirValue operands[64], ends[64];
  int64_t end = 0;
  int n = rule->n_operands;
  for (int i = 0; i < n; i++) {
    operands[i] = mlirOperationGetOperand(op, i);
    end += rule->operands[i].shape[along];
    ends[i] = tp__index_constant(op, end);
  }
  MlirValue offset = tp__shard_offset(local, rule->results[0].dims[along].factors[0]);
  tp_pointwise points =
      tp__pointwise_begin(op, n, operands, tp__empty(op, mlirValueGetType(operands[0])));
  MlirValue at =
      tp__binary(points.yield, "arith.addi", tp__pointwise_index(&points, along), offset);
  MlirValue value = tp__pointwise_value(&points, n - 1);
  for (int i = n - 2; i >= 0; i--)
    value = tp__select(points.yield, tp__compare(points.yield, TP_SLT, at, ends[i]),
                       tp__pointwise_value(&points, i), value);
  return tp__pointwise_end(&points, value);
}

static tp_status localize(const tp_local *local) {
  const tp_rule *rule = local->rule;
  int along = tp__dim_of(rule->op);
  TP_TRY(tp__halo_fetch_windows(local));
  if (!mlirOperationIsNull(rule->operands[0].in_place)) {
    tp__shift_locally(local);
    return TP_OK;
  }
  if (!tp__window_is_split(local, 0, along))
    return TP_OK;
  MlirValue value = pick(local, along);
  mlirOperationSetOperands(rule->op, 1, &value); /* a concat of one tensor is that tensor */
  return TP_OK;
}

const tp_family tp__concat_family = {
    .name = "concat",
    .ops = "tensor.concat",
    .summary = "Every dimension.",
    .communication = "Permutes of parts that other devices hold, along the concatenated dimension. "
                     "A concat of the end and the beginning of one tensor is a rotation: each "
                     "device fetches what its part of the result reads of that tensor.",
    .test = "test/rules/concat",
    .matches = matches,
    .rule = rule_of,
    .follows_from_op = tp__always_follows,
    .localize = localize,
};
