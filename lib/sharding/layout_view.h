/* The part of a resharding problem that a search looks at, and the way there and back. */
#ifndef TP_LIB_SHARDING_LAYOUT_VIEW_H
#define TP_LIB_SHARDING_LAYOUT_VIEW_H

#include "sharding/layout.h"

/* A problem without its axes of size 1. */
typedef struct tp__problem {
  const tp_mesh *mesh;
  unsigned axes;   /* those of size > 1 */
  int64_t devices; /* of the mesh */
  tp_spec from, to;
  /* the search has partial layouts: from or to is one, or they are few enough not to matter */
  bool partial;
  tp_combiner combiner;      /* of those of from; the other one's if it has none */
  tp_combiner last_combiner; /* of those of to; likewise */
  int rank;
  const int64_t *shape;
  int64_t element_size;
} tp__problem;

/* Fills the problem. TP_UNSUPPORTED if no path can exist: a spec that mixes combiners, negative
 * sizes, specs that do not fit. */
tp_status tp__problem_create(const tp_mesh *mesh, tp_spec from, tp_spec to, int rank,
                             const int64_t *shape, int64_t element_size, tp__problem *problem);

typedef struct tp__view {
  unsigned axes;
  bool full; /* every layout of the tensor that divides is one of the view */
  int n_dims;
  int dims[TP_MAX_RANK];     /* of the tensor, by dimension of the view */
  int8_t place[TP_MAX_RANK]; /* the reverse; -1: not in the view */
  tp_spec from, to;          /* in the view's dimensions */
  unsigned uneven_from;      /* bit d: `from` does not divide dimension d of the view */
  unsigned uneven;           /* the same for from or to */
  tp_spec uneven_to;         /* the axes of `to` on dimensions that it does not divide */
  int64_t outer;             /* local elements of the dimensions outside */
} tp__view;

/* Puts the dimensions of the view in an order that depends on nothing but their sizes and the axes
 * on them that a search knows: problems that differ in the order of dimensions alone become one. */
void tp__view_sort(const tp__problem *problem, tp__view *view);
/* Chooses the view; false if even the smallest has too many layouts. */
bool tp__view_create(const tp__problem *problem, tp__view *view);
/* The axes of `spec`, a layout of the view, on dimensions that it does not divide; adds these to
 * *dims. `shape` is that of the tensor. */
tp_spec tp__view_uneven(const tp_mesh *mesh, const tp__view *view, const int64_t *shape,
                        tp_spec spec, unsigned *dims);
/* `spec` in the view's dimensions; those that it splits must be in the view. */
tp_spec tp__view_project(const tp_mesh *mesh, const tp__view *view, tp_spec spec);
/* A layout of the view as one of the tensor: what is outside the view is as in problem->from,
 * partial axes are those of `combiner`. */
tp_spec tp__view_restore(const tp__problem *problem, const tp__view *view, tp_spec spec,
                         tp_combiner combiner);

#endif
