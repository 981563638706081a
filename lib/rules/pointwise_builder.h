/* Builds results point by point: a linalg.generic that reads its inputs and its init at the point
 * itself, and whose body is built op by op.
 *
 * Shared by the local forms of slices, pads and concatenations, whose values depend on the position
 * of the point. */
#ifndef TP_RULES_POINTWISE_BUILDER_H
#define TP_RULES_POINTWISE_BUILDER_H

#include "ir/ir.h"

typedef struct tp_pointwise {
  MlirOperation op;    /* the linalg.generic */
  MlirOperation yield; /* the scalar ops of the body go before it */
} tp_pointwise;

/* Creates the op before `where`. The `n` inputs have the shape of `init`. */
tp_pointwise tp__pointwise_begin(MlirOperation where, int n, const MlirValue *inputs,
                                 MlirValue init);
/* Returns the element of input i at the point; i == n: that of the init. */
MlirValue tp__pointwise_value(const tp_pointwise *points, int i);
/* Builds the index of the point along dimension d. */
MlirValue tp__pointwise_index(const tp_pointwise *points, int d);
/* Reads `tensor` at the indices. */
MlirValue tp__pointwise_read(const tp_pointwise *points, MlirValue tensor, int n,
                             const MlirValue *indices);
/* Stores `value` at every point. Returns the result. */
MlirValue tp__pointwise_end(const tp_pointwise *points, MlirValue value);

#endif
