/* Represents an op on tensors as a nest of plain loops: a linalg op whose maps are single loops, or
 * an arith or math op on whole tensors. */
#ifndef TP_RULES_NEST_H
#define TP_RULES_NEST_H

#include "rules/body.h"

enum { TP_MAX_NEST_LOOPS = 16, TP_WHOLE_DIM = -1 };

/* A loop nest with one result. Every operand dimension is indexed by one loop, or only by 0
 * (TP_WHOLE_DIM). The body captures no tensors. */
typedef struct tp_nest {
  MlirOperation op;
  /* It has a body. Otherwise the op applies to its operands element by element. */
  bool is_written;
  tp_body body; /* body and indexing maps; valid if is_written */
  MlirAttribute maps;
  int n_inputs; /* number of operands before the init */
  int n_loops;
  uint32_t reduced; /* bits: loops that the result does not have */
} tp_nest;

/* Reads an op as a nest. False if it is not one. */
bool tp__nest_of(MlirOperation op, tp_nest *nest);

/* Returns the loop that indexes dimension `dim` of operand `operand` (the init is operand
 * n_inputs), or TP_WHOLE_DIM. */
int tp__nest_loop(const tp_nest *nest, int operand, int dim);

/* Returns the op that computes an element of the result. Null if the result is an element of an
 * operand. */
MlirOperation tp__nest_scalar(const tp_nest *nest);
/* Returns the input that operand `i` of this scalar op reads; -1: none. */
int tp__nest_input(const tp_nest *nest, MlirOperation scalar, int i);

/* True if every element of the result is computed by arith, math and complex ops from one element
 * of each input and from its index. */
bool tp__nest_is_elementwise(const tp_nest *nest);
/* True if every element is a copy from input 0. */
bool tp__nest_copies(const tp_nest *nest);

#endif
