/* Nodes of row expressions for constants, elements and scalar ops. Equal nodes are shared. */
#ifndef TP_PASSES_ROW_NODES_H
#define TP_PASSES_ROW_NODES_H

#include "passes/fuse/rows/row_expression.h"

/* All functions return TP_ROW_UNKNOWN if there is no space left or the form is not supported. */

/* Takes a float, an integer, or a dense list with one distinct float. */
int tp__row_number_node(tp__rows *rows, MlirAttribute attr);
/* Returns the node of an element of a tensor of this rank. */
int tp__row_value_node(tp__rows *rows, MlirValue value, int rank, const int *dims);
/* Returns a node with one or two operands. Two operands commute except for TP_ROW_WHERE; `b` is
 * ignored for unary kinds. */
int tp__row_op_node(tp__rows *rows, tp__row_kind kind, int a, int b);

/* Returns the node of the index along the last dimension of the frame. */
int tp__row_column_node(tp__rows *rows);

enum { TP_ROW_OPERANDS = 3 };
/* Returns the number of operands of a supported arith or math op, on scalars or elementwise; 0 for
 * other ops. */
int tp__row_op_operands(MlirOperation op);
/* Returns the node that the op computes from the nodes of its operands (TP_ROW_OPERANDS
 * entries). */
int tp__row_apply(tp__rows *rows, MlirOperation op, const int *operands);

#endif
