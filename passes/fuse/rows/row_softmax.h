/* Recognizes what a softmax, or the cross entropy behind it, needs of rows whose columns are split
 * over devices: the largest number of a row, the sum of exponentials relative to it, and one of the
 * numbers, which a comparison of columns picks. */
#ifndef TP_PASSES_ROW_SOFTMAX_H
#define TP_PASSES_ROW_SOFTMAX_H

#include "passes/fuse/rows/row_expression.h"

#include "tprt/cuda.h"

/* One number a row: sum over the columns v of where(v + first = target, pick of x[v]). */
typedef struct tp__row_pick {
  MlirValue target; /* integers, one a row */
  MlirValue first;  /* the number of the device's first column, an index; null: 0 */
  tprt_cuda_pick pick;
} tp__row_pick;

/* The tensor whose rows' largest numbers `largest` is, as it is before it was widened; null: it is
 * none of that kind. */
MlirValue tp__find_row_largest(MlirValue largest);
/* Is `node` the largest of the rows of the frame's root? */
bool tp__match_row_largest(const tp__rows *rows, int node);
/* Is it the sum of exponentials of what the root is more than `largest`, a node? `finite`: or than
 * 0, where that is infinite or NaN. */
bool tp__match_row_exponentials(const tp__rows *rows, int node, int largest, bool *finite);
/* Is it a pick? `shift`: what the exponentials are relative to; `sum`: the node of their sum. */
bool tp__match_row_pick(const tp__rows *rows, int node, int shift, int sum, tp__row_pick *pick);
/* What they are relative to, for that. */
int tp__row_shift(const tp__rows *rows, int largest, bool finite);

#endif
