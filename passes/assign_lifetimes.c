/* When is each allocation in use?
 *
 * Values that may share memory form classes (union-find): a view with its source, and through the structured control flow
 * operands with block arguments, yielded values and results. Addresses (what tp__build_pointer makes) belong to the
 * class of their memref, so that a call of the runtime counts as a use.
 * A use inside a loop that does not contain the allocation counts for the whole loop, because the next iteration may
 * read what this one left. Values carried from one iteration to the next lie in buffers outside the loop
 * (assign_loops.c), so an allocation inside a loop lives within one iteration. */
#include "passes/assign.h"
#include "passes/value_map.h"

#include "support/support.h"

typedef struct class_node {
  int64_t parent;
  int64_t buffer; /* number of an allocation in the class's list, -1 */
} class_node;

typedef struct op_place {
  MlirOperation op;
  int64_t end, parent; /* position of the last op nested in it; position of the enclosing op, -1 */
} op_place;

typedef struct lifetimes {
  MlirOperation func;
  tp__buffers *buffers;
  tp__value_map values; /* value -> node */
  class_node *nodes;
  size_t n_nodes, nodes_capacity;
  op_place *ops; /* by position */
  size_t n_ops, ops_capacity;
  int64_t *first_of_class; /* node of a root -> first buffer of its class, then next[] */
  int64_t *next;
  bool no_memory;
} lifetimes;

/* ---- classes ---- */

static bool is_memref(MlirValue value) { return mlirTypeIsAMemRef(mlirValueGetType(value)); }

static int64_t node_of(lifetimes *l, MlirValue value) {
  int64_t *number = tp__value_add(&l->values, value, -1);
  if (!number || l->no_memory) {
    l->no_memory = true;
    return 0;
  }
  if (*number >= 0)
    return *number;
  if (tp__grow((void **)&l->nodes, &l->nodes_capacity, l->n_nodes + 1, sizeof *l->nodes) != TP_OK) {
    l->no_memory = true;
    return 0;
  }
  *number = (int64_t)l->n_nodes++;
  l->nodes[*number] = (class_node){*number, -1};
  return *number;
}

static int64_t root(lifetimes *l, int64_t node) {
  while (l->nodes[node].parent != node)
    node = l->nodes[node].parent = l->nodes[l->nodes[node].parent].parent;
  return node;
}

static void unite(lifetimes *l, MlirValue a, MlirValue b) {
  int64_t x = node_of(l, a), y = node_of(l, b);
  if (l->no_memory)
    return;
  x = root(l, x);
  y = root(l, y);
  l->nodes[x < y ? y : x].parent = x < y ? x : y;
}

static void unite_memrefs(lifetimes *l, MlirValue a, MlirValue b) {
  if (is_memref(a) && is_memref(b))
    unite(l, a, b);
}

static MlirBlock region_block(MlirOperation op, int region) {
  return mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
}

static void unite_for(lifetimes *l, MlirOperation op) {
  MlirBlock body = region_block(op, 0);
  MlirOperation yield = mlirBlockGetTerminator(body);
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++) {
    MlirValue result = mlirOperationGetResult(op, k);
    unite_memrefs(l, result, mlirOperationGetOperand(op, 3 + k));
    unite_memrefs(l, result, mlirBlockGetArgument(body, 1 + k));
    unite_memrefs(l, result, mlirOperationGetOperand(yield, k));
  }
}

static void unite_while(lifetimes *l, MlirOperation op) {
  MlirBlock before = region_block(op, 0), after = region_block(op, 1);
  MlirOperation condition = mlirBlockGetTerminator(before), yield = mlirBlockGetTerminator(after);
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(op); k++) {
    unite_memrefs(l, mlirOperationGetOperand(op, k), mlirBlockGetArgument(before, k));
    unite_memrefs(l, mlirOperationGetOperand(op, k), mlirOperationGetOperand(yield, k));
  }
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++) {
    unite_memrefs(l, mlirOperationGetResult(op, k), mlirOperationGetOperand(condition, 1 + k));
    unite_memrefs(l, mlirOperationGetResult(op, k), mlirBlockGetArgument(after, k));
  }
}

/* Branches (scf.if, scf.index_switch, ...), and any op that makes memrefs from memrefs. */
static void unite_other(lifetimes *l, MlirOperation op) {
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++) {
    MlirValue result = mlirOperationGetResult(op, k);
    if (!is_memref(result))
      continue;
    node_of(l, result);
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
      unite_memrefs(l, result, mlirOperationGetOperand(op, i));
    for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
      MlirBlock block = region_block(op, (int)r);
      MlirOperation end = mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
      if (!mlirOperationIsNull(end) && k < mlirOperationGetNumOperands(end))
        unite_memrefs(l, result, mlirOperationGetOperand(end, k));
    }
  }
}

/* Addresses: the chain of ops that tp__build_pointer emits. */
static void unite_address(lifetimes *l, MlirOperation op) {
  static const char *const steps[] = {"arith.index_cast", "arith.addi", "llvm.inttoptr"};
  MlirValue operand = mlirOperationGetNumOperands(op) > 0 ? mlirOperationGetOperand(op, 0) : (MlirValue){NULL};
  bool address = tp__op_is(op, "memref.extract_aligned_pointer_as_index");
  for (int i = 0; i < TP_LEN(steps); i++)
    address |= tp__op_is(op, steps[i]) && tp__value_find(&l->values, operand);
  if (address)
    unite(l, mlirOperationGetResult(op, 0), operand);
}

/* ---- numbering and collecting ---- */

