/* tp-expand-sorts: turns the sorts of a per-device program (ir/sort_call.h) into loops. */
#include "passes/bufferize/sort_text.h"
#include "passes/registry.h"

#include "passes/support/from_text.h"

enum { STAT_SORTS };

static bool is_empty(MlirOperation op) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(tp__result_type(op), &rank, shape);
  for (int d = 0; d < rank; d++)
    if (shape[d] == 0)
      return true;
  return false;
}

static tp_status expand(MlirOperation op) {
  tp_sort sort;
  MlirValue operands[TP_MAX_SORTED], results[TP_MAX_SORTED];
  TP_TRY(tp__sort_read(op, &sort));
  for (int i = 0; i < sort.n; i++)
    operands[i] = mlirOperationGetOperand(op, i);
  if (is_empty(op)) {
    for (int i = 0; i < sort.n; i++)
      results[i] = tp__empty(op, mlirValueGetType(mlirOperationGetResult(op, i)));
  } else if (sort.size == 1) {
    memcpy(results, operands, sizeof results);
  } else {
    tp__string text = tp__sort_text(op, &sort);
    MlirOperation module = tp__parse_function(op, &text);
    if (mlirOperationIsNull(module))
      return TP_NO_MEMORY;
    /* beside a declaration of the comparator */
    MlirOperation func = mlirBlockGetFirstOperation(tp__region_block(module, 0));
    mlirOperationRemoveFromParent(func);
    mlirOperationDestroy(module);
    tp__inline_results(op, func, sort.n, operands, sort.n, results);
  }
  for (int i = 0; i < sort.n; i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), results[i]);
  mlirOperationDestroy(op);
  return TP_OK;
}

/* ---- functions that are no longer needed ---- */

static tp_status find_use(MlirOperation op, void *data) {
  const MlirStringRef *name = data;
  MlirAttribute callee =
      tp__op_is(op, "func.call") ? tp__inherent(op, "callee") : (MlirAttribute){NULL};
  return !mlirAttributeIsNull(callee) &&
                 mlirStringRefEqual(mlirFlatSymbolRefAttrGetValue(callee), *name)
             ? TP_UNSUPPORTED
             : TP_OK;
}

/* Erases the declarations of sorts, and comparators that nothing calls: those of rows without
 * elements or of one. */
static void erase_unused(MlirOperation module) {
  MlirOperation next;
  for (MlirOperation op = mlirBlockGetFirstOperation(tp__region_block(module, 0));
       !mlirOperationIsNull(op); op = next) {
    next = mlirOperationGetNextInBlock(op);
    if (!tp__is_sort_symbol(op))
      continue;
    MlirStringRef name = mlirStringAttrGetValue(tp__inherent(op, "sym_name"));
    if (tp__walk(module, find_use, &name) == TP_OK)
      mlirOperationDestroy(op);
  }
}

static tp_status run(tp_pass *pass) {
  tp_op_list sorts = {0};
  tp_status status = tp__walk(pass->module, tp__collect_sort, &sorts);
  for (size_t i = 0; i < sorts.n && status == TP_OK; i++)
    status = expand(sorts.items[i]);
  if (status == TP_OK && sorts.n > 0)
    erase_unused(pass->module);
  pass->statistics[STAT_SORTS] += (int64_t)sorts.n;
  tp__free(sorts.items);
  return status;
}

static const tp_statistic_row statistics[] = {[STAT_SORTS] = {"sorts", "sorts turned into loops"}};

const tp_pass_row tp__expand_sorts_row = {
    .name = "tp-expand-sorts",
    .summary = "Turn sorts into loops",
    .description =
        "Requires: a single-device or per-device program. Establishes: no call with tp.sort is "
        "left: loops merge or select the elements of one row after the other, and call the "
        "comparator, which tp-inline-calls replaces. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
