/* tp-outline-kernels: outlines each loop nest to a function of its own.
 *
 * A training step is one function with thousands of loops, and several analyses of LLVM, above all
 * scalar evolution, are quadratic in their number. With outlining, compile time is linear, and
 * equal nests of repeated layers are compiled once. */
#include "passes/gpu/outline.h"
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <string.h>

typedef struct outlining {
  tp__outliner kernels;
  MlirOperation *ops; /* nests to outline */
  size_t n_ops, op_capacity;
  bool takes_asserts;
} outlining;

enum { STAT_OUTLINED, STAT_KERNELS };

/* ---- choosing ops ---- */

static tp_status refuse_effects(MlirOperation op, void *data) {
  const outlining *o = data;
  bool asserts = !o->takes_asserts && tp__op_is(op, "cf.assert");
  return asserts || tp__op_has_dialect(op, "func") || tp__op_has_dialect(op, "llvm")
             ? TP_UNSUPPORTED
             : TP_OK;
}

static bool is_nest(outlining *o, MlirOperation op) {
  return tp__op_has_dialect(op, "linalg") && mlirOperationGetNumResults(op) == 0 &&
         mlirOperationGetNumRegions(op) == 1 && tp__walk(op, refuse_effects, o) == TP_OK;
}

static tp_status collect(outlining *o, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    if (is_nest(o, op)) {
      if (tp__grow((void **)&o->ops, &o->op_capacity, o->n_ops + 1, sizeof *o->ops) != TP_OK)
        return tp__out_of_memory(op);
      o->ops[o->n_ops++] = op;
      continue;
    }
    if (tp__op_has_dialect(op, "linalg"))
      continue;
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
      for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
           !mlirBlockIsNull(b); b = mlirBlockGetNextInRegion(b))
        TP_TRY(collect(o, b));
  }
  return TP_OK;
}

static tp_status outline_function(outlining *o, MlirOperation func) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  char prefix[128];
  if (mlirBlockIsNull(block) ||
      !tp__ref_copy(mlirStringAttrGetValue(tp__inherent(func, "sym_name")), prefix, sizeof prefix))
    return TP_OK;
  o->n_ops = 0;
  TP_TRY(collect(o, block));
  for (size_t i = 0; i < o->n_ops; i++)
    TP_TRY(tp__outline(&o->kernels, o->ops[i], prefix));
  return TP_OK;
}

typedef struct settings {
  bool asserts;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  outlining o = {.kernels = {.module = pass->module, .kind = "kernel"},
                 .takes_asserts = given->asserts};
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(pass->module, 0));
  tp_status status = TP_OK;
  MlirOperation next;
  size_t n_functions = 0; /* kernels are appended after these and not visited */
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    n_functions++;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); n_functions > 0 && status == TP_OK;
       op = next, n_functions--) {
    next = mlirOperationGetNextInBlock(op);
    if (tp__op_is(op, "func.func") && mlirAttributeIsNull(tp__get(op, TP_ATTR_KERNEL)))
      status = outline_function(&o, op);
  }
  pass->statistics[STAT_OUTLINED] += o.kernels.n_outlined;
  pass->statistics[STAT_KERNELS] += (int64_t)o.kernels.n_kernels;
  tp__outliner_destroy(&o.kernels);
  tp__free(o.ops);
  return status;
}

static const tp_option_row options[] = {
    {"asserts", "false", "true: outline nests that assert, too", TP_BOOL(settings, asserts)},
};

static const tp_statistic_row statistics[] = {
    {"outlined", "loop nests outlined"},
    {"kernels", "distinct nests among them"},
};

const tp_pass_row tp__outline_kernels_row = {
    .name = "tp-outline-kernels",
    .summary = "Outline each loop nest as a function; equal nests share one function",
    .description =
        "Requires: structured ops on buffers. Establishes: each loop nest is a call of a private "
        "function that is not inlined, so that compile time is linear in their number and equal "
        "nests are compiled once. Nests that call functions stay, also those that assert unless "
        "asserts=true, and so do functions that tp-fuse-nests made. Breaks: nothing.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
