/* Resharding: finds the cheapest sequence of steps that converts a tensor from one sharding spec to
 * another.
 *
 * The steps are edges of a graph whose nodes are specs. Each step is a collective on one or more
 * axes, or a local operation. It is priced at the local size it works on (tp/cost.h; a slice or
 * mask costs the time of its memory traffic). Dijkstra's algorithm finds the path. Ties are broken
 * by the number of steps and then by a fixed order, so equal inputs always give equal steps.
 *
 * Moves:
 * - all_gather removes the minor-most axes of a dimension.
 * - slice appends axes at the minor end of a dimension.
 * - all_to_all moves the minor-most axes of one dimension to the minor end of another dimension or
 *   of several others, or those of several dimensions to the minor end of one.
 * - reduce_scatter turns partial axes into minor-most axes of a dimension.
 * - all_reduce makes partial axes replicated.
 * - permute relabels equal shards. It connects any two layouts with the same number of shards per
 *   dimension and of partial parts: it swaps axes, or reorders the axes of a dimension.
 * - mask makes a replicated axis partial: it writes the identity everywhere except at index 0.
 *
 * Partial: a path from one combiner's partials to another's passes through layouts without
 * partials. A spec that mixes combiners has no defined value and is on no path. "average" has no
 * identity, so there is no mask to it.
 *
 * Uneven sizes: paths use layouts whose shards divide exactly. If `from` or `to` does not divide, a
 * path may also use their own uneven dimensions and the leading axes of those. A step can add or
 * remove axes at the minor end of such a dimension. It can add or remove several at once only if
 * all but the major-most divide (or there is only one element), so that every buffer is a prefix of
 * the previous one (a gather of ceil(5/4)=2 over 4 gives 8 rows, of which the first 5 are the
 * result). A permute leaves such a dimension alone. Collectives operate on equal shards and are
 * priced with that padding. The other dimensions are not restricted.
 *
 * Axes of size 1 are ignored: specs that differ only there are 0 apart and need no step.
 *
 * Bounds: the search covers all layouts of the tensor if there are few enough. This holds for
 * meshes of up to 4 axes (of size > 1) and 6 dimensions that some axis divides. Beyond that, axes
 * and dimensions that are equal in `from` and `to` stay fixed. If this is still too much, the steps
 * are all_reduce, gather to the common layout, slice, mask. Within the bounds and for exact sizes,
 * costs satisfy the triangle inequality: cost(a, c) <= cost(a, b) + cost(b, c), unless b has a
 * partial that neither a nor c has.
 *
 * Objective "bytes" (tp_topology_count_bytes): tp_reshard_path then searches on for a path that
 * sends less. This search visits layouts as it needs them, so the bounds above do not apply. It
 * cuts the axes of the mesh into primes, in every order, and goes through uneven layouts that
 * neither end has: an all_to_all between two dimensions may then pad every part of a nested split,
 * and a permute may move uneven shards if axes of equal sizes make them in the same order. The path
 * is on a refinement of the mesh (tp_reshard.mesh) that has the cuts it needs. It is A* (Hart,
 * Nilsson, Raphael 1968) with the shortest path among numbers of shards as its bound, after Rink et
 * al., "Memory-efficient array redistribution through portable collective communication" (2021).
 *
 * No path of these moves sends less, with these limits: an axis that splits a dimension of an end
 * unevenly is not cut; at most TP_MAX_AXES parts of axes; beyond 4 dimensions, only those that an
 * end splits; at most 4 axes in an exchange of more than two dimensions; one combiner; and up to
 * 131072 layouts visited, after which the path is that of the other search. Test
 * sharding.reshard_bytes compares with an enumeration on up to 64 devices.
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
  /* mesh axes, major to minor: the rank inside the group counts in this order. For permute, the
   * axes along which data moves, in mesh order (the map is in tp_step_permute_sources) */
  int axes[TP_MAX_AXES];
  /* gather, scatter, slice: the dimension. all_to_all: the dimension that loses the axes (concat);
   * -1: several do */
  int dim;
  /* all_to_all: the dimension that receives the axes (split); -1: several do, each axis as in `to`.
   * `dim` and `to_dim` are not both -1 */
  int to_dim;
  tp_combiner combiner; /* all_reduce, reduce_scatter, mask */
  tp_spec from, to;     /* specs before and after; the `to` of a step is the `from` of the next */
  int64_t bytes;        /* sent per device, tp_cost_bytes; 0 for local steps */
  tp_cost cost;
} tp_step;

