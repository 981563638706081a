/* Results computed point by point: a linalg.generic whose inputs and init are read at the point
 * itself, and whose body is built op by op.
 *
 * What the local forms of slices, pads and concatenations have in common: what a point holds
 * depends on where it lies. */
#ifndef TP_RULES_POINTS_H
#define TP_RULES_POINTS_H

#include "ir/ir.h"

typedef struct tp_points {
  MlirOperation op;    /* the linalg.generic */
  MlirOperation yield; /* the body's scalar ops go in front of it */
} tp_points;

/* In front of `where`; the `n` inputs have the shape of `init`. */
tp_points tp__points_begin(MlirOperation where, int n, const MlirValue *inputs, MlirValue init);
/* What input i holds at the point; i == n: what the init holds. */
MlirValue tp__points_value(const tp_points *points, int i);
/* The index of the point along dimension d. */
MlirValue tp__points_index(const tp_points *points, int d);
/* `tensor` at the indices. */
MlirValue tp__points_read(const tp_points *points, MlirValue tensor, int n,
                          const MlirValue *indices);
/* Every point holds `value`; returns the result. */
MlirValue tp__points_end(const tp_points *points, MlirValue value);

#endif
