/* What every file of the runtime uses: heap, error text, clock, sizes. */
#ifndef TPRT_RUNTIME_BASE_H
#define TPRT_RUNTIME_BASE_H

#include "tprt/tprt.h"

#include <stdbool.h>
#include <stdint.h>

/* False only in the library that bench/runtime/checks.sh builds, to see what signatures and
 * deadlines cost. */
#ifdef TPRT_UNCHECKED
enum { TPRT__CHECKS = 0 };
#else
enum { TPRT__CHECKS = 1 };
#endif

/* Zeroed memory through the user's allocator; NULL when there is none. */
void *tprt__alloc(size_t bytes);
void tprt__free(void *memory);
/* The same, 64-byte aligned: registered memory of backends that need no special one. */
tprt_status tprt__alloc_aligned(size_t bytes, void **memory);
void tprt__free_aligned(void *memory);

/* Sets the thread's error text and returns `status`, so that deciding an error is one statement.
 * Callers propagate. */
tprt_status tprt__fail(tprt_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same with the text of errno appended. */
tprt_status tprt__fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));
tprt_status tprt__fail_memory(size_t bytes);

/* To the user's logger, if there is one. */
void tprt__log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Monotonic nanoseconds. */
int64_t tprt__now(void);
/* The time that is timeout_ns >= 0 from now. */
int64_t tprt__deadline(int64_t timeout_ns);

/* Copies a versioned struct (first member: its size) over a zeroed one of `size` bytes; a longer
 * source is accepted while its unknown rest is zero. `what` names the struct in the message. */
tprt_status tprt__struct_copy(void *destination, size_t size, const void *source, const char *what);

/* A hash of n bytes, not a cryptographic one. */
uint64_t tprt__hash(uint64_t seed, const void *bytes, size_t n);

/* Processors that this process may run on. */
int tprt__cores(void);

static inline size_t tprt__round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}
static inline int64_t tprt__min(int64_t a, int64_t b) { return a < b ? a : b; }

#endif
