/* Reductions that rescale: the sums of an online softmax, which are kept relative to the greatest
 * element so far.
 *
 *   m' = max(m, x)        s' = s * exp(m - m') + p        where p does not depend on s, as exp(x -
 *     m') * v
 *
 * With the greatest element of all parts before it, a part goes through the same values of m as one
 * device does, so its own sum is what it adds to the sum of one device, up to the factor exp(m
 * before - m behind) that the sum from before gets. */
#ifndef TP_RULES_RESCALE_H
#define TP_RULES_RESCALE_H

#include "rules/body.h"

enum { TP_MAX_RESCALED = 4 };

typedef struct tp_rescale {
  tp_body body;
  int n;                              /* outputs */
  int m;                              /* the output that is the maximum */
  int x;                              /* the input that it is taken of */
  MlirValue max;                      /* m' */
  MlirValue factors[TP_MAX_RESCALED]; /* of the sums: exp(m - m') */
} tp_rescale;

bool tp__rescale_read(MlirOperation op, int n_inputs, tp_rescale *rescale);

/* Builds max(held, offered), in front of `where`. */
MlirValue tp__rescale_max(const tp_rescale *rescale, MlirOperation where, MlirValue held,
                          MlirValue offered);

/* Builds output k of going on with a part, in front of `where`: `held` are the outputs in front of
 * the part, `offered` those of the part: the maximum behind it, and its own sums. */
MlirValue tp__rescale_combine(const tp_rescale *rescale, int k, MlirOperation where,
                              const MlirValue *held, const MlirValue *offered);

#endif
