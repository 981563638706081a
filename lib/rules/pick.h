/* Reductions that pick: argmax, argmin, the best of several values with what belongs to it.
 *
 * An iteration offers a candidate for each output, and the body keeps some of them and drops the
 * others, by comparing. Such a body also combines what two parts of the loop have picked: the pick
 * of one part is what an iteration could have offered. That this gives what one device picks, with
 * ties and NaN, is not assumed of any form. It is proven for the body at hand, by going through all
 * cases. */
#ifndef TP_RULES_PICK_H
#define TP_RULES_PICK_H

#include "rules/body.h"

enum { TP_MAX_PICKED = 4, TP_MAX_PICK_STEPS = 64 };

/* A value of the body that depends on accumulators or candidates. */
typedef struct tp__pick_step {
  MlirValue value;
  int kind;        /* row of the table of ops, or one of those in pick.c */
  int index;       /* accumulator, candidate, predicate or constant */
  int operands[3]; /* earlier steps */
  /* bit c: it may be candidate c, or an accumulator that holds such; 0: a truth value */
  uint32_t sorts;
} tp__pick_step;

typedef struct tp_pick {
  tp_body body;
  int n;            /* outputs */
  int n_candidates; /* distinct ones: two outputs may be offered the same value */
  MlirValue candidates[TP_MAX_PICKED];
  int candidate_of[TP_MAX_PICKED]; /* of output k */
  int stands_for
      [TP_MAX_PICKED]
      /* [k][c]: where output k of two parts is combined, the output that is candidate c */
      [TP_MAX_PICKED];
  int yields[TP_MAX_PICKED]; /* steps */
  int n_steps;
  tp__pick_step steps[TP_MAX_PICK_STEPS];
  bool any_order; /* the order of the iterations does not matter */
} tp_pick;

/* Is the body of `op`, a structured op with the given number of inputs and initial values in front
 * of its region, one that picks, and whose parts it combines itself? `inits`: the initial
 * values. */
bool tp__pick_read(MlirOperation op, int n_inputs, const MlirValue *inits, tp_pick *pick);

/* Builds output k of combining two parts, before `where`: `held` and `offered` are the outputs of
 * the part that comes first in the loop and of the other. */
MlirValue tp__pick_combine(const tp_pick *pick, int k, MlirOperation where, const MlirValue *held,
                           const MlirValue *offered);

#endif
