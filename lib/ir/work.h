/* The arithmetic and the memory traffic of an op on tensors or buffers, in the terms of the cost
 * model. */
#ifndef TP_IR_WORK_H
#define TP_IR_WORK_H

#include "ir/ir.h"

#include "tp/cost.h"

/* Computes the work of an op. Contractions: 2 flops per iteration, if the body is one
 * multiplication and one addition. Scalar operations: 1 for every other arith or math op per
 * iteration; conversions and constants are free. Bytes: those of the operands, which include the
 * results, because these are outs of structured ops, and those of captured tensors; of lookups and
 * scatters the elements that they touch (traffic.h). False for ops without relevant work. */
bool tp__op_work(MlirOperation op, tp_work *work);

/* Returns the class of peak rate of both types; f32 if they differ. */
tp_peak tp__peak_of(MlirType a, MlirType b);

/* Returns the smallest of the GEMM dimensions m, n, k of a contraction. m is the product of the
 * loops of the first operand and the result that the second operand lacks; n is the same for the
 * second operand; k is the product of the loops that the result lacks. The sets are bits by loop;
 * at most 32 loops. */
int64_t tp__gemm_dim(int n_loops, const int64_t *sizes, uint32_t first, uint32_t second,
                     uint32_t result);

/* Returns the number of elements of a ranked tensor or buffer of static shape; 0 for other
 * types. */
int64_t tp__n_elements(MlirType type);

#endif
