/* Reads elements of a split tensor on the devices that own them, for indices that are known only at
 * run time. Each device reads the elements that it owns and substitutes a neutral value for the
 * others. The sum over the devices is bit-identical to the value that a single device reads. */
#ifndef TP_RULES_OWNER_READS_H
#define TP_RULES_OWNER_READS_H

#include "rules/rule.h"

/* Finds the combiner for the values that the devices read. False if the element type has no sum. */
bool tp__owner_combiner(MlirType element, tp_combiner *combiner);
/* Builds the neutral value for an element that the device does not own, as a constant before
 * `where`. */
MlirValue tp__neutral_value(MlirOperation where, MlirType element);
/* Builds the number of elements of factor f that this device owns, before the op. Counts valid
 * elements only: if several axes split an uneven dimension, the padding of a shard has the indices
 * of the next shard's elements. */
MlirValue tp__owner_read_size(const tp_local *local, int f);

#endif
