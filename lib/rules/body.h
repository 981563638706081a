/* Analyzes the scalar body of a linalg op: combiners of reductions, linearity, work. */
#ifndef TP_RULES_BODY_H
#define TP_RULES_BODY_H

#include "ir/ir.h"

typedef struct tp_body {
  MlirBlock block;
  int n_args; /* block arguments: inputs, then inits */
  int n_inputs;
  MlirOperation yield;
} tp_body;

/* Finds the body of a structured op. False if it has none. */
bool tp__body_of(MlirOperation op, int n_inputs, tp_body *body);

/* True if the body reads block argument `i`. */
bool tp__body_reads(const tp_body *body, int i);

/* True if `value` may depend on a block argument in the set (bit i: argument i). Also true if the
 * analysis is inconclusive. */
bool tp__body_depends(const tp_body *body, MlirValue value, uint64_t set);

/* Finds the combiner of output `k`. The yielded value must be init (+) x with a known associative
 * and commutative (+), where x is independent of the init. It may also be a selection among such
 * values and the init, if the condition is independent of the init. False if there is no
 * combiner. */
bool tp__body_combiner(const tp_body *body, int k, tp_combiner *combiner);

/* True if all yielded values are homogeneous linear in the arguments of the set (bit i: block
 * argument i), so that sums of these arguments pass through the body. Arguments outside the set
 * count as constants. */
bool tp__body_linear(const tp_body *body, uint64_t set);

/* True for the multiply-add of a contraction: init + (a * b), where a and b are inputs, possibly
 * extended. */
bool tp__body_is_contraction(const tp_body *body);

/* Returns the weighted number of scalar ops in one iteration. */
double tp__body_work(const tp_body *body);

/* True if `scalar`, the value of a fill or constant, equals the identity of the combiner. */
bool tp__is_identity(MlirValue scalar, tp_combiner combiner);
bool tp__attr_is_identity(MlirAttribute attr, tp_combiner combiner);
/* True if the tensor is zero everywhere, according to its fill or constant. */
bool tp__is_zero_tensor(MlirValue value);

#endif
