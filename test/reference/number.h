/* Numbers of a program, with a bound of how far a right implementation may be from them.
 *
 * Floats are computed in binary64, integers as themselves. Beside a float stands how far the same program in its own type may be off: every
 * operation may round once, and a sum may be taken in any order, also over devices and beyond the op that writes it; hence rounding is
 * relative to the sum of the magnitudes that went into a value (Higham, Accuracy and Stability of Numerical Algorithms, 4.2), which linear
 * operations pass on. Whole numbers that fit into the significand, and so do all sums on the way, are exact. */
#ifndef REFERENCE_NUMBER_H
#define REFERENCE_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* An element type. */
typedef struct kind {
  const char *name; /* as MLIR prints it */
  bool is_float;
  int parts;            /* numbers that make an element: 2 for complex ones */
  int bits;             /* of integers; index has 64 */
  double unit;          /* of floats: the largest relative error of a rounding */
  double most, tiniest; /* the largest finite magnitude, the smallest that is normal */
} kind;
const kind *kind_find(const char *name); /* NULL for others */

typedef struct number {
  double value;    /* of a float */
  double reach;    /* the sum of magnitudes; at least |value| */
  double error;    /* right is what is at most this far from value; infinite: anything (integers: 0, or infinite) */
  int64_t integer; /* of an integer: extended by its sign from its width */
} number;

static inline bool is_known(const number *x) { return x->error < INFINITY; }
static inline bool is_certain(const number *x) { return x->error == 0; }
number unknown(void);
number whole(const kind *k, int64_t integer); /* wrapped to the width */
number real(const kind *k, double value);     /* exactly this; a float of k, or rounded to one */

/* The result of an operation that rounds `roundings` times, in k: from its value in binary64, and the error that its operands have already. */
number settled(const kind *k, double value, double reach, double error, int roundings);

number add(const kind *k, const number *a, const number *b);
number subtract(const kind *k, const number *a, const number *b);
number multiply(const kind *k, const number *a, const number *b);
number divide(const kind *k, const number *a, const number *b);
number negate(const kind *k, const number *a);
/* Of a function that rises or falls all over: the largest error is at an end of the interval. `roundings`: how often it may round. */
number monotone(const kind *k, const number *a, double (*f)(double), int roundings);
/* One of the two, which may depend on what is not certain. */
number either(const kind *k, const number *condition, const number *yes, const number *no);
/* Is `actual` right? */
bool is_right(const kind *k, const number *expected, const number *actual);

#endif
