/* Shared declarations of the files of tp-fuse-collectives that handle split softmaxes. */
#ifndef TP_PASSES_FUSE_SOFTMAX_H
#define TP_PASSES_FUSE_SOFTMAX_H

#include "passes/fuse/fuse.h"
#include "passes/fuse/rows/row_softmax.h"

/* A fused softmax: the row max and the sum of exponentials relative to it, over all devices of a
 * group, and an element picked from each row. */
typedef struct tp__softmax_fusion {
  MlirOperation largest; /* shard.all_reduce of the row max */
  MlirOperation sum;     /* shard.all_reduce of the sum; null: not found */
  MlirValue rows;        /* [.., columns of this device] */
  const tp_mesh *mesh;
  int n_axes, axes[TP_MAX_AXES]; /* axes of the group with more than one device */
  bool finite;
  tp__row_pick pick;
  MlirValue picked; /* null: no element is picked, or the kernel does not support it */
  /* shard.all_reduce of `picked`; null: the program uses the partial value of this device */
  MlirOperation summed;
} tp__softmax_fusion;

/* Returns the picked value: the result of `summed` if there is one, else `picked`, which may be
 * null. */
MlirValue tp__softmax_picked(const tp__softmax_fusion *fusion);

/* Builds the function `name` that computes the fusion, calls it before the all-reduce of the row
 * max, and replaces all uses of the results by those of the call. The caller erases the ops that
 * become unused. */
tp_status tp__outline_softmax(MlirOperation module, const char *name,
                              const tp__softmax_fusion *fusion);

#endif
