/* Backend "nccl" (one GPU per rank): functions beyond those that all backends have. */
#ifndef TPRT_NCCL_H
#define TPRT_NCCL_H

#include "tprt/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_nccl_info {
  int version;       /* 10000 * major + 100 * minor + patch */
  uint32_t features; /* bit i: the feature tprt_nccl_feature_name(i) */
} tprt_nccl_info;

/* Loads the CUDA driver and NCCL (TPRT_CUDA_LIBRARY, TPRT_NCCL_LIBRARY). TPRT_UNSUPPORTED, with the
 * reason in the error text, if one is missing or too old, or if there is no device. Any thread. */
TPRT_API tprt_status tprt_nccl_probe(tprt_nccl_info *info);

/* Returns the name of version-dependent feature i, with the version that introduced it in *since
 * and its meaning in *help; both may be NULL. NULL past the last. Static storage. */
TPRT_API const char *tprt_nccl_feature_name(size_t i, int *since, const char **help);

#ifdef __cplusplus
}
#endif
#endif
