/* Calls of functions without a body. Nothing is known about them, so every device calls them with
 * whole tensors. A rule of the user, on the declaration or on the call, takes precedence. */
#include "rules/call.h"

#include "ir/route_call.h"
#include "ir/sort_call.h"
#include "rules/families.h"
#include "rules/rule.h"

static MlirStringRef name_of(MlirOperation func) {
  return mlirStringAttrGetValue(tp__inherent(func, "sym_name"));
}

static bool matches(MlirOperation op) {
  return !mlirOperationIsNull(tp__declaration(op)) && !tp__is_permute(op) && !tp__is_sort(op) &&
         !tp__is_route(op) && !tp__user_family.matches(op);
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  TP_TRY(tp__check_declaration(tp__declaration(op)));
  return tp__rule_begin(op, arena, rule);
}

tp_status tp__check_declaration(MlirOperation func) {
  MlirType type = tp__func_type(func);
  intptr_t n_args = mlirFunctionTypeGetNumInputs(type);
  for (intptr_t i = 0; i < n_args + mlirFunctionTypeGetNumResults(type); i++) {
    bool is_arg = i < n_args;
    int k = (int)(is_arg ? i : i - n_args);
    MlirAttribute attr = (is_arg ? tp__arg_attr : tp__result_attr)(func, k, "tp.sharding");
    if (!mlirAttributeIsNull(attr))
      return tp__error(func, TP_UNSUPPORTED,
                       "%s %d has tp.sharding, but @%.*s has no body, and the layouts of its calls "
                       "come from tp.rule; state that, and annotate the operands of the calls",
                       is_arg ? "argument" : "result", k, (int)name_of(func).length,
                       name_of(func).data);
  }
  return TP_OK;
}

void tp__warn_of_call(MlirOperation op, const tp_mesh *mesh) {
  MlirOperation func = tp__declaration(op);
  int64_t devices = tp_mesh_size(mesh);
  if (devices > 1 && !mlirOperationIsNull(func) && matches(op))
    tp__warning(op,
                "@%.*s has no body: all %lld devices call it, with whole tensors, so its effects "
                "happen %lld times, and it must return the same to all devices; to shard it, state "
                "a tp.rule on its declaration",
                (int)name_of(func).length, name_of(func).data, (long long)devices,
                (long long)devices);
}

const tp_family tp__call_family = {
    .name = "call",
    .ops = "func.call of a function without a body",
    .summary = "Nothing: every device calls it with whole tensors, which is reported. tp.rule on "
               "the declaration or on the call gives it the family user.",
    .communication = "An all_gather of an operand that is split.",
    .test = "test/rules/call",
    .matches = matches,
    .rule = rule_of,
};
