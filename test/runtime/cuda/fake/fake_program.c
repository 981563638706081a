/* Driver functions that contexts of compiled programs use; checks that copies stay inside of
 * allocations. Further copies. */
#define _GNU_SOURCE 1
#include "cuda/driver/device.h"
#include "fake_stream.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Those of CUDA_DEVICE_CALLS that other files lack, and further copies: name here, symbol,
 * parameters. */
#define CALLS(X)                                                                                   \
  X(get, "cuDeviceGet", (int *device, int ordinal))                                                \
  X(uuid, "cuDeviceGetUuid", (cuda_uuid * uuid, int device))                                       \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                                 \
  X(context_push, "cuCtxPushCurrent_v2", (cuda_context context))                                   \
  X(context_pop, "cuCtxPopCurrent_v2", (cuda_context * context))                                   \
  X(set_async, "cuMemsetD8Async",                                                                  \
    (cuda_address at, unsigned char value, size_t n, cuda_stream stream))                          \
  X(copy_async, "cuMemcpyDtoDAsync_v2",                                                            \
    (cuda_address to, cuda_address from, size_t bytes, cuda_stream stream))                        \
  X(copy_any_async, "cuMemcpyAsync",                                                               \
    (cuda_address to, cuda_address from, size_t bytes, cuda_stream stream))                        \
  X(copy_2d_async, "cuMemcpy2DAsync_v2", (const cuda_copy_2d *copy, cuda_stream stream))           \
  X(pointer_attribute, "cuPointerGetAttribute",                                                    \
    (void *value, int attribute, cuda_address pointer))                                            \
  X(to_host_async, "cuMemcpyDtoHAsync_v2",                                                         \
    (void *to, cuda_address from, size_t bytes, cuda_stream stream))                               \
  X(from_host_async, "cuMemcpyHtoDAsync_v2",                                                       \
    (cuda_address to, const void *from, size_t bytes, cuda_stream stream))                         \
  X(function_attribute, "cuFuncSetAttribute", (cuda_function function, int attribute, int value))
#define EXPORT_PROGRAM(name, symbol, parameters)                                                   \
  extern cuda_result program_##name parameters __asm__(symbol) TPRT_API;
CALLS(EXPORT_PROGRAM)

cuda_result program_function_attribute(cuda_function function, int attribute, int value) {
  cuda_result result = fake_set_attribute(function, attribute, value);
  return result ? result : fake_fails_at("function attribute");
}

enum { MOST_PUSHED = 8 };
static __thread int depth; /* contexts that the thread has pushed but not popped */

bool fake_has_pushed(void) { return depth > 0; }
static __thread int below[MOST_PUSHED];

