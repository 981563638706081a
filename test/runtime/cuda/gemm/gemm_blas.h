/* A cuBLASLt handle for the GEMM tests. */
#ifndef TPRT_TEST_CUDA_GEMM_BLAS_H
#define TPRT_TEST_CUDA_GEMM_BLAS_H

#include "tprt/cuda_gemm.h"

#include <stdio.h>

/* Creates a handle with this workspace; NULL after a message. */
static inline tprt_cuda_blas *make_blas(void *workspace, size_t bytes) {
  const tprt_cuda_blas_config config = {
      .size = sizeof config, .workspace = workspace, .workspace_bytes = bytes};
  tprt_cuda_blas *blas = NULL;
  if (tprt_cuda_blas_create(&config, &blas) != TPRT_OK)
    fprintf(stderr, "wrong: %s\n", tprt_last_error());
  return blas;
}

#endif
