/* Walks ops, and finds callees, definitions and uses. */
#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

tp_status tp__walk(MlirOperation op, tp_visit visit, void *data) {
  return tp__walk_some(op, 0, visit, data);
}

tp_status tp__walk_outside(MlirOperation op, tp_visit visit, void *data) {
  return tp__walk_some(op, TP_WALK_OUTSIDE, visit, data);
}

tp_status tp__op_list_add(tp_op_list *list, MlirOperation op) {
  if (tp__grow((void **)&list->items, &list->capacity, list->n + 1, sizeof *list->items) != TP_OK)
    return tp__out_of_memory(op);
  list->items[list->n++] = op;
  return TP_OK;
}

static tp_status count(MlirOperation op, void *n) {
  (void)op;
  ++*(int *)n;
  return TP_OK;
}

int tp__n_ops(MlirOperation op) {
  int n = 0;
  (void)tp__walk(op, count, &n); /* the visitor cannot fail */
  return n;
}

static tp_status find_index(MlirOperation op, void *found) {
  *(bool *)found |= tp__op_is(op, "linalg.index");
  return TP_OK;
}

bool tp__asks_index(MlirOperation op) {
  bool found = false;
  (void)tp__walk(op, find_index, &found); /* the visitor does not fail */
  return found;
}

tp_status tp__collect_generic(MlirOperation op, void *list) {
  return tp__op_is(op, "linalg.generic") ? tp__op_list_add(list, op) : TP_OK;
}

MlirOperation tp__last_op(MlirBlock block) {
  MlirOperation last = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    last = op;
  return last;
}

MlirBlock tp__region_block(MlirOperation op, int region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

bool tp__is_defined_func(MlirOperation op) {
  return tp__op_is(op, "func.func") && !mlirBlockIsNull(tp__region_block(op, 0));
}

bool tp__is_planned_func(MlirOperation op) {
  return tp__is_defined_func(op) && mlirAttributeIsNull(tp__get(op, "tp.comparator"));
}

MlirOperation tp__func_of_symbol(MlirOperation module, MlirStringRef name) {
  for (MlirOperation op =
           mlirBlockGetFirstOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0)));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "func.func") &&
        mlirStringRefEqual(mlirStringAttrGetValue(tp__inherent(op, "sym_name")), name))
      return op;
  return (MlirOperation){NULL};
}

MlirOperation tp__callee(MlirOperation module, MlirOperation call) {
  MlirOperation func =
      tp__func_of_symbol(module, mlirFlatSymbolRefAttrGetValue(tp__inherent(call, "callee")));
  return mlirOperationIsNull(func) || !tp__is_defined_func(func) ? (MlirOperation){NULL} : func;
}

MlirOperation tp__declaration(MlirOperation op) {
  if (!tp__op_is(op, "func.call"))
    return (MlirOperation){NULL};
  MlirOperation module = mlirOperationGetParentOperation(tp__enclosing_func(op)),
                func = tp__func_of_symbol(
                    module, mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "callee")));
  return mlirOperationIsNull(func) || tp__is_defined_func(func) ? (MlirOperation){NULL} : func;
}

MlirOperation tp__defining_op(MlirValue value) {
  return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
}

MlirOperation tp__defined_by(MlirValue value, const char *name) {
  MlirOperation op = tp__defining_op(value);
  return !mlirOperationIsNull(op) && tp__op_is(op, name) ? op : (MlirOperation){NULL};
}

MlirBlock tp__block_of(MlirValue value) {
  return mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                          : mlirOperationGetBlock(mlirOpResultGetOwner(value));
}

void tp__replace_uses_except(MlirValue value, MlirValue with, MlirOperation except) {
  mlirValueReplaceAllUsesExcept(value, with, 1, &except);
}

bool tp__is_used(MlirValue value) { return !mlirOpOperandIsNull(mlirValueGetFirstUse(value)); }

bool tp__is_used_once(MlirValue value) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  return !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

int tp__n_uses(MlirValue value) {
  int n = 0;
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use))
    n++;
  return n;
}

MlirOperation tp__enclosing_func(MlirOperation op) {
  while (!mlirOperationIsNull(op) && !tp__op_is(op, "func.func"))
    op = mlirOperationGetParentOperation(op);
  return op;
}

bool tp__is_inside(MlirOperation op, MlirOperation around) {
  while (!mlirOperationIsNull(op) && !mlirOperationEqual(op, around))
    op = mlirOperationGetParentOperation(op);
  return !mlirOperationIsNull(op);
}

bool tp__is_captured(MlirOperation op, MlirValue value) {
  return !tp__is_inside(mlirBlockGetParentOperation(tp__block_of(value)), op);
}