static tp_status add_alloc(lifetimes *l, MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirShapedTypeHasStaticShape(type) || tp__element_size(tp__element_type(type)) == 0)
    return tp__error(op, TP_UNSUPPORTED, "a buffer whose size is known only at run time; programs have static memory");
  int64_t node = node_of(l, mlirOperationGetResult(op, 0));
  if (l->no_memory ||
      tp__grow((void **)&l->buffers->items, &l->buffers->capacity, l->buffers->n + 1, sizeof *l->buffers->items) != TP_OK)
    return tp__error(op, TP_NO_MEMORY, "memory ran out");
  l->nodes[node].buffer = (int64_t)l->buffers->n;
  l->buffers->items[l->buffers->n++] =
      (tp__buffer){.alloc = op, .bytes = tp__memref_bytes(type), .first = INT64_MAX, .last = -1, .output = -1};
  return TP_OK;
}

static tp_status number_ops(lifetimes *l, MlirOperation op, int64_t parent) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    if (!mlirBlockIsNull(block) && !mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
      return tp__error(op, TP_UNSUPPORTED, "control flow by branches (cf); express it by scf.if, scf.for and scf.while");
    if (mlirBlockIsNull(block))
      continue;
    for (MlirOperation o = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(o); o = mlirOperationGetNextInBlock(o)) {
      if (tp__grow((void **)&l->ops, &l->ops_capacity, l->n_ops + 1, sizeof *l->ops) != TP_OK)
        return tp__error(op, TP_NO_MEMORY, "memory ran out");
      int64_t position = (int64_t)l->n_ops++;
      l->ops[position] = (op_place){o, position, parent};
      tp_status status = tp__op_is(o, "memref.alloc") ? add_alloc(l, o) : TP_OK;
      if (tp__op_is(o, "scf.for"))
        unite_for(l, o);
      else if (tp__op_is(o, "scf.while"))
        unite_while(l, o);
      else
        unite_other(l, o);
      unite_address(l, o);
      if (status == TP_OK)
        status = number_ops(l, o, position);
      if (status != TP_OK)
        return status;
      l->ops[position].end = (int64_t)l->n_ops - 1;
    }
  }
  return TP_OK;
}

/* ---- uses ---- */

/* The class's buffers as a list. */
static bool list_classes(lifetimes *l) {
  l->first_of_class = tp__calloc(l->n_nodes + 1, sizeof *l->first_of_class);
  l->next = tp__calloc(l->buffers->n + 1, sizeof *l->next);
  if (!l->first_of_class || !l->next)
    return false;
  for (size_t i = 0; i < l->n_nodes; i++)
    l->first_of_class[i] = -1;
  for (size_t i = 0; i < l->n_nodes; i++) {
    int64_t buffer = l->nodes[i].buffer;
    if (buffer < 0)
      continue;
    int64_t r = root(l, (int64_t)i);
    l->next[buffer] = l->first_of_class[r];
    l->first_of_class[r] = buffer;
  }
  return true;
}

static int64_t position_of(lifetimes *l, MlirOperation op, int64_t from, int64_t to) {
  for (int64_t p = from; p <= to; p++)
    if (mlirOperationEqual(l->ops[p].op, op))
      return p;
  return from;
}

static void add_use(lifetimes *l, tp__buffer *buffer, int64_t alloc_at, int64_t position) {
  int64_t outermost = position;
  for (int64_t p = l->ops[position].parent; p >= 0 && !(p < alloc_at && alloc_at <= l->ops[p].end); p = l->ops[p].parent)
    outermost = p;
  buffer->first = buffer->first < outermost ? buffer->first : outermost;
  buffer->last = buffer->last > l->ops[outermost].end ? buffer->last : l->ops[outermost].end;
}

static bool is_collective(MlirOperation op) {
  return tp__op_is(op, "func.call") &&
         tp__ref_is(mlirFlatSymbolRefAttrGetValue(tp__inherent(op, "callee")), "tprt_abi_collective");
}

static void collect_uses(lifetimes *l, const int64_t *alloc_at) {
  for (int64_t p = 0; p < (int64_t)l->n_ops; p++) {
    MlirOperation op = l->ops[p].op;
    if (tp__op_is(op, "memref.alloc"))
      continue;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
      int64_t *node = tp__value_find(&l->values, mlirOperationGetOperand(op, i));
      if (!node)
        continue;
      for (int64_t b = l->first_of_class[root(l, *node)]; b >= 0; b = l->next[b]) {
        add_use(l, l->buffers->items + b, alloc_at[b], p);
        l->buffers->items[b].registered |= is_collective(op);
      }
    }
  }
}

tp_status tp__find_buffers(MlirOperation func, tp__buffers *buffers) {
  lifetimes l = {.func = func, .buffers = buffers};
  int64_t *alloc_at = NULL;
  tp_status status = number_ops(&l, func, -1);
  if (status == TP_OK) {
    alloc_at = tp__calloc(buffers->n + 1, sizeof *alloc_at);
    if (l.no_memory || !alloc_at || !list_classes(&l))
      status = tp__error(func, TP_NO_MEMORY, "memory ran out");
  }
  int64_t from = 0;
  for (size_t b = 0; status == TP_OK && b < buffers->n; b++) /* both lists are in pre-order */
    from = alloc_at[b] = position_of(&l, buffers->items[b].alloc, from, (int64_t)l.n_ops - 1);
  if (status == TP_OK)
    collect_uses(&l, alloc_at);
  tp__free(alloc_at);
  tp__free(l.first_of_class);
  tp__free(l.next);
  tp__free(l.nodes);
  tp__free(l.ops);
  tp__value_map_destroy(&l.values);
  return status;
}
