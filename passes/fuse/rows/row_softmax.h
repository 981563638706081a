/* Recognizes the parts of a softmax, or of a cross entropy after it, on rows whose columns are
 * split over devices: the row max, the sum of exponentials relative to it, and one element that a
 * comparison of column indices picks. */
#ifndef TP_PASSES_ROW_SOFTMAX_H
#define TP_PASSES_ROW_SOFTMAX_H

#include "passes/fuse/rows/row_expression.h"

#include "tprt/cuda.h"

/* A pick, one number per row: the sum over columns v of where(v + first == target, f(x[v])), where
 * f depends on `pick`. */
typedef struct tp__row_pick {
  MlirValue target; /* integers, one per row */
  MlirValue first;  /* index of the device's first column; null: 0 */
  tprt_cuda_pick pick;
} tp__row_pick;

/* Returns the tensor of rows whose row max is `largest`, before any widening. Null if the form does
 * not match. */
MlirValue tp__find_row_max_input(MlirValue largest);
/* True if `node` is the row max of the frame's root. */
bool tp__match_row_max(const tp__rows *rows, int node);
/* True if `node` is the sum of exp(root - `largest`), where `largest` is a node. If *finite is set,
 * 0 replaces a row max that is infinite or NaN. */
bool tp__match_row_exp_sum(const tp__rows *rows, int node, int largest, bool *finite);
/* True if `node` is a pick. `shift`: the value subtracted in the exponentials; `sum`: the node of
 * their sum. */
bool tp__match_row_pick(const tp__rows *rows, int node, int shift, int sum, tp__row_pick *pick);
/* Returns the node that is subtracted in the exponentials. */
int tp__row_shift(const tp__rows *rows, int largest, bool finite);

#endif
