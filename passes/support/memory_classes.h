/* Alias analysis after bufferization, before buffers have addresses. */
#ifndef TP_PASSES_MEMORY_CLASSES_H
#define TP_PASSES_MEMORY_CLASSES_H

#include "passes/support/value_map.h"

/* Union-find over memrefs and addresses. A zeroed struct is empty. Free it with
 * tp__memory_classes_destroy. */
typedef struct tp__memory_classes {
  tp__value_map values; /* value -> node */
  int64_t *parents;     /* parents of nodes */
  size_t n_nodes, capacity;
  bool no_memory; /* sticky */
} tp__memory_classes;

/* Adds an op. Ops must be added in pre-order. A view joins the class of its source, and an address
 * (from tp__build_pointer) that of its memref. Across structured control flow, operands, block
 * arguments, yielded values and results share a class. */
void tp__memory_classes_add(tp__memory_classes *c, MlirOperation op);
/* A visitor: the same with `classes`, a tp__memory_classes. Never fails. */
tp_status tp__memory_classes_visit(MlirOperation op, void *classes);
/* The node of a memref, made on first use. */
int64_t tp__memory_node(tp__memory_classes *c, MlirValue value);
/* Returns the class of a value, a number below n_nodes that is stable until something is added. -1
 * if the value has no node. */
int64_t tp__memory_class(tp__memory_classes *c, MlirValue value);
void tp__memory_classes_destroy(tp__memory_classes *c);

#endif
