/* Recognizes the quantization of rows to f8, typically for an f8 matmul after a norm. */
#ifndef TP_PASSES_ROW_QUANTIZE_H
#define TP_PASSES_ROW_QUANTIZE_H

#include "passes/fuse/rows/row_expression.h"

typedef enum tp__row_quantize_kind {
  TP_NOT_QUANTIZED,
  TP_QUANTIZED_STATIC,
  TP_QUANTIZED_PER_TOKEN,
  TP_QUANTIZED_PER_GROUP
} tp__row_quantize_kind;

/* round_f8E4M3FN(clamp(y / scale, -448, 448)). The scale is given, or it is max(max(max |y|,
 * least_largest) / 448, least_scale), over the row or its group of 128. */
typedef struct tp__row_quantization {
  tp__row_quantize_kind kind;
  double least_largest, least_scale; /* of computed scales: at least one is greater than 0 */
  MlirValue static_scale;            /* one f32 */
  int scale;                         /* node of the scale */
  /* why an f8 element does not match; NULL: it matches, or it is not f8 */
  const char *obstacle;
} tp__row_quantization;

/* True if `node` is the quantized element of y. Scales must be computed in f32; before the division
 * by 448 any type is accepted. */
bool tp__match_row_quantization(const tp__rows *rows, int node, int y,
                                tp__row_quantization *quantization);

#endif
