/* Recognizes the elementwise operations that cuBLASLt offers as matmul epilogues. */
#ifndef TP_PASSES_ROW_ACTIVATION_H
#define TP_PASSES_ROW_ACTIVATION_H

#include "passes/fuse/rows/row_expression.h"

typedef enum tp__row_function { TP_ROW_IDENTITY, TP_ROW_RELU, TP_ROW_GELU } tp__row_function;

/* f(root + bias), regardless of intermediate rounding. f is the identity, max(x, 0) without regard
 * to NaN, or x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2. */
typedef struct tp__row_activation {
  tp__row_function function;
  /* null: none. One element per index of the last n_columns dimensions of the frame */
  MlirValue bias;
} tp__row_activation;

bool tp__match_row_activation(const tp__rows *rows, int node, int n_columns,
                              tp__row_activation *activation);

/* True if `node` is the sum of the root and a tensor that broadcasts, but along other dimensions
 * than a bias of the last n_columns dimensions. */
bool tp__is_sum_with_rows(const tp__rows *rows, int node, int n_columns);

#endif
