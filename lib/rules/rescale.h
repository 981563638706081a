/* Reductions that rescale: the sums of an online softmax, which are kept relative to the running
 * maximum.
 *
 *   m' = max(m, x)        s' = s * exp(m - m') + p        where p does not depend on s, such as
 *                         exp(x - m') * v
 *
 * If a part starts from the maximum over all parts before it, it goes through the same values of m
 * as a single device. Its own sum is then its contribution to the sum of a single device, except
 * that the earlier sum must be multiplied by exp(m before - m after). */
#ifndef TP_RULES_RESCALE_H
#define TP_RULES_RESCALE_H

#include "rules/body.h"

enum { TP_MAX_RESCALED = 4 };

typedef struct tp_rescale {
  tp_body body;
  int n;                              /* outputs */
  int m;                              /* the output that is the maximum */
  int x;                              /* the input whose maximum is taken */
  MlirValue max;                      /* m' */
  MlirValue factors[TP_MAX_RESCALED]; /* of the sums: exp(m - m') */
} tp_rescale;

bool tp__rescale_read(MlirOperation op, int n_inputs, tp_rescale *rescale);

/* Builds max(held, offered) before `where`. */
MlirValue tp__rescale_max(const tp_rescale *rescale, MlirOperation where, MlirValue held,
                          MlirValue offered);

/* Builds output k after one more part, before `where`. `held` are the outputs before the part,
 * `offered` those of the part: the maximum after it, and its own sums. */
MlirValue tp__rescale_combine(const tp_rescale *rescale, int k, MlirOperation where,
                              const MlirValue *held, const MlirValue *offered);

#endif
