/* Builds results point by point: a linalg.generic that reads its inputs and its init at the point
 * itself, and whose body is built op by op.
 *
 * Shared by the local forms of slices, pads and concatenations, whose values depend on the position
 * of the point. */
#ifndef TP_RULES_POINTS_H
#define TP_RULES_POINTS_H

#include "ir/ir.h"

typedef struct tp_points {
  MlirOperation op;    /* the linalg.generic */
  MlirOperation yield; /* the scalar ops of the body go before it */
} tp_points;

/* Creates the op before `where`. The `n` inputs have the shape of `init`. */
tp_points tp__points_begin(MlirOperation where, int n, const MlirValue *inputs, MlirValue init);
/* Returns the element of input i at the point; i == n: that of the init. */
MlirValue tp__points_value(const tp_points *points, int i);
/* Builds the index of the point along dimension d. */
MlirValue tp__points_index(const tp_points *points, int d);
/* Reads `tensor` at the indices. */
MlirValue tp__points_read(const tp_points *points, MlirValue tensor, int n,
                          const MlirValue *indices);
/* Stores `value` at every point. Returns the result. */
MlirValue tp__points_end(const tp_points *points, MlirValue value);

#endif
