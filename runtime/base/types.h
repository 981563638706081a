/* Element types and reductions as tables, and the reduction of n arrays. */
#ifndef TPRT_RUNTIME_TYPES_H
#define TPRT_RUNTIME_TYPES_H

#include "base/base.h"
#include "base/vectors.h"

/* A factor of premul_sum: one accumulator. */
typedef struct tprt__scale {
  unsigned char bytes[16];
} tprt__scale;

/* to[i] = a[i] o x[i]: accumulators, aligned for their type; `to` overlaps neither a nor x. */
typedef void tprt__combine_fn(void *to, const void *a, const void *x, size_t n);
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

/* With the functions that the processor runs best. NULL for an invalid value. */
const tprt__dtype_info *tprt__dtype_info_get(int64_t dtype);
/* With those for these vectors, which the processor has to have; for tests. */
const tprt__dtype_info *tprt__dtype_info_for(tprt__vectors vectors, int64_t dtype);

/* Reduces n_sources arrays of `count` elements in the order given and writes the result to all
 * destinations. A destination may be equal to a source, and must not overlap one otherwise.
 * Pointers of any alignment. `scales`: for premul_sum the factors of the sources; else not read.
 * n_streamed: so many destinations, the first ones, are too large for the cache, and
 * tprt__stream_end has to come after this. Those that are sources are stored as usual all the same:
 * their lines have just been read, and an ordinary store need not read them again. */
void tprt__reduce(const tprt__dtype_info *type, tprt_reduction reduction, void *const *destinations,
                  int n_destinations, const void *const *sources, int n_sources,
                  const tprt__scale *scales, int64_t count, int n_streamed);

#endif
