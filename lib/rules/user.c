/* Ops unknown to the library whose rule comes from the user: the attribute tp.rule, or a
 * registration. */
#include "rules/call.h"
#include "rules/families.h"
#include "rules/rule_registry.h"
#include "rules/rule_text.h"

#include <string.h>

enum { MAX_TEXT = 1024 };

/* The tp.rule of an op, or of the declaration that it calls. */
static MlirAttribute attribute_of(MlirOperation op) {
  MlirAttribute own = tp__get(op, "tp.rule");
  MlirOperation func = mlirAttributeIsNull(own) ? tp__declaration(op) : (MlirOperation){NULL};
  return mlirOperationIsNull(func) ? own : tp__get(func, "tp.rule");
}

static bool matches(MlirOperation op) {
  tp_rule_registration registration;
  return !mlirAttributeIsNull(attribute_of(op)) ||
         tp__registered_rule(tp__op_name(op), &registration);
}

/* Copies the rule text that applies to this op into `text`. */
static tp_status text_of(MlirOperation op, char *text) {
  MlirAttribute attr = attribute_of(op);
  tp_rule_registration registration = {0};
  char why[256] = "";
  if (!mlirAttributeIsNull(attr)) {
    if (!mlirAttributeIsAString(attr))
      return tp__error(
          op, TP_INVALID_ARGUMENT,
          "tp.rule has to be a string, such as \"([i,k],[k,j])->([i,j]) reduction={k}\"");
    if (!tp__ref_copy(mlirStringAttrGetValue(attr), text, MAX_TEXT))
      return tp__error(op, TP_UNSUPPORTED, "tp.rule has more than %d characters", MAX_TEXT - 1);
    return TP_OK;
  }
  tp__registered_rule(tp__op_name(op), &registration);
  if (registration.rule && tp__ref_copy(tp__ref(registration.rule), text, MAX_TEXT))
    return TP_OK;
  if (registration.rule)
    return tp__error(op, TP_UNSUPPORTED, "its registered rule has more than %d characters",
                     MAX_TEXT - 1);
  if (registration.describe(op, text, MAX_TEXT, why, sizeof why, registration.data) == TP_OK)
    return TP_OK;
  return tp__error(op, TP_UNSUPPORTED, "the rule registered for this op rejects it: %s", why);
}

static tp_status read_text(MlirOperation op, tp_rule_text *rule) {
  char text[MAX_TEXT] = "", why[512];
  TP_TRY(text_of(op, text));
  text[MAX_TEXT - 1] = 0;
  if (tp__rule_text_parse(text, rule, why, sizeof why) == TP_OK)
    return TP_OK;
  return tp__error(op, TP_INVALID_ARGUMENT, "its rule \"%s\": %s", text, why);
}

/* True if a region has tensor arguments. Their types would have to change too, which requires
 * knowledge of the op. */
static bool has_tensor_args(MlirOperation op) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
    for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
         b = mlirBlockGetNextInRegion(b))
      for (intptr_t i = 0; i < mlirBlockGetNumArguments(b); i++)
        if (tp__is_tensor(mlirValueGetType(mlirBlockGetArgument(b, i))))
          return true;
  return false;
}

static tp_status find_tensor(MlirOperation op, void *found) {
  *(bool *)found |= tp__op_has_tensors(op) || has_tensor_args(op);
  return TP_OK;
}

static bool regions_hold_tensors(MlirOperation op) {
  bool found = has_tensor_args(op);
  tp__walk(op, find_tensor, &found);
  return found;
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_rule_text *text = tp__arena_alloc(arena, sizeof *text);
  MlirOperation func = tp__declaration(op);
  if (!text)
    return tp__out_of_memory(op);
  if (!mlirOperationIsNull(func))
    TP_TRY(tp__check_declaration(func));
  tp_status status = read_text(op, text);
  if (status == TP_OK && regions_hold_tensors(op))
    return tp__error(op, TP_UNSUPPORTED,
                     "has a user rule, and regions that use tensors, whose types would not be "
                     "updated; pass tensors as operands, or lower the op before sharding");
  if (status == TP_OK)
    status = tp__rule_begin(op, arena, rule);
  rule->text = text;
  return status == TP_OK ? tp__rule_text_fit(text, rule) : status;
}

static tp_status localize(const tp_local *local) {
  MlirOperation op = local->rule->op;
  tp_rule_registration registration;
  char why[256] = "";
  if (!mlirAttributeIsNull(attribute_of(op)) ||
      !tp__registered_rule(tp__op_name(op), &registration) || !registration.localize)
    return TP_OK;
  if (registration.localize(&(tp_local_op){local}, why, sizeof why, registration.data) == TP_OK)
    return TP_OK;
  return tp__error(op, TP_UNSUPPORTED, "the rule registered for this op cannot localize it: %s",
                   why);
}

/* ---- interface for a registered localize ---- */

MlirOperation tp_local_op_get(const tp_local_op *op) { return op->local->rule->op; }

const tp_mesh *tp_local_op_mesh(const tp_local_op *op) { return op->local->mesh; }

tp_spec tp_local_op_operand(const tp_local_op *op, int i) {
  const tp_local *local = op->local;
  return i >= 0 && i < local->rule->n_operands
             ? tp__strategy_operand(local->rule, local->mesh, local->strategy, i)
             : tp_spec_replicated();
}

tp_spec tp_local_op_result(const tp_local_op *op, int i) {
  const tp_local *local = op->local;
  return i >= 0 && i < local->rule->n_results
             ? tp__strategy_result(local->rule, local->mesh, local->strategy, i)
             : tp_spec_replicated();
}

static int factor_named(const tp_local_op *op, const char *name) {
  const tp_rule_text *text = op->local->rule->text;
  for (int f = 0; f < text->n_factors; f++)
    if (strcmp(text->factors[f].name, name) == 0)
      return f;
  return -1;
}

int64_t tp_local_op_shards(const tp_local_op *op, const char *factor) {
  int f = factor_named(op, factor);
  return f < 0 ? 0 : tp__strategy_shards(op->local->rule, op->local->mesh, op->local->strategy, f);
}

MlirValue tp_local_op_shard_index(const tp_local_op *op, const char *factor) {
  int f = factor_named(op, factor);
  return f < 0 ? (MlirValue){NULL} : tp__shard_index(op->local, f);
}

MlirValue tp_local_op_offset(const tp_local_op *op, const char *factor) {
  int f = factor_named(op, factor);
  return f < 0 ? (MlirValue){NULL} : tp__shard_offset(op->local, f);
}

const tp_family tp__user_family = {
    .name = "user",
    .ops = "any other op with tp.rule, on itself or on the declaration that it calls, or with a "
           "rule registered by tp_rule_register",
    .summary = "As the rule states.",
    .communication = "As its reductions need; a registered localize may add its own.",
    .test = "test/rules/user",
    .matches = matches,
    .rule = rule_of,
    .localize = localize,
};
