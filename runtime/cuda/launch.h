/* What the launcher of fused kernels asks of the driver. */
#ifndef TPRT_RUNTIME_CUDA_LAUNCH_H
#define TPRT_RUNTIME_CUDA_LAUNCH_H

#include "cuda/driver.h"

typedef struct CUctx_st *launch_context;
typedef struct CUmod_st *launch_module;
typedef struct CUfunc_st *launch_function;
typedef struct CUstream_st *launch_stream;
typedef unsigned long long launch_address;

/* Numbers of cuda.h; a test compares them with the header where there is one. */
enum {
  LAUNCH_MULTIPROCESSORS = 16,
  LAUNCH_CAPABILITY_MAJOR = 75,
  LAUNCH_CAPABILITY_MINOR = 76,
  LAUNCH_COOPERATIVE = 95,
};

/* member, symbol, parameters. All return a cuda_result. */
#define LAUNCH_CALLS(X)                                                                                                        \
  X(context_current, "cuCtxGetCurrent", (launch_context * context))                                                            \
  X(context_device, "cuCtxGetDevice", (int *device))                                                                           \
  X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))                                         \
  X(module_load, "cuModuleLoadData", (launch_module * module, const void *image))                                              \
  X(module_unload, "cuModuleUnload", (launch_module module))                                                                   \
  X(module_function, "cuModuleGetFunction", (launch_function * function, launch_module module, const char *name))              \
  X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                                                  \
    (int *n, launch_function function, int threads, size_t shared_bytes))                                                      \
  X(kernel, "cuLaunchKernel",                                                                                                  \
    (launch_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,          \
     unsigned block_z, unsigned shared_bytes, launch_stream stream, void **parameters, void **extra))                          \
  X(cooperative_kernel, "cuLaunchCooperativeKernel",                                                                           \
    (launch_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,          \
     unsigned block_z, unsigned shared_bytes, launch_stream stream, void **parameters))                                        \
  X(stream_synchronize, "cuStreamSynchronize", (launch_stream stream))                                                         \
  X(copy_to_host, "cuMemcpyDtoH_v2", (void *to, launch_address from, size_t bytes))

#endif
