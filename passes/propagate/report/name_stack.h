/* The name stack that a framework gives an op as its location: which functions and scopes of the
 * user made it, and whether it computes a gradient. */
#ifndef TP_PASSES_PLAN_REPORT_NAME_STACK_H
#define TP_PASSES_PLAN_REPORT_NAME_STACK_H

#include "support/support.h"

#include <mlir-c/IR.h>

/* "jit(step)/transpose(jvp(attention))/dot_general" has the scope "attention" and the op
 * "dot_general", and is a gradient. */
typedef struct tp_name_stack {
  bool is_stack;    /* the location has scopes: a framework wrote it */
  bool is_gradient; /* in the transposed part of a function that was differentiated */
  /* computed a second time for the gradient, instead of being kept */
  bool is_recomputed;
  /* Scopes of the user, joined by "/", without the outermost function. Without scopes, the function
   * in which the op stands. "": none is known. */
  const char *scope;
  const char
      *op; /* the last part, or the whole name if it is no stack; "": the location has none */
} tp_name_stack;

/* Reads the name stack of a location; its texts are in the arena. False if memory runs out. */
bool tp__name_stack_read(tp__arena *arena, MlirLocation location, tp_name_stack *stack);

#endif
