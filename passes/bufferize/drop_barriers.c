/* tp-drop-barriers: replaces each barrier by its operand.
 *
 * A barrier keeps cse and the fusion of elementwise ops from joining what a program computes twice
 * to save memory. After the last of these passes it has done its work; bufferization would copy. */
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

enum { STAT_BARRIERS };

static tp_status collect(MlirOperation op, void *list) {
  return tp__is_barrier(op) ? tp__op_list_add(list, op) : TP_OK;
}

static tp_status run(tp_pass *pass) {
  tp_op_list barriers = {0};
  tp_status status = tp__walk(pass->module, collect, &barriers);
  for (size_t i = 0; i < barriers.n && status == TP_OK; i++) {
    MlirOperation op = barriers.items[i];
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetOperand(op, 0));
    mlirOperationDestroy(op);
  }
  pass->statistics[STAT_BARRIERS] += (int64_t)barriers.n;
  tp__free(barriers.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    [STAT_BARRIERS] = {"barriers", "barriers replaced by their operands"}};

const tp_pass_row tp__drop_barriers_row = {
    .name = "tp-drop-barriers",
    .summary = "Replace each barrier, bufferization.alloc_tensor with a copy, by its operand",
    .description = "Requires: tensors; no later pass joins equal ops. Establishes: no barrier is "
                   "left. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
