/* Numbers of a program, with a bound of how far a right implementation may be from them.
 *
 * Floats are computed in binary64, integers as themselves. Beside a float stands how far the same
 * program in its own type may be off: every operation may round once, and a sum may be taken in any
 * order, also over devices and beyond the op that writes it; hence rounding is relative to the sum
 * of the magnitudes that went into a value (Higham, Accuracy and Stability of Numerical Algorithms,
 * 4.2), which linear operations pass on. Whole numbers that fit into the significand, and so do all
 * sums on the way, are exact. */
#ifndef TP_REFERENCE_NUMBER_H
#define TP_REFERENCE_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* An element type. */
typedef struct kind {
  const char *name; /* as MLIR prints it */
  bool is_float;
  int parts; /* numbers that make an element: 2 for complex ones */
  int bits;  /* of integers (index has 64), and of a float in memory */
  /* of floats: the largest relative error of a rounding; 0: of an exact kind */
  double unit;
  double most, tiniest; /* the largest finite magnitude, the smallest that is normal */
} kind;
/* NULL for others. `is_exact`: floats are never rounded, and have no error, so that all numbers are
 * known. */
const kind *tp__kind_find(const char *name, bool is_exact);
static inline bool is_exact(const kind *k) { return k->is_float && k->unit == 0; }

typedef struct number {
  double value; /* of a float */
  double reach; /* the sum of magnitudes; at least |value| */
  /* right is what is at most this far from value; infinite: anything (integers: 0, or infinite) */
  double error;
  int64_t integer; /* of an integer: extended by its sign from its width */
} number;

static inline bool is_known(const number *x) { return x->error < INFINITY; }
static inline bool is_certain(const number *x) { return x->error == 0; }
number tp__unknown(void);
number tp__whole(const kind *k, int64_t integer); /* wrapped to the width */
/* exactly this; a float of k, or rounded to one */
number tp__real(const kind *k, double value);

/* The result of an operation that rounds `roundings` times, in k: from its value in binary64, and
 * the error that its operands have already. */
number tp__settled(const kind *k, double value, double reach, double error, int roundings);

number tp__number_add(const kind *k, const number *a, const number *b);
number tp__number_subtract(const kind *k, const number *a, const number *b);
number tp__number_multiply(const kind *k, const number *a, const number *b);
number tp__number_divide(const kind *k, const number *a, const number *b);
number tp__number_negate(const kind *k, const number *a);
/* Of a function that rises or falls all over: the largest error is at an end of the interval.
 * `roundings`: how often it may round. */
number tp__number_monotone(const kind *k, const number *a, double (*f)(double), int roundings);
/* One of the two, which may depend on what is not certain. */
number tp__number_either(const kind *k, const number *condition, const number *yes,
                         const number *no);
/* Is `actual` right? */
bool tp__number_is_right(const kind *k, const number *expected, const number *actual);

#endif
