/* What the files of tp-fuse-collectives that are about split softmaxes share. */
#ifndef TP_PASSES_FUSE_SOFTMAX_H
#define TP_PASSES_FUSE_SOFTMAX_H

#include "passes/fuse/fuse.h"
#include "passes/fuse/rows/row_softmax.h"

/* The largest numbers of rows and the sums of exponentials relative to them over all devices of a
 * group, and what of the row is picked. */
typedef struct tp__softmax_fusion {
  MlirOperation largest; /* shard.all_reduce */
  MlirOperation sum;     /* shard.all_reduce; null: not found */
  MlirValue rows;        /* [.., columns] of this device */
  const tp_mesh *mesh;
  int n_axes, axes[TP_MAX_AXES]; /* of the group, those of more than one device */
  bool finite;
  tp__row_pick pick;
  MlirValue picked;     /* null: nothing is picked, or nothing that the kernel could */
  MlirOperation summed; /* shard.all_reduce of it; null: it stays what the device has of it */
} tp__softmax_fusion;

/* The value that is picked: that of `summed`, if there is one; null if there is none. */
MlirValue tp__softmax_picked(const tp__softmax_fusion *fusion);

/* Makes the function `name` of the module that computes the fusion, and calls it in front of the
 * collective of the largest; every use of the results is one of the call's then. What is left
 * without a use is the caller's affair. */
tp_status tp__outline_softmax(MlirOperation module, const char *name,
                              const tp__softmax_fusion *fusion);

#endif
