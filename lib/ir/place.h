/* The position of a device in the mesh, as expressed by ops of the shard dialect: axes of a grid,
 * coordinates along them, and the value of an index expression on a given device. */
#ifndef TP_IR_PLACE_H
#define TP_IR_PLACE_H

#include "ir/annotation.h"

/* The axes that an op names. One axis of the unrefined grid is a run of axes of the refined mesh:
 * run i is [first[i], first[i] + count[i]). */
typedef struct tp__axis_runs {
  int n, first[TP_MAX_AXES], count[TP_MAX_AXES];
} tp__axis_runs;

/* Reads the axes in attribute `attr`, a list of axis numbers of the op's grid. n is 0 if the
 * attribute is absent or empty. */
tp_status tp__read_axis_runs(MlirOperation op, const char *attr, const tp_mesh *mesh,
                             tp__axis_runs *runs);
/* Returns all axes of the op's grid. */
tp_status tp__all_axis_runs(MlirOperation op, const tp_mesh *mesh, tp__axis_runs *runs);
/* Reads `split_axes` of update_halo: one list for each of the first `n_dims` dimensions. */
tp_status tp__read_split_runs(MlirOperation op, const tp_mesh *mesh, int *n_dims,
                              tp__axis_runs runs[TP_MAX_RANK]);

/* Reads the lists of upstream's #shard<axisarray[[0, 1], []]>: counts[d] axes in axes[d]. False if
 * there are too many. */
bool tp__axis_lists(MlirAttribute attr, int *n_dims, int counts[TP_MAX_RANK],
                    int64_t axes[TP_MAX_RANK][TP_MAX_AXES]);

int64_t tp__run_size(const tp_mesh *mesh, const tp__axis_runs *runs, int i);
int64_t tp__run_coordinate(const tp_mesh *mesh, const tp__axis_runs *runs, int i, int64_t device);
/* Returns the device with coordinate `to` along run i and with the other coordinates of
 * `device`. */
int64_t tp__run_move(const tp_mesh *mesh, const tp__axis_runs *runs, int i, int64_t device,
                     int64_t to);
/* Lists the axes of all runs in order. Returns their number. */
int tp__axes_of_runs(const tp__axis_runs *runs, int axes[TP_MAX_AXES]);
/* Returns a bit set of the axes of all runs that have more than one device. */
uint32_t tp__run_bits(const tp_mesh *mesh, const tp__axis_runs *runs);

/* Evaluates the integer `value` on `device`, or the elements of a tensor of integers if all are
 * equal. False if it is not integer arithmetic on constants and device indices, or if the
 * arithmetic is undefined. */
bool tp__value_on_device(MlirValue value, const tp_mesh *mesh, int64_t device, int64_t *number);

/* Evaluates entry `i` of the list in attribute `attr` on `device`. An entry of ShapedType::kDynamic
 * stands for the next operand, starting with operand 1. False if it cannot be evaluated. */
bool tp__coordinate_on_device(MlirOperation op, const char *attr, int i, const tp_mesh *mesh,
                              int64_t device, int64_t *number);

#endif
