/* Reductions one element at a time, in another way than the library does, and inputs for them. */
#ifndef TPRT_TEST_ORACLE_H
#define TPRT_TEST_ORACLE_H

#include "tprt/tprt.h"

/* Reduction of element i of n inputs, those of ranks 0 .. n-1, written to `out`. */
void oracle_reduce(tprt_dtype t, tprt_reduction r, unsigned char *const *inputs, int n, size_t i,
                   void *out);

/* Numbers whose sums round, so that order matters, and now and then a special one. */
void oracle_fill(tprt_dtype t, tprt_reduction r, unsigned char *at, int64_t count, uint64_t seed);

/* The factor of rank k for premul_sum, one accumulator. */
void oracle_scalar(tprt_dtype t, int rank, void *out);

/* One element. */
void oracle_copy(tprt_dtype t, void *to, const void *from);

/* Equal bits, or both NaN: which NaN a sum gives is not promised. */
bool oracle_same(tprt_dtype t, const void *a, const void *b);

#endif
