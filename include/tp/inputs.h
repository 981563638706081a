/* What data may be drawn for the arguments of a program, so that it is well conditioned and reads
 * in bounds.
 *
 * Weights that are normal with deviation 1 let every layer multiply magnitudes by the square root
 * of its fan-in; softmax of such scores amplifies rounding a thousandfold. Scaled by 1 /
 * sqrt(fan-in), magnitudes stay (Glorot and Bengio, "Understanding the difficulty of training deep
 * feedforward neural networks", 2010). Integers that are used as indices have to be in range.
 *
 * Thread rule: the analysis uses the module's context, one thread at a time; nothing is changed. */
#ifndef TP_INPUTS_H
#define TP_INPUTS_H

#include "tp/status.h"

#include <mlir-c/IR.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tp_input_range {
  /* Floats: the deviation to draw with. Below 1 for weights: the first contraction that reads the
   * argument as one decides. */
  double deviation;
  /* Floats: a root or a logarithm is taken, so that values should be positive. */
  bool is_positive;
  /* Integers: the largest value that all uses as an index, an offset or a class allow, from 0 on;
   * negative: there is no such use that is understood. */
  int64_t high;
} tp_input_range;

/* Fills ranges[i] for each argument of `function`, which is what tp_plan_measure names.
 * TP_NOT_FOUND when the module has no such function with a body; TP_NO_MEMORY. Either comes with a
 * diagnostic. */
TP_API tp_status tp_input_ranges(MlirModule module, const char *function, tp_input_range *ranges);

#ifdef __cplusplus
}
#endif
#endif
