/* Alias classes: values that may share memory are in one class (union-find). Different allocations
 * never alias; arguments do not either, because a program only reads them. */
#include "passes/support/memory_classes.h"

#include "support/support.h"

static bool is_memref(MlirValue value) { return mlirTypeIsAMemRef(mlirValueGetType(value)); }

int64_t tp__memory_node(tp__memory_classes *c, MlirValue value) {
  int64_t *number = tp__value_add(&c->values, value, -1);
  if (!number || c->no_memory) {
    c->no_memory = true;
    return 0;
  }
  if (*number >= 0)
    return *number;
  if (tp__grow((void **)&c->parents, &c->capacity, c->n_nodes + 1, sizeof *c->parents) != TP_OK) {
    c->no_memory = true;
    return 0;
  }
  *number = (int64_t)c->n_nodes++;
  c->parents[*number] = *number;
  return *number;
}

static int64_t root(tp__memory_classes *c, int64_t node) {
  while (c->parents[node] != node)
    node = c->parents[node] = c->parents[c->parents[node]];
  return node;
}

static void unite(tp__memory_classes *c, MlirValue a, MlirValue b) {
  int64_t x = tp__memory_node(c, a), y = tp__memory_node(c, b);
  if (c->no_memory)
    return;
  x = root(c, x);
  y = root(c, y);
  c->parents[x < y ? y : x] = x < y ? x : y;
}

static void unite_memrefs(tp__memory_classes *c, MlirValue a, MlirValue b) {
  if (is_memref(a) && is_memref(b))
    unite(c, a, b);
}

static void unite_for(tp__memory_classes *c, MlirOperation op) {
  MlirBlock body = tp__region_block(op, 0);
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++) {
    MlirValue result = mlirOperationGetResult(op, k);
    unite_memrefs(c, result, mlirOperationGetOperand(op, 3 + k));
    unite_memrefs(c, result, mlirBlockGetArgument(body, 1 + k));
    unite_memrefs(c, result, mlirOperationGetOperand(yield, k));
  }
}

static void unite_while(tp__memory_classes *c, MlirOperation op) {
  MlirBlock before = tp__region_block(op, 0), after = tp__region_block(op, 1);
  MlirOperation condition = mlirBlockGetTerminator(before), yield = mlirBlockGetTerminator(after);
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); k++) {
    unite_memrefs(c, mlirOperationGetOperand(op, k), mlirBlockGetArgument(before, k));
    unite_memrefs(c, mlirOperationGetOperand(op, k), mlirOperationGetOperand(yield, k));
  }
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++) {
    unite_memrefs(c, mlirOperationGetResult(op, k), mlirOperationGetOperand(condition, 1 + k));
    unite_memrefs(c, mlirOperationGetResult(op, k), mlirBlockGetArgument(after, k));
  }
}

/* Handles branches (scf.if, scf.index_switch, ...) and all other ops with memref results. */
static void unite_other(tp__memory_classes *c, MlirOperation op) {
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++) {
    MlirValue result = mlirOperationGetResult(op, k);
    if (!is_memref(result))
      continue;
    tp__memory_node(c, result);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
      unite_memrefs(c, result, mlirOperationGetOperand(op, i));
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
      MlirBlock block = tp__region_block(op, (int)r);
      MlirOperation end =
          mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
      if (!mlirOperationIsNull(end) && k < mlirOperationGetNumOperands(end))
        unite_memrefs(c, result, mlirOperationGetOperand(end, k));
    }
  }
}

/* Handles addresses: the ops that tp__build_pointer emits. */
static void unite_address(tp__memory_classes *c, MlirOperation op) {
  static const char *const steps[] = {"arith.index_cast", "arith.addi", "llvm.inttoptr"};
  MlirValue operand =
      mlirOperationGetNumOperands(op) > 0 ? mlirOperationGetOperand(op, 0) : (MlirValue){NULL};
  bool address = tp__op_is(op, "memref.extract_aligned_pointer_as_index");
  for (int i = 0; i < TP_LEN(steps); i++)
    address |= tp__op_is(op, steps[i]) && tp__value_find(&c->values, operand);
  if (address)
    unite(c, mlirOperationGetResult(op, 0), operand);
}

void tp__memory_classes_add(tp__memory_classes *c, MlirOperation op) {
  if (tp__op_is(op, "scf.for"))
    unite_for(c, op);
  else if (tp__op_is(op, "scf.while"))
    unite_while(c, op);
  else
    unite_other(c, op);
  unite_address(c, op);
}

tp_status tp__memory_classes_visit(MlirOperation op, void *classes) {
  tp__memory_classes_add(classes, op);
  return TP_OK;
}

int64_t tp__memory_class(tp__memory_classes *c, MlirValue value) {
  const int64_t *node = tp__value_find(&c->values, value);
  return node && *node >= 0 ? root(c, *node) : -1;
}

void tp__memory_classes_destroy(tp__memory_classes *c) {
  tp__free(c->parents);
  tp__value_map_destroy(&c->values);
}
