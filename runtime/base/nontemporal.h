/* Non-temporal stores for results larger than the cache. An ordinary store first reads the cache
 * line that it writes; a non-temporal store does not. */
#ifndef TPRT_RUNTIME_STREAM_H
#define TPRT_RUNTIME_STREAM_H

#include "base/vectors.h"

#include <stddef.h>
#include <stdint.h>

/* Copies n bytes to each of n_to targets. Each line goes to all targets before the next line is
 * read, so that memory reads and writes overlap. Whole lines are stored with the given kind of
 * vectors, which the processor must support: a line stored in four pieces takes 1.5 times as long.
 * Non-temporal stores are not ordered with later stores, so call tprt__stream_end before notifying
 * peers. */
void tprt__stream_copies(tprt__vectors vectors, void *const *to, int n_to, const char *from,
                         size_t n);
static inline void tprt__stream_copy(void *to, const void *from, size_t n) {
  tprt__stream_copies(tprt__vectors_best(), &to, 1, from, n);
}
void tprt__stream_end(void);

/* Functions that store n_lines whole lines, non-temporally, at byte `at` of each target. The caller
 * guarantees that all target addresses there are aligned to lines. NULL if the processor has no
 * such stores. */
enum { TPRT__LINE = 64 };
typedef void tprt__lines_fn(void *const *to, int n_to, size_t at, const char *from, size_t n_lines);
tprt__lines_fn *tprt__stream_lines(tprt__vectors vectors);

/* Hints that this line will be written, so that the processor acquires it exclusively. GCC emits
 * prefetchw only with options that would exclude older processors, hence the inline assembly. On
 * processors without the instruction it has no effect. */
static inline void tprt__claim(const void *line) {
#if defined(__x86_64__) && defined(__GNUC__)
  __asm__ volatile("prefetchw %0" ::"m"(*(const char *)line));
#else
  __builtin_prefetch(line, 1);
#endif
}

/* Size in bytes of the last-level cache, which the ranks share. */
int64_t tprt__cache_bytes(void);

#endif
