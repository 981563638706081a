/* Recognises rows that become f8: what is stored for a product of f8 behind a norm. */
#ifndef TP_PASSES_ROW_QUANTISE_H
#define TP_PASSES_ROW_QUANTISE_H

#include "passes/fuse/rows/row_expression.h"

typedef enum tp__row_quantise_kind {
  TP_NOT_QUANTISED,
  TP_QUANTISED_STATIC,
  TP_QUANTISED_PER_TOKEN,
  TP_QUANTISED_PER_GROUP
} tp__row_quantise_kind;

/* round_f8E4M3FN(clamp(y / scale, -448, 448)), with a scale that is given, or max(max(largest |y|
 * of the row, or of its group of 128, least_largest) / 448, least_scale). */
typedef struct tp__row_quantisation {
  tp__row_quantise_kind kind;
  double least_largest, least_scale; /* of scales that are computed: one at least is more than 0 */
  MlirValue static_scale;            /* one f32 */
  int scale;                         /* its node */
  /* why an element of f8 is not that; NULL: it is, or it is none of f8 */
  const char *obstacle;
} tp__row_quantisation;

/* Is `node` that of the element y? Scales are computed in f32, what is before the division by 448
 * in any type. */
bool tp__match_row_quantisation(const tp__rows *rows, int node, int y,
                                tp__row_quantisation *quantisation);

#endif
