/* Maps elements of tensors to the frame of row expressions, based on shapes, indexing maps and
 * reshapes. */
#ifndef TP_PASSES_ROW_PLACES_H
#define TP_PASSES_ROW_PLACES_H

#include "passes/fuse/rows/row_expression.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* Shape of a value relative to the frame. */
typedef enum tp__row_form {
  TP_ROW_OTHER,
  TP_ROW_NUMBERS,       /* one number per row */
  TP_ROW_GROUP_NUMBERS, /* one number per group */
  TP_ROW_WHOLE
} tp__row_form;

/* Returns the form of a value, apart from dimensions of size 1, and in *dims the frame dimension of
 * each of its dimensions. */
tp__row_form tp__row_form_of(const tp__rows *rows, MlirValue value, int *dims);

/* Returns the indexing maps of a structured op, by operand. False for other ops. */
bool tp__row_maps(MlirOperation op, MlirAttribute *maps);
/* Returns the trip count of each loop of a structured op. False if a map is not a projection and
 * does not convert between groups and rows, or if it reads a single element of a longer
 * dimension. */
bool tp__row_loop_sizes(const tp__rows *rows, MlirOperation op, MlirAttribute maps, int64_t *sizes);
/* Returns the frame dimension of a map result, given the frame dimensions `loops` of the loops.
 * TP_ROW_NO_DIM if there is none. */
int tp__row_place(const tp__rows *rows, MlirAffineExpr e, const int *loops);
/* Computes the frame dimensions of the operand of a reshape from those of its result. False unless
 * the reshape only adds or drops dimensions of size 1 or converts between rows and groups. */
bool tp__row_reshape(const tp__rows *rows, MlirOperation op, const int *dims, int *of);

/* Returns the group size with which an op views rows, according to its shapes or maps; 0: none. */
int64_t tp__row_group_of(const tp__rows *rows, MlirOperation op);

/* True for elementwise arith and math ops on tensors. */
bool tp__row_is_elementwise(MlirOperation op);

#endif
