/* How much an op on tensors, or on buffers, computes and touches, in the terms of the cost
 * model. */
#ifndef TP_IR_WORK_H
#define TP_IR_WORK_H

#include "ir/ir.h"

#include "tp/cost.h"

/* The work of an op: contraction flops are 2 per iteration of a multiplication and addition that
 * are the whole body, scalar operations 1 per other arith or math op and iteration (conversions and
 * constants are free), bytes those of the operands, results included as the outs of structured ops.
 * False for ops that compute nothing of note. */
bool tp__op_work(MlirOperation op, tp_work *work);

/* How fast elements of these two types are multiplied: the class of both, f32 if they differ. */
tp_peak tp__peak_of(MlirType a, MlirType b);

/* The smallest of the dimensions m, n, k of a contraction of n_loops loops: m those of the first
 * operand that the result has and the second has not, n the other way round, k those that the
 * result has not. The sets are bits by loop; at most 32 loops. */
int64_t tp__gemm_dim(int n_loops, const int64_t *sizes, uint32_t first, uint32_t second,
                     uint32_t result);

/* Elements of a ranked tensor or buffer of static shape; 0 for other types. */
int64_t tp__n_elements(MlirType type);

#endif