cuda_result program_get(int *number, int ordinal) {
  int n = 0;
  fake_device_count(&n);
  *number = ordinal;
  return ordinal < n ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

cuda_result program_uuid(cuda_uuid *uuid, int number) {
  memset(uuid, number, sizeof *uuid);
  return fake_fails_at("uuid");
}

cuda_result program_context_release(int number) {
  (void)number;
  return CUDA_RESULT_SUCCESS;
}

cuda_result program_context_push(cuda_context pushed) {
  int before = fake_current_device();
  if (fake_mode_is("push"))
    return FAKE_STUB_LIBRARY;
  if (depth == MOST_PUSHED || !fake_set_current(pushed))
    return FAKE_INVALID_VALUE;
  below[depth++] = before;
  return CUDA_RESULT_SUCCESS;
}

cuda_result program_context_pop(cuda_context *popped) {
  cuda_context under;
  *popped = NULL;
  if (depth == 0)
    return FAKE_INVALID_VALUE;
  (void)fake_context_retain(&under, below[--depth]);
  return fake_set_current(under) ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

/* ---- Copies ---- */

static bool is_inside(cuda_address at, size_t bytes) {
  uint64_t begin, end;
  return bytes == 0 || (fake_find_memory(NULL, at, &begin, &end) && end - at >= bytes);
}

typedef struct copy {
  void *to;
  const void *from; /* NULL: sets `value` everywhere */
  size_t to_pitch, from_pitch, width, height;
  unsigned char value;
  long late_us;
} copy;

static cuda_result run_copy(void *data) {
  const copy *c = data;
  if (c->late_us > 0) /* even no sleep takes 50 us, and programs copy single numbers in loops */
    nanosleep(&(struct timespec){.tv_nsec = c->late_us * 1000}, NULL);
  for (size_t row = 0; row < c->height; row++) {
    char *to = (char *)c->to + row * c->to_pitch;
    if (c->from)
      memcpy(to, (const char *)c->from + row * c->from_pitch, c->width);
    else
      memset(to, c->value, c->width);
  }
  return CUDA_RESULT_SUCCESS;
}

static cuda_result enqueue(cuda_stream stream, copy c) {
  copy *kept = malloc(sizeof *kept);
  if (!kept)
    abort();
  *kept = c;
  kept->late_us = fake_streams.copy_us;
  fake_streams.n_copies += c.from != NULL;
  return fake_enqueue(stream, (fake_task){.run = run_copy, .data = kept});
}

static void *there(cuda_address at) { return (void *)(uintptr_t)at; }

cuda_result program_set_async(cuda_address at, unsigned char value, size_t n, cuda_stream stream) {
  if (depth == 0 || !is_inside(at, n))
    return FAKE_INVALID_VALUE;
  cuda_result result =
      enqueue(stream, (copy){.to = there(at), .width = n, .height = 1, .value = value});
  return result ? result : fake_fails_at("set");
}

static cuda_result copy_bytes(void *to, const void *from, size_t bytes, cuda_stream stream,
                              const char *mode) {
  cuda_result result = enqueue(stream, (copy){.to = to, .from = from, .width = bytes, .height = 1});
  return result ? result : fake_fails_at(mode);
}

cuda_result program_copy_async(cuda_address to, cuda_address from, size_t bytes,
                               cuda_stream stream) {
  if (depth == 0 || !is_inside(to, bytes) || !is_inside(from, bytes))
    return FAKE_INVALID_VALUE;
  return copy_bytes(there(to), there(from), bytes, stream, "copy on device");
}

cuda_result program_copy_any_async(cuda_address to, cuda_address from, size_t bytes,
                                   cuda_stream stream) {
  return copy_bytes(there(to), there(from), bytes, stream, "copy of rows");
}

cuda_result program_copy_2d_async(const cuda_copy_2d *c, cuda_stream stream) {
  size_t least = c->target_pitch < c->source_pitch ? c->target_pitch : c->source_pitch,
         most = c->target_pitch < c->source_pitch ? c->source_pitch : c->target_pitch;
  if (c->source_type != CUDA_MEMORY_UNIFIED || c->target_type != CUDA_MEMORY_UNIFIED ||
      c->width > least || most > INT32_MAX)
    return FAKE_INVALID_VALUE;
  cuda_result result = enqueue(stream, (copy){.to = there(c->target),
                                              .from = there(c->source),
                                              .to_pitch = c->target_pitch,
                                              .from_pitch = c->source_pitch,
                                              .width = c->width,
                                              .height = c->height});
  return result ? result : fake_fails_at("copy of rows");
}

cuda_result program_pointer_attribute(void *value, int attribute, cuda_address pointer) {
  *(int *)value = attribute == CUDA_POINTER_MEMORY_TYPE ? CUDA_MEMORY_DEVICE : 0;
  return is_inside(pointer, 1) ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

cuda_result program_to_host_async(void *to, cuda_address from, size_t bytes, cuda_stream stream) {
  if (depth == 0 || !is_inside(from, bytes))
    return FAKE_INVALID_VALUE;
  fake_note_copy();
  return copy_bytes(to, there(from), bytes, stream, "copy to host");
}

cuda_result program_from_host_async(cuda_address to, const void *from, size_t bytes,
                                    cuda_stream stream) {
  if (depth == 0 || !is_inside(to, bytes))
    return FAKE_INVALID_VALUE;
  return copy_bytes(there(to), from, bytes, stream, "copy from host");
}
