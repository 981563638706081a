/* Element types and reductions as tables, and the reduction of n arrays. */
#ifndef TPRT_RUNTIME_TYPES_H
#define TPRT_RUNTIME_TYPES_H

#include "base.h"

/* A factor of premul_sum: one accumulator. */
typedef struct tprt__scale {
  unsigned char bytes[16];
} tprt__scale;

/* Adds to an accumulator: a[i] = a[i] o x[i]. Both are aligned for the accumulator type. */
typedef void tprt__combine_fn(void *a, const void *x, size_t n);
/* a[i] = a[i] * *factor, an accumulator */
typedef void tprt__scale_fn(void *a, const void *factor, size_t n);
/* a[i] = a[i] / ranks */
typedef void tprt__divide_fn(void *a, int ranks, size_t n);
/* Converts between storage (any alignment) and accumulator type. */
typedef void tprt__convert_fn(void *out, const void *in, size_t n);

typedef struct tprt__dtype_info {
  const char *name;
  size_t size;             /* of a stored element */
  size_t acc_size;         /* of an accumulator */
  tprt__convert_fn *widen; /* NULL: stored as it is accumulated */
  tprt__convert_fn *narrow;
  tprt__scale_fn *scale;                        /* NULL: no premul_sum */
  tprt__divide_fn *divide;                      /* NULL: no avg */
  tprt__combine_fn *combine[TPRT_N_REDUCTIONS]; /* NULL: not defined */
} tprt__dtype_info;

/* NULL for an invalid value. */
const tprt__dtype_info *tprt__dtype_info_get(int64_t dtype);

/* Reduces n_sources arrays of `count` elements in the order given and writes the result to all destinations. A
 * destination may be equal to a source, and must not overlap one otherwise. Pointers of any alignment.
 * `scales`: for premul_sum the factors of the sources; else not read.
 * `stream`: the destinations are too large for the cache. */
void tprt__reduce(const tprt__dtype_info *type, tprt_reduction reduction, void *const *destinations, int n_destinations,
                  const void *const *sources, int n_sources, const tprt__scale *scales, int64_t count, bool stream);

/* Conversions of arrays; the side of 16 or 8 bits may be unaligned. */
void tprt__widen_f16(void *out, const void *in, size_t n);
void tprt__widen_bf16(void *out, const void *in, size_t n);
void tprt__narrow_f16(void *out, const void *in, size_t n);
void tprt__narrow_bf16(void *out, const void *in, size_t n);
void tprt__widen_f8e4m3(void *out, const void *in, size_t n);
void tprt__widen_f8e5m2(void *out, const void *in, size_t n);
void tprt__narrow_f8e4m3(void *out, const void *in, size_t n);
void tprt__narrow_f8e5m2(void *out, const void *in, size_t n);

#endif
