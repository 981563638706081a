/* Backend "nccl": ranks with a GPU each. What there is besides the functions that all backends
 * have. */
#ifndef TPRT_NCCL_H
#define TPRT_NCCL_H

#include "tprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_nccl_info {
  int version;       /* 10000 * major + 100 * minor + patch */
  uint32_t features; /* bit i: that of tprt_nccl_feature_name(i) */
} tprt_nccl_info;

/* Loads the CUDA driver and NCCL (TPRT_CUDA_LIBRARY, TPRT_NCCL_LIBRARY). TPRT_UNSUPPORTED, and the
 * text says why, where one is missing, too old, or there is no device. Any thread. */
TPRT_API tprt_status tprt_nccl_probe(tprt_nccl_info *info);

/* What depends on the version: name of feature i, the version that brought it in *since, its
 * meaning in *help; both may be NULL. NULL behind the last. Static storage. */
TPRT_API const char *tprt_nccl_feature_name(size_t i, int *since, const char **help);

#ifdef __cplusplus
}
#endif
#endif
