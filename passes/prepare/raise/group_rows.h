/* Masks of rows in groups, and the ops that use them: shared by the files of tp-group-rows. */
#ifndef TP_RAISE_GROUP_ROWS_H
#define TP_RAISE_GROUP_ROWS_H

#include "ir/ir.h"

/* The bounds of groups, one number for each. */
typedef struct tp_row_groups {
  MlirValue starts, ends;
} tp_row_groups;

/* Reads select(mask, repeated rows, 0). */
bool tp__rows_read_mask(MlirOperation op, MlirValue *rows, tp_row_groups *g);

/* Builds the mask as one op, of the form that the import of chlo.ragged_dot has. */
MlirOperation tp__rows_build_mask(MlirOperation op, MlirValue rows, const tp_row_groups *g);

/* True if the op is the product of a mask, operand 0, and weights: it adds over the groups and over
 * columns, and has the mask's rows. */
bool tp__rows_is_product(MlirOperation op);

/* True if the op adds products of two masks of the same groups over their rows, as the gradient of
 * the weights of groups does. */
bool tp__rows_is_sum(MlirOperation op);

#endif
