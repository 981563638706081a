/* Pairs of layouts of one tensor: paths against a search over everything, and against what they do
 * to data. */
#ifndef FUZZ_RESHARD_PAIRS_H
#define FUZZ_RESHARD_PAIRS_H

#include "sandbox.h"

/* In and out of check_pairs: `seed` decides on mesh, tensor and pairs. */
typedef struct pairs {
  uint64_t seed;
  int wanted;
} pairs;

/* A `sandboxed` on a `pairs`. The report's progress is the number of pairs; MISMATCH with a message
 * at the first that is wrong. */
void check_pairs(void *data, report *r);

#endif
