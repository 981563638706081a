/* Windows over tensors, for the files that convert reductions over them. */
#ifndef TP_PASSES_IMPORT_STABLEHLO_HLO_WINDOW_H
#define TP_PASSES_IMPORT_STABLEHLO_HLO_WINDOW_H

#include "passes/import/stablehlo/hlo.h"

enum { TP_HLO_MAX_WINDOWED = TP_MAX_GENERIC_OPERANDS / 2 - 1 };

/* How windows lie along each dimension of an input. */
typedef struct tp_hlo_windows {
  int rank;
  int64_t size[TP_MAX_RANK], stride[TP_MAX_RANK], dilation[TP_MAX_RANK];
  int64_t low[TP_MAX_RANK], high[TP_MAX_RANK], between[TP_MAX_RANK]; /* padding of the input */
} tp_hlo_windows;

/* Reduces the windows of `n` values, with the initial values that are operands n to 2 n - 1 of `op`
 * and with its body. `types` are those of the results. */
tp_status tp__hlo_reduce_windows(tp_hlo *hlo, MlirOperation op, int n, const tp_hlo_windows *w,
                                 const MlirValue *values, const MlirType *types,
                                 MlirValue *results);

/* True if the windows are running reductions along one dimension, such as a running sum: each
 * result has all elements up to its own, or from its own on, and they are more than a few. */
bool tp__hlo_is_running(const tp_hlo_windows *w, const tp_hlo_shape *shape, int *dim,
                        bool *backward);
/* Computes them in blocks: n values of equal shape. */
tp_status tp__hlo_reduce_running(tp_hlo *hlo, MlirOperation op, int n, int dim, bool backward,
                                 const MlirValue *values, MlirValue *results);

#endif
