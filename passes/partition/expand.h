/* Shared declarations of the files of tp-expand-messages. */
#ifndef TP_PASSES_EXPAND_H
#define TP_PASSES_EXPAND_H

#include "ir/place.h"
#include "passes/registry.h"

typedef struct tp__expansion {
  tp_pass *pass;
  const tp_mesh *mesh;
  /* source_of[d]: the device that d receives from, -1 for zeros; input of tp__expansion_permute */
  int64_t *source_of;
  int64_t *destination_of; /* destination_of[d]: the device that d sends to */
  int64_t (*pairs)[2];
  int *flags;
} tp__expansion;

/* Permutes `value` by source_of, before `where`. Builds no communication if no device receives from
 * another one. */
tp_status tp__expansion_permute(tp__expansion *e, MlirOperation where, MlirValue value,
                                MlirValue *result);

/* Replaces a shard.update_halo. */
tp_status tp__expand_halo(tp__expansion *e, MlirOperation op);

#endif
