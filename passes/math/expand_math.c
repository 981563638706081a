/* tp-expand-math: expands libm functions to arithmetic.
 *
 * A loop with libm calls is not vectorized, and GPUs have no libm. This pass expands each function
 * to branch-free arithmetic and inlines it at its uses, so that the surrounding loop becomes vector
 * code. An element gets the same bits in a vector, in the remainder loop, and on every device. The
 * arithmetic uses only additions, multiplications (fused where the processor supports it),
 * divisions, square roots, comparisons and bit operations, none of which needs a library. log1p and
 * expm1 of f64, which upstream lowers to log(1 + x) and exp(x) - 1, use libm's log and exp on
 * processors. Infinities, NaN, denormals and signed zeros behave as in C. */
#include "passes/math/expand_math.h"
#include "passes/registry.h"
#include "passes/support/from_text.h"
#include "passes/support/lower.h"

#include "ir/diagnostics.h"

#include <string.h>

enum { STAT_EXPANDED, MAX_FUNCTIONS = 16 };

static const tp__function_table *const tables[] = {
    &tp__math_of_all, &tp__math_powers,     &tp__math_angles, &tp__math_arcs,
    &tp__math_errors, &tp__math_hyperbolic, &tp__math_exact};

/* Ops that become LLVM intrinsics. Upstream lowers them to comparisons, in which LLVM does not
 * recognize a reduction. */
typedef struct intrinsic_row {
  const char *op, *intrinsic;
} intrinsic_row;

static const intrinsic_row intrinsics[] = {
    {"arith.maximumf", "llvm.intr.maximum"},
    {"arith.minimumf", "llvm.intr.minimum"},
};

static const intrinsic_row *find_intrinsic(MlirOperation op) {
  if (!tp__op_has_dialect(op, "arith") || mlirOperationGetNumResults(op) != 1)
    return NULL;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  for (int i = 0; i < TP_LEN(intrinsics); i++)
    if (tp__op_is(op, intrinsics[i].op) && (mlirTypeIsAF32(type) || mlirTypeIsAF64(type)))
      return &intrinsics[i];
  return NULL;
}

typedef struct expansion {
  tp_pass *pass;
  bool for_gpu;
  bool added[TP_LEN(tables)][MAX_FUNCTIONS]; /* functions that the module already contains */
  tp_op_list ops;
} expansion;

static const tp__function_row *find_function(const expansion *e, MlirOperation op, int *table) {
  if (!tp__op_has_dialect(op, "math") && !tp__op_is(op, "arith.remf"))
    return NULL;
  for (*table = 0; *table < (int)TP_LEN(tables); ++*table) {
    if (tables[*table]->for_gpus && !e->for_gpu)
      continue;
    for (int i = 0; i < tables[*table]->n; i++) {
      const tp__function_row *row = tables[*table]->rows + i;
      if (tp__op_is(op, row->op) && row->is_type(mlirValueGetType(mlirOperationGetResult(op, 0))))
        return row;
    }
  }
  return NULL;
}

/* True for a math.sincos that must be split into sine and cosine, which is needed on GPUs. On
 * processors it becomes an LLVM intrinsic that calls libm. */
static bool is_pair(const expansion *e, MlirOperation op) {
  return e->for_gpu && tp__op_is(op, "math.sincos");
}

static tp_status collect(MlirOperation op, void *data) {
  expansion *e = data;
  int table;
  bool is = is_pair(e, op) || find_function(e, op, &table) || find_intrinsic(op);
  return is ? tp__op_list_add(&e->ops, op) : TP_OK;
}

static bool is_product(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  return !mlirOperationIsNull(op) && tp__op_is(op, "arith.mulf");
}

/* Allows a product and a sum to be fused where the processor supports it: a quarter faster, and one
 * rounding less. Excludes sums of two products, because which of the two is fused could depend on
 * the surrounding loop. */
static tp_status allow_contraction(MlirOperation op, void *data) {
  bool is_sum = tp__op_is(op, "arith.addf") || tp__op_is(op, "arith.subf");
  if (is_sum && is_product(mlirOperationGetOperand(op, 0)) &&
      is_product(mlirOperationGetOperand(op, 1)))
    return TP_OK;
  if (is_sum || tp__op_is(op, "arith.mulf"))
    mlirOperationSetInherentAttributeByName(op, tp__ref("fastmath"), *(MlirAttribute *)data);
  return TP_OK;
}

