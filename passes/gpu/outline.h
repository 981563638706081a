/* Outlines loop nests to functions. Equal nests share one function. */
#ifndef TP_PASSES_OUTLINE_H
#define TP_PASSES_OUTLINE_H

#include "ir/ir.h"

/* Maximum number of values that a nest may use from outside, and of loads that its offsets may
 * depend on. */
enum { TP_OUTLINE_INPUTS = 64, TP_OUTLINE_LOADS = 16 };

/* Marks a function that is one kernel as a whole. */
#define TP_ATTR_KERNEL "tp.kernel"
/* Marks a nest on parts of buffers whose offsets are computed from numbers in other buffers, which
 * it has as operands, and which nothing changes between their loads and the nest. */
#define TP_ATTR_OFFSETS "tp.offsets"

typedef struct tp__outlined {
  char *text; /* printed body: equal texts are equal kernels */
  MlirAttribute symbol;
} tp__outlined;

/* Initialize only module and kind. Free with tp__outliner_destroy. */
typedef struct tp__outliner {
  MlirOperation module;
  const char *kind; /* functions are named NAME.KIND0, ... */
  tp__outlined *kernels;
  size_t n_kernels, capacity;
  int64_t n_outlined;
} tp__outliner;

/* Replaces `op`, a nest or an scf.execute_region of several, by a call of a private function at the
 * end of the module. Constants are copied into the function, and loads and offsets of nests that
 * TP_ATTR_OFFSETS marks move there; other outside values become arguments.
 * An op that uses more than TP_OUTLINE_INPUTS values stays. `prefix` is the name of the enclosing
 * function. */
tp_status tp__outline(tp__outliner *outliner, MlirOperation op, const char *prefix);
void tp__outliner_destroy(tp__outliner *outliner);

#endif
