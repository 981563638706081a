/* Gives functions without a body the types with which the per-device program calls them. */
#include "ir/collectives.h"
#include "ir/route_call.h"
#include "ir/sort_call.h"
#include "ir/value_table.h"
#include "passes/partition/partition.h"
#include "support/support.h"

#include <string.h>

static tp_status type_of_call(MlirOperation call, MlirType *type) {
  intptr_t n = mlirOperationGetNumOperands(call), n_results = mlirOperationGetNumResults(call);
  MlirType *types = tp__calloc((size_t)(n + n_results) + 1, sizeof *types);
  if (!types)
    return tp__out_of_memory(call);
  for (intptr_t i = 0; i < n; i++)
    types[i] = mlirValueGetType(mlirOperationGetOperand(call, i));
  for (intptr_t i = 0; i < n_results; i++)
    types[n + i] = mlirValueGetType(mlirOperationGetResult(call, i));
  *type = mlirFunctionTypeGet(mlirOperationGetContext(call), n, types, n_results, types + n);
  tp__free(types);
  return TP_OK;
}

typedef struct type_text {
  size_t length;
  char text[512];
} type_text;

/* Appends what fits. */
static void append(MlirStringRef part, void *data) {
  type_text *t = data;
  size_t room = sizeof t->text - 1 - t->length, n = part.length < room ? part.length : room;
  memcpy(t->text + t->length, part.data, n);
  t->length += n;
}

static tp_status refuse(MlirOperation call, MlirType first, MlirType second) {
  type_text a = {0}, b = {0};
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tp__inherent(call, "callee"));
  mlirTypePrint(first, append, &a);
  mlirTypePrint(second, append, &b);
  return tp__error(call, TP_UNSUPPORTED,
                   "@%.*s has no body, and the per-device program calls it with type %s and with "
                   "type %s; annotate the calls alike, or declare a function for each of them",
                   (int)name.length, name.data, a.text, b.text);
}

static bool is_dead(MlirOperation op) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    if (tp__is_used(mlirOperationGetResult(op, i)))
      return false;
  return true;
}

/* The types of sorts concern nothing outside of the program, so each type has a declaration. Sorts
 * that others replaced are erased. */
static tp_status redeclare_sorts(MlirOperation module) {
  tp_op_list sorts = {0};
  tp_status status = tp__walk(module, tp__collect_sort, &sorts);
  for (size_t i = 0; i < sorts.n && status == TP_OK; i++)
    if (is_dead(sorts.items[i]))
      mlirOperationDestroy(sorts.items[i]);
    else
      tp__sort_redeclare(module, sorts.items[i]);
  tp__free(sorts.items);
  return status;
}

/* `data`: the declarations that were seen. */
static tp_status visit(MlirOperation op, void *data) {
  if (tp__is_sort(op))
    return TP_OK;
  bool is_ours = tp__is_permute(op) || tp__is_route(op);
  MlirOperation func = is_ours ? (MlirOperation){NULL} : tp__declaration(op);
  MlirType type;
  if (mlirOperationIsNull(func))
    return TP_OK;
  TP_TRY(type_of_call(op, &type));
  if (tp__table_get(data, func.ptr) >= 0)
    return mlirTypeEqual(type, tp__func_type(func)) ? TP_OK : refuse(op, tp__func_type(func), type);
  if (tp__table_put(data, func.ptr, 1) != TP_OK)
    return tp__out_of_memory(op);
  mlirOperationSetInherentAttributeByName(func, tp__ref("function_type"), mlirTypeAttrGet(type));
  return TP_OK;
}

static bool is_permute(MlirOperation func) {
  static const char prefix[] = "tp.permute.";
  MlirStringRef name = mlirStringAttrGetValue(tp__inherent(func, "sym_name"));
  return name.length >= sizeof prefix - 1 && memcmp(name.data, prefix, sizeof prefix - 1) == 0;
}

/* True if the module declares a function without a body, other than permutes and routes. */
static bool has_declarations(MlirOperation module) {
  for (MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(module, 0));
       !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "func.func") && !tp__is_defined_func(op) && !is_permute(op) &&
        !tp__is_route_symbol(op))
      return true;
  return false;
}

tp_status tp__localize_declarations(MlirOperation module) {
  tp_value_table seen = {0};
  if (!has_declarations(module))
    return TP_OK;
  TP_TRY(redeclare_sorts(module));
  tp_status status = tp__walk(module, visit, &seen);
  tp__table_destroy(&seen);
  return status;
}
