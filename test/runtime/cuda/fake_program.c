/* What contexts of compiled programs ask of the driver. A stream is done with what it is given before the call returns, so a wait has nothing to wait
 * for. Copies have to stay inside of allocations. */
#define _GNU_SOURCE 1
#include "cuda/device.h"
#include "fake_driver.h"

#include <stdlib.h>
#include <string.h>

/* Of CUDA_DEVICE_CALLS those that other files have not, and further copies: name here, symbol, parameters. */
#define CALLS(X)                                                                                                               \
  X(get, "cuDeviceGet", (int *device, int ordinal))                                                                            \
  X(uuid, "cuDeviceGetUuid", (cuda_uuid * uuid, int device))                                                                   \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                                                             \
  X(context_push, "cuCtxPushCurrent_v2", (cuda_context context))                                                               \
  X(context_pop, "cuCtxPopCurrent_v2", (cuda_context * context))                                                               \
  X(stream_destroy, "cuStreamDestroy_v2", (cuda_stream stream))                                                                \
  X(wait_event, "cuStreamWaitEvent", (cuda_stream stream, cuda_event event, unsigned flags))                                   \
  X(capturing, "cuStreamIsCapturing", (cuda_stream stream, int *status))                                                       \
  X(event_query, "cuEventQuery", (cuda_event event))                                                                           \
  X(set_async, "cuMemsetD8Async", (cuda_address at, unsigned char value, size_t n, cuda_stream stream))                        \
  X(copy_async, "cuMemcpyDtoDAsync_v2", (cuda_address to, cuda_address from, size_t bytes, cuda_stream stream))                \
  X(copy_2d_async, "cuMemcpy2DAsync_v2", (const cuda_copy_2d *copy, cuda_stream stream))                                       \
  X(pointer_attribute, "cuPointerGetAttribute", (void *value, int attribute, cuda_address pointer))                            \
  X(to_host_async, "cuMemcpyDtoHAsync_v2", (void *to, cuda_address from, size_t bytes, cuda_stream stream))                    \
  X(from_host_async, "cuMemcpyHtoDAsync_v2", (cuda_address to, const void *from, size_t bytes, cuda_stream stream))
#define EXPORT_PROGRAM(name, symbol, parameters) extern cuda_result program_##name parameters __asm__(symbol) TPRT_API;
CALLS(EXPORT_PROGRAM)

static __thread int depth; /* contexts that the thread has pushed and not popped */

cuda_result program_get(int *number, int ordinal) {
  int n = 0;
  fake_device_count(&n);
  *number = ordinal;
  return ordinal < n ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

cuda_result program_uuid(cuda_uuid *uuid, int number) {
  memset(uuid, number, sizeof *uuid);
  return CUDA_RESULT_SUCCESS;
}

cuda_result program_context_release(int number) {
  (void)number;
  return CUDA_RESULT_SUCCESS;
}

cuda_result program_context_push(cuda_context pushed) {
  depth += pushed != NULL;
  return pushed ? fake_fails_at("push") : FAKE_INVALID_VALUE;
}

cuda_result program_context_pop(cuda_context *popped) {
  *popped = NULL;
  return depth-- > 0 ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

cuda_result program_stream_destroy(cuda_stream stream) { return stream ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE; }

cuda_result program_wait_event(cuda_stream stream, cuda_event event, unsigned flags) {
  (void)stream, (void)flags;
  return event ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

cuda_result program_capturing(cuda_stream stream, int *status) {
  (void)stream;
  *status = CUDA_CAPTURE_NONE;
  return CUDA_RESULT_SUCCESS;
}

cuda_result program_event_query(cuda_event event) { return event ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE; }

/* ---- Copies ---- */

static bool is_inside(cuda_address at, size_t bytes) {
  uint64_t begin, end;
  return bytes == 0 || (fake_find_memory(NULL, at, &begin, &end) && end - at >= bytes);
}

cuda_result program_set_async(cuda_address at, unsigned char value, size_t n, cuda_stream stream) {
  (void)stream;
  if (depth == 0 || !is_inside(at, n))
    return FAKE_INVALID_VALUE;
  memset((void *)(uintptr_t)at, value, n);
  return CUDA_RESULT_SUCCESS;
}

cuda_result program_copy_async(cuda_address to, cuda_address from, size_t bytes, cuda_stream stream) {
  (void)stream;
  if (depth == 0 || !is_inside(to, bytes) || !is_inside(from, bytes))
    return FAKE_INVALID_VALUE;
  memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, bytes);
  return fake_fails_at("copy on device");
}

cuda_result program_copy_2d_async(const cuda_copy_2d *copy, cuda_stream stream) {
  (void)stream;
  for (size_t i = 0; i < copy->height; i++)
    memcpy((char *)(uintptr_t)copy->target + i * copy->target_pitch,
           (const char *)(uintptr_t)copy->source + i * copy->source_pitch, copy->width);
  return CUDA_RESULT_SUCCESS;
}

cuda_result program_pointer_attribute(void *value, int attribute, cuda_address pointer) {
  *(int *)value = attribute == CUDA_POINTER_MEMORY_TYPE ? CUDA_MEMORY_DEVICE : 0;
  return is_inside(pointer, 1) ? CUDA_RESULT_SUCCESS : FAKE_INVALID_VALUE;
}

cuda_result program_to_host_async(void *to, cuda_address from, size_t bytes, cuda_stream stream) {
  (void)stream;
  if (depth == 0 || !is_inside(from, bytes))
    return FAKE_INVALID_VALUE;
  memcpy(to, (const void *)(uintptr_t)from, bytes);
  return fake_fails_at("copy to host");
}

cuda_result program_from_host_async(cuda_address to, const void *from, size_t bytes, cuda_stream stream) {
  (void)stream;
  if (depth == 0 || !is_inside(to, bytes))
    return FAKE_INVALID_VALUE;
  memcpy((void *)(uintptr_t)to, from, bytes);
  return fake_fails_at("copy from host");
}
