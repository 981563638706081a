/* tp-outline-kernels: each loop nest in a function of its own.
 *
 * A training step is one function of thousands of loops, and several analyses of LLVM (scalar evolution above all) are quadratic in that
 * number. Outlined, compile time is linear, and equal nests of repeated layers are compiled once. */
#include "passes/table.h"

#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

enum { MAX_INPUTS = 64 };

typedef struct kernel {
  char *text; /* printed body: equal texts are equal kernels */
  MlirAttribute symbol;
} kernel;

typedef struct outliner {
  tp_pass *pass;
  MlirBlock module_block;
  kernel *kernels;
  size_t n_kernels, capacity;
  MlirOperation *ops; /* to be outlined */
  size_t n_ops, op_capacity;
  bool takes_asserts;
} outliner;

enum { STAT_OUTLINED, STAT_KERNELS };

static tp_status out_of_memory(outliner *o) { return tp__error(o->pass->module, TP_NO_MEMORY, "out of memory"); }

/* ---- which ops ---- */

static tp_status refuse_effects(MlirOperation op, void *data) {
  const outliner *o = data;
  bool asserts = !o->takes_asserts && tp__op_is(op, "cf.assert");
  return asserts || tp__op_has_dialect(op, "func") || tp__op_has_dialect(op, "llvm") ? TP_UNSUPPORTED : TP_OK;
}

static bool is_nest(outliner *o, MlirOperation op) {
  return tp__op_has_dialect(op, "linalg") && mlirOperationGetNumResults(op) == 0 && mlirOperationGetNumRegions(op) == 1 &&
         tp__walk(op, refuse_effects, o) == TP_OK;
}

static tp_status collect(outliner *o, MlirBlock block) {
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    if (is_nest(o, op)) {
      if (tp__grow((void **)&o->ops, &o->op_capacity, o->n_ops + 1, sizeof *o->ops) != TP_OK)
        return out_of_memory(o);
      o->ops[o->n_ops++] = op;
      continue;
    }
    if (tp__op_has_dialect(op, "linalg"))
      continue;
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++)
      for (MlirBlock b = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r)); !mlirBlockIsNull(b);
           b = mlirBlockGetNextInRegion(b)) {
        tp_status status = collect(o, b);
        if (status != TP_OK)
          return status;
      }
  }
  return TP_OK;
}

/* ---- what they read from outside ---- */

typedef struct inputs {
  MlirOperation root;
  int n;
  MlirValue values[MAX_INPUTS];
  bool overflow;
} inputs;

static void add_input(inputs *in, MlirValue value) {
  for (int i = 0; i < in->n; i++)
    if (mlirValueEqual(in->values[i], value))
      return;
  if (in->n == MAX_INPUTS)
    in->overflow = true;
  else
    in->values[in->n++] = value;
}

static tp_status add_captured(MlirOperation op, void *data) {
  inputs *in = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (tp__is_captured(in->root, mlirOperationGetOperand(op, i)))
      add_input(in, mlirOperationGetOperand(op, i));
  return TP_OK;
}

static bool is_constant(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  return !mlirOperationIsNull(op) && (tp__op_is(op, "arith.constant") || tp__op_is(op, "complex.constant"));
}

static inputs find_inputs(MlirOperation op) {
  inputs in = {.root = op};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    add_input(&in, mlirOperationGetOperand(op, i));
  tp__walk(op, add_captured, &in);
  return in;
}

/* ---- making kernels ---- */

typedef struct renaming {
  const inputs *in;
  const MlirValue *to;
} renaming;

static tp_status rename_operands(MlirOperation op, void *data) {
  const renaming *r = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    for (int k = 0; k < r->in->n; k++)
      if (mlirValueEqual(mlirOperationGetOperand(op, i), r->in->values[k])) {
        mlirOperationSetOperand(op, i, r->to[k]);
        break;
      }
  return TP_OK;
}

static MlirOperation make_function(outliner *o, MlirOperation op, const inputs *in) {
  MlirContext context = o->pass->context;
  MlirLocation location = mlirOperationGetLocation(op);
  MlirType types[MAX_INPUTS];
  MlirLocation locations[MAX_INPUTS];
  MlirValue to[MAX_INPUTS];
  int n = 0;
  for (int i = 0; i < in->n; i++)
    if (!is_constant(in->values[i])) {
      types[n] = mlirValueGetType(in->values[i]);
      locations[n++] = location;
    }
  MlirAttribute noinline = tp__attr_string(context, "noinline");
  MlirNamedAttribute attrs[] = {
      tp__named(context, "sym_name", tp__attr_string(context, "kernel")),
      tp__named(context, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(context, n, types, 0, NULL))),
      tp__named(context, "sym_visibility", tp__attr_string(context, "private")),
      tp__named(context, "passthrough", mlirArrayAttrGet(context, 1, &noinline)),
      tp__named(context, "llvm.linkage", tp__parse_attr(context, "#llvm.linkage<internal>")),
  };
  MlirOperation func = tp__create(&(tp_build){
      .name = "func.func", .location = location, .n_attributes = TP_LEN(attrs), .attributes = attrs, .n_regions = 1});
  MlirBlock block = mlirBlockCreate(n, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(func, 0), block);
  for (int i = 0, arg = 0; i < in->n; i++) {
    if (is_constant(in->values[i])) {
      MlirOperation clone = mlirOperationClone(tp__defining_op(in->values[i]));
      mlirBlockAppendOwnedOperation(block, clone);
      to[i] = mlirOperationGetResult(clone, 0);
    } else {
      to[i] = mlirBlockGetArgument(block, arg++);
    }
  }
  MlirOperation clone = mlirOperationClone(op);
  mlirBlockAppendOwnedOperation(block, clone);
  renaming r = {in, to};
  rename_operands(clone, &r);
  tp__walk(clone, rename_operands, &r);
  mlirBlockAppendOwnedOperation(block, tp__create(&(tp_build){.name = "func.return", .location = location}));
  return func;
}

