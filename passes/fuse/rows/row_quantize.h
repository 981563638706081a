/* Recognizes rows that become f8: what is stored for a product of f8 behind a norm. */
#ifndef TP_PASSES_ROW_QUANTIZE_H
#define TP_PASSES_ROW_QUANTIZE_H

#include "passes/fuse/rows/row_expression.h"

typedef enum tp__row_quantize_kind {
  TP_NOT_QUANTIZED,
  TP_QUANTIZED_STATIC,
  TP_QUANTIZED_PER_TOKEN,
  TP_QUANTIZED_PER_GROUP
} tp__row_quantize_kind;

/* round_f8E4M3FN(clamp(y / scale, -448, 448)), with a scale that is given, or max(max(largest |y|
 * of the row, or of its group of 128, least_largest) / 448, least_scale). */
typedef struct tp__row_quantization {
  tp__row_quantize_kind kind;
  double least_largest, least_scale; /* of scales that are computed: one at least is more than 0 */
  MlirValue static_scale;            /* one f32 */
  int scale;                         /* its node */
  /* why an element of f8 is not that; NULL: it is, or it is none of f8 */
  const char *obstacle;
} tp__row_quantization;

/* Is `node` that of the element y? Scales are computed in f32, what is before the division by 448
 * in any type. */
bool tp__match_row_quantization(const tp__rows *rows, int node, int y,
                                tp__row_quantization *quantization);

#endif
