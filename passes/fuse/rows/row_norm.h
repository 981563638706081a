/* Recognizes what a transformer does to rows: adds a bias and a residual, normalizes. */
#ifndef TP_PASSES_ROW_NORM_H
#define TP_PASSES_ROW_NORM_H

#include "passes/fuse/rows/row_expression.h"

/* root + bias + residual, rounded to the root's type. */
typedef struct tp__row_sum {
  int node;
  MlirValue residual,
      /* null: none. Both have the root's type of elements; the residual has its shape, but for
       * dimensions of size 1, the bias one element for each of a row */
      bias;
} tp__row_sum;

/* Is `node` such a sum? The root alone is one. */
bool tp__match_row_sum(const tp__rows *rows, int node, tp__row_sum *sum);

typedef enum tp__row_norm_kind { TP_NO_NORM, TP_RMS_NORM, TP_LAYER_NORM } tp__row_norm_kind;

/* x / sqrt(mean(x * x) + epsilon) * gamma, or (x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon)
 * * gamma + beta. */
typedef struct tp__row_norm {
  tp__row_norm_kind kind;
  double epsilon;
  MlirValue gamma, beta; /* one element for each of a row; beta is null where there is none */
} tp__row_norm;

/* Is `node` a norm of the rows of node `x`? However it is written: mean by division or by a factor,
 * the variance as mean(x * x) - mean(x)^2 too, roundings between, which are dropped: the norm is at
 * least as exact without them. */
bool tp__match_row_norm(const tp__rows *rows, int node, int x, tp__row_norm *norm);

#endif