static tp_status add_function(const expansion *e, MlirOperation op, const tp__function_row *row) {
  tp__string text = {0}, type = {0};
  int n = (int)mlirOperationGetNumOperands(op);
  tp__append_type(&type, mlirValueGetType(mlirOperationGetResult(op, 0)));
  tp__string_printf(&text, "func.func private @%s(%%v0: %s", row->symbol, tp__string_text(&type));
  if (n > 1)
    tp__string_printf(&text, ", %%v1: %s", tp__string_text(&type));
  tp__string_printf(&text,
                    ") -> %s attributes {llvm.linkage = #llvm.linkage<internal>, passthrough = "
                    "[\"alwaysinline\"]} {\n%s",
                    tp__string_text(&type), row->body ? row->body : "");
  tp__string_destroy(&type);
  if (row->formula &&
      !tp__write_formula(row->formula, row->is_type == mlirTypeIsAF32, e->for_gpu, n, &text) &&
      !text.failed) {
    tp__string_destroy(&text);
    return tp__error(op, TP_INTERNAL, "the formula of @%s cannot be read; please report this",
                     row->symbol);
  }
  tp__string_append(&text, "}\n");
  MlirOperation func = tp__parse_function(op, &text);
  if (mlirOperationIsNull(func))
    return TP_INTERNAL;
  mlirBlockAppendOwnedOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(e->pass->module, 0)),
                                func);
  /* formulas for GPUs rely on every single rounding */
  MlirAttribute contract = tp__parse_attr(e->pass->context, "#arith.fastmath<contract>");
  return e->for_gpu ? TP_OK : tp__walk(func, allow_contraction, &contract);
}

/* Replaces `op` by an op of this name with the same operands. */
static void replace(MlirOperation op, const char *name, int n_attributes,
                    const MlirNamedAttribute *attributes) {
  MlirValue operands[2], result = mlirOperationGetResult(op, 0);
  MlirType type = mlirValueGetType(result);
  int n = (int)mlirOperationGetNumOperands(op);
  for (int i = 0; i < n; i++)
    operands[i] = mlirOperationGetOperand(op, i);
  MlirOperation with = tp__create(&(tp_build){.name = name,
                                              .location = mlirOperationGetLocation(op),
                                              .n_operands = n,
                                              .operands = operands,
                                              .n_results = 1,
                                              .results = &type,
                                              .n_attributes = n_attributes,
                                              .attributes = attributes});
  tp__insert_before(op, with);
  mlirValueReplaceAllUsesOfWith(result, mlirOperationGetResult(with, 0));
  mlirOperationDestroy(op);
}

static void split_pair(MlirOperation op) {
  MlirValue operand = mlirOperationGetOperand(op, 0);
  const char *const names[] = {"math.sin", "math.cos"};
  for (int i = 0; i < TP_LEN(names); i++)
    mlirValueReplaceAllUsesOfWith(
        mlirOperationGetResult(op, i),
        tp__build_one(op, names[i], 1, &operand, mlirValueGetType(operand)));
  mlirOperationDestroy(op);
}

static tp_status expand(expansion *e, MlirOperation op) {
  if (is_pair(e, op)) {
    split_pair(op);
    return TP_OK;
  }
  const intrinsic_row *intrinsic = find_intrinsic(op);
  if (intrinsic) {
    replace(op, intrinsic->intrinsic, 0, NULL);
    return TP_OK;
  }
  int table;
  const tp__function_row *row = find_function(e, op, &table);
  bool *added = &e->added[table][row - tables[table]->rows];
  tp_status status = *added ? TP_OK : add_function(e, op, row);
  *added = true;
  MlirAttribute symbol = mlirFlatSymbolRefAttrGet(e->pass->context, tp__ref(row->symbol));
  MlirNamedAttribute callee = tp__named(e->pass->context, "callee", symbol);
  replace(op, "func.call", 1, &callee);
  e->pass->statistics[STAT_EXPANDED]++;
  return status;
}

typedef struct settings {
  enum { FOR_HOST, FOR_CUDA } target;
} settings;

static tp_status run(tp_pass *pass) {
  const settings *given = pass->options;
  expansion e = {.pass = pass, .for_gpu = given->target == FOR_CUDA};
  tp_status status;
  do { /* added functions may use others */
    e.ops.n = 0;
    status = tp__walk(pass->module, collect, &e);
    for (size_t i = 0; i < e.ops.n && status == TP_OK; i++)
      status = expand(&e, e.ops.items[i]);
  } while (status == TP_OK && e.ops.n > 0);
  tp__free(e.ops.items);
  return status;
}

static const tp_option_row options[] = {
    {"target", "host", "cuda: all functions of math on f32 and f64, and arith.remf",
     TP_CHOICE(settings, target, "host|cuda")},
};

static const tp_statistic_row statistics[] = {{"expanded", "libm calls avoided"}};

const tp_pass_row tp__expand_math_row = {
    .name = "tp-expand-math",
    .summary = "Expand libm functions into arithmetic, so that loops around them are vectorized "
               "and run on GPUs",
    .description = "Requires: math on scalars; narrower floats have been widened. Establishes: "
                   "exp, log, tanh, erf, log1p and expm1 of f32, log1p and expm1 of f64, and all "
                   "functions for GPUs, are calls of private functions without branches, which the "
                   "compiler inlines; arith.maximumf and minimumf are LLVM intrinsics. On CPUs "
                   "other functions stay libm calls. Breaks: nothing; results differ from libm by "
                   "a few units in the last place, in the same way at every place of a tensor.",
    .options = options,
    .n_options = TP_LEN(options),
    .options_size = sizeof(settings),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
