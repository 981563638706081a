/* What runs on NVIDIA GPUs. The library loads the CUDA driver when one of these functions first needs it; it is neither needed
 * to build the library nor to use the rest of it. */
#ifndef TPRT_CUDA_H
#define TPRT_CUDA_H

#include "tprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_cuda_info {
  int driver_version; /* 1000 * major + 10 * minor, of the CUDA that the driver supports */
  int n_devices;
} tprt_cuda_info;

/* Loads and starts the driver. Without a driver or a device, or with a driver older than CUDA 11: TPRT_UNSUPPORTED, and the
 * text says why. Any thread. */
TPRT_API tprt_status tprt_cuda_probe(tprt_cuda_info *info);

#ifdef __cplusplus
}
#endif
#endif
