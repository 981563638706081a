/* The CUDA driver, loaded when something first needs it: nothing here needs CUDA to build or to start. */
#ifndef TPRT_RUNTIME_CUDA_DRIVER_H
#define TPRT_RUNTIME_CUDA_DRIVER_H

#include "base.h"

/* Types and numbers of cuda.h; a test compares them with the header where there is one. */
typedef int cuda_result;

enum { CUDA_RESULT_SUCCESS = 0, CUDA_RESULT_NO_DEVICE = 100 };

/* member, symbol, parameters. All return a cuda_result. The versions are those that every driver since CUDA 11 has. */
#define TPRT_CUDA_CALLS(X)                                                                                                     \
  X(init, "cuInit", (unsigned flags))                                                                                          \
  X(driver_version, "cuDriverGetVersion", (int *version))                                                                      \
  X(error_name, "cuGetErrorName", (cuda_result error, const char **name))                                                      \
  X(device_count, "cuDeviceGetCount", (int *n))

typedef struct tprt__cuda {
#define MEMBER(member, symbol, parameters) cuda_result(*member) parameters;
  TPRT_CUDA_CALLS(MEMBER)
#undef MEMBER
} tprt__cuda;

/* The initialised driver: the library that TPRT_CUDA_LIBRARY names, libcuda.so.1 by default. TPRT_UNSUPPORTED with the reason
 * where there is no library, no device, or an old version; asked again, it looks again. Any thread. */
tprt_status tprt__cuda_load(const tprt__cuda **driver);

/* Another function of the loaded driver, into a function pointer. TPRT_UNSUPPORTED where it has none of this name. */
tprt_status tprt__cuda_symbol(const char *name, void *slot);

/* What the driver said when `what` was done, as TPRT_DEVICE with its text; TPRT_OK for success. */
tprt_status tprt__cuda_check(const tprt__cuda *driver, cuda_result result, const char *what);

#endif
