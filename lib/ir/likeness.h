/* Do two ops look alike? Of ops without captured tensors, and of what is in their regions: names,
 * types, properties, and which value of the region is used where. Values from outside are alike
 * when they have one type and, if they are no tensors, are the same or equal constants. Discardable
 * attributes and locations do not count. */
#ifndef TP_IR_LIKENESS_H
#define TP_IR_LIKENESS_H

#include "ir/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A hash that ops share which are alike. False if the op's regions use tensors from outside: such
 * an op is like no other. */
bool tp__likeness(MlirOperation op, uint64_t *hash);
/* Both of ops for which tp__likeness is true. */
bool tp__ops_alike(MlirOperation a, MlirOperation b);

#ifdef __cplusplus
}
#endif
#endif
