/* Shared declarations of tp-fuse-nests: the current block and a group of its nests. */
#ifndef TP_PASSES_FUSE_NESTS_H
#define TP_PASSES_FUSE_NESTS_H

#include "passes/gpu/kernels/map_group.h"
#include "passes/support/memory_classes.h"

typedef struct tp__nest_block {
  MlirBlock block;
  tp__memory_classes *classes; /* alias classes of the function */
  tp_op_list ops;              /* ops of the block */
  /* by class: number of the last op that uses it, directly or in a region */
  size_t *last_use;
} tp__nest_block;

/* A group under construction: nests and their op numbers in the block. */
typedef struct tp__nest_group {
  tp__map_group map; /* owns its nests */
  size_t at[TP_GROUP_NESTS];
} tp__nest_group;

/* ---- fuse_nests_legal.c ---- */
/* True if the group can be one kernel. Rows may then run in any order, because no row reads data
 * that another row writes. Of the data that the group writes, a thread only reads its own. */
bool tp__nests_are_legal(const tp__nest_block *block, tp__map_group *group);
/* True if the group is a fill and any reduction that accumulates into it. */
bool tp__nests_are_begun(const tp__nest_block *block, const tp__map_group *group);
/* True for a few long rows without reductions. As one kernel they occupy few blocks, but separate
 * kernels would use more. (A reduction over such rows has few blocks in any case.) */
bool tp__nests_are_narrow(const tp__map_group *group);

/* ---- fuse_nests_buffers.c ---- */
/* Gives results that are only used inside the group private buffers, allocated before `where`.
 * Appends the allocations to `made`. */
tp_status tp__nests_own_buffers(const tp__nest_block *block, const tp__nest_group *group,
                                MlirOperation where, tp_op_list *made);

#endif
