/* What the files of tp-fuse-collectives that are about split softmaxes share. */
#ifndef TP_PASSES_FUSE_SOFTMAX_H
#define TP_PASSES_FUSE_SOFTMAX_H

#include "passes/row_softmax.h"

#include "ir/annotation.h"

/* The largest numbers of rows and the sums of exponentials relative to them over all devices of a group, and what of the row is picked. */
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

/* Makes the function `name` of the module that computes the fusion, and calls it in front of the collective of the largest; every use of the results is
 * one of the call's then. What is left without a use is the caller's affair. */
tp_status tp__outline_softmax(MlirOperation module, const char *name, const tp__softmax_fusion *fusion);

typedef enum tp__fuse_outcome { TP_FUSE_NOTHING, TP_FUSE_DONE, TP_FUSE_SLOWER, TP_FUSE_OTHER } tp__fuse_outcome;

typedef struct tp__softmax_fuser {
  MlirOperation module;
  const tp_mesh *mesh;
  const tp_topology *topology;
  bool always;
  tp__rows *rows;   /* room */
  const char *name; /* of the next function */
} tp__softmax_fuser;

/* Fuses what begins with the all_reduce `op`, if it is the largest of rows; a remark says what came of it. */
tp_status tp__fuse_softmax(const tp__softmax_fuser *fuser, MlirOperation op, tp__fuse_outcome *outcome);

#endif
