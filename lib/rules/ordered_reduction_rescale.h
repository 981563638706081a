/* Initial values for the parts of a rescaling reduction. */
#ifndef TP_RULES_ORDERED_REDUCTION_RESCALE_H
#define TP_RULES_ORDERED_REDUCTION_RESCALE_H

#include "rules/rescale.h"
#include "rules/rule.h"

/* True if the input and the output of the maximum together determine the trip count of every
 * loop. */
bool tp__max_has_loops(MlirOperation op, const tp_rescale *rescale);

/* Gathers the maxima of all parts before the op, and sets the op's initial values: the maximum over
 * the parts before its own, and sums of zero. `uneven`: the ordered loops whose shards have
 * padding. */
void tp__start_rescaled(const tp_local *local, const tp_rescale *rescale, uint32_t uneven);

#endif
