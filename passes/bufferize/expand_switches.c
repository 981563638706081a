/* tp-expand-switches: turns each scf.index_switch into nested scf.if.
 *
 * One-shot bufferization takes the result of an scf.index_switch for a buffer of its own, although
 * it is the buffer that a region yields. An op that overwrites the result then overwrites an
 * argument or a constant. Bufferization of scf.if knows this and copies. */
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

#include <mlir-c/BuiltinAttributes.h>

enum { STAT_SWITCHES };

static tp_status collect(MlirOperation op, void *list) {
  return tp__op_is(op, "scf.index_switch") ? tp__op_list_add(list, op) : TP_OK;
}

static void move_block(MlirBlock block, MlirOperation op, int region) {
  mlirBlockDetach(block);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, region), block);
}

/* Builds a block that yields the results of `op`, which it contains, into a region of `outer`. */
static void wrap(MlirOperation op, int n, MlirValue *results, MlirOperation outer, int region) {
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  mlirBlockAppendOwnedOperation(block, op);
  for (int i = 0; i < n; i++)
    results[i] = mlirOperationGetResult(op, i);
  mlirBlockAppendOwnedOperation(block,
                                tp__create(&(tp_build){.name = "scf.yield",
                                                       .location = mlirOperationGetLocation(op),
                                                       .n_operands = n,
                                                       .operands = results}));
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(outer, region), block);
}

/* Builds the scf.if of each case, the last case first. Each takes the one before it, or the default
 * region, as its else region. Returns the outermost, which the caller inserts. */
static MlirOperation build_ifs(MlirOperation op, MlirAttribute cases, int n, const MlirType *types,
                               MlirValue *results) {
  MlirValue choice = mlirOperationGetOperand(op, 0);
  MlirOperation inner = {NULL};
  for (intptr_t c = mlirDenseArrayGetNumElements(cases); c-- > 0;) {
    MlirValue number = tp__index_constant(op, mlirDenseI64ArrayGetElement(cases, c));
    MlirValue is_case = tp__compare(op, TP_EQ, choice, number);
    MlirOperation now = tp__create(&(tp_build){.name = "scf.if",
                                               .location = mlirOperationGetLocation(op),
                                               .n_operands = 1,
                                               .operands = &is_case,
                                               .n_results = n,
                                               .results = types,
                                               .n_regions = 2});
    move_block(tp__region_block(op, 1 + (int)c), now, 0);
    if (mlirOperationIsNull(inner))
      move_block(tp__region_block(op, 0), now, 1);
    else
      wrap(inner, n, results, now, 1);
    inner = now;
  }
  return inner;
}

/* A switch without cases is its default region. */
static void inline_default(MlirOperation op, int n, MlirValue *results) {
  MlirBlock block = tp__region_block(op, 0);
  MlirOperation end = mlirBlockGetTerminator(block);
  for (int i = 0; i < n; i++)
    results[i] = mlirOperationGetOperand(end, i);
  mlirOperationDestroy(end);
  for (MlirOperation next = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(next);
       next = mlirBlockGetFirstOperation(block)) {
    mlirOperationRemoveFromParent(next);
    tp__insert_before(op, next);
  }
}

static tp_status expand(MlirOperation op) {
  int n = (int)mlirOperationGetNumResults(op);
  MlirValue *results = tp__calloc((size_t)n + 1, sizeof *results);
  MlirType *types = tp__calloc((size_t)n + 1, sizeof *types);
  tp_status status = results && types ? TP_OK : tp__out_of_memory(op);
  if (status == TP_OK) {
    MlirAttribute cases = tp__inherent(op, "cases");
    for (int i = 0; i < n; i++)
      types[i] = mlirValueGetType(mlirOperationGetResult(op, i));
    if (mlirDenseArrayGetNumElements(cases) == 0) {
      inline_default(op, n, results);
    } else {
      MlirOperation outer = build_ifs(op, cases, n, types, results);
      tp__insert_before(op, outer);
      for (int i = 0; i < n; i++)
        results[i] = mlirOperationGetResult(outer, i);
    }
    for (int i = 0; i < n; i++)
      mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), results[i]);
    mlirOperationDestroy(op);
  }
  tp__free(types);
  tp__free(results);
  return status;
}

static tp_status run(tp_pass *pass) {
  tp_op_list switches = {0};
  tp_status status = tp__walk(pass->module, collect, &switches);
  for (size_t i = 0; i < switches.n && status == TP_OK; i++)
    status = expand(switches.items[i]);
  pass->statistics[STAT_SWITCHES] += (int64_t)switches.n;
  tp__free(switches.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    [STAT_SWITCHES] = {"switches", "scf.index_switch ops turned into scf.if"}};

const tp_pass_row tp__expand_switches_row = {
    .name = "tp-expand-switches",
    .summary = "Turn scf.index_switch into nested scf.if",
    .description =
        "Requires: tensors. Establishes: no scf.index_switch is left, because bufferization lets "
        "other ops overwrite the buffer that one of its regions yields, even that of an argument. "
        "Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
