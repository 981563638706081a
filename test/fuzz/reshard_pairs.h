/* Checks pairs of shardings of one tensor: reshard paths against an exhaustive search, and against
 * simulated data. */
#ifndef FUZZ_RESHARD_PAIRS_H
#define FUZZ_RESHARD_PAIRS_H

#include "sandbox.h"

/* Arguments of check_pairs: `seed` determines mesh, tensor and pairs. */
typedef struct pairs {
  uint64_t seed;
  int wanted;
} pairs;

/* Checks pairs; a `sandboxed` function on a `pairs`. The report's progress is the number of pairs;
 * MISMATCH with a message at the first wrong one. */
void check_pairs(void *data, report *r);

#endif
