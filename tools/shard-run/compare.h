/* How far is a result from a reference? */
#ifndef SHARD_RUN_COMPARE_H
#define SHARD_RUN_COMPARE_H

#include "array.h"

typedef struct comparison {
  bool done, ok;
  /* Relative to the largest |reference|. */
  double error, tolerance;
  /* Against the evaluator: what one device is off, relative to the same; negative: one device was
   * not run. */
  double error_of_one;
  /* Against one device: the error is above the tolerance, and the evaluator has decided whether
   * that is wrong. */
  bool is_decided_elsewhere;
  /* Against the evaluator: not farther off than one device allows, but one device is so far off
   * that nothing is shown. */
  bool is_ill_conditioned;
  /* When not ok because of something else. */
  char what[200];
} comparison;

/* Of the same type and shape. The tolerance is that of results of a framework (`against_expected`),
 * or of the same program on one device. */
comparison compare_arrays(const array *value, const array *reference, bool against_expected);
/* What errors are relative to: the largest finite magnitude. Masks do not count, such as -1e9 in
 * scores: a number of 1e4 or more that occurs more than once, where all others are at most 1e-4 of
 * it. Beside it no error of them would be seen. */
double compare_scale(const array *reference);
/* The tolerance of elements of this type, as above. */
double compare_tolerance(const element *type, bool against_expected);
/* Whether it has more than one element, and all are the same. */
bool is_constant(const array *a);

#endif
