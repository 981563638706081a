/* Several nests in one kernel: tp-fuse-nests chooses the group, and tp-map-kernels generates the
 * code.
 *
 * All nests of a group have the same loops, or only the first of these. The first loops, over which
 * no nest reduces, are the row loops. A block computes whole rows, and a thread handles the same
 * elements of a row in each nest. The results of a nest, per element or per row, are therefore
 * available to the next nest without going through memory. A group without reductions whose nests
 * have equal loops has no rows: a thread handles the same element in each nest.
 *
 * Rows that are too long for the registers of a block are traversed several times. Intermediate
 * results are recomputed each time.
 *
 * Loops of one iteration are ignored. */
#ifndef TP_PASSES_MAP_GROUP_H
#define TP_PASSES_MAP_GROUP_H

#include "passes/gpu/kernels/map.h"

enum {
  TP_GROUP_NESTS = 24,
  TP_GROUP_THREADS = 256, /* threads per block, without rows */
  /* maximum number of reduction results: each may need an array in shared memory */
  TP_GROUP_REDUCTIONS = 4,
  TP_GROUP_ROW = 24 * 1024 /* words of a row that a block can keep */
};

/* Access to an operand: one element per iteration (ELEMENT), one element per row (ROW), or
 * other. */
typedef enum tp__group_access {
  TP_ACCESS_OTHER,
  TP_ACCESS_ELEMENT,
  TP_ACCESS_ROW
} tp__group_access;

typedef struct tp__map_group {
  int n_nests;
  tp__map_nest *nests[TP_GROUP_NESTS];
  /* loops of more than one iteration; the first n_row_loops are row loops */
  int n_loops, n_row_loops;
  int64_t size[TP_MAP_LOOPS];
  bool has_rows;
  int64_t n_rows, width; /* width: elements per row; without rows n_rows is 1 */
} tp__map_group;

/* ---- map_group.c ---- */
/* True if the loops of these nests permit one kernel. Fills all fields after `nests`. The caller
 * must check their memory accesses. */
bool tp__group_loops(tp__map_group *group);
/* True if the nest is a reduction. */
bool tp__group_reduces(const tp__map_nest *nest);
/* True if the nest has loops over the elements of a row. */
bool tp__group_is_whole(const tp__map_group *group, const tp__map_nest *nest);
/* Collects, in order, the nest's row loops and loops of one iteration, or its loops over the
 * elements of a row. Returns their number. */
int tp__group_order(const tp__map_group *group, const tp__map_nest *nest, bool of_rows, int *loops);
/* Classifies the access. place[d] is the loop of the group that dimension d of the operand runs
 * along, or -1 if the dimension has size 1. */
tp__group_access tp__group_access_of(const tp__map_group *group, const tp__map_nest *nest,
                                     int operand, int *place);
/* Returns the number of contiguous elements that a thread handles at once. It is that of each
 * reduction in a kernel of its own, so that the order of additions is the same; 0 if these
 * differ. */
int tp__group_lanes(const tp__map_group *group);
/* Returns how many of these elements a nest accesses at once. *loop is the loop that they are
 * along. */
int tp__group_nest_lanes(const tp__map_group *group, const tp__map_nest *nest, int lanes,
                         int *loop);
/* Return the elements of a row per thread, and the threads per block. */
int64_t tp__group_elements(const tp__map_group *group, int lanes);
int tp__group_threads(const tp__map_group *group, int lanes);
/* True if rows are longer than a block can keep. The block then loops over a row for each
 * reduction, and once more to store results. */
bool tp__group_is_looped(const tp__map_group *group);
/* True if one kernel can compute whole rows, with the vector sizes that the nests allow. */
bool tp__group_has_kernel(const tp__map_group *group);
/* True for two nests of which the first fills a buffer with a number and the second, any reduction,
 * accumulates into it. */
bool tp__group_is_begun(const tp__map_group *group);

/* ---- map_group_kernel.c ---- */
/* Builds the kernel before `end`, the return of the empty function `func`. */
tp_status tp__map_group_kernel(const tp__map_group *group, MlirOperation func, MlirOperation end,
                               tp__map_launch *launch);

#endif
