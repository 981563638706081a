/* The part of a resharding problem that a search covers, and the conversion of specs to and from
 * it. */
#ifndef TP_LIB_SHARDING_LAYOUT_VIEW_H
#define TP_LIB_SHARDING_LAYOUT_VIEW_H

#include "sharding/layout.h"

/* A resharding problem without its axes of size 1. */
typedef struct tp__reshard_problem {
  const tp_mesh *mesh;
  unsigned axes;   /* those of size > 1 */
  int64_t devices; /* of the mesh */
  tp_spec from, to;
  /* The search includes partial layouts: `from` or `to` is one, or there are few enough of them. */
  bool partial;
  tp_combiner combiner;      /* combiner of `from`, or of `to` if `from` has none */
  tp_combiner last_combiner; /* combiner of `to`, or of `from` if `to` has none */
  int rank;
  const int64_t *shape;
  int64_t element_size;
} tp__reshard_problem;

/* Fills the problem. TP_UNSUPPORTED if no path can exist: a spec mixes combiners, a size is
 * negative, or a spec does not fit the rank. */
tp_status tp__reshard_problem_create(const tp_mesh *mesh, tp_spec from, tp_spec to, int rank,
                                     const int64_t *shape, int64_t element_size,
                                     tp__reshard_problem *problem);

typedef struct tp__layout_view {
  unsigned axes;
  bool full; /* the view contains every layout of the tensor that divides its shape */
  int n_dims;
  int dims[TP_MAX_RANK];     /* dimension of the tensor, by dimension of the view */
  int8_t place[TP_MAX_RANK]; /* the reverse; -1: not in the view */
  tp_spec from, to;          /* in the view's dimensions */
  unsigned uneven_from;      /* bit d: `from` does not divide dimension d of the view */
  unsigned uneven;           /* the same for from or to */
  tp_spec uneven_to;         /* the axes of `to` on dimensions that it does not divide */
  int64_t outer;             /* local elements of the dimensions outside of the view */
} tp__layout_view;

/* Sorts the dimensions of the view by size and by the axes on them that matter to a search.
 * Problems that differ only in the order of their dimensions become equal. */
void tp__layout_view_sort(const tp__reshard_problem *problem, tp__layout_view *view);
/* Chooses the view. False if even the smallest one has too many layouts. */
bool tp__layout_view_create(const tp__reshard_problem *problem, tp__layout_view *view);
/* Returns the axes of `spec`, a layout of the view, on dimensions that it does not divide, and adds
 * these dimensions to *dims. `shape` is that of the tensor. */
tp_spec tp__layout_view_uneven(const tp_mesh *mesh, const tp__layout_view *view,
                               const int64_t *shape, tp_spec spec, unsigned *dims);
/* Converts `spec` to the view's dimensions. All dimensions that it splits must be in the view. */
tp_spec tp__layout_view_project(const tp_mesh *mesh, const tp__layout_view *view, tp_spec spec);
/* Converts a layout of the view to one of the tensor. Everything outside of the view is as in
 * problem->from; partial axes get `combiner`. */
tp_spec tp__layout_view_restore(const tp__reshard_problem *problem, const tp__layout_view *view,
                                tp_spec spec, tp_combiner combiner);

#endif
