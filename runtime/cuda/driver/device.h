/* Functions of the driver for streams, events and memory of a device. */
#ifndef TPRT_RUNTIME_CUDA_DEVICE_H
#define TPRT_RUNTIME_CUDA_DEVICE_H

#include "cuda/driver/driver.h"

/* X(member, symbol, parameters). All return a cuda_result. */
#define CUDA_DEVICE_CALLS(X)                                                                       \
  X(device_get, "cuDeviceGet", (int *device, int ordinal))                                         \
  X(device_uuid, "cuDeviceGetUuid", (cuda_uuid * uuid, int device))                                \
  X(context_retain, "cuDevicePrimaryCtxRetain", (cuda_context * context, int device))              \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                                 \
  X(context_current, "cuCtxGetCurrent", (cuda_context * context))                                  \
  X(context_device, "cuCtxGetDevice", (int *device))                                               \
  X(context_push, "cuCtxPushCurrent_v2", (cuda_context context))                                   \
  X(context_pop, "cuCtxPopCurrent_v2", (cuda_context * context))                                   \
  X(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *mode))                                \
  X(stream_create, "cuStreamCreate", (cuda_stream * stream, unsigned flags))                       \
  X(stream_destroy, "cuStreamDestroy_v2", (cuda_stream stream))                                    \
  X(stream_wait, "cuStreamWaitEvent", (cuda_stream stream, cuda_event event, unsigned flags))      \
  X(stream_capturing, "cuStreamIsCapturing", (cuda_stream stream, int *status))                    \
  X(event_create, "cuEventCreate", (cuda_event * event, unsigned flags))                           \
  X(event_destroy, "cuEventDestroy_v2", (cuda_event event))                                        \
  X(event_record, "cuEventRecord", (cuda_event event, cuda_stream stream))                         \
  X(event_query, "cuEventQuery", (cuda_event event))                                               \
  X(memory_alloc, "cuMemAlloc_v2", (cuda_address * memory, size_t bytes))                          \
  X(memory_free, "cuMemFree_v2", (cuda_address memory))                                            \
  X(memory_set, "cuMemsetD8Async",                                                                 \
    (cuda_address at, unsigned char value, size_t n, cuda_stream stream))                          \
  X(memory_copy, "cuMemcpyDtoDAsync_v2",                                                           \
    (cuda_address to, cuda_address from, size_t bytes, cuda_stream stream))                        \
  X(memory_copy_2d, "cuMemcpy2DAsync_v2", (const cuda_copy_2d *copy, cuda_stream stream))          \
  X(pointer_attribute, "cuPointerGetAttribute", (void *value, int attribute, cuda_address pointer))

typedef struct cuda_device_calls {
  const tprt__cuda *driver;
#define MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
  CUDA_DEVICE_CALLS(MEMBER)
#undef MEMBER
} cuda_device_calls;

/* Functions for streams with a priority, which are looked up when a priority is asked for. */
#define CUDA_PRIORITY_CALLS(X)                                                                     \
  X(range, "cuCtxGetStreamPriorityRange", (int *least, int *greatest))                             \
  X(stream_create, "cuStreamCreateWithPriority",                                                   \
    (cuda_stream * stream, unsigned flags, int priority))

typedef struct cuda_priority_calls {
  const tprt__cuda *driver;
#define MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
  CUDA_PRIORITY_CALLS(MEMBER)
#undef MEMBER
} cuda_priority_calls;
tprt_status tprt__priority_load(const cuda_priority_calls **calls);

/* Loads the driver once. */
tprt_status tprt__device_load(const cuda_device_calls **device);

/* Returns TPRT_OK, or TPRT_NO_MEMORY or TPRT_DEVICE with the driver's text. `what` names the
 * call. */
tprt_status tprt__device_check(const cuda_device_calls *device, cuda_result result,
                               const char *what);

/* Makes a context current in this thread. The thread may then also make calls that a capture by the
 * caller or by another thread would prohibit, and that would break it. tprt__device_leave reverts
 * both. Calls nest. */
cuda_result tprt__device_enter(const cuda_device_calls *device, cuda_context context);
void tprt__device_leave(const cuda_device_calls *device);

/* Chooses the device of a rank of this process: `given` unless it is negative, else TPRT_DEVICE if
 * it is set, else the current device, else the rank on this host, else 0. host_rank is -1 if it is
 * unknown. */
tprt_status tprt__device_choose(const cuda_device_calls *device, int64_t given, int host_rank,
                                int *ordinal);

#endif