static void append_text(MlirStringRef part, void *data) { tp__string_append_bytes(data, part.data, part.length); }

/* The symbol of the kernel with this body: an earlier one, or `func`, which is then added to the module. */
static tp_status find_or_add(outliner *o, MlirOperation func, const char *prefix, MlirAttribute *symbol) {
  tp__string text = {0};
  mlirOperationPrint(func, append_text, &text);
  if (text.failed)
    return out_of_memory(o);
  for (size_t i = 0; i < o->n_kernels; i++)
    if (strcmp(o->kernels[i].text, text.text) == 0) {
      tp__free(text.text);
      mlirOperationDestroy(func);
      *symbol = o->kernels[i].symbol;
      return TP_OK;
    }
  if (tp__grow((void **)&o->kernels, &o->capacity, o->n_kernels + 1, sizeof *o->kernels) != TP_OK)
    return out_of_memory(o);
  char name[160];
  snprintf(name, sizeof name, "%s.kernel%zu", prefix, o->n_kernels);
  mlirOperationSetInherentAttributeByName(func, tp__ref("sym_name"), tp__attr_string(o->pass->context, name));
  mlirBlockAppendOwnedOperation(o->module_block, func);
  *symbol = mlirFlatSymbolRefAttrGet(o->pass->context, tp__ref(name));
  o->kernels[o->n_kernels++] = (kernel){text.text, *symbol};
  o->pass->statistics[STAT_KERNELS]++;
  return TP_OK;
}

static tp_status outline(outliner *o, MlirOperation op, const char *prefix) {
  inputs in = find_inputs(op);
  MlirAttribute symbol = {NULL};
  if (in.overflow)
    return TP_OK; /* stays where it is: correct, only compiled with the rest */
  tp_status status = find_or_add(o, make_function(o, op, &in), prefix, &symbol);
  if (status != TP_OK)
    return status;
  MlirValue arguments[MAX_INPUTS];
  int n = 0;
  for (int i = 0; i < in.n; i++)
    if (!is_constant(in.values[i]))
      arguments[n++] = in.values[i];
  MlirNamedAttribute callee = tp__named(o->pass->context, "callee", symbol);
  tp__insert_before(op, tp__create(&(tp_build){.name = "func.call",
                                               .location = mlirOperationGetLocation(op),
                                               .n_operands = n,
                                               .operands = arguments,
                                               .n_attributes = 1,
                                               .attributes = &callee}));
  mlirOperationDestroy(op);
  o->pass->statistics[STAT_OUTLINED]++;
  return TP_OK;
}

static tp_status outline_function(outliner *o, MlirOperation func) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  char prefix[128];
  if (mlirBlockIsNull(block) || !tp__ref_copy(mlirStringAttrGetValue(tp__inherent(func, "sym_name")), prefix, sizeof prefix))
    return TP_OK;
  o->n_ops = 0;
  tp_status status = collect(o, block);
  for (size_t i = 0; i < o->n_ops && status == TP_OK; i++)
    status = outline(o, o->ops[i], prefix);
  return status;
}

static tp_status run(tp_pass *pass) {
  const char *asserts = tp__pass_option(pass, "asserts");
  outliner o = {.pass = pass,
                .module_block = mlirRegionGetFirstBlock(mlirOperationGetRegion(pass->module, 0)),
                .takes_asserts = strcmp(asserts, "true") == 0};
  if (!o.takes_asserts && strcmp(asserts, "false") != 0)
    return tp__error(pass->module, TP_INVALID_ARGUMENT, "option asserts is '%s'; it takes true or false", asserts);
  tp_status status = TP_OK;
  MlirOperation next;
  size_t n_functions = 0; /* kernels are appended behind these and not visited */
  for (MlirOperation op = mlirBlockGetFirstOperation(o.module_block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    n_functions++;
  for (MlirOperation op = mlirBlockGetFirstOperation(o.module_block); n_functions > 0 && status == TP_OK;
       op = next, n_functions--) {
    next = mlirOperationGetNextInBlock(op);
    if (tp__op_is(op, "func.func"))
      status = outline_function(&o, op);
  }
  for (size_t i = 0; i < o.n_kernels; i++)
    tp__free(o.kernels[i].text);
  tp__free(o.kernels);
  tp__free(o.ops);
  return status;
}

static const tp_option_row options[] = {
    {"asserts", "false", "true: nests that assert, too"},
};

static const tp_statistic_row statistics[] = {
    {"outlined", "loop nests outlined"},
    {"kernels", "different ones among them"},
};

const tp_pass_row tp__outline_kernels_row = {
    .name = "tp-outline-kernels",
    .summary = "Put each loop nest into a function of its own, equal ones into the same",
    .description =
        "Requires: structured ops on buffers. Establishes: each is a call of a private function that is not inlined, so that "
        "compile time is linear in their number and equal nests are compiled once. Ops that call stay, and those that assert "
        "unless "
        "asserts=true. Breaks: nothing.",
    .options = options,
    .n_options = TP_LEN(options),
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
