/* Comparison of a result with a reference. */
#ifndef SHARD_RUN_COMPARE_H
#define SHARD_RUN_COMPARE_H

#include "array.h"

typedef struct comparison {
  bool done, ok;
  /* Relative to the largest |reference|. */
  double error, tolerance;
  /* Against the evaluator: the error of the one-device result, relative to the same value;
   * negative: one device was not run. */
  double error_of_one;
  /* Against one device: the error exceeds the tolerance, so the evaluator decides whether the
   * result is wrong. */
  bool is_decided_elsewhere;
  /* The comparison proves nothing. Against the evaluator: the error is within the range of the
   * one-device error, but that is large. Against expected results: rounding may explain a large
   * error, or decides most of the integers. */
  bool is_ill_conditioned;
  /* Against the evaluator: one device has a large error, too, so noise decides what it shows. */
  bool is_doubtful;
  /* A float result is not ok, but rounding may explain an error up to this, of f32 and f64 results
   * that of f16, bf16 or f8 numbers on which they depend. compare_with_rounding then decides; 0:
   * otherwise. */
  double rounding_tolerance;
  double scale; /* the value that errors of floats are relative to */
  /* If a result seemed ill-conditioned: the error that rounding may explain, to an order of
   * magnitude; negative: it was not estimated. */
  double error_of_rounding;
  /* The reason if not ok for another cause. */
  char what[200];
} comparison;

/* Compares two arrays of the same type and shape. The tolerance is the one for results of a
 * framework (`against_expected`), or for the same program on one device; for floats it is at least
 * `least`. */
comparison compare_arrays(const array *value, const array *reference, bool against_expected,
                          double least);
/* Returns the magnitude that errors are relative to: the largest finite value, excluding masks such
 * as -1e9 in attention scores. A mask is a number of 1e4 or more that occurs more than once, if all
 * other numbers are at most 1e-4 of it. Relative to a mask, errors of the other numbers would be
 * invisible. */
double compare_scale(const array *reference);
/* Returns the least normal number of a float type. Smaller numbers have fewer digits, and the
 * smallest become 0, so an error is relative to at least this number. */
double compare_least(const element *type);
/* Returns the tolerance for elements of this type, as above. */
double compare_tolerance(const element *type, bool against_expected);
/* Returns the tolerance for values computed in a float type with this unit roundoff; 0 for f32 and
 * wider types. */
double compare_tolerance_of_unit(double unit);
/* Returns true if the array has more than one element and all are equal. */
bool is_constant(const array *a);

#endif
