/* An oracle for reductions that works one element at a time, independently of the library, and
 * inputs for it. */
#ifndef TPRT_TEST_ORACLE_H
#define TPRT_TEST_ORACLE_H

#include "tprt/tprt.h"

/* Writes the reduction of element i of n inputs, those of ranks 0 .. n-1, to `out`. hosts[k] is
 * the host of rank k: the inputs of each host are combined first, then the hosts, in the order of
 * their lowest ranks. NULL: all ranks are on one host. */
void oracle_reduce(tprt_dtype t, tprt_reduction r, unsigned char *const *inputs, int n,
                   const int *hosts, size_t i, void *out);

/* Fills a buffer with numbers whose sums round, so that order matters, and occasional special
 * values. */
void oracle_fill(tprt_dtype t, tprt_reduction r, unsigned char *at, int64_t count, uint64_t seed);

/* Writes the factor of rank k for premul_sum, one accumulator. */
void oracle_scalar(tprt_dtype t, int rank, void *out);

/* Copies one element. */
void oracle_copy(tprt_dtype t, void *to, const void *from);

/* Returns true for equal bits, or if both are NaN: the NaN of a sum is unspecified. */
bool oracle_same(tprt_dtype t, const void *a, const void *b);

#endif
