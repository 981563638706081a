/* How much an op on tensors computes and touches. */
#ifndef TP_IR_WORK_H
#define TP_IR_WORK_H

#include "ir/ir.h"

typedef struct tp__work {
  double contraction; /* 2 per iteration of a multiplication and addition that are the whole body */
  double scalar;      /* 1 per other arith or math op and iteration; conversions and constants are free */
  double bytes;       /* of the operands, results included as the outs of structured ops */
} tp__work;

/* False for ops that compute nothing of note. */
bool tp__op_work(MlirOperation op, tp__work *work);

/* Elements of a ranked tensor of static shape; 0 for other types. */
int64_t tp__n_elements(MlirType type);

#endif
