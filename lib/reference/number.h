/* A number of an evaluated program, with a bound on the error that a correct implementation may
 * have.
 *
 * A float is computed in binary64; an integer is exact. Each float carries an error bound: the
 * distance by which the same program, run in its own element type, may differ. The bound assumes
 * one rounding per operation, and sums in any order, including sums across devices and sums that
 * continue beyond the op that writes the value. A rounding error is therefore relative to the sum
 * of the magnitudes of all terms (Higham, Accuracy and Stability of Numerical Algorithms, 4.2).
 * Linear operations propagate this sum of magnitudes, which the code calls the reach of a number.
 * Integral values whose reach fits into the significand are exact, because every partial sum fits
 * too. */
#ifndef TP_REFERENCE_NUMBER_H
#define TP_REFERENCE_NUMBER_H

#include "tp/reference.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* An element type. */
typedef struct kind {
  const char *name; /* as printed by MLIR */
  bool is_float;
  int parts; /* numbers per element: 2 for complex types, otherwise 1 */
  int bits;  /* width of an integer (64 for index), or storage width of a float */
  /* Floats: the unit roundoff, which is the largest relative error of one rounding. 0 for kinds
   * without rounding. */
  double unit;
  double most, min_normal;    /* the largest finite magnitude and the smallest normal one */
  const struct kind *nominal; /* of a kind that ignores rounding: the kind with it; else NULL */
  /* of a kind that ignores rounding: which sequence changes results at random; 0: none */
  int noise;
} kind;
typedef enum precision {
  PRECISION_BOUNDS, /* floats have error bounds */
  PRECISION_EXACT,  /* floats are never rounded and carry no error, so every number is known */
  /* as before, but each result changes by at most the unit roundoff; TP_NOISES values from here on,
   * one for each sequence of changes */
  PRECISION_NOISY,
} precision;
/* Returns the kind with this name, or NULL. */
const kind *tp__kind_find(const char *name, precision wanted);
/* False for floats whose largest exponent encodes numbers, too. */
bool tp__kind_has_infinity(const kind *k);
static inline bool is_exact(const kind *k) { return k->is_float && k->unit == 0; }
/* Returns the unit roundoff of the element type, also of a kind that ignores rounding. */
static inline double unit_of(const kind *k) { return k->nominal ? k->nominal->unit : k->unit; }
/* Returns the number of this element type that is nearest to `value`, ties to even. Beyond the
 * largest number that is infinity, or NaN in a type without infinities. */
double tp__nearest(const kind *k, double value);
/* The same for a number that the program rounds, with the kind's noise unless it is of the type. */
double tp__narrowed(const kind *k, double value);

typedef struct number {
  double value; /* floats only */
  double reach; /* the sum of the magnitudes of all terms; at least |value| */
  /* A correct result differs from value by at most this much. Infinite: the number is unknown.
   * Integers have 0 or infinity. */
  double error;
  int64_t integer; /* integers only; sign-extended from the width of the kind */
} number;

static inline bool is_known(const number *x) { return x->error < INFINITY; }
static inline bool is_certain(const number *x) { return x->error == 0; }
number tp__unknown(void);
number tp__whole(const kind *k, int64_t integer); /* wrapped to the width of k */
/* Returns `value` as a float of k, rounded if k cannot represent it. */
number tp__real(const kind *k, double value);

/* Returns the result of an operation on floats of kind k that rounds `roundings` times. `value` is
 * the result in binary64, `reach` is its sum of magnitudes, and `error` is the error that the
 * operation inherits from its operands. */
number tp__rounded(const kind *k, double value, double reach, double error, int roundings);

/* Reads number `i` of dense data. */
number tp__number_read(const kind *k, const void *data, int64_t i);
/* Encodes a number as in memory. False if its type does not represent the value. */
bool tp__number_bits(const kind *k, const number *x, uint64_t *bits);

number tp__number_add(const kind *k, const number *a, const number *b);
number tp__number_subtract(const kind *k, const number *a, const number *b);
number tp__number_multiply(const kind *k, const number *a, const number *b);
number tp__number_divide(const kind *k, const number *a, const number *b);
number tp__number_negate(const kind *k, const number *a);
/* Applies a monotone function, whose largest error is at an endpoint of the error interval.
 * `roundings` is the maximum number of roundings in an implementation of f. */
number tp__number_monotone(const kind *k, const number *a, double (*f)(double), int roundings);
/* Selects `yes` or `no`. If the condition is uncertain, the result covers both. */
number tp__number_select(const kind *k, const number *condition, const number *yes,
                         const number *no);
/* True if `actual` is within the error bound of `expected`, with a slack for other orders of
 * sums. */
bool tp__number_is_right(const kind *k, const number *expected, const number *actual);

#endif
