/* Recognizes contractions: linalg ops that add a product of two operands to a result. */
#ifndef TP_PASSES_CONTRACTION_H
#define TP_PASSES_CONTRACTION_H

#include "ir/ir.h"

enum { TP_MAX_LOOPS = 16 };

typedef struct tp__contraction {
  int n_loops;
  int64_t sizes[TP_MAX_LOOPS];
  bool reduced[TP_MAX_LOOPS]; /* not a dimension of the result */
  int rank[3];                /* A, B, C */
  int loops[3][TP_MAX_RANK];  /* loop of each dimension; -1: indexed by the constant 0 */
  int operands[2];            /* operand numbers of A and B */
} tp__contraction;

/* True if `op` (on tensors or memrefs of static shape) computes C += A * B over at least one
 * reduced loop, in f16, bf16, f32 or f64. The body may widen A and B (extf) to the type of C; they
 * may be f8 if C is f32. */
bool tp__match_contraction(MlirOperation op, tp__contraction *c);

/* The same, and C may be f8, or narrower than f32 although A or B is f8. If both are f8 and C is
 * narrower than f32, the sums need f32. */
bool tp__match_narrow_contraction(MlirOperation op, tp__contraction *c);

/* The tensor type with other elements, and an init converted to it by the op `widen`, such as
 * arith.extf. A fill becomes a fill of that type, so that its value stays a scalar. */
MlirType tp__type_with(MlirType type, MlirType element);
MlirValue tp__widened_init(MlirOperation where, MlirValue init, MlirType wide, const char *widen);

/* True if a GPU multiplies A and B as they are, into a C of f32: both are f16, both are bf16, or
 * each is f8. */
bool tp__are_mixed_factors(MlirType a, MlirType b, MlirType c);

/* True if `op` transposes its first operand. from[d] is the dimension of the operand that becomes
 * dimension d of the result. */
bool tp__is_transpose(MlirOperation op, int rank, int *from);
/* Follows an operand of a contraction back through transposes. Returns the original value and
 * updates `loops` to its dimensions. */
MlirValue tp__through_transposes(MlirValue value, int rank, int *loops);

/* The operands of a matmul of rows and a matrix. */
typedef struct tp__factors {
  MlirValue a, b;   /* b as stored, before transposes */
  bool transpose_b; /* b is stored [columns.., terms..] */
  int64_t k;        /* size of the reduced dimensions */
} tp__factors;

/* True if the contraction is a matmul of dense matrices: a [rows.., terms..] times b [terms..,
 * columns..] or [columns.., terms..], both in the dimension order of C [rows.., columns..]. The
 * last n_columns dimensions of C are columns; dimensions of size 1 do not count. */
bool tp__match_rows_by_matrix(MlirOperation op, int n_columns, tp__factors *factors);

#endif
