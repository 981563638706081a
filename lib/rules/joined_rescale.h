/* What the parts of a reduction that rescales start from. */
#ifndef TP_RULES_JOINED_RESCALE_H
#define TP_RULES_JOINED_RESCALE_H

#include "rules/rescale.h"
#include "rules/rule.h"

/* Do the maximum's input and output alone say how far each loop goes? */
bool tp__max_has_loops(MlirOperation op, const tp_rescale *rescale);

/* In front of the op: the maxima of all parts, gathered. The op's own part then starts from the
 * greatest element before it, and from sums of zero. `uneven`: the joined loops whose shards have
 * padding. */
void tp__start_rescaled(const tp_local *local, const tp_rescale *rescale, uint32_t uneven);

#endif
