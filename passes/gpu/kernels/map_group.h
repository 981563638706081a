/* Several nests as one kernel: what tp-fuse-nests chooses and tp-map-kernels makes code of.
 *
 * All nests of a group run through the same loops, or through the first of them only. These, the
 * loops of the rows, are the ones that no nest reduces over. Then a block does whole rows, and a
 * thread the same elements of a row in each nest, so that what one nest makes of an element, or of
 * a row, is there for the next without a way through memory. A group without reductions whose nests
 * all have the same loops has no rows: a thread does the same element in each nest.
 *
 * Rows that are too long for the registers of a block are gone through several times, and what lies
 * in between is computed again each time.
 *
 * Loops of one iteration are none here. */
#ifndef TP_PASSES_MAP_GROUP_H
#define TP_PASSES_MAP_GROUP_H

#include "passes/gpu/kernels/map.h"

enum {
  TP_GROUP_NESTS = 24,
  TP_GROUP_THREADS = 256, /* of a block, without rows */
  /* results of reductions: each may need an array in memory of the block */
  TP_GROUP_REDUCTIONS = 4,
  TP_GROUP_ROW = 24 * 1024 /* words of a row that a block keeps */
};

/* How an operand is accessed: an element of its own in each iteration, or in each row, the same one
 * in all iterations of the row; or otherwise. */
typedef enum tp__group_access {
  TP_ACCESS_OTHER,
  TP_ACCESS_ELEMENT,
  TP_ACCESS_ROW
} tp__group_access;

typedef struct tp__map_group {
  int n_nests;
  tp__map_nest *nests[TP_GROUP_NESTS];
  int n_loops, n_row_loops; /* of more than one iteration, the first of which are those of rows */
  int64_t size[TP_MAP_LOOPS];
  bool has_rows;
  int64_t n_rows, width; /* width: elements of a row; without rows n_rows is 1 */
} tp__map_group;

/* ---- map_group.c ---- */
/* Can these nests be one kernel, as far as loops go? Fills everything behind `nests`. What they
 * access has to be looked at besides. */
bool tp__group_loops(tp__map_group *group);
/* Does the nest combine several elements? */
bool tp__group_reduces(const tp__map_nest *nest);
/* Has the nest loops for the elements of a row? */
bool tp__group_is_whole(const tp__map_group *group, const tp__map_nest *nest);
/* The nest's loops of rows, with those of one iteration, or of the elements of a row, in order;
 * their number. */
int tp__group_order(const tp__map_group *group, const tp__map_nest *nest, bool of_rows, int *loops);
/* place[d]: the loop of the group that dimension d of the operand goes along, -1: it has one
 * element. */
tp__group_access tp__group_access_of(const tp__map_group *group, const tp__map_nest *nest,
                                     int operand, int *place);
/* How many elements side by side a thread does at once: as many as each reduction would alone, so
 * that they add in the same order; 0: they differ. */
int tp__group_lanes(const tp__map_group *group);
/* How many of these a nest reads and writes at once, and along which of its loops they lie. */
int tp__group_nest_lanes(const tp__map_group *group, const tp__map_nest *nest, int lanes,
                         int *loop);
/* Elements of a row for a thread, and the threads of a block. */
int64_t tp__group_elements(const tp__map_group *group, int lanes);
int tp__group_threads(const tp__map_group *group, int lanes);
/* Are rows longer than what a block can keep? Then it goes through them in a loop for each
 * reduction, and once more for what is stored. */
bool tp__group_is_looped(const tp__map_group *group);
/* Could its kernel do whole rows, with vectors of the sizes that its nests allow? */
bool tp__group_has_kernel(const tp__map_group *group);
/* Are there two nests, the second of which, a reduction of any kind, goes on from the number that
 * the first writes everywhere? */
bool tp__group_is_begun(const tp__map_group *group);

/* ---- map_group_kernel.c ---- */
/* The kernel, in front of `end`, the return of the empty function `func`. */
tp_status tp__map_group_kernel(const tp__map_group *group, MlirOperation func, MlirOperation end,
                               tp__map_launch *launch);

#endif
