/* Recognises contractions: linalg ops that add a product of two operands to a result. */
#ifndef TP_PASSES_CONTRACTION_H
#define TP_PASSES_CONTRACTION_H

#include "ir/ir.h"

enum { TP_MAX_LOOPS = 16 };

typedef struct tp__contraction {
  int n_loops;
  int64_t sizes[TP_MAX_LOOPS];
  bool reduced[TP_MAX_LOOPS]; /* not a dimension of the result */
  int rank[3];                /* A, B, C */
  int loops[3][TP_MAX_RANK];  /* loop of each dimension; -1: the constant 0 */
  int operands[2];            /* which operand of the op is A, which is B */
} tp__contraction;

/* True if `op` (on tensors or memrefs of static shape) computes C += A * B over at least one
 * reduced loop with floating-point numbers of f16, bf16, f32 or f64; A and B may be widened (extf)
 * to the type of C in the body. */
bool tp__match_contraction(MlirOperation op, tp__contraction *c);

/* Is `op` a transpose of its first operand? from[d]: the dimension of the operand that is dimension
 * d of the result. */
bool tp__is_transpose(MlirOperation op, int rank, int *from);
/* Reads an operand of a contraction through transposes: the loops of the dimensions of what was
 * transposed. */
MlirValue tp__through_transposes(MlirValue value, int rank, int *loops);

/* The factors of a product of rows and a matrix. */
typedef struct tp__factors {
  MlirValue a, b;   /* b as it is stored in front of transposes */
  bool transpose_b; /* b is stored [columns.., terms..] */
  int64_t k;        /* terms of a sum */
} tp__factors;

/* Is a contraction a [rows.., terms..] times b [terms.., columns..], or [columns.., terms..], both
 * in the order of C [rows.., columns..], whose last n_columns dimensions are columns, but for
 * dimensions of size 1? Then it is one product of dense matrices. */
bool tp__match_rows_by_matrix(MlirOperation op, int n_columns, tp__factors *factors);

#endif
