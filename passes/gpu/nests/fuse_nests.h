/* What the files of tp-fuse-nests share: the block that is looked at, and a group of nests in
 * it. */
#ifndef TP_PASSES_FUSE_NESTS_H
#define TP_PASSES_FUSE_NESTS_H

#include "passes/bufferize/memory_classes.h"
#include "passes/gpu/kernels/map_group.h"

typedef struct tp__nest_block {
  MlirBlock block;
  tp__memory_classes *classes; /* of the function */
  tp_op_list ops;              /* of the block */
  /* of each class: the number of the op that uses it last, itself or inside */
  size_t *last_use;
} tp__nest_block;

/* A group as it grows: nests and their numbers among the ops of the block. */
typedef struct tp__nest_group {
  tp__map_group map; /* its nests belong to it */
  size_t at[TP_GROUP_NESTS];
} tp__nest_group;

/* ---- fuse_nests_legal.c ---- */
/* Is the group one kernel? Rows may be done in any order then, since no row reads what another one
 * writes; and a thread reads of what the group writes what it has written itself. */
bool tp__nests_are_legal(const tp__nest_block *block, tp__map_group *group);
/* Is it a number and a reduction, of whatever kind, that goes on from it? */
bool tp__nests_are_begun(const tp__nest_block *block, const tp__map_group *group);
/* A few long rows keep few blocks busy. A reduction over them has no others, but without one there
 * would be more. */
bool tp__nests_are_narrow(const tp__map_group *group);

/* ---- fuse_nests_buffers.c ---- */
/* What the group makes for itself alone goes into buffers that only it knows, made in front of
 * `where`; `made` receives them. */
tp_status tp__nests_own_buffers(const tp__nest_block *block, const tp__nest_group *group,
                                MlirOperation where, tp_op_list *made);

#endif
