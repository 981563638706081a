/* The CUDA driver, which is loaded on first use. CUDA is not needed to build or to start this
 * library. */
#ifndef TPRT_RUNTIME_CUDA_DRIVER_H
#define TPRT_RUNTIME_CUDA_DRIVER_H

#include "base/library.h"

/* ---- types and constants of cuda.h that this library uses; if the header is installed, a test
 * compares them ---- */

typedef int cuda_result;
typedef struct CUctx_st *cuda_context;
typedef struct CUmod_st *cuda_module;
typedef struct CUfunc_st *cuda_function;
typedef struct CUstream_st *cuda_stream; /* same type as in the CUDA runtime */
typedef struct CUevent_st *cuda_event;   /* same type as in the CUDA runtime */
typedef unsigned long long cuda_address;

enum {
  CUDA_RESULT_SUCCESS = 0,
  CUDA_RESULT_OUT_OF_MEMORY = 2,
  CUDA_RESULT_NO_DEVICE = 100,
  CUDA_RESULT_NOT_READY = 600,
  CUDA_RESULT_PEER_ACCESS_ALREADY_ENABLED = 704,

  CUDA_MULTIPROCESSORS = 16, /* device attributes */
  CUDA_CAPABILITY_MAJOR = 75,
  CUDA_CAPABILITY_MINOR = 76,
  CUDA_COOPERATIVE = 95,

  CUDA_MOST_DYNAMIC_SHARED_BYTES = 8, /* an attribute of functions */

  CUDA_POINTER_MEMORY_TYPE = 2, /* pointer attributes */
  CUDA_POINTER_ORDINAL = 9,

  CUDA_MEMORY_DEVICE = 2,
  CUDA_MEMORY_UNIFIED = 4, /* the driver derives the location from the address */
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_EVENT_DISABLE_TIMING = 2,
  CUDA_CAPTURE_NONE = 0,
  CUDA_CAPTURE_RELAXED = 2, /* a capture mode: other calls and threads are not restricted */
  CUDA_IPC_ENABLE_PEERS = 1,
};

/* CUDA_MEMCPY2D. */
typedef struct cuda_copy_2d {
  size_t source_x, source_y;
  int source_type;
  const void *source_host;
  cuda_address source;
  void *source_array;
  size_t source_pitch;
  size_t target_x, target_y;
  int target_type;
  void *target_host;
  cuda_address target;
  void *target_array;
  size_t target_pitch;
  size_t width, height;
} cuda_copy_2d;

/* CUipcMemHandle. */
typedef struct cuda_ipc_handle {
  char bytes[64];
} cuda_ipc_handle;

/* CUuuid. */
typedef struct cuda_uuid {
  unsigned char bytes[16];
} cuda_uuid;

static inline cuda_address tprt__cuda_address(const void *memory) {
  return (cuda_address)(uintptr_t)memory;
}

/* ---- functions: one table per part of this library ---- */

/* X(member, symbol, parameters). All return a cuda_result. Every driver since CUDA 11 has these
 * versions. */
#define TPRT_CUDA_CALLS(X)                                                                         \
  X(init, "cuInit", (unsigned flags))                                                              \
  X(driver_version, "cuDriverGetVersion", (int *version))                                          \
  X(error_name, "cuGetErrorName", (cuda_result error, const char **name))                          \
  X(device_count, "cuDeviceGetCount", (int *n))

typedef struct tprt__cuda {
#define MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
  TPRT_CUDA_CALLS(MEMBER)
#undef MEMBER
} tprt__cuda;

/* Returns the initialized driver, from the library that TPRT_CUDA_LIBRARY names (default:
 * libcuda.so.1). TPRT_UNSUPPORTED, with the reason, if there is no library or device, or if the
 * version is too old. A failed load is tried again by the next call. Callable from any thread. */
tprt_status tprt__cuda_load(const tprt__cuda **driver);

/* Like tprt__cuda_load; also looks up further functions. TPRT_UNSUPPORTED if one of them is
 * missing. */
tprt_status tprt__cuda_find(const tprt__cuda **driver, const tprt__symbol *symbols);

/* Returns TPRT_OK, or TPRT_DEVICE with the driver's text. `what` names the call. */
tprt_status tprt__cuda_check(const tprt__cuda *driver, cuda_result result, const char *what);

#endif
