/* The nodes of row expressions: what numbers, elements and scalar ops make. Equal ones are one. */
#ifndef TP_PASSES_ROW_NODES_H
#define TP_PASSES_ROW_NODES_H

#include "passes/fuse/rows/row_expression.h"

/* All return TP_ROW_UNKNOWN where there is no room, or for what is not understood. */

/* A float, an integer or a dense list of one float. */
int tp__row_number_node(tp__rows *rows, MlirAttribute attr);
/* An element of a tensor of this rank. */
int tp__row_value_node(tp__rows *rows, MlirValue value, int rank, const int *dims);
/* Of one operand, or of two, which commute where it is not TP_ROW_WHERE (b is not read for other
 * kinds). */
int tp__row_op_node(tp__rows *rows, tp__row_kind kind, int a, int b);

/* The place along the last dimension of the frame. */
int tp__row_column_node(tp__rows *rows);

enum { TP_ROW_OPERANDS = 3 };
/* How many operands a scalar op of arith or math has that can be expressed, on numbers or element
 * by element; 0 for other ops. */
int tp__row_op_operands(MlirOperation op);
/* What it makes of the nodes of its operands, TP_ROW_OPERANDS of them. */
int tp__row_apply(tp__rows *rows, MlirOperation op, const int *operands);

#endif
