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
  bool moves[MAX_INPUTS]; /* a part of a buffer, whose offset is computed inside */
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

static int find_input(const inputs *in, MlirValue value) {
  int i = 0;
  while (i < in->n && !mlirValueEqual(in->values[i], value))
    i++;
  return i;
}

/* True if a number depends on nothing but constants and loads from inputs. */
static bool is_computed(const inputs *in, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) || is_constant(value))
    return !mlirOperationIsNull(op);
  if (tp__op_is(op, "memref.load"))
    return mlirOperationGetNumOperands(op) == 1 &&
           find_input(in, mlirOperationGetOperand(op, 0)) < in->n;
  bool ok = tp__op_has_dialect(op, "arith");
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && ok; i++)
    ok = is_computed(in, mlirOperationGetOperand(op, i));
  return ok;
}

/* Marks the parts of buffers that a marked nest accesses, if their offsets can be computed
 * inside. */
static tp_status mark_moves(MlirOperation op, void *data) {
  inputs *in = data;
  if (mlirAttributeIsNull(tp__get(op, TP_ATTR_OFFSETS)))
    return TP_OK;
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); k++) {
    MlirValue value = mlirOperationGetOperand(op, k);
    MlirOperation view = tp__defining_op(value);
    int i = find_input(in, value);
    if (i == in->n || mlirOperationIsNull(view) || !tp__op_is(view, "memref.subview"))
      continue;
    intptr_t n = mlirOperationGetNumOperands(view);
    bool moves = n > 1;
    for (intptr_t j = 1; j < n && moves; j++)
      moves = is_computed(in, mlirOperationGetOperand(view, j));
    in->moves[i] = moves;
  }
  return TP_OK;
}

static inputs find_inputs(MlirOperation op) {
  inputs in = {.root = op};
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    add_input(&in, mlirOperationGetOperand(op, i));
  tp__walk(op, add_captured, &in);
  mark_moves(op, &in);
  tp__walk(op, mark_moves, &in);
  for (int i = 0, n = in.n; i < n; i++)
    if (in.moves[i])
      add_input(&in, mlirOperationGetOperand(tp__defining_op(in.values[i]), 0));
  return in;
}

/* True if the caller passes this input. */
static bool is_argument(const inputs *in, int i) {
  return !in->moves[i] && !is_constant(in->values[i]);
}

/* Erases ops without uses from the one of this value on. */
static void erase_unused(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  if (mlirOperationIsNull(op) || !mlirOpOperandIsNull(mlirValueGetFirstUse(value)))
    return;
  MlirValue operands[1 + TP_MAX_RANK * 3];
  int n = (int)mlirOperationGetNumOperands(op);
  if (n > TP_LEN(operands) || !(tp__op_is(op, "memref.subview") || tp__op_is(op, "memref.load") ||
                                tp__op_has_dialect(op, "arith")))
    return;
  for (int i = 0; i < n; i++)
    operands[i] = mlirOperationGetOperand(op, i);
  mlirOperationDestroy(op);
  for (int i = 0; i < n; i++)
    erase_unused(operands[i]);
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

/* Copies a value that moves, and what it is computed from, to the end of the block. `to` has the
 * inputs inside, but for those that move. */
static MlirValue copy_inside(MlirBlock block, const inputs *in, const MlirValue *to,
                             MlirValue value) {
  int i = find_input(in, value);
  if (i < in->n && !in->moves[i])
    return to[i];
  MlirOperation op = mlirOperationClone(tp__defining_op(value));
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); k++)
    mlirOperationSetOperand(op, k, copy_inside(block, in, to, mlirOperationGetOperand(op, k)));
  mlirBlockAppendOwnedOperation(block, op);
  return mlirOperationGetResult(op, 0);
}

static MlirOperation make_function(tp__outliner *o, MlirOperation op, const inputs *in) {
  MlirContext context = mlirOperationGetContext(o->module);
  MlirLocation location = mlirOperationGetLocation(op);
  MlirType types[MAX_INPUTS];
  MlirLocation locations[MAX_INPUTS];
  MlirValue to[MAX_INPUTS];
  int n = 0;
  for (int i = 0; i < in->n; i++)
    if (is_argument(in, i)) {
      types[n] = mlirValueGetType(in->values[i]);
      locations[n++] = location;
    }
  MlirAttribute noinline = tp__attr_string(context, "noinline");
  MlirOperation func =
      tp__create_private_func(location, "kernel", mlirFunctionTypeGet(context, n, types, 0, NULL));
  tp__set(func, "passthrough", mlirArrayAttrGet(context, 1, &noinline));
  tp__set(func, "llvm.linkage", tp__parse_attr(context, "#llvm.linkage<internal>"));
  MlirBlock block = mlirBlockCreate(n, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(func, 0), block);
  for (int i = 0, arg = 0; i < in->n; i++) {
    if (is_constant(in->values[i])) {
      MlirOperation clone = mlirOperationClone(tp__defining_op(in->values[i]));
      mlirBlockAppendOwnedOperation(block, clone);
      to[i] = mlirOperationGetResult(clone, 0);
    } else if (is_argument(in, i)) {
      to[i] = mlirBlockGetArgument(block, arg++);
    }
  }
  for (int i = 0; i < in->n; i++)
    if (in->moves[i])
      to[i] = copy_inside(block, in, to, in->values[i]);
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
    if (is_argument(&in, i))
      arguments[n++] = in.values[i];
  MlirNamedAttribute callee = tp__named(mlirOperationGetContext(o->module), "callee", symbol);
  tp__insert_before(op, tp__create(&(tp_build){.name = "func.call",
                                               .location = mlirOperationGetLocation(op),
                                               .n_operands = n,
                                               .operands = arguments,
                                               .n_attributes = 1,
                                               .attributes = &callee}));
  mlirOperationDestroy(op);
  for (int i = 0; i < in.n; i++)
    if (in.moves[i])
      erase_unused(in.values[i]);
  o->n_outlined++;
  return TP_OK;
}

void tp__outliner_destroy(tp__outliner *o) {
  for (size_t i = 0; i < o->n_kernels; i++)
    tp__free(o->kernels[i].text);
  tp__free(o->kernels);
}
