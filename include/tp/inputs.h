/* Ranges for random program inputs, chosen so that the program is well conditioned and stays in
 * bounds.
 *
 * If weights are normal with deviation 1, every layer multiplies magnitudes by the square root of
 * its fan-in, and a softmax of such scores amplifies rounding a thousandfold. Scaling weights by 1
 * / sqrt(fan-in) preserves magnitudes (Glorot and Bengio, "Understanding the difficulty of training
 * deep feedforward neural networks", 2010). Integers that are used as indices must be in range.
 *
 * Thread rule: the analysis uses the module's context, one thread at a time. It does not change the
 * module. */
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
  /* Floats: the standard deviation to draw with. It is below 1 for weights, derived from the first
   * contraction that uses the argument as one. */
  double deviation;
  /* Floats: the program takes a root or a logarithm, so values should be positive. */
  bool is_positive;
  /* Integers: values may be drawn from 0 to high, the largest value that all uses as an index, an
   * offset or a class allow. Negative: the analysis found no such use. */
  int64_t high;
} tp_input_range;

/* Fills ranges[i] for each argument of `function`, which is selected as in tp_plan_measure.
 * TP_NOT_FOUND if the module has no such function with a body; TP_NO_MEMORY. Both come with a
 * diagnostic. */
TP_API tp_status tp_input_ranges(MlirModule module, const char *function, tp_input_range *ranges);

#ifdef __cplusplus
}
#endif
#endif
