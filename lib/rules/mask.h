/* Handles uneven shards: determines which elements of a local buffer are valid, and keeps ops from
 * reading the others or trapping on them.
 *
 * The valid elements of a shard are a prefix of its buffer; the content after them is unspecified.
 * An op whose results have the same padding needs no handling. Reductions and ops that may trap
 * do. */
#ifndef TP_RULES_MASK_H
#define TP_RULES_MASK_H

#include "rules/body.h"
#include "rules/rule.h"

/* Returns the factors (bit f) whose shards have padding that the op iterates over under the
 * strategy. */
uint32_t tp__uneven_factors(const tp_local *local);

/* Builds the number of valid elements of this device along factor f before the op, as an index
 * value. It is 0 or negative if there are none. */
MlirValue tp__valid_size(const tp_local *local, int f);

/* Replaces operand `i` of the op by a copy that holds `other` (an attribute of its element type)
 * wherever an index along one of `factors` is invalid. */
void tp__mask_operand(const tp_local *local, int i, uint32_t factors, MlirAttribute other);

/* Changes the body of a structured op so that iterations in the padding of `factors` leave every
 * accumulator unchanged. Correct for every combiner, for several results, and for NaN in the
 * padding. */
void tp__mask_yields(const tp_local *local, const tp_body *body, uint32_t factors);

/* Changes the body of a structured op so that iterations in the padding of `factors` cannot trap:
 * they read element 0 of captured tensors, divide by 1, satisfy assertions and skip loops. */
void tp__mask_traps(const tp_local *local, const tp_body *body, uint32_t factors);

/* Sets the divisors of an op on whole tensors to 1 in the padding of `factors`. */
void tp__mask_divisors(const tp_local *local, uint32_t factors);

/* True if every op of the body either cannot trap or is supported by tp__mask_traps. */
bool tp__body_can_mask(const tp_body *body);
/* True if the body has an op that may trap. */
bool tp__body_has_traps(const tp_body *body);

#endif
