/* Reading the scalar body of a linalg op: combiners of reductions, linearity, work. */
#ifndef TP_RULES_BODY_H
#define TP_RULES_BODY_H

#include "ir/ir.h"

typedef struct tp_body {
  MlirBlock block;
  int n_args; /* block arguments: inputs, then inits */
  int n_inputs;
  MlirOperation yield;
} tp_body;

/* The body of a structured op; false when it has none. */
bool tp__body_of(MlirOperation op, int n_inputs, tp_body *body);

/* Is block argument `i` read? */
bool tp__body_reads(const tp_body *body, int i);

/* May `value` depend on a block argument of the set (bit i: argument i)? True also where that is
 * too hard to see. */
bool tp__body_depends(const tp_body *body, MlirValue value, uint64_t set);

/* The combiner of output `k`: its yielded value is init (+) x with a known associative and
 * commutative (+), x independent of that init; or chosen by a condition, which does not depend on
 * that init, among such values and init itself. False when there is none. */
bool tp__body_combiner(const tp_body *body, int k, tp_combiner *combiner);

/* Are all yielded values homogeneous linear in the arguments of the set (bit i: block argument i)?
 * Then sums of such arguments go through the body. Arguments outside the set are constants. */
bool tp__body_linear(const tp_body *body, uint64_t set);

/* Multiply-add of a contraction: yields init + (a * b) with a, b inputs, possibly extended. */
bool tp__body_is_contraction(const tp_body *body);

/* Weighted number of scalar ops of one iteration. */
double tp__body_work(const tp_body *body);

/* The identity of a combiner as the value that a fill or constant has: does `scalar` equal it? */
bool tp__is_identity(MlirValue scalar, tp_combiner combiner);
bool tp__attr_is_identity(MlirAttribute attr, tp_combiner combiner);
/* Has the tensor no elements but zeros, by its fill or constant? */
bool tp__is_zero_tensor(MlirValue value);

#endif
