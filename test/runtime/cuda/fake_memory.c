/* Memory of the device that is none. What was allocated is known, so that kernels that leave it are caught; until it is set, it holds
 * NaN of every type. */
#define _GNU_SOURCE 1
#include "fake_stream.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static struct {
  pthread_mutex_t lock;
  struct allocation {
    uint64_t begin, end;
  } *of;
  size_t n;
} allocations = {.lock = PTHREAD_MUTEX_INITIALIZER};

cuda_result fake_allocate(cuda_address *memory, size_t bytes) {
  size_t whole = (bytes + 255) / 256 * 256;
  if (fake_mode_is("allocate"))
    return FAKE_OUT_OF_MEMORY;
  void *made = bytes ? aligned_alloc(256, whole) : NULL;
  if (!made)
    return FAKE_INVALID_VALUE;
  memset(made, 0xff, whole);
  *memory = (cuda_address)(uintptr_t)made;
  pthread_mutex_lock(&allocations.lock);
  allocations.of = realloc(allocations.of, (allocations.n + 1) * sizeof *allocations.of);
  if (!allocations.of)
    abort();
  allocations.of[allocations.n++] = (struct allocation){*memory, *memory + bytes};
  pthread_mutex_unlock(&allocations.lock);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_release(cuda_address memory) {
  bool found = memory == 0;
  pthread_mutex_lock(&allocations.lock);
  for (size_t i = 0; i < allocations.n && !found; i++)
    if (allocations.of[i].begin == memory) {
      allocations.of[i] = allocations.of[--allocations.n];
      found = true;
    }
  pthread_mutex_unlock(&allocations.lock);
  if (!found)
    return FAKE_INVALID_VALUE;
  free((void *)(uintptr_t)memory);
  return CUDA_RESULT_SUCCESS;
}

bool fake_find_memory(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  bool found = false;
  (void)user;
  pthread_mutex_lock(&allocations.lock);
  for (size_t i = 0; i < allocations.n && !found; i++) {
    *begin = allocations.of[i].begin;
    *end = allocations.of[i].end;
    found = address >= *begin && address < *end;
  }
  pthread_mutex_unlock(&allocations.lock);
  return found;
}

cuda_result fake_set(cuda_address to, unsigned char value, size_t bytes) {
  if (fake_finish(NULL))
    return FAKE_LAUNCH_FAILED;
  memset((void *)(uintptr_t)to, value, bytes);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_upload(cuda_address to, const void *from, size_t bytes) {
  if (fake_finish(NULL))
    return FAKE_LAUNCH_FAILED;
  memcpy((void *)(uintptr_t)to, from, bytes);
  return CUDA_RESULT_SUCCESS;
}

cuda_result fake_copy_to_host(void *to, cuda_address from, size_t bytes) {
  if (fake_finish(NULL))
    return FAKE_LAUNCH_FAILED;
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return fake_fails_at("copy");
}
