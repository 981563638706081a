/* Recognizes row operations of a transformer: adding a bias and a residual, and norms. */
#ifndef TP_PASSES_ROW_NORM_H
#define TP_PASSES_ROW_NORM_H

#include "passes/fuse/rows/row_expression.h"

/* root + bias + residual, rounded to the root's type. */
typedef struct tp__row_sum {
  int node;
  MlirValue residual,
      /* null: none. Both have the root's element type. The residual has its shape, apart from
       * dimensions of size 1; the bias has one element per column */
      bias;
} tp__row_sum;

/* True if `node` is such a sum. The root alone also counts. */
bool tp__match_row_sum(const tp__rows *rows, int node, tp__row_sum *sum);

typedef enum tp__row_norm_kind { TP_NO_NORM, TP_RMS_NORM, TP_LAYER_NORM } tp__row_norm_kind;

/* RMS norm: x / sqrt(mean(x * x) + epsilon) * gamma. Layer norm: (x - mean(x)) / sqrt(mean((x -
 * mean(x))^2) + epsilon) * gamma + beta. */
typedef struct tp__row_norm {
  tp__row_norm_kind kind;
  double epsilon;
  MlirValue gamma, beta; /* one element per column; beta may be null */
} tp__row_norm;

/* True if `node` is a norm of the rows of node `x`. It accepts different forms: a mean by division
 * or by a factor, and the variance as mean(x * x) - mean(x)^2. Intermediate rounding is ignored;
 * without it the norm is at least as accurate. */
bool tp__match_row_norm(const tp__rows *rows, int node, int x, tp__row_norm *norm);

#endif
