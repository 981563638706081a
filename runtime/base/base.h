/* Basic services that every runtime file uses: heap, error text, logging, clock, size
 * arithmetic. */
#ifndef TPRT_RUNTIME_BASE_H
#define TPRT_RUNTIME_BASE_H

#include "tprt/tprt.h"

#include <stdbool.h>
#include <stdint.h>

/* False only in the library that bench/runtime/checks.sh builds to measure the cost of signatures
 * and deadlines. */
#ifdef TPRT_UNCHECKED
enum { TPRT__CHECKS = 0 };
#else
enum { TPRT__CHECKS = 1 };
#endif

/* Allocates zeroed memory with the user's allocator. Returns NULL if memory is exhausted. */
void *tprt__alloc(size_t bytes);
void tprt__free(void *memory);
/* Like tprt__alloc, but 64-byte aligned. Serves as registered memory for backends that need no
 * special memory. Release it with tprt__free_aligned. */
tprt_status tprt__alloc_aligned(size_t bytes, void **memory);
void tprt__free_aligned(void *memory);

/* Sets the calling thread's error text and returns `status`, so that a caller can report an error
 * and return it in one statement. Functions further up only propagate the status. */
tprt_status tprt__fail(tprt_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Like tprt__fail, with the text of errno appended. The status is TPRT_NO_MEMORY for ENOMEM, else
 * TPRT_SYSTEM. */
tprt_status tprt__fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));
tprt_status tprt__fail_memory(size_t bytes);

/* The first lines of a public function: each returns TPRT_INVALID_ARGUMENT, or `value`, if the
 * argument is NULL, with a text that names the function and the argument. The rule for users is in
 * tprt/types.h. */
#define TPRT__NEED_OR(argument, value)                                                             \
  do {                                                                                             \
    if (__builtin_expect(!(argument), 0)) {                                                        \
      tprt__fail_null(__func__, #argument);                                                        \
      return (value);                                                                              \
    }                                                                                              \
  } while (0)
#define TPRT__NEED(argument) TPRT__NEED_OR(argument, TPRT_INVALID_ARGUMENT)
void tprt__fail_null(const char *function, const char *argument) __attribute__((cold));

/* Sends a message to the user's logger. Does nothing if no logger is set. */
void tprt__log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Like tprt__log, but prints the message on stderr if no logger is set: for what the user did, and
 * does not learn otherwise. */
void tprt__warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The monotonic clock in nanoseconds. */
int64_t tprt__now(void);
/* Returns the time `timeout_ns` (at least 0) from now; INT64_MAX on overflow or without checks. */
int64_t tprt__deadline(int64_t timeout_ns);

/* Copies a versioned struct, whose first member is its size, to `size` bytes at `destination` and
 * zeroes the rest of the destination. A source longer than `size` is accepted if its extra bytes
 * are zero, else the result is TPRT_UNSUPPORTED. `what` names the struct in error messages. */
tprt_status tprt__struct_copy(void *destination, size_t size, const void *source, const char *what);

/* A hash of n bytes, not a cryptographic one. */
uint64_t tprt__hash(uint64_t seed, const void *bytes, size_t n);

/* Number of processors on which this process may run. */
int tprt__cores(void);

static inline size_t tprt__round_up(size_t value, size_t unit) {
  return (value + unit - 1) / unit * unit;
}
static inline int64_t tprt__max(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t tprt__min(int64_t a, int64_t b) { return a < b ? a : b; }

#endif
