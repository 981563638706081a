/* Uneven shards: which elements of a local buffer are valid, and how an op is kept from reading, or
 * trapping on, the others.
 *
 * The valid elements of a shard are a prefix of its buffer; what stands behind them is unspecified.
 * An op whose results have the same padding need not care. Reductions and ops that may trap do. */
#ifndef TP_RULES_MASK_H
#define TP_RULES_MASK_H

#include "rules/body.h"
#include "rules/rule.h"

/* The factors (bit f) whose shards have padding that the op goes through under the strategy. */
uint32_t tp__uneven_factors(const tp_local *local);

/* The number of valid elements of this device along factor f, an index value in front of the op; at
 * most 0 where there are none. */
MlirValue tp__valid_size(const tp_local *local, int f);

/* Replaces operand `i` of the op by a copy that holds `other` (an attribute of its element type)
 * where an index along one of `factors` is not valid. */
void tp__mask_operand(const tp_local *local, int i, uint32_t factors, MlirAttribute other);

/* In the body of a structured op: iterations in the padding of `factors` leave every accumulator as
 * it is. Right for each combiner, for several results, and for NaN in the padding. */
void tp__mask_yields(const tp_local *local, const tp_body *body, uint32_t factors);

/* In the body of a structured op: iterations in the padding of `factors` read element 0 of captured
 * tensors, divide by 1, fulfil assertions and do not enter loops. */
void tp__mask_traps(const tp_local *local, const tp_body *body, uint32_t factors);

/* For an op on whole tensors: divisors are 1 in the padding of `factors`. */
void tp__mask_divisors(const tp_local *local, uint32_t factors);

/* Does the body consist of ops that tp__mask_traps knows how to deal with, or that cannot trap? */
bool tp__body_can_mask(const tp_body *body);
/* Has the body an op that may trap? */
bool tp__body_has_traps(const tp_body *body);

#endif
