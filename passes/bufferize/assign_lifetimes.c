/* Computes the live range of each allocation.
 *
 * Every use of a value that may alias the allocation counts (memory_classes.h), including runtime
 * calls that take its address. A use inside a loop that does not contain the allocation extends the
 * range to the whole loop, because the next iteration may read what this one wrote. Loop-carried
 * values are in buffers outside the loop (assign_loops.c), so an allocation inside a loop lives
 * within one iteration. */
#include "passes/bufferize/assign.h"
#include "passes/support/memory_classes.h"

#include "support/support.h"

typedef struct op_place {
  MlirOperation op;
  int64_t end, parent; /* position of the last nested op; position of the enclosing op, or -1 */
} op_place;

typedef struct lifetimes {
  MlirOperation func;
  tp__buffers *buffers;
  tp__memory_classes classes;
  op_place *ops; /* by position */
  size_t n_ops, ops_capacity;
  int64_t *first_of_class; /* by class: its first buffer, continued by next[]; -1 ends the list */
  int64_t *next;
} lifetimes;

/* ---- numbering and collecting ---- */

static tp_status add_alloc(lifetimes *l, MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (!mlirShapedTypeHasStaticShape(type) || tp__element_size(tp__element_type(type)) == 0)
    return tp__error(
        op, TP_UNSUPPORTED,
        "allocates a buffer without a static size; compiled programs have static memory only");
  if (tp__grow((void **)&l->buffers->items, &l->buffers->capacity, l->buffers->n + 1,
               sizeof *l->buffers->items) != TP_OK)
    return tp__out_of_memory(op);
  l->buffers->items[l->buffers->n++] = (tp__buffer){
      .alloc = op, .bytes = tp__memref_bytes(type), .first = INT64_MAX, .last = -1, .output = -1};
  return TP_OK;
}

static tp_status number_ops(lifetimes *l, MlirOperation op, int64_t parent) {
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(op); r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    if (!mlirBlockIsNull(block) && !mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
      return tp__error(
          op, TP_UNSUPPORTED,
          "has unstructured control flow (cf branches); use scf.if, scf.for and scf.while instead");
    if (mlirBlockIsNull(block))
      continue;
    for (MlirOperation o = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o)) {
      if (tp__grow((void **)&l->ops, &l->ops_capacity, l->n_ops + 1, sizeof *l->ops) != TP_OK)
        return tp__out_of_memory(op);
      int64_t position = (int64_t)l->n_ops++;
      l->ops[position] = (op_place){o, position, parent};
      tp_status status = tp__op_is(o, "memref.alloc") ? add_alloc(l, o) : TP_OK;
      tp__memory_classes_add(&l->classes, o);
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

/* Builds a linked list of the buffers in each class. */
static bool list_classes(lifetimes *l) {
  for (size_t b = 0; b < l->buffers->n; b++)
    (void)tp__memory_node(&l->classes, mlirOperationGetResult(l->buffers->items[b].alloc, 0));
  l->first_of_class = tp__calloc(l->classes.n_nodes + 1, sizeof *l->first_of_class);
  l->next = tp__calloc(l->buffers->n + 1, sizeof *l->next);
  if (!l->first_of_class || !l->next || l->classes.no_memory)
    return false;
  for (size_t i = 0; i < l->classes.n_nodes; i++)
    l->first_of_class[i] = -1;
  for (size_t b = 0; b < l->buffers->n; b++) {
    int64_t *first = &l->first_of_class[tp__memory_class(
        &l->classes, mlirOperationGetResult(l->buffers->items[b].alloc, 0))];
    l->next[b] = *first;
    *first = (int64_t)b;
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
  for (int64_t p = l->ops[position].parent; p >= 0 && !(p < alloc_at && alloc_at <= l->ops[p].end);
       p = l->ops[p].parent)
    outermost = p;
  buffer->first = buffer->first < outermost ? buffer->first : outermost;
  buffer->last = buffer->last > l->ops[outermost].end ? buffer->last : l->ops[outermost].end;
}

static void collect_uses(lifetimes *l, const int64_t *alloc_at) {
  for (int64_t p = 0; p < (int64_t)l->n_ops; p++) {
    MlirOperation op = l->ops[p].op;
    if (tp__op_is(op, "memref.alloc"))
      continue;
    bool communicates =
        tp__runtime_call(op) == TP_CALL_COLLECTIVE || tp__runtime_call(op) == TP_CALL_FUSED;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
      int64_t number = tp__memory_class(&l->classes, mlirOperationGetOperand(op, i));
      for (int64_t b = number < 0 ? -1 : l->first_of_class[number]; b >= 0; b = l->next[b]) {
        add_use(l, l->buffers->items + b, alloc_at[b], p);
        l->buffers->items[b].registered |= communicates;
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
    if (!alloc_at || !list_classes(&l))
      status = tp__out_of_memory(func);
  }
  int64_t from = 0;
  for (size_t b = 0; status == TP_OK && b < buffers->n; b++) /* both lists are in pre-order */
    from = alloc_at[b] = position_of(&l, buffers->items[b].alloc, from, (int64_t)l.n_ops - 1);
  if (status == TP_OK)
    collect_uses(&l, alloc_at);
  tp__free(alloc_at);
  tp__free(l.first_of_class);
  tp__free(l.next);
  tp__free(l.ops);
  tp__memory_classes_destroy(&l.classes);
  return status;
}
