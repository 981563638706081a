/* Between the files of tp-expand-messages. */
#ifndef TP_PASSES_EXPAND_H
#define TP_PASSES_EXPAND_H

#include "ir/place.h"
#include "passes/registry.h"

typedef struct tp__expansion {
  tp_pass *pass;
  const tp_mesh *mesh;
  /* for each device: from which it receives, -1: zeros; what tp__expansion_permute reads */
  int64_t *source_of;
  int64_t *destination_of; /* for each device */
  int64_t (*pairs)[2];
  int *flags;
} tp__expansion;

/* A permute of `value` by source_of, in front of `where`; without communication where no device has
 * something of another one. */
tp_status tp__expansion_permute(tp__expansion *e, MlirOperation where, MlirValue value,
                                MlirValue *result);

/* Replaces a shard.update_halo. */
tp_status tp__expand_halo(tp__expansion *e, MlirOperation op);

#endif
