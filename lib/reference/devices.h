/* Programs with communication of their user: all devices of the grid run them in step, op by op, as
 * each device would run its own copy of the program. Devices that take different branches run one
 * after the other, until they meet again. An op that does not communicate runs once for all
 * devices that see the same values. */
#ifndef TP_REFERENCE_DEVICES_H
#define TP_REFERENCE_DEVICES_H

#include "reference/evaluator.h"

/* The devices that run an op together, in ascending order. */
struct devices {
  int n;
  int *numbers;
};

/* The grid of a module, whose devices are numbered row-major. */
typedef struct grid {
  int n_axes;
  int64_t sizes[TP__EVAL_MAX_RANK];
} grid;

/* Finds out whether the module communicates, and if so, its grid: r->n_devices and r->grid. False
 * for programs that the evaluator does not support. */
bool tp__find_devices(evaluation *r);
/* True if a call runs on all devices in step. */
bool tp__call_communicates(const evaluation *r, MlirOperation call);

/* Returns the empty set, with room for all devices. */
devices tp__no_devices(evaluation *r);
bool tp__has_device(const devices *on, int device);

/* Frames, arguments and results are indexed by the number of the device. */
bool tp__run_block_on(evaluation *r, cell *const *frames, const block *b, const devices *on);
bool tp__run_function_on(evaluation *r, const struct function *f, const devices *on, int n,
                         cell *const *arguments, cell *const *results);

/* devices.c, flow.c, eval_collective.c */
bool tp__run_call_on(evaluation *r, cell *const *frames, const node *n, const devices *on);
bool tp__run_permute_on(evaluation *r, cell *const *frames, const node *n, const devices *on);

#endif
