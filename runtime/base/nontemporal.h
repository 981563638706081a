/* Stores that go around the cache, for results that are larger than it: an ordinary store reads the
 * line first. */
#ifndef TPRT_RUNTIME_STREAM_H
#define TPRT_RUNTIME_STREAM_H

#include "base/vectors.h"

#include <stddef.h>
#include <stdint.h>

/* Copies n bytes to each of n_to targets, a line to all of them before the next one is read: memory
 * reads while it writes. Whole lines are stored by vectors of this kind, which the processor has to
 * have: stored in four pieces they take half as long again. Such stores are not ordered with later
 * ones: tprt__stream_end has to come before peers are told. */
void tprt__stream_copies(tprt__vectors vectors, void *const *to, int n_to, const char *from,
                         size_t n);
static inline void tprt__stream_copy(void *to, const void *from, size_t n) {
  tprt__stream_copies(tprt__vectors_best(), &to, 1, from, n);
}
void tprt__stream_end(void);

/* Such stores of n_lines whole lines, `at` bytes behind each of the targets, where lines begin:
 * what loops call that know this. NULL where the processor has none. */
enum { TPRT__LINE = 64 };
typedef void tprt__lines_fn(void *const *to, int n_to, size_t at, const char *from, size_t n_lines);
tprt__lines_fn *tprt__stream_lines(tprt__vectors vectors);

/* A hint that this line will be written: the processor gets it for itself. GCC knows no such
 * instruction without options that older processors do not meet; but where it is none, it does
 * nothing. */
static inline void tprt__claim(const void *line) {
#if defined(__x86_64__) && defined(__GNUC__)
  __asm__ volatile("prefetchw %0" ::"m"(*(const char *)line));
#else
  __builtin_prefetch(line, 1);
#endif
}

/* Bytes of the last level of the cache, which ranks share. */
int64_t tprt__cache_bytes(void);

#endif
