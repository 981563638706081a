/* tp-embed-kernels: compiles the module of kernels to PTX and stores it as a constant of the
 * program. */
#include "passes/registry.h"
#include "passes/support/lower.h"

#include "ir/compile_ptx.h"
#include "ir/diagnostics.h"

#include <mlir-c/Dialect/LLVM.h>
#include <string.h>

static const char symbol[] = "tp.ptx";

static MlirOperation find_kernels(MlirOperation module) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "builtin.module") &&
        tp__ref_is(mlirStringAttrGetValue(tp__inherent(op, "sym_name")), "tp_kernels"))
      return op;
  return (MlirOperation){NULL};
}

static void add_constant(MlirOperation kernels, const tp_bytes *ptx) {
  MlirContext context = mlirOperationGetContext(kernels);
  MlirType i8 = mlirIntegerTypeGet(context, 8), i32 = mlirIntegerTypeGet(context, 32);
  MlirNamedAttribute attrs[] = {
      tp__named(context, "sym_name", tp__attr_string(context, symbol)),
      tp__named(context, "global_type",
                mlirTypeAttrGet(mlirLLVMArrayTypeGet(i8, (unsigned)ptx->size))),
      tp__named(context, "linkage", tp__parse_attr(context, "#llvm.linkage<internal>")),
      tp__named(context, "constant", mlirUnitAttrGet(context)),
      tp__named(context, "value",
                mlirStringAttrGet(context, mlirStringRefCreate(ptx->data, ptx->size))),
      tp__named(context, "addr_space", mlirIntegerAttrGet(i32, 0)),
  };
  tp__insert_before(kernels, tp__create(&(tp_build){.name = "llvm.mlir.global",
                                                    .location = mlirOperationGetLocation(kernels),
                                                    .n_attributes = TP_LEN(attrs),
                                                    .attributes = attrs,
                                                    .n_regions = 1}));
}

static tp_status find_enter(MlirOperation op, void *data) {
  if (tp__runtime_call(op) == TP_CALL_ENTER)
    *(MlirOperation *)data = op;
  return TP_OK;
}

/* Passes the PTX to the runtime before the first launch. */
static tp_status load_kernels(MlirOperation func, void *data) {
  tp_pass *pass = data;
  MlirOperation enter = {NULL};
  tp__lowering l;
  tp__lowering_begin(&l, pass->module, func);
  (void)tp__walk(func, find_enter, &enter); /* the visitor does not fail */
  if (mlirOperationIsNull(enter))
    return tp__error(func, TP_INVALID_ARGUMENT,
                     "does not enter the runtime; run tp-assign-buffers and tp-map-kernels first");
  MlirOperation where = mlirOperationGetNextInBlock(enter);
  MlirNamedAttribute name =
      tp__named(l.context, "global_name", mlirFlatSymbolRefAttrGet(l.context, tp__ref(symbol)));
  MlirValue address = mlirOperationGetResult(
      tp__build(where, "llvm.mlir.addressof", 0, NULL, 1, &l.ptr, 1, &name), 0);
  tp__build_call(&l, where, "tprt_abi_kernels", 2, (MlirValue[]){l.ctx, address}, l.i32);
  return TP_OK;
}

static bool is_chip(const char *chip) {
  return strlen(chip) > 3 && strlen(chip) < 8 && strncmp(chip, "sm_", 3) == 0 &&
         strspn(chip + 3, "0123456789") == strlen(chip + 3) &&
         (strlen(chip) > 5 || strcmp(chip, "sm_80") >= 0);
}

typedef struct settings {
  const char *chip;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  MlirOperation kernels = find_kernels(pass->module);
  tp_bytes ptx = {0};
  if (!is_chip(given->chip))
    return tp__error(pass->module, TP_INVALID_ARGUMENT,
                     "chip '%s' is not known; use sm_80 or a later compute capability",
                     given->chip);
  if (mlirOperationIsNull(kernels))
    return TP_OK;
  tp_status status = tp__compile_ptx(kernels, given->chip, &ptx);
  if (status == TP_OK) {
    add_constant(kernels, &ptx);
    mlirOperationDestroy(kernels);
    status = tp__each_entry(pass->module, load_kernels, pass);
    pass->statistics[0] += (int64_t)ptx.size;
  }
  tp_bytes_clear(&ptx);
  return status;
}

static const tp_option_row options[] = {
    {"chip", "sm_80", "oldest compute capability on which the kernels run",
     TP_TEXT(settings, chip, "sm_N")},
};

static const tp_statistic_row statistics[] = {{"bytes", "size of the PTX"}};

const tp_pass_row tp__embed_kernels_row = {
    .name = "tp-embed-kernels",
    .summary = "Compile the kernels of a program to PTX and embed the PTX in the program",
    .description = "Requires: the module @tp_kernels of tp-map-kernels, in the LLVM dialect. "
                   "Establishes: its PTX is the constant @tp.ptx, which every program passes to "
                   "the runtime when it starts. No CUDA installation is needed. Breaks: nothing; "
                   "kernels that call library functions are rejected.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
