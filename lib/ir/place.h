/* The place of a device in the mesh, as ops of the shard dialect name it: axes of a grid,
 * coordinates along them, and what an index that is computed from those is on a given device. */
#ifndef TP_IR_PLACE_H
#define TP_IR_PLACE_H

#include "ir/annotation.h"

/* Axes that an op names. One axis of the unrefined grid is a run of axes of the refined mesh: run i
 * is [first[i], first[i] + count[i]). */
typedef struct tp__axis_runs {
  int n, first[TP_MAX_AXES], count[TP_MAX_AXES];
} tp__axis_runs;

/* The axes in the op's attribute `attr`, a list of numbers of its grid's axes; n is 0 where it is
 * absent or empty. */
tp_status tp__read_axis_runs(MlirOperation op, const char *attr, const tp_mesh *mesh,
                             tp__axis_runs *runs);
/* All axes of the op's grid. */
tp_status tp__all_axis_runs(MlirOperation op, const tp_mesh *mesh, tp__axis_runs *runs);
/* The lists of a `split_axes` of update_halo, one for each of the `n_dims` first dimensions. */
tp_status tp__read_split_runs(MlirOperation op, const tp_mesh *mesh, int *n_dims,
                              tp__axis_runs runs[TP_MAX_RANK]);

/* The lists of upstream's #shard<axisarray[[0, 1], []]>: counts[d] axes in axes[d]. False where
 * they are too many. */
bool tp__axis_lists(MlirAttribute attr, int *n_dims, int counts[TP_MAX_RANK],
                    int64_t axes[TP_MAX_RANK][TP_MAX_AXES]);

int64_t tp__run_size(const tp_mesh *mesh, const tp__axis_runs *runs, int i);
int64_t tp__run_coordinate(const tp_mesh *mesh, const tp__axis_runs *runs, int i, int64_t device);
/* The device that has coordinate `to` along run i and is otherwise where `device` is. */
int64_t tp__run_move(const tp_mesh *mesh, const tp__axis_runs *runs, int i, int64_t device,
                     int64_t to);
/* The axes of all runs, in order; returns their number. */
int tp__axes_of_runs(const tp__axis_runs *runs, int axes[TP_MAX_AXES]);
/* The axes of more than one device in all runs, as bits. */
uint32_t tp__run_bits(const tp_mesh *mesh, const tp__axis_runs *runs);

/* The integer `value` on `device`, where it is computed from constants and indices of the device by
 * integer arithmetic; false where it is not, or where the arithmetic is undefined there. */
bool tp__value_on_device(MlirValue value, const tp_mesh *mesh, int64_t device, int64_t *number);

/* Number `i` of the list that attribute `attr` holds, in which ShapedType::kDynamic stands for the
 * next one of the operands behind the first, as `device` sees it. False where that cannot be
 * told. */
bool tp__coordinate_on_device(MlirOperation op, const char *attr, int i, const tp_mesh *mesh,
                              int64_t device, int64_t *number);

#endif
