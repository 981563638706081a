/* How far is a result from a reference? */
#ifndef SHARD_RUN_COMPARE_H
#define SHARD_RUN_COMPARE_H

#include "array.h"

typedef struct comparison {
  bool done, ok;
  double error, tolerance; /* relative to the largest |reference| */
  char what[160];          /* when not ok because of something else */
} comparison;

/* Of the same type and shape. The tolerance is that of results of a framework (`against_expected`), or of the same program on one device. */
comparison compare_arrays(const array *value, const array *reference, bool against_expected);
/* Whether it has more than one element, and all are the same. */
bool is_constant(const array *a);

#endif
