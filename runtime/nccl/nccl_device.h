/* Streams, events and memory of a device, from the CUDA driver. Streams and events of the CUDA runtime are the same objects. */
#ifndef TPRT_RUNTIME_NCCL_DEVICE_H
#define TPRT_RUNTIME_NCCL_DEVICE_H

#include "cuda/driver.h"

typedef struct CUctx_st *device_context;
typedef struct CUstream_st *device_stream;
typedef struct CUevent_st *device_event;
typedef unsigned long long device_address;

/* Numbers of cuda.h; a test compares them with the header where there is one. */
enum {
  DEVICE_NOT_READY = 600,
  DEVICE_OUT_OF_MEMORY = 2,
  DEVICE_STREAM_NON_BLOCKING = 1,
  DEVICE_EVENT_DISABLE_TIMING = 2,
  DEVICE_MEMORY_DEVICE = 2,
  DEVICE_POINTER_MEMORY_TYPE = 2,
  DEVICE_POINTER_ORDINAL = 9,
  DEVICE_CAPTURE_NONE = 0,
};

/* CUDA_MEMCPY2D. */
typedef struct device_copy_2d {
  size_t source_x, source_y;
  int source_type;
  const void *source_host;
  device_address source;
  void *source_array;
  size_t source_pitch;
  size_t target_x, target_y;
  int target_type;
  void *target_host;
  device_address target;
  void *target_array;
  size_t target_pitch;
  size_t width, height;
} device_copy_2d;

/* CUuuid. */
typedef struct device_uuid {
  unsigned char bytes[16];
} device_uuid;

/* member, symbol, parameters. All return a cuda_result. */
#define DEVICE_CALLS(X)                                                                                                        \
  X(get, "cuDeviceGet", (int *device, int ordinal))                                                                            \
  X(uuid, "cuDeviceGetUuid", (device_uuid * uuid, int device))                                                                 \
  X(context_retain, "cuDevicePrimaryCtxRetain", (device_context * context, int device))                                        \
  X(context_release, "cuDevicePrimaryCtxRelease_v2", (int device))                                                             \
  X(context_current, "cuCtxGetCurrent", (device_context * context))                                                            \
  X(context_device, "cuCtxGetDevice", (int *device))                                                                           \
  X(context_push, "cuCtxPushCurrent_v2", (device_context context))                                                             \
  X(context_pop, "cuCtxPopCurrent_v2", (device_context * context))                                                             \
  X(stream_create, "cuStreamCreate", (device_stream * stream, unsigned flags))                                                 \
  X(stream_destroy, "cuStreamDestroy_v2", (device_stream stream))                                                              \
  X(stream_wait, "cuStreamWaitEvent", (device_stream stream, device_event event, unsigned flags))                              \
  X(stream_capturing, "cuStreamIsCapturing", (device_stream stream, int *status))                                              \
  X(event_create, "cuEventCreate", (device_event * event, unsigned flags))                                                     \
  X(event_destroy, "cuEventDestroy_v2", (device_event event))                                                                  \
  X(event_record, "cuEventRecord", (device_event event, device_stream stream))                                                 \
  X(event_query, "cuEventQuery", (device_event event))                                                                         \
  X(memory_alloc, "cuMemAlloc_v2", (device_address * memory, size_t bytes))                                                    \
  X(memory_free, "cuMemFree_v2", (device_address memory))                                                                      \
  X(memory_set, "cuMemsetD8Async", (device_address at, unsigned char value, size_t n, device_stream stream))                   \
  X(memory_copy, "cuMemcpyDtoDAsync_v2", (device_address to, device_address from, size_t bytes, device_stream stream))         \
  X(memory_copy_2d, "cuMemcpy2DAsync_v2", (const device_copy_2d *copy, device_stream stream))                                  \
  X(pointer_attribute, "cuPointerGetAttribute", (void *value, int attribute, device_address pointer))

typedef struct device_calls {
  const tprt__cuda *driver;
#define MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
  DEVICE_CALLS(MEMBER)
#undef MEMBER
} device_calls;

/* Loads the driver, once. */
tprt_status tprt__device_load(const device_calls **device);

/* TPRT_OK, or TPRT_NO_MEMORY or TPRT_DEVICE with what the driver says. */
tprt_status tprt__device_check(const device_calls *device, cuda_result result, const char *what);

/* Which device a rank of this process has: TPRT_DEVICE, the current one, the rank on this host (-1: nobody says), 0. */
tprt_status tprt__device_choose(const device_calls *device, int host_rank, int *ordinal);

static inline device_address tprt__device_at(const void *memory) { return (device_address)(uintptr_t)memory; }

#endif
