/* An op on tensors as a nest of plain loops: linalg with maps of single loops, or arith and math on
 * whole tensors. */
#ifndef TP_RULES_NEST_H
#define TP_RULES_NEST_H

#include "rules/body.h"

enum { TP_MAX_NEST_LOOPS = 16, TP_WHOLE_DIM = -1 };

/* One result. Every dimension of an operand is a loop, or is read at 0 only (TP_WHOLE_DIM). No
 * tensor is read from outside. */
typedef struct tp_nest {
  MlirOperation op;
  /* it has a body; else each element is the op's of the elements of its operands */
  bool is_written;
  tp_body body; /* if it is written, and its indexing maps */
  MlirAttribute maps;
  int n_inputs; /* operands in front of the init */
  int n_loops;
  uint32_t reduced; /* loops that the result does not have */
} tp_nest;

/* False for an op that is none. */
bool tp__nest_of(MlirOperation op, tp_nest *nest);

/* The loop of dimension `dim` of operand `operand` (the init is operand n_inputs), or
 * TP_WHOLE_DIM. */
int tp__nest_loop(const tp_nest *nest, int operand, int dim);

/* The op that gives an element of the result; a null op if it is an element of an operand. */
MlirOperation tp__nest_scalar(const tp_nest *nest);
/* The input whose element is operand `i` of this op of the nest, -1: none. */
int tp__nest_input(const tp_nest *nest, MlirOperation scalar, int i);

/* Does every element of the result depend on one element of each input, computed by arith, math and
 * complex, and on its place? */
bool tp__nest_is_elementwise(const tp_nest *nest);
/* Is every element that of input 0? */
bool tp__nest_copies(const tp_nest *nest);

#endif
