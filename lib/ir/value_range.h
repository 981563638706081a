/* Ranges of integer values, computed from the ops that define them. */
#ifndef TP_IR_VALUE_RANGE_H
#define TP_IR_VALUE_RANGE_H

#include "ir/annotation.h"

typedef struct tp__range {
  int64_t low, high; /* both included */
} tp__range;

/* Gives the range of a value that the analysis does not know, such as a loop index or an argument
 * of a body. False: unknown. */
typedef bool (*tp__range_leaf)(void *data, MlirValue value, tp__range *range);

/* Computes a range that contains `value`, an integer or an index, as a signed number. True only if
 * no intermediate result wraps around: each fits the width of its type, so the value equals its
 * formula over the integers. An index has 64 bits. Known are integer arithmetic of arith, casts,
 * constants, and device indices on `mesh` (NULL: unknown); `leaf` (may be NULL) is asked first.
 * False if anything else is involved. */
bool tp__value_range(MlirValue value, const tp_mesh *mesh, tp__range_leaf leaf, void *data,
                     tp__range *range);

#endif
