/* Device memory of the fake driver: tracked memory of this process. */
#define _GNU_SOURCE 1
#include "fake_inside.h"

#include <stdlib.h>
#include <string.h>

typedef struct block {
  struct block *next;
  char *at;
  size_t bytes;
  int device;
  bool is_nccls;
} block;
static block *blocks;

static block *find_block(const void *memory) {
  block *found = blocks;
  while (found &&
         ((const char *)memory < found->at || (const char *)memory >= found->at + found->bytes))
    found = found->next;
  return found;
}

bool fake_owns(int device, const void *memory, size_t bytes, const char *what) {
  const block *found = find_block(memory);
  if (found && found->device == device &&
      (size_t)(found->at + found->bytes - (const char *)memory) >= bytes)
    return true;
  fake_violation("%s: %zu bytes that are not in one allocation of device %d", what, bytes, device);
  return false;
}

bool fake_find_block(void *user, uint64_t address, uint64_t *begin, uint64_t *end) {
  (void)user;
  fake_enter();
  const block *found = find_block((const void *)(uintptr_t)address);
  if (found) {
    *begin = (uint64_t)(uintptr_t)found->at;
    *end = *begin + found->bytes;
  }
  fake_exit();
  return found;
}

bool fake_is_nccls(const void *memory) {
  const block *found = find_block(memory);
  return found && found->is_nccls &&
         ((const char *)memory - found->at) % NCCL_WINDOW_ALIGNMENT == 0;
}

void fake_note_nccls(const void *memory) { find_block(memory)->is_nccls = true; }

void *fake_allocate(int device, size_t bytes) {
  block *made = calloc(1, sizeof *made);
  *made = (block){.next = blocks, .at = fake_take(bytes), .bytes = bytes, .device = device};
  memset(made->at, 0xcd, bytes);
  blocks = made;
  fake_state.n_allocations++;
  return made->at;
}

bool fake_release(void *memory, int *device) {
  const block *known = find_block(memory);
  if (known)
    fake_settle(known->device, "memory is freed");
  block **at = &blocks;
  while (*at && (*at)->at != memory)
    at = &(*at)->next;
  block *found = *at;
  if (!found) {
    fake_violation("memory is freed that is not allocated");
    return false;
  }
  *at = found->next;
  *device = found->device;
  fake_state.n_allocations--;
  fake_give(found->at);
  free(found);
  return true;
}

cuda_result cuda_memory_alloc(cuda_address *memory, size_t bytes) {
  FAKE_UNSAFE_CALL("cuMemAlloc", false, FAKE_CAPTURE_UNSUPPORTED);
  if (fake_device() < 0 || !bytes)
    return fake_leave(fake_device() < 0 ? FAKE_INVALID_CONTEXT : FAKE_INVALID_VALUE);
  *memory = tprt__cuda_address(fake_allocate(fake_device(), bytes));
  return fake_leave(0);
}

cuda_result cuda_memory_free(cuda_address memory) {
  int device;
  FAKE_END_CALL("cuMemFree", false);
  if (fake_unsafe())
    return fake_leave(FAKE_CAPTURE_UNSUPPORTED);
  return fake_leave(fake_release((void *)(uintptr_t)memory, &device) ? planned
                                                                     : FAKE_INVALID_VALUE);
}

/* Like fake_owns for any device: all peers can access each other. */
static bool somebody_owns(const void *memory, size_t bytes, const char *what) {
  const block *found = find_block(memory);
  return fake_owns(found ? found->device : fake_device(), memory, bytes, what);
}

typedef struct copy_task {
  char *to;
  const char *from; /* NULL: sets a value */
  size_t to_pitch, from_pitch, width, height;
  unsigned char value;
} copy_task;

static void run_copy(void *data) {
  const copy_task *task = data;
  for (size_t row = 0; row < task->height; row++) {
    if (task->from)
      memcpy(task->to + row * task->to_pitch, task->from + row * task->from_pitch, task->width);
    else
      memset(task->to + row * task->to_pitch, task->value, task->width);
  }
}

static int enqueue_any(cuda_stream stream, const copy_task *copy) {
  copy_task *task = calloc(1, sizeof *task);
  *task = *copy;
  fake_enqueue(stream, run_copy, free, task);
  return 0;
}