enum { TP_MAX_STEPS = 16 };

typedef struct tp_reshard {
  /* the mesh of all axes and specs in the steps: that of the cache, or a refinement of it */
  tp_mesh mesh;
  int n_steps;
  tp_step steps[TP_MAX_STEPS];
  int64_t bytes; /* sum over the steps */
  tp_cost cost;  /* sum over the steps */
} tp_reshard;

typedef struct tp_reshard_cache tp_reshard_cache;

/* Creates a cache of reshard distances for one mesh and topology, both copied. Its size is bounded
 * (about 250 MB, which takes thousands of different tensors on a mesh of four axes); evicted
 * entries are computed again. NULL if memory runs out. */
TP_API tp_reshard_cache *tp_reshard_cache_create(const tp_mesh *mesh, const tp_topology *topology);
TP_API void tp_reshard_cache_destroy(tp_reshard_cache *cache);

/* Keeps later paths from cutting axes of the cache's mesh into parts. `planned` is the cache that
 * the plan was made with, for a mesh of which this one has the axes, some of them cut; it must
 * outlive this cache. Between two layouts a path is that of `planned`, if the axes of this mesh
 * allow it, else the cheapest one. Without this a program could take another path of equal cost
 * than its plan. */
TP_API void tp_reshard_cache_keep_axes(tp_reshard_cache *cache, tp_reshard_cache *planned);

/* Keeps paths from cutting these axes of the cache's mesh, as bits, into parts. Costs and paths
 * that were asked for before stay as they were, so this comes first. */
TP_API void tp_reshard_cache_keep_whole(tp_reshard_cache *cache, unsigned axes);

/* Makes tp_reshard_cost and the fields below agree for the objective "bytes": later costs are those
 * without the search described above. */
TP_API void tp_reshard_cache_price_whole_axes(tp_reshard_cache *cache, bool whole);

/* Returns the cost of from -> to for a tensor of `rank` dimensions with global `shape` and elements
 * of element_size bytes. 0 if they are equal. TP_COST_FORBIDDEN if there is no path (from a layout
 * without partials to a partial whose combiner has no identity; specs that mix combiners, or do not
 * fit the rank), or if memory runs out. It is the cost of the path that tp_reshard_path returns. */
TP_API tp_cost tp_reshard_cost(tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank,
                               const int64_t *shape, int64_t element_size);

/* Layouts to which a tensor is resharded. */
typedef struct tp_reshard_targets {
  int rank;
  const int64_t *shape;
  int64_t element_size;
  int n;
  const tp_spec *to;
  int *number; /* room for n numbers, for tp_reshard_costs */
  bool is_numbered;
  struct tp__reshard_table *table;
} tp_reshard_targets;

/* costs[k] = tp_reshard_cost from `from` to targets->to[k], but costs that were asked for before,
 * for a tensor of this shape, are looked up in a table, in 2 ns instead of 50 to 1000. The fields
 * behind `number` are zero at the first call with these targets, and all calls with them are about
 * one cache. */
TP_API void tp_reshard_costs(tp_reshard_cache *cache, tp_reshard_targets *targets, tp_spec from,
                             tp_cost *costs);

/* Returns the steps of the path. TP_UNSUPPORTED if there is no path, TP_INVALID_ARGUMENT if a spec
 * does not fit the mesh or the rank. */
