/* The fewest bytes that a reshard can send, by enumeration. Shares no code with the library: it has
 * its own layouts, moves and prices, and tries every way to cut the axes.
 *
 * A layout gives every axis to a dimension, to the partial sum, or to copies. A path may go through
 * all layouts of the tensor, also through uneven ones. Its moves are
 * - slice, mask: free;
 * - all_gather of the minor-most axis of a dimension;
 * - all_reduce of any partial axes, reduce_scatter of one to the minor end of a dimension;
 * - all_to_all of the minor axes of one dimension to the minor ends of others, or of the minor axes
 *   of several to one; of more than two dimensions only if axes divide them;
 * - permute between any two layouts with equal shards.
 *
 * Axes are cut into primes, in every order of these. An axis that splits a dimension of the first
 * or the last layout unevenly is not cut. */
#ifndef TEST_SHARDING_FEWEST_H
#define TEST_SHARDING_FEWEST_H

#include <stdbool.h>
#include <stdint.h>

enum { FEWEST_AXES = 8, FEWEST_RANK = 4 };

/* Where a layout puts an axis. */
enum { FEWEST_COPIES = -1, FEWEST_PARTIAL = -2 };

typedef struct fewest_layout {
  int n; /* axes that are not copies, in the order in which they split their dimensions */
  int axis[FEWEST_AXES], place[FEWEST_AXES]; /* of each: its dimension, or FEWEST_PARTIAL */
} fewest_layout;

typedef struct fewest_problem {
  int n_axes;
  int64_t sizes[FEWEST_AXES]; /* of the axes, each at least 2 */
  int rank;
  int64_t shape[FEWEST_RANK];
  int64_t element_size;
  fewest_layout from, to;
  int64_t max_layouts;
} fewest_problem;

/* Returns the bytes per device; -1: the search met more than max_layouts layouts, or memory ran
 * out. */
int64_t fewest_bytes(const fewest_problem *problem);

#endif
