/* Which values may share memory: after bufferization, before buffers have places. */
#ifndef TP_PASSES_MEMORY_CLASSES_H
#define TP_PASSES_MEMORY_CLASSES_H

#include "passes/support/value_map.h"

/* Union-find over memrefs and addresses. A zeroed struct is empty; end it with
 * tp__memory_classes_destroy. */
typedef struct tp__memory_classes {
  tp__value_map values; /* value -> node */
  int64_t *parents;     /* of nodes */
  size_t n_nodes, capacity;
  bool no_memory; /* sticky */
} tp__memory_classes;

/* Takes an op into account; ops have to come in pre-order. A view is in the class of its source;
 * through structured control flow operands are in that of block arguments, yielded values and
 * results; an address (what tp__build_pointer makes) in that of its memref. */
void tp__memory_classes_add(tp__memory_classes *c, MlirOperation op);
/* A visitor: the same with `classes`, a tp__memory_classes. Never fails. */
tp_status tp__memory_classes_visit(MlirOperation op, void *classes);
/* The node of a memref, made on first use. */
int64_t tp__memory_node(tp__memory_classes *c, MlirValue value);
/* The class of a value, below n_nodes and the same as long as nothing is added; -1 for what no op
 * added and that has no node. */
int64_t tp__memory_class(tp__memory_classes *c, MlirValue value);
void tp__memory_classes_destroy(tp__memory_classes *c);

#endif