TP_API tp_status tp_reshard_path(tp_reshard_cache *cache, tp_spec from, tp_spec to, int rank,
                                 const int64_t *shape, int64_t element_size, tp_reshard *reshard);

/* Returns the cost of step `number` of such a path on another topology, for example its time if the
 * path was found for another objective. `mesh` is that of the topology and of the cache. */
TP_API tp_cost tp_step_cost(const tp_mesh *mesh, const tp_topology *topology,
                            const tp_reshard *reshard, int number, int rank, const int64_t *shape,
                            int64_t element_size);

/* ---- lower bounds for many layouts at once ---- */

/* All layouts that a tensor may pass through while it is resharded, with the moves between them. */
typedef struct tp_reshard_field tp_reshard_field;

/* Creates a field for a tensor of `rank` dimensions with global `shape` and elements of
 * element_size bytes. `specs` are the n layouts of interest. Every cost is multiplied by `times` >
 * 0 and rounded down. `cache` must outlive the field. TP_UNSUPPORTED: the tensor has too many
 * layouts. TP_NO_MEMORY. */
TP_API tp_status tp_reshard_field_create(tp_reshard_cache *cache, int rank, const int64_t *shape,
                                         int64_t element_size, double times, int n,
                                         const tp_spec *specs, tp_reshard_field **field);
TP_API void tp_reshard_field_destroy(tp_reshard_field *field);
/* Returns the number of layouts, and the number of one of the layouts of interest. Layouts that
 * differ only in the combiner of their partials have the same number. */
TP_API int tp_reshard_field_size(const tp_reshard_field *field);
TP_API int tp_reshard_field_number(const tp_reshard_field *field, tp_spec spec);
/* costs[i] becomes the minimum over all layouts k of costs[k] plus the distance from k to i
 * (`backward`: from i to k). Costs have one entry per layout, may be negative, and are at least
 * TP_COST_FORBIDDEN where there is none. Distances are times * tp_reshard_cost, rounded down, or
 * less: the combiner of partials is ignored, the leading axes of every layout of interest may be
 * used on uneven dimensions, and tensors whose layouts are too many for one search of
 * tp_reshard_cost have all of them here. So distances satisfy the triangle inequality. Shortest
 * paths from many sources: two sweeps over all layouts (Bellman 1958), then a queue of those that
 * changed (Moore 1959). */
TP_API void tp_reshard_field_spread(tp_reshard_field *field, bool backward, tp_cost *costs);

/* Fills the n x n table of distances between the layouts with these numbers:
 * distances[i * n + k] is that from states[i] to states[k]. The cost of each move is divided by
 * 2^shift and rounded down, so a distance is never too long. All are less than TP_FIELD_FAR / 2, so
 * that the sum of two does not overflow; `shift` becomes the least number for which that holds.
 * Returns TP_UNSUPPORTED if some layout cannot be reached, or TP_NO_MEMORY. */
#define TP_FIELD_FAR ((uint32_t)1 << 31)
TP_API tp_status tp_reshard_field_distances(tp_reshard_field *field, int n, const int *states,
                                            int *shift, uint32_t *distances);

/* Returns the group size of a step: the product of its axes. */
TP_API int64_t tp_step_group_size(const tp_mesh *mesh, const tp_step *step);
/* Returns "all_gather", ..., "slice", "mask". */
TP_API const char *tp_step_kind_name(tp_step_kind kind);

/* For TP_STEP_PERMUTE: fills `sources`, which has an entry for each device of the mesh, with the
 * device that it receives from. The map is a bijection. A device that already holds its new shard
 * keeps it, and data stays within the group of the step's axes. TP_NO_MEMORY. */
TP_API tp_status tp_step_permute_sources(const tp_mesh *mesh, const tp_step *step,
                                         int64_t *sources);

#ifdef __cplusplus
}
#endif
#endif
