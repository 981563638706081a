/* tp-store-bools: loads and stores of i1 become those of bytes.
 *
 * A bool takes a byte in memory. LLVM vectorizes loads of i8, but loads each i1 of a vector by
 * itself, since a vector of i1 has other places in memory than as many i1. */
#include "passes/registry.h"
#include "passes/support/lower.h"

#include "support/support.h"

enum { STAT_LOADS, STAT_STORES };

static tp_status collect(MlirOperation op, void *data) {
  bool loads = tp__op_is(op, "llvm.load") &&
               tp__is_bool(mlirValueGetType(mlirOperationGetResult(op, 0))),
       stores = tp__op_is(op, "llvm.store") &&
                tp__is_bool(mlirValueGetType(mlirOperationGetOperand(op, 0)));
  return loads || stores ? tp__op_list_add(data, op) : TP_OK;
}

/* The value is true where the byte is not 0. */
static void widen_load(MlirOperation load, MlirType byte) {
  MlirValue loaded = mlirOperationGetResult(load, 0);
  MlirType boolean = mlirValueGetType(loaded);
  MlirOperation next = mlirOperationGetNextInBlock(load);
  MlirContext context = mlirOperationGetContext(load);
  mlirValueSetType(loaded, byte);
  MlirNamedAttribute differs =
      tp__named(context, "predicate", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), TP_NE));
  MlirNamedAttribute value = tp__named(context, "value", mlirIntegerAttrGet(byte, 0));
  MlirValue zero = mlirOperationGetResult(
      tp__build(next, "llvm.mlir.constant", 0, NULL, 1, &byte, 1, &value), 0);
  MlirValue operands[] = {loaded, zero};
  MlirOperation test = tp__build(next, "llvm.icmp", 2, operands, 1, &boolean, 1, &differs);
  mlirValueReplaceAllUsesExcept(loaded, mlirOperationGetResult(test, 0), 1, &test);
}

static void widen_store(MlirOperation store, MlirType byte) {
  MlirValue value = mlirOperationGetOperand(store, 0);
  mlirOperationSetOperand(store, 0, tp__build_one(store, "llvm.zext", 1, &value, byte));
}

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0};
  MlirType byte = mlirIntegerTypeGet(mlirOperationGetContext(pass->module), 8);
  tp_status status = tp__walk(pass->module, collect, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++) {
    bool loads = tp__op_is(list.items[i], "llvm.load");
    (loads ? widen_load : widen_store)(list.items[i], byte);
    pass->statistics[loads ? STAT_LOADS : STAT_STORES]++;
  }
  tp__free(list.items);
  return status;
}

static const tp_statistic_row statistics[] = {{"loads", "loads of bools"},
                                              {"stores", "stores of bools"}};

const tp_pass_row tp__store_bools_row = {
    .name = "tp-store-bools",
    .summary = "Load and store bools as bytes",
    .description =
        "Requires: the LLVM dialect (convert-to-llvm). Establishes: llvm.load and llvm.store of i1 "
        "load and store an i8, which LLVM vectorizes; a byte that is not 0 is true. Breaks: "
        "nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
