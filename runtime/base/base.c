/* Status names, version, the thread's error text, logging, the heap and the clock. */
#define _GNU_SOURCE 1
#include "base/base.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const status_names[] = {
    [TPRT_OK] = "ok",
    [TPRT_IN_PROGRESS] = "in progress",
    [TPRT_INVALID_ARGUMENT] = "invalid argument",
    [TPRT_INVALID_STATE] = "invalid state",
    [TPRT_UNSUPPORTED] = "unsupported",
    [TPRT_MISMATCH] = "mismatch",
    [TPRT_TIMEOUT] = "timeout",
    [TPRT_PEER_DEAD] = "peer dead",
    [TPRT_ABORTED] = "aborted",
    [TPRT_AUTH] = "authentication failed",
    [TPRT_SYSTEM] = "system error",
    [TPRT_DEVICE] = "device error",
    [TPRT_NO_MEMORY] = "out of memory",
    [TPRT_INTERNAL] = "internal error",
    [TPRT_PROGRAM] = "program failed",
};

static _Thread_local char error_text[512];
static tprt_allocator user_allocator;
static tprt_logger user_logger;

#define TEXT(number) #number
#define VERSION_TEXT(major, minor, patch) TEXT(major) "." TEXT(minor) "." TEXT(patch)

const char *tprt_version(void) {
  return VERSION_TEXT(TPRT_VERSION_MAJOR, TPRT_VERSION_MINOR, TPRT_VERSION_PATCH);
}

const char *tprt_status_name(tprt_status status) {
  size_t i = (size_t)status;
  return i < sizeof status_names / sizeof *status_names ? status_names[i] : "unknown status";
}

const char *tprt_last_error(void) { return error_text; }

tprt_status tprt__fail(tprt_status status, const char *format, ...) {
  /* The arguments may point into error_text, so the text is built in a copy first. */
  char text[sizeof error_text];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  memcpy(error_text, text, sizeof text);
  return status;
}

tprt_status tprt__fail_errno(const char *format, ...) {
  int code = errno;
  char text[256];
  char reason[128];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return tprt__fail(code == ENOMEM ? TPRT_NO_MEMORY : TPRT_SYSTEM, "%s: %s", text,
                    strerror_r(code, reason, sizeof reason));
}

tprt_status tprt__fail_memory(size_t bytes) {
  return tprt__fail(TPRT_NO_MEMORY, "no memory for %zu bytes", bytes);
}

void tprt__fail_null(const char *function, const char *argument) {
  tprt__fail(TPRT_INVALID_ARGUMENT, "%s: %s is NULL", function, argument);
}

void tprt_set_allocator(const tprt_allocator *allocator) {
  user_allocator = allocator ? *allocator : (tprt_allocator){.allocate = NULL};
}

void tprt_set_logger(const tprt_logger *logger) {
  user_logger = logger ? *logger : (tprt_logger){.log = NULL};
}

void tprt__log(const char *format, ...) {
  char text[768];
  va_list arguments;
  if (!user_logger.log)
    return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  user_logger.log(user_logger.user, text);
}

void tprt__warn(const char *format, ...) {
  static const char begin[] = "tprt: warning: ";
  char text[768], *message = stpcpy(text, begin);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(message, sizeof text - sizeof begin, format, arguments);
  va_end(arguments);
  if (user_logger.log) {
    user_logger.log(user_logger.user, message);
    return;
  }
  /* one write: other processes may print at the same time */
  ssize_t written = write(STDERR_FILENO, text, (size_t)(stpcpy(strchr(text, 0), "\n") - text));
  (void)written;
}

void *tprt__alloc(size_t bytes) {
  if (!user_allocator.allocate)
    return calloc(1, bytes ? bytes : 1);
  void *memory = user_allocator.allocate(user_allocator.user, bytes ? bytes : 1);
  return memory ? memset(memory, 0, bytes) : NULL;
}

void tprt__free(void *memory) {
  if (!memory)
    return;
  if (user_allocator.allocate) {
    user_allocator.release(user_allocator.user, memory);
  } else {
    free(memory);
  }
}

/* Allocates extra bytes and stores the address of the whole block in front of the aligned address,
 * where tprt__free_aligned finds it. */
tprt_status tprt__alloc_aligned(size_t bytes, void **memory) {
  enum { ALIGNMENT = 64, FRONT = sizeof(void *) + ALIGNMENT - 1 };
  unsigned char *block = bytes > SIZE_MAX - FRONT ? NULL : tprt__alloc(bytes + FRONT);
  if (!block)
    return tprt__fail_memory(bytes);
  unsigned char *at = block + sizeof(void *);
  at += (ALIGNMENT - (uintptr_t)at % ALIGNMENT) % ALIGNMENT;
  memcpy(at - sizeof(void *), &block, sizeof(void *));
  *memory = at;
  return TPRT_OK;
}

void tprt__free_aligned(void *memory) {
  void *block;
  if (!memory)
    return;
  memcpy(&block, (unsigned char *)memory - sizeof(void *), sizeof(void *));
  tprt__free(block);
}

int64_t tprt__now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Returns the coarse clock plus one tick. The result is never before the current time and costs a
 * quarter of an exact clock read. */
static int64_t about_now(void) {
  static _Atomic int64_t tick_ns; /* read from the system once */
  int64_t tick = atomic_load_explicit(&tick_ns, memory_order_relaxed);
  struct timespec time;
  if (!tick) {
    clock_getres(CLOCK_MONOTONIC_COARSE, &time);
    tick = time.tv_nsec;
    atomic_store_explicit(&tick_ns, tick, memory_order_relaxed);
  }
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec + tick;
}

int64_t tprt__deadline(int64_t timeout_ns) {
  /* The coarse clock is a few milliseconds off, which is negligible for such timeouts. */
  enum { LONG_NS = 1000000000 };
  if (!TPRT__CHECKS)
    return INT64_MAX;
  int64_t now = timeout_ns < LONG_NS ? tprt__now() : about_now();
  return timeout_ns > INT64_MAX - now ? INT64_MAX : now + timeout_ns;
}

tprt_status tprt__struct_copy(void *destination, size_t size, const void *source,
                              const char *what) {
  size_t given;
  memcpy(&given, source, sizeof given);
  if (given < sizeof given || given > 4096) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "%s.size is %zu; set it to sizeof(%s)", what, given,
                      what);
  }
  const unsigned char *bytes = source;
  for (size_t i = size; i < given; i++) {
    if (bytes[i]) {
      return tprt__fail(TPRT_UNSUPPORTED,
                        "%s has a field at byte %zu that version %s of the library does not know",
                        what, i, tprt_version());
    }
  }
  memcpy(destination, source, given < size ? given : size);
  if (given < size)
    memset((unsigned char *)destination + given, 0, size - given);
  return TPRT_OK;
}

int tprt__cores(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  int n = CPU_COUNT(&set);
  return n > 0 ? n : 1;
}
