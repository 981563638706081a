/* Tables of element types with their reductions, and the reduction of n arrays. */
#ifndef TPRT_RUNTIME_TYPES_H
#define TPRT_RUNTIME_TYPES_H

#include "base/base.h"
#include "base/vectors.h"

/* The factor of one source of premul_sum, stored as one accumulator. */
typedef struct tprt__scale {
  unsigned char bytes[16];
} tprt__scale;

/* to[i] = a[i] op x[i] on accumulators, aligned for their type. `to` overlaps neither a nor x. */
typedef void tprt__combine_fn(void *to, const void *a, const void *x, size_t n);
/* a[i] = a[i] * *factor; the factor is an accumulator. */
typedef void tprt__scale_fn(void *a, const void *factor, size_t n);
/* a[i] = a[i] / ranks. */
typedef void tprt__divide_fn(void *a, int ranks, size_t n);
/* Converts between the storage type (any alignment) and the accumulator type. */
typedef void tprt__convert_fn(void *out, const void *in, size_t n);

typedef struct tprt__dtype_info {
  const char *name;
  size_t size;             /* bytes of a stored element */
  size_t acc_size;         /* bytes of an accumulator */
  tprt__convert_fn *widen; /* NULL: elements are accumulated in their storage type */
  tprt__convert_fn *narrow;
  tprt__scale_fn *scale;   /* NULL: premul_sum is not supported */
  tprt__divide_fn *divide; /* NULL: avg is not supported */
  /* NULL: the reduction is not defined for the type */
  tprt__combine_fn *combine[TPRT_N_REDUCTIONS];
} tprt__dtype_info;

/* Returns the row of a type, with the best functions for this processor. NULL for an invalid
 * dtype. */
const tprt__dtype_info *tprt__dtype_info_get(int64_t dtype);
/* Like tprt__dtype_info_get, with the functions for the given kind of vectors, which the processor
 * must support. For tests. */
const tprt__dtype_info *tprt__dtype_info_for(tprt__vectors vectors, int64_t dtype);

/* Reduces n_sources arrays of `count` elements in the given order and writes the result to all
 * destinations. A destination may be equal to a source but must not overlap one in any other way.
 * Pointers may have any alignment. `scales` holds one factor per source for premul_sum and is not
 * read otherwise.
 * The first n_streamed destinations are too large for the cache and are written with non-temporal
 * stores; the caller must call tprt__stream_end afterwards. Streamed destinations that are also
 * sources use ordinary stores: their cache lines have just been read, so an ordinary store does not
 * read them again. */
void tprt__reduce(const tprt__dtype_info *type, tprt_reduction reduction, void *const *destinations,
                  int n_destinations, const void *const *sources, int n_sources,
                  const tprt__scale *scales, int64_t count, int n_streamed);

/* Which elements of the sources are reduced: runs of `run` contiguous elements, `stride` elements
 * from the start of one to the start of the next, `count` elements in all. */
typedef struct tprt__runs {
  int64_t count, run, stride;
} tprt__runs;

/* The same for sources that are read in runs; destinations are contiguous. With more than one run,
 * no destination may overlap a source. */
void tprt__reduce_runs(const tprt__dtype_info *type, tprt_reduction reduction,
                       void *const *destinations, int n_destinations, const void *const *sources,
                       int n_sources, const tprt__scale *scales, const tprt__runs *runs,
                       int n_streamed);

/* The same in two stages, for sums of groups of ranks. The first reduces sources into accumulators,
 * at an address that is aligned to 64 bytes; the second reduces the accumulators of at least two
 * groups, which have n_inputs sources together, into a destination of any alignment. So a result is
 * rounded to the storage type once. */
void tprt__reduce_group(const tprt__dtype_info *type, tprt_reduction reduction, void *sums,
                        const void *const *sources, int n_sources, const tprt__scale *scales,
                        int64_t count);
void tprt__reduce_groups(const tprt__dtype_info *type, tprt_reduction reduction, void *destination,
                         const void *const *sums, int n_groups, int n_inputs, int64_t count);

#endif
