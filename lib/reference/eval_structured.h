/* Structured ops of linalg: the plan of one, which is made at its first run, and the ways to run
 * it. */
#ifndef TP_REFERENCE_STRUCTURED_H
#define TP_REFERENCE_STRUCTURED_H

#include "reference/evaluator.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { TP__EVAL_MAX_LOOPS = 32 };

/* How an operand is read. */
typedef struct access {
  bool is_tensor;
  /* Whether the map is linear, and in bounds at every point; then the element is base + sum of
   * stride * loop. */
  bool is_linear;
  int64_t base, strides[TP__EVAL_MAX_LOOPS];
  /* The loop that is dimension d of the operand, and nothing else; -1: an expression. */
  int dims[TP__EVAL_MAX_RANK];
  int n;
  MlirAffineExpr expressions[TP__EVAL_MAX_RANK];
} access;

typedef struct lanes lanes;
typedef struct contraction contraction;

typedef struct structured {
  int n_operands, n_inputs, n_loops;
  access *accesses;
  int64_t sizes[TP__EVAL_MAX_LOOPS];
  /* All loops: no iterations at all. */
  bool is_empty;
  double n_points;
  /* NULL where the op has none of these forms; then it is run point by point. */
  contraction *contraction;
  lanes *lanes;
} structured;

/* The element of an operand at a point of the loops, for linear accesses. */
static inline int64_t tp__access_at(const access *a, int n_loops, const int64_t *point) {
  int64_t at = a->base;
  for (int l = 0; l < n_loops; l++)
    at += a->strides[l] * point[l];
  return at;
}

/* lanes.c: a body of scalar ops, run for many points of one loop at a time. NULL where that is not
 * possible. */
lanes *tp__lanes_plan(evaluation *r, const node *n, const structured *s);
bool tp__lanes_run(evaluation *r, cell *frame, const node *n, const structured *s,
                   tensor *const *made);

/* eval_contraction.c: sums of products of floats. NULL for other bodies. */
contraction *tp__contraction_find(evaluation *r, const node *n, const structured *s);
/* False where the operands hold something that needs care (infinities, NaN, unknown numbers);
 * `made` is then undefined. */
bool tp__contraction_sum(evaluation *r, const cell *frame, const node *n, const structured *s,
                         tensor *made);

#endif
