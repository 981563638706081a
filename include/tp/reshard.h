/* Resharding: the cheapest sequence of steps that changes the layout of a tensor from one spec to
 * another.
 *
 * The steps are edges of a graph whose nodes are specs; each is a collective on one axis or on a
 * set of axes, or a local operation, priced at the local size it works on (tp/cost.h; a slice or
 * mask costs the time of its memory traffic). The path is found by Dijkstra's algorithm with ties
 * broken by the number of steps and then by a fixed order, so the same input always gives the same
 * steps.
 *
 * Moves: all_gather removes the minor-most axes of a dimension; slice puts axes at the minor end of
 * a dimension; all_to_all moves the minor-most axes of one dimension to the minor end of another,
 * or of several others, or those of several dimensions to the minor end of one; reduce_scatter
 * turns partial axes into minor-most axes of a dimension; all_reduce makes partial axes replicated;
 * permute re-labels equal shards (any two layouts with the same number of shards of each dimension
 * and of partial parts: swaps axes, reorders the axes of a dimension); mask makes a replicated axis
 * partial by putting the identity everywhere but at index 0.
 *
 * Partial: from the partials of one combiner to those of another a path leads through layouts
 * without partials. A spec that mixes combiners has no defined value and takes part in no path;
 * "average" has no identity, so a mask to it does not exist.
 *
 * Uneven sizes: paths run through layouts that divide exactly. If `from` or `to` does not divide,
 * their own uneven dimensions and the leading axes of those may occur too. The axes at the minor
 * end of such a dimension may come and go, several at once only where all but the major-most divide
 * (or one element is all there is), so that every buffer is a prefix of the one before (a gather of
 * ceil(5/4)=2 over 4 gives 8 rows, the first 5 are the result); a permute leaves it alone.
 * Collectives see equal shards and are priced with that padding. The other dimensions move freely
 * meanwhile.
 *
 * Axes of size 1 are ignored: specs that differ only there cost 0 and take no step.
 *
 * Bounds: the search covers all layouts of the tensor while these are few enough, which holds for
 * meshes of up to 4 axes (of size > 1) and 6 dimensions that some axis divides. Beyond, axes and
 * dimensions that are the same in `from` and `to` keep their place, and if that is still too much
 * the steps are all_reduce, gather to the common layout, slice, mask. Within the bounds and for
 * exact sizes, costs are distances: cost(a, c) <= cost(a, b) + cost(b, c) as long as b has no
 * partial that neither a nor c has.
 *
 * Thread rule: a cache belongs to one thread at a time; everything else is pure. */
#ifndef TP_RESHARD_H
#define TP_RESHARD_H

#include "tp/cost.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tp_step_kind {
  TP_STEP_ALL_GATHER,
  TP_STEP_REDUCE_SCATTER,
  TP_STEP_ALL_REDUCE,
  TP_STEP_ALL_TO_ALL,
  TP_STEP_PERMUTE,
  TP_STEP_SLICE, /* local, no communication */
  TP_STEP_MASK,  /* local: replicated -> partial */
} tp_step_kind;

typedef struct tp_step {
  tp_step_kind kind;
  int n_axes;
  /* of the mesh, major to minor: the rank inside the group counts in this order. For permute the
   * axes along which data moves, in mesh order (tp_step_permute_sources has the map) */
  int axes[TP_MAX_AXES];
  /* gather, scatter, slice: the dimension; all_to_all: the dimension that loses the axes (concat),
   * -1: several do */
  int dim;
  /* all_to_all: the dimension that gets the axes (split), -1: several do, each axis as `to` says.
   * `dim` and `to_dim` are not both -1 */
  int to_dim;
  tp_combiner combiner; /* all_reduce, reduce_scatter, mask */
  tp_spec from, to;     /* specs before and after; the `to` of one step is the `from` of the next */
  int64_t bytes;        /* sent per device, tp_cost_bytes; 0 for local steps */
  tp_cost cost;
} tp_step;

enum { TP_MAX_STEPS = 16 };

typedef struct tp_reshard {
  int n_steps;
  tp_step steps[TP_MAX_STEPS];
  int64_t bytes; /* sum */
  tp_cost cost;  /* sum */
} tp_reshard;

typedef struct tp_reshard_cache tp_reshard_cache;

/* A memo of distances for one mesh and topology, both copied. Its size is bounded (some 250 MB,
 * which takes thousands of different tensors on a mesh of four axes); what it forgets it computes
 * again. NULL when memory runs out. */
TP_API tp_reshard_cache *tp_reshard_cache_create(const tp_mesh *mesh, const tp_topology *topology);
TP_API void tp_reshard_cache_destroy(tp_reshard_cache *cache);

/* Cost of from -> to for a tensor of `rank` dimensions of global `shape` with elements of
 * element_size bytes. 0 when equal; TP_COST_FORBIDDEN when there is no path (from a layout without
 * partials to a partial whose combiner has no identity; specs that mix combiners, or do not fit the
 * rank), or when memory runs out. */
TP_API tp_cost tp_reshard_cost(tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank,
                               const int64_t *shape, int64_t element_size);

/* The steps. TP_UNSUPPORTED when there is no path, TP_INVALID_ARGUMENT when a spec does not fit the
 * mesh or the rank. */
TP_API tp_status tp_reshard_path(tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank,
                                 const int64_t *shape, int64_t element_size, tp_reshard *reshard);

/* The cost of a step of such a path on another topology, of the same mesh: its time, where the path
 * was found by another objective. */
TP_API tp_cost tp_step_cost(const tp_mesh *mesh, const tp_topology *topology, const tp_step *step,
                            int rank, const int64_t *shape, int64_t element_size);

/* Size of the group of a step: the product of its axes. */
TP_API int64_t tp_step_group_size(const tp_mesh *mesh, const tp_step *step);
/* "all_gather", ..., "slice", "mask". */
TP_API const char *tp_step_kind_name(tp_step_kind kind);

/* For TP_STEP_PERMUTE: fills `sources`, an entry for each device of the mesh, with the device that
 * it receives from. The map is a bijection; a device that holds its new shard already keeps it, and
 * data stays within the group of the step's axes. TP_NO_MEMORY. */
TP_API tp_status tp_step_permute_sources(const tp_mesh *mesh, const tp_step *step,
                                         int64_t *sources);

#ifdef __cplusplus
}
#endif
#endif
