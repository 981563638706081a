/* Structural equivalence of ops that capture no tensors. Two ops are alike if their names, types,
 * properties and regions agree, including which value of the region is used where. Captured values
 * are alike if they have the same type and, unless they are tensors, are the same value or equal
 * constants. Discardable attributes and locations are ignored. */
#ifndef TP_IR_OP_EQUIVALENCE_H
#define TP_IR_OP_EQUIVALENCE_H

#include "ir/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Computes a hash that is equal for ops that are alike. False if a region of the op captures a
 * tensor; such an op is like no other. */
bool tp__op_structure_hash(MlirOperation op, uint64_t *hash);
/* True if the ops are alike. False if the regions of both capture tensors. */
bool tp__ops_equivalent(MlirOperation a, MlirOperation b);

#ifdef __cplusplus
}
#endif
#endif
