/* Allocation with a test hook, and growing arrays. */
#include "support/support.h"

#include <stdlib.h>

/* Allocations left until the failing one; 0: never fail; -1: fail from now on. */
static _Thread_local int64_t allocations_left;

static bool fails(void) {
  if (allocations_left > 0) {
    allocations_left--;
    if (allocations_left == 0)
      allocations_left = -1;
  }
  return allocations_left < 0;
}

void tp__alloc_fail_at(int64_t k) { allocations_left = k > 0 ? k : 0; }

/* True if an object would be larger than PTRDIFF_MAX. Checked here, because sanitizers end the
 * program where malloc returns NULL. */
static bool too_large(size_t n, size_t size) { return size && n > PTRDIFF_MAX / size; }

void *tp__malloc(size_t size) {
  return fails() || too_large(1, size) ? NULL : malloc(size ? size : 1);
}

void *tp__calloc(size_t n, size_t size) {
  if (fails() || too_large(n, size))
    return NULL;
  return n && size ? calloc(n, size) : calloc(1, 1);
}

void *tp__realloc(void *old, size_t n, size_t size) {
  if (fails() || too_large(n, size))
    return NULL;
  size_t bytes = n * size;
  return realloc(old, bytes ? bytes : 1);
}

void tp__free(void *memory) { free(memory); }

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
