/* Outlines loop nests to functions. Equal nests share one function. */
#include "passes/gpu/outline.h"

#include "ir/diagnostics.h"
#include "support/support.h"

#include <stdio.h>
#include <string.h>

enum { MAX_INPUTS = TP_OUTLINE_INPUTS };

/* ---- inputs ---- */

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
  return !mlirOperationIsNull(op) &&
         (tp__op_is(op, "arith.constant") || tp__op_is(op, "complex.constant"));
}

static inputs find_inputs(MlirOperation op) {
  inputs in = {.root = op};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    add_input(&in, mlirOperationGetOperand(op, i));
  tp__walk(op, add_captured, &in);
  return in;
}

/* ---- creating functions ---- */

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

/* Moves the nests of a group into the function itself and marks the function as one kernel. */
static void unwrap(MlirOperation func, MlirOperation group) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(group, 0));
  MlirOperation end = mlirBlockGetTerminator(block), next;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, end);
       op = next) {
    next = mlirOperationGetNextInBlock(op);
    mlirOperationMoveBefore(op, group);
  }
  mlirOperationDestroy(group);
  tp__set(func, TP_ATTR_KERNEL, mlirUnitAttrGet(mlirOperationGetContext(func)));
}

static MlirOperation make_function(tp__outliner *o, MlirOperation op, const inputs *in) {
  MlirContext context = mlirOperationGetContext(o->module);
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
      tp__named(context, "function_type",
                mlirTypeAttrGet(mlirFunctionTypeGet(context, n, types, 0, NULL))),
      tp__named(context, "sym_visibility", tp__attr_string(context, "private")),
      tp__named(context, "passthrough", mlirArrayAttrGet(context, 1, &noinline)),
      tp__named(context, "llvm.linkage", tp__parse_attr(context, "#llvm.linkage<internal>")),
  };
  MlirOperation func = tp__create(&(tp_build){.name = "func.func",
                                              .location = location,
                                              .n_attributes = TP_LEN(attrs),
                                              .attributes = attrs,
                                              .n_regions = 1});
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
  mlirBlockAppendOwnedOperation(
      block, tp__create(&(tp_build){.name = "func.return", .location = location}));
  if (tp__op_is(clone, "scf.execute_region"))
    unwrap(func, clone);
  return func;
}

/* Returns the symbol of the kernel with this body. If no earlier kernel has it, `func` is added to
 * the module. */
static tp_status find_or_add(tp__outliner *o, MlirOperation func, const char *prefix,
                             MlirAttribute *symbol) {
  tp__string text = {0};
  mlirOperationPrint(func, tp__append_part, &text);
  for (size_t i = 0; i < o->n_kernels && !text.failed; i++)
    if (strcmp(o->kernels[i].text, text.text) == 0) {
      tp__string_destroy(&text);
      mlirOperationDestroy(func);
      *symbol = o->kernels[i].symbol;
      return TP_OK;
    }
  if (text.failed ||
      tp__grow((void **)&o->kernels, &o->capacity, o->n_kernels + 1, sizeof *o->kernels) != TP_OK) {
    tp__string_destroy(&text);
    mlirOperationDestroy(func);
    return tp__out_of_memory(o->module);
  }
  char name[160];
  snprintf(name, sizeof name, "%s.%s%zu", prefix, o->kind, o->n_kernels);
  mlirOperationSetInherentAttributeByName(
      func, tp__ref("sym_name"), tp__attr_string(mlirOperationGetContext(o->module), name));
  mlirBlockAppendOwnedOperation(mlirRegionGetFirstBlock(mlirOperationGetRegion(o->module, 0)),
                                func);
  *symbol = mlirFlatSymbolRefAttrGet(mlirOperationGetContext(o->module), tp__ref(name));
  o->kernels[o->n_kernels++] = (tp__outlined){text.text, *symbol};
  return TP_OK;
}

tp_status tp__outline(tp__outliner *o, MlirOperation op, const char *prefix) {
  inputs in = find_inputs(op);
  MlirAttribute symbol = {NULL};
  if (in.overflow)
    return TP_OK; /* left in place: correct, but compiled with the rest of the function */
  TP_TRY(find_or_add(o, make_function(o, op, &in), prefix, &symbol));
  MlirValue arguments[MAX_INPUTS];
  int n = 0;
  for (int i = 0; i < in.n; i++)
    if (!is_constant(in.values[i]))
      arguments[n++] = in.values[i];
  MlirNamedAttribute callee = tp__named(mlirOperationGetContext(o->module), "callee", symbol);
  tp__insert_before(op, tp__create(&(tp_build){.name = "func.call",
                                               .location = mlirOperationGetLocation(op),
                                               .n_operands = n,
                                               .operands = arguments,
                                               .n_attributes = 1,
                                               .attributes = &callee}));
  mlirOperationDestroy(op);
  o->n_outlined++;
  return TP_OK;
}

void tp__outliner_destroy(tp__outliner *o) {
  for (size_t i = 0; i < o->n_kernels; i++)
    tp__free(o->kernels[i].text);
  tp__free(o->kernels);
}
