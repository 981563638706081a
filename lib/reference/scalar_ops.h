/* The rows of the tables of scalar operations. */
#ifndef TP_REFERENCE_SCALAR_OPS_H
#define TP_REFERENCE_SCALAR_OPS_H

#include "reference/integer.h"
#include "reference/scalar.h"

/* Computes one element: out has the numbers of all results, one after the other. */
typedef void (*apply_fn)(const scalar_types *t, const number *const *in, number *out);

struct scalar_op {
  const char *name;
  /* exactly one of these four is set: */
  number (*binary)(const kind *k, const number *a, const number *b);
  double (*function)(double); /* monotone */
  int64_t (*integers)(const integers *x, bool *defined);
  apply_fn apply;
  int roundings; /* of `function` */
};

/* Each table ends with a NULL name. */
extern const scalar_op tp__complex_ops[];

#endif
