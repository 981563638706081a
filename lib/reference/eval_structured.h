/* Structured linalg ops: the execution plan of an op, which its first run creates, and the
 * strategies to run it. */
#ifndef TP_REFERENCE_STRUCTURED_H
#define TP_REFERENCE_STRUCTURED_H

#include "reference/evaluator.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { TP__EVAL_MAX_LOOPS = 32 };

/* Maps a point of the iteration space to an element of one operand. */
typedef struct access {
  bool is_tensor;
  /* True if the indexing map is affine without floordiv, ceildiv or mod, and in bounds at every
   * point. The linear index of the element is then base + sum of strides[l] * (index of loop l). */
  bool is_linear;
  int64_t base, strides[TP__EVAL_MAX_LOOPS];
  /* The loop that indexes dimension d directly; -1 if the index is another expression. */
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
  /* True if some loop has no iterations, so that the body never runs. */
  bool is_empty;
  double n_points;
  /* Faster strategies; NULL where one does not apply. With neither, the body runs point by
   * point. */
  contraction *contraction;
  lanes *lanes;
} structured;

/* Returns the linear index of an operand's element at a point. Linear accesses only. */
static inline int64_t tp__access_at(const access *a, int n_loops, const int64_t *point) {
  int64_t at = a->base;
  for (int l = 0; l < n_loops; l++)
    at += a->strides[l] * point[l];
  return at;
}

/* lanes.c: runs a body of scalar ops for many points of one loop at a time. The plan is NULL where
 * that is impossible. */
lanes *tp__lanes_plan(evaluation *r, const node *n, const structured *s);
bool tp__lanes_run(evaluation *r, cell *frame, const node *n, const structured *s,
                   tensor *const *made);

/* eval_contraction.c: contractions of floats. NULL for other bodies. */
contraction *tp__contraction_find(evaluation *r, const node *n, const structured *s);
/* False if an operand holds an infinity, a NaN or an unknown number; `made` is then undefined. */
bool tp__contraction_sum(evaluation *r, const cell *frame, const node *n, const structured *s,
                         tensor *made);

#endif
