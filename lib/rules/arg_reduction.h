/* Reductions that pick a value: argmax, argmin, or the best of several values with its associated
 * data.
 *
 * Each iteration offers a candidate for every output, and the body keeps or drops candidates by
 * comparison. The same body can combine the results of two parts of the loop, because the result of
 * a part looks like a candidate of one iteration. This equals the result of a single device,
 * including ties and NaN, only for suitable bodies. No form of the body is assumed to be suitable:
 * an exhaustive case analysis proves it for each body (arg_reduction_proof.h). */
#ifndef TP_RULES_ARG_REDUCTION_H
#define TP_RULES_ARG_REDUCTION_H

#include "rules/body.h"

enum { TP_MAX_PICKED = 4, TP_MAX_PICK_STEPS = 64 };

/* A value of the body that depends on accumulators or candidates. */
typedef struct tp__arg_reduction_step {
  MlirValue value;
  int kind; /* index into the table of ops, or one of the negative kinds of arg_reduction_proof.h */
  int index;       /* of an accumulator or candidate; or a predicate or constant */
  int operands[3]; /* earlier steps */
  /* bit c: may be candidate c, or an accumulator that holds it; 0: a boolean */
  uint32_t sorts;
} tp__arg_reduction_step;

typedef struct tp_arg_reduction {
  tp_body body;
  int n;            /* outputs */
  int n_candidates; /* distinct candidates; two outputs may be offered the same value */
  MlirValue candidates[TP_MAX_PICKED];
  int candidate_of[TP_MAX_PICKED]; /* of output k */
  /* [k][c]: when output k of two parts is combined, the output that takes the place of candidate
   * c */
  int stands_for[TP_MAX_PICKED][TP_MAX_PICKED];
  int yields[TP_MAX_PICKED]; /* steps */
  int n_steps;
  tp__arg_reduction_step steps[TP_MAX_PICK_STEPS];
  bool any_order; /* the order of iterations is irrelevant */
} tp_arg_reduction;

/* True if the body of `op` is a pick that can combine the results of two parts. `op` is a
 * structured op with `n_inputs` inputs; `inits` are its initial values. */
bool tp__arg_reduction_read(MlirOperation op, int n_inputs, const MlirValue *inits,
                            tp_arg_reduction *pick);

/* Builds output k of the combination of two parts before `where`. `held` are the outputs of the
 * part that comes first in the loop, `offered` those of the other part. */
MlirValue tp__arg_reduction_combine(const tp_arg_reduction *pick, int k, MlirOperation where,
                                    const MlirValue *held, const MlirValue *offered);

#endif
