/* Functions of the driver that the launcher of fused kernels uses. */
#ifndef TPRT_RUNTIME_CUDA_LAUNCH_H
#define TPRT_RUNTIME_CUDA_LAUNCH_H

#include "cuda/driver/driver.h"

/* X(member, symbol, parameters). All return a cuda_result. KERNEL_CALLS: about modules and
 * kernels. */
#define KERNEL_CALLS(X)                                                                            \
  X(device_attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))             \
  X(module_load, "cuModuleLoadData", (cuda_module * module, const void *image))                    \
  X(module_unload, "cuModuleUnload", (cuda_module module))                                         \
  X(module_function, "cuModuleGetFunction",                                                        \
    (cuda_function * function, cuda_module module, const char *name))                              \
  X(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                                      \
    (int *n, cuda_function function, int threads, size_t shared_bytes))                            \
  X(kernel, "cuLaunchKernel",                                                                      \
    (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream,                \
     void **parameters, void **extra))                                                             \
  X(cooperative_kernel, "cuLaunchCooperativeKernel",                                               \
    (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,  \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, cuda_stream stream,                \
     void **parameters))

#define LAUNCH_CALLS(X)                                                                            \
  X(context_current, "cuCtxGetCurrent", (cuda_context * context))                                  \
  X(context_device, "cuCtxGetDevice", (int *device))                                               \
  KERNEL_CALLS(X)                                                                                  \
  X(stream_synchronize, "cuStreamSynchronize", (cuda_stream stream))                               \
  X(copy_to_host, "cuMemcpyDtoH_v2", (void *to, cuda_address from, size_t bytes))

#endif
