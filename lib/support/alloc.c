/* Allocation with a test hook, and growing arrays. */
#include "support/support.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
  int64_t count, live;
  int64_t first, last; /* of the allocations that fail, counted from 1; first > last: none */
  bool failed;         /* an allocation has failed */
} hook = {.first = 1};

void tp__alloc_fail(int64_t k, int64_t n) {
  hook.count = 0;
  hook.first = k > 0 ? k : 1;
  hook.last = k <= 0 ? 0 : n < INT64_MAX - k ? k + n - 1 : INT64_MAX;
}

bool tp__alloc_failed(void) { return hook.failed; }

void tp__alloc_forget_failure(void) { hook.failed = false; }

int64_t tp__alloc_count(void) { return hook.count; }

int64_t tp__alloc_live(void) { return hook.live; }

bool tp__alloc_fails(void) {
  int64_t number = ++hook.count;
  bool fails = number >= hook.first && number <= hook.last;
  hook.failed |= fails;
  return fails;
}

/* Sizes above PTRDIFF_MAX are refused here, because sanitizers end the program where malloc returns
 * NULL. */
static bool refused(size_t n, size_t size) {
  bool is_too_large = size && n > PTRDIFF_MAX / size;
  hook.failed |= is_too_large;
  return tp__alloc_fails() || is_too_large;
}

static void *checked(void *memory) {
  hook.failed |= !memory;
  return memory;
}

static void *counted(void *memory) {
  hook.live += memory != NULL;
  return checked(memory);
}

void *tp__malloc(size_t size) { return refused(1, size) ? NULL : counted(malloc(size ? size : 1)); }

void *tp__calloc(size_t n, size_t size) {
  if (refused(n, size))
    return NULL;
  return counted(n && size ? calloc(n, size) : calloc(1, 1));
}

void *tp__realloc(void *old, size_t n, size_t size) {
  if (refused(n, size))
    return NULL;
  if (!old)
    return counted(malloc(n && size ? n * size : 1));
  return checked(realloc(old, n && size ? n * size : 1));
}

char *tp__strdup(const char *text) {
  size_t size = strlen(text) + 1;
  char *copy = tp__malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

void tp__free(void *memory) {
  hook.live -= memory != NULL;
  free(memory);
}

tp_status tp__grow(void **items, size_t *capacity, size_t needed, size_t size) {
  if (needed <= *capacity)
    return TP_OK;
  size_t wanted = *capacity < 8 ? 8 : *capacity > SIZE_MAX / 2 ? SIZE_MAX : *capacity * 2;
  if (wanted < needed)
    wanted = needed;
  void *grown = tp__realloc(*items, wanted, size);
  if (!grown)
    return TP_NO_MEMORY;
  *items = grown;
  *capacity = wanted;
  return TP_OK;
}
