/* What ops that communicate have in common: the place of a device in the grid and in its group, and
 * its operand and result. */
#ifndef TP_REFERENCE_PLACES_H
#define TP_REFERENCE_PLACES_H

#include "reference/devices.h"

/* A list of axes of the grid, major to minor. The devices that differ only along these are a
 * group. */
typedef struct axes {
  int n;
  int64_t list[TP__EVAL_MAX_RANK];
} axes;

/* Reads the axes in an attribute. Upstream verifies that they are in the grid. */
axes tp__read_axes(const node *n, const char *name);

int64_t tp__coordinate(const evaluation *r, int device, int64_t axis);
/* The device with the coordinate `to` along one axis, and those of `device` along the others. */
int tp__moved(const evaluation *r, int device, int64_t axis, int64_t to);

int tp__group_size(const evaluation *r, const axes *of);
/* The place of a device in its group. */
int tp__group_rank(const evaluation *r, const axes *of, int device);
/* The device at a place of the group of `device`. */
int tp__group_member(const evaluation *r, const axes *of, int device, int rank);

/* Reads a list of coordinates along the axes of a group: constants, and operands from the second
 * one on. *device is the device of the group of `at` that has them; -1: it is outside of the
 * grid. */
bool tp__read_device(evaluation *r, const node *n, const cell *frame, const char *name,
                     const axes *of, int at, int *device);
/* Fails if `other`, which `device` waits for, does not run the op. */
bool tp__needs(evaluation *r, const node *n, const devices *on, int device, int other);

/* The first operand, and the result, of a device. */
const tensor *tp__value_on(cell *const *frames, const node *n, int device);
void tp__give(cell *const *frames, const node *n, int device, tensor *t);
/* Counts the steps of an op, and notes that its results may depend on the operands of all
 * devices. */
bool tp__finish(evaluation *r, cell *const *frames, const node *n, const devices *on);

/* Returns a tensor of the type of `like`, filled with one number. */
tensor *tp__filled(evaluation *r, const tensor *like, number with);

#endif
