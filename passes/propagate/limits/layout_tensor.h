/* The distances between the layouts of tensors. Tensors whose reshards cost the same share them:
 * those of one shape, up to the order of their dimensions. The layouts in here are sorted: they
 * have the dimensions in the order of their sizes. */
#ifndef TP_PASSES_PROPAGATE_LAYOUT_TENSOR_H
#define TP_PASSES_PROPAGATE_LAYOUT_TENSOR_H

#include "passes/propagate/limits/layout_column.h"

/* Costs from here on belong to strategies and layouts that no plan can have. All others stay far
 * below, so that sums of a few do not overflow. */
#define TP_IMPOSSIBLE ((tp_cost)1 << 57)

typedef struct tp_layout_tensor {
  struct tp_layout_tensor *next;
  int rank;
  int64_t shape[TP_MAX_RANK], element_size;
  double trips;
  tp_reshard_field *field; /* NULL: reshards are not counted */
  tp_spec *specs;          /* all layouts that edges ask about */
  size_t n, capacity;
  int n_places;
  int *place;          /* by number in the field: its place in `distances`; -1: none */
  int *number;         /* by place: its number in the field */
  uint32_t *distances; /* from each place to each, divided by 2^shift; NULL: too many */
  int shift;
} tp_layout_tensor;

typedef struct tp_layout_tensors {
  tp_layout_tensor *first;
  tp__arena *arena;
  int64_t n_distances;
  /* scratch, by place: costs, and quotients by 2^shift; and by number in a field */
  tp_cost *costs, *by_number;
  uint32_t *quotients;
} tp_layout_tensors;

/* Finds the tensors that reshard like this value. NULL: there are none, unless `is_new`, or memory
 * ran out. */
tp_layout_tensor *tp__layout_tensor(tp_layout_tensors *tensors, const tp_planned_value *value,
                                    bool is_new);
/* Makes the fields of all tensors and their tables of distances. A tensor with too many layouts has
 * no field; one whose table would exceed the limit has a field only. */
tp_status tp__layout_tensors_measure(tp_layout_tensors *tensors, tp_planner *planner);
void tp__layout_tensors_destroy(tp_layout_tensors *tensors);
/* Returns the place of each dimension of a value among all, sorted by size: four bits each. */
uint64_t tp__layout_order(const tp_planned_value *value);
/* Returns a layout of such a value with the dimensions sorted. */
tp_spec tp__layout_sorted(uint64_t order, tp_spec spec);
/* Returns the place of a layout that edges ask about. */
int tp__layout_tensor_place(const tp_layout_tensor *tensor, uint64_t order, tp_spec spec);
/* near[x] becomes the minimum over y of far[y] plus the distance from far_places[y] to
 * near_places[x], or, if `backward`, the other way. `far` has no negative cost, and 0 or only
 * TP_IMPOSSIBLE. */
void tp__layout_tensor_spread(const tp_layout_tensors *tensors, const tp_layout_tensor *tensor,
                              bool backward, int n_far, const int *far_places, const tp_cost *far,
                              int n_near, const int *near_places, tp_cost *near);
/* Computes the distances from a layout to n others, all of them layouts that edges ask about. */
void tp__layout_tensor_distances(const tp_layout_tensors *tensors, const tp_layout_tensor *tensor,
                                 uint64_t order, tp_spec from, int n, const tp_spec *to,
                                 tp_cost *costs);

#endif