/* Enqueues a copy in memory of the stream's device. */
static int enqueue_copy(cuda_stream given, const copy_task *copy, const char *what) {
  size_t last = copy->height - 1;
  cuda_stream stream = fake_stream_of(given);
  if (!stream)
    return FAKE_INVALID_CONTEXT;
  int device = stream->device;
  if (!copy->width || !copy->height)
    return FAKE_INVALID_VALUE;
  if (!fake_owns(device, copy->to, last * copy->to_pitch + copy->width, what) ||
      (copy->from && !fake_owns(device, copy->from, last * copy->from_pitch + copy->width, what)))
    return FAKE_INVALID_VALUE;
  return enqueue_any(stream, copy);
}

/* Enqueues a copy between any devices. */
static int enqueue_between(cuda_stream given, const copy_task *copy, const char *what) {
  size_t last = copy->height - 1;
  cuda_stream stream = fake_stream_of(given);
  if (!stream)
    return FAKE_INVALID_CONTEXT;
  if (!copy->width || !copy->height ||
      !somebody_owns(copy->to, last * copy->to_pitch + copy->width, what) ||
      !somebody_owns(copy->from, last * copy->from_pitch + copy->width, what))
    return FAKE_INVALID_VALUE;
  return enqueue_any(stream, copy);
}

cuda_result cuda_memory_set(cuda_address at, unsigned char value, size_t n, cuda_stream stream) {
  FAKE_CALL("cuMemsetD8Async", false, NULL);
  const copy_task copy = {.to = (char *)(uintptr_t)at, .width = n, .height = 1, .value = value};
  return fake_leave(enqueue_copy(stream, &copy, "cuMemsetD8Async"));
}

cuda_result cuda_memory_copy(cuda_address to, cuda_address from, size_t bytes, cuda_stream stream) {
  FAKE_CALL("cuMemcpyDtoDAsync", false, NULL);
  const copy_task copy = {.to = (char *)(uintptr_t)to,
                          .from = (const char *)(uintptr_t)from,
                          .width = bytes,
                          .height = 1};
  return fake_leave(enqueue_copy(stream, &copy, "cuMemcpyDtoDAsync"));
}

extern cuda_result memory_copy_between(cuda_address to, cuda_address from, size_t bytes,
                                       cuda_stream stream) __asm__("cuMemcpyAsync") TPRT_API;
cuda_result memory_copy_between(cuda_address to, cuda_address from, size_t bytes,
                                cuda_stream stream) {
  FAKE_CALL("cuMemcpyAsync", false, NULL);
  const copy_task copy = {.to = (char *)(uintptr_t)to,
                          .from = (const char *)(uintptr_t)from,
                          .width = bytes,
                          .height = 1};
  return fake_leave(enqueue_between(stream, &copy, "cuMemcpyAsync"));
}

cuda_result cuda_memory_copy_2d(const cuda_copy_2d *copy, cuda_stream stream) {
  FAKE_CALL("cuMemcpy2DAsync", false, NULL);
  bool between = copy->source_type == CUDA_MEMORY_UNIFIED,
       within = copy->source_type == CUDA_MEMORY_DEVICE;
  if (!(between || within) || copy->target_type != copy->source_type ||
      copy->width > copy->source_pitch || copy->width > copy->target_pitch)
    return fake_leave(FAKE_INVALID_VALUE);
  const copy_task rows = {.to = (char *)(uintptr_t)copy->target,
                          .from = (const char *)(uintptr_t)copy->source,
                          .to_pitch = copy->target_pitch,
                          .from_pitch = copy->source_pitch,
                          .width = copy->width,
                          .height = copy->height};
  return fake_leave((between ? enqueue_between : enqueue_copy)(stream, &rows, "cuMemcpy2DAsync"));
}

cuda_result cuda_pointer_attribute(void *value, int attribute, cuda_address pointer) {
  FAKE_CALL("cuPointerGetAttribute", false, NULL);
  const block *found = find_block((const void *)(uintptr_t)pointer);
  if (!found)
    return fake_leave(FAKE_INVALID_VALUE);
  int answer = attribute == CUDA_POINTER_MEMORY_TYPE ? CUDA_MEMORY_DEVICE
                                                     : found->device - fake_first_visible();
  memcpy(value, &answer, sizeof answer);
  return fake_leave(0);
}
