/* Values that are read where they lie: a tensor is split, its readers want elements that are known
 * at run time only. Each device reads what it has, and has nothing for the rest; the sum over the
 * devices is what one device would have read, bit for bit. */
#ifndef TP_RULES_OWNED_H
#define TP_RULES_OWNED_H

#include "rules/rule.h"

/* How what the devices read combines; false: there is no sum for this type of elements. */
bool tp__owned_combiner(MlirType element, tp_combiner *combiner);
/* What a device has that does not hold the element, as a constant in front of `where`. */
MlirValue tp__owned_nothing(MlirOperation where, MlirType element);
/* The number of elements of factor f that this device has, as an index value in front of the op. No
 * more than the valid ones: the padding of an uneven shard that several axes split stands at the
 * indices of the next shard's elements. */
MlirValue tp__owned_size(const tp_local *local, int f);

#endif
