/* The CUDA driver, loaded when something first needs it: nothing here needs CUDA to build or to
 * start. */
#ifndef TPRT_RUNTIME_CUDA_DRIVER_H
#define TPRT_RUNTIME_CUDA_DRIVER_H

#include "base/library.h"

/* ---- Types and numbers of cuda.h, all that this library uses; a test compares them with the
 * header where there is one ---- */

typedef int cuda_result;
typedef struct CUctx_st *cuda_context;
typedef struct CUmod_st *cuda_module;
typedef struct CUfunc_st *cuda_function;
typedef struct CUstream_st *cuda_stream; /* of the CUDA runtime, too */
typedef struct CUevent_st *cuda_event;   /* likewise */
typedef unsigned long long cuda_address;

enum {
  CUDA_RESULT_SUCCESS = 0,
  CUDA_RESULT_OUT_OF_MEMORY = 2,
  CUDA_RESULT_NO_DEVICE = 100,
  CUDA_RESULT_NOT_READY = 600,
  CUDA_RESULT_PEER_ACCESS_ALREADY_ENABLED = 704,

  CUDA_MULTIPROCESSORS = 16, /* attributes of devices */
  CUDA_CAPABILITY_MAJOR = 75,
  CUDA_CAPABILITY_MINOR = 76,
  CUDA_COOPERATIVE = 95,

  CUDA_POINTER_MEMORY_TYPE = 2, /* attributes of pointers */
  CUDA_POINTER_ORDINAL = 9,

  CUDA_MEMORY_DEVICE = 2,
  CUDA_MEMORY_UNIFIED = 4, /* the driver sees from the address where it is */
  CUDA_STREAM_NON_BLOCKING = 1,
  CUDA_EVENT_DISABLE_TIMING = 2,
  CUDA_CAPTURE_NONE = 0,
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

/* ---- Functions: tables of them, each of what a part of this library needs ---- */

/* member, symbol, parameters. All return a cuda_result. The versions are those that every driver
 * since CUDA 11 has. */
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

/* The initialised driver: the library that TPRT_CUDA_LIBRARY names, libcuda.so.1 by default.
 * TPRT_UNSUPPORTED with the reason where there is no library, no device, or an old version; asked
 * again, it looks again. Any thread. */
tprt_status tprt__cuda_load(const tprt__cuda **driver);

/* The same, and further functions of it into their slots. TPRT_UNSUPPORTED where it has one of them
 * not. */
tprt_status tprt__cuda_find(const tprt__cuda **driver, const tprt__symbol *symbols);

/* What the driver said when `what` was done, as TPRT_DEVICE with its text; TPRT_OK for success. */
tprt_status tprt__cuda_check(const tprt__cuda *driver, cuda_result result, const char *what);

#endif
