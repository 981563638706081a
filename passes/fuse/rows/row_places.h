/* Where the elements of a tensor stand in the frame of row expressions: what shapes, maps and
 * reshapes say of it. */
#ifndef TP_PASSES_ROW_PLACES_H
#define TP_PASSES_ROW_PLACES_H

#include "passes/fuse/rows/row_expression.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* What a value of the frame's rows has. */
typedef enum tp__row_form {
  TP_ROW_OTHER,
  TP_ROW_NUMBERS,       /* one number a row */
  TP_ROW_GROUP_NUMBERS, /* one for each group */
  TP_ROW_WHOLE
} tp__row_form;

/* Along which dimensions of the frame those of a value go that has one of these forms, but for
 * dimensions of size 1. */
tp__row_form tp__row_form_of(const tp__rows *rows, MlirValue value, int *dims);

/* The maps of a structured op, by operand; false for other ops. */
bool tp__row_maps(MlirOperation op, MlirAttribute *maps);
/* How often each loop of a structured op runs. False where a map is neither a projection, nor reads
 * groups as rows or rows as groups, or picks an element of several. */
bool tp__row_loop_sizes(const tp__rows *rows, MlirOperation op, MlirAttribute maps, int64_t *sizes);
/* Along which dimension of the frame a result of a map goes, whose loops go along `loops` of it;
 * TP_ROW_NOWHERE where there is none. */
int tp__row_place(const tp__rows *rows, MlirAffineExpr e, const int *loops);
/* The dimensions of the frame along which the operand of a reshape goes, from those of its result.
 * False for other reshapes than by ones and of rows as groups. */
bool tp__row_reshape(const tp__rows *rows, MlirOperation op, const int *dims, int *of);

/* The size of the groups in which an op sees rows, by its shapes or maps; 0: it does not. */
int64_t tp__row_group_of(const tp__rows *rows, MlirOperation op);

/* Elementwise ops on tensors, as frontends write them. */
bool tp__row_is_elementwise(MlirOperation op);

#endif
