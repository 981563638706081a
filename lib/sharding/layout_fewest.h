/* Paths that send the fewest bytes. Shared by layout_fewest.c, layout_bound.c and reshard.c.
 *
 * The search of layout_search.c knows all layouts of a view beforehand, which limits it to few axes
 * and to layouts that divide the tensor. This one visits layouts as it needs them, on a mesh whose
 * axes are cut into primes, with any sizes. It finds one path at a time and ignores time. */
#ifndef TP_LIB_SHARDING_LAYOUT_FEWEST_H
#define TP_LIB_SHARDING_LAYOUT_FEWEST_H

#include "sharding/layout.h"

enum { TP__MAX_SPLIT_DIMS = 8, TP__MAX_PLACES = TP__MAX_SPLIT_DIMS + 1 };

/* Without axes of size 1 and without mixed combiners. */
typedef struct tp__fewest {
  tp_mesh mesh;
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp_spec from, to;
  int n_dims;
  int dims[TP__MAX_SPLIT_DIMS]; /* those that layouts of the path may split */
  bool partial;                 /* from or to has partial axes ... */
  unsigned combiner;            /* ... whose byte in a spec is this */
  bool may_mask;                /* the combiner has an identity */
} tp__fewest;

/* ---- a lower bound (layout_bound.c) ---- */

/* The numbers of shards of a layout: by n_dims dimensions, then of partial parts. */
typedef struct tp__counts {
  int32_t n[TP__MAX_PLACES];
} tp__counts;

tp__counts tp__counts_of(const tp__fewest *p, tp_spec spec);
/* Returns the local elements of layouts with these counts, whatever the order of their axes: nested
 * ceilings are those of the product. */
int64_t tp__counts_elements(const tp__fewest *p, const tp__counts *counts);
/* Returns the elements that a device sends in an all_to_all between layouts with these counts.
 * *several: more than two dimensions take part. -1: no all_to_all leads from one to the other. */
int64_t tp__exchange_elements(const tp__fewest *p, const tp__counts *from, const tp__counts *to,
                              bool *several);

/* The fewest elements to send from layouts with given counts to those of `to`, if permutes cost
 * nothing: a lower bound of every path, and a consistent one. */
typedef struct tp__bounds tp__bounds;

/* Computes the bounds for all layouts and one goal, of which only the counts matter. They live in
 * `arena`. NULL if memory runs out. */
tp__bounds *tp__bounds_create(const tp__fewest *problem, tp__arena *arena);
int64_t tp__bound(const tp__bounds *bounds, const tp__counts *from);

/* ---- the search (layout_fewest.c) ---- */

/* Finds a path that sends fewer than *limit elements, and of these one that sends the fewest, which
 * becomes the limit. Its kinds and layouts have TP_MAX_STEPS entries. *n: the number of steps; 0:
 * none found. */
tp_status tp__fewest_path(const tp__fewest *problem, const tp__bounds *bounds, int64_t *limit,
                          tp_step_kind *kinds, tp_spec *after, int *n);

#endif
