/* Fused rows of programs: groups of virtual ranks on a context's GPU, with the memory that they
 * need. */
#ifndef TPRT_RUNTIME_CUDA_GPU_ROWS_H
#define TPRT_RUNTIME_CUDA_GPU_ROWS_H

#include "cuda/gpu/gpu_context.h"
#include "tprt/cuda_gemm.h"

typedef struct tprt__gpu_ranks tprt__gpu_ranks;

/* A group of so many ranks, at most TPRT_CUDA_MAX_RANKS, all on this GPU. */
tprt_status tprt__gpu_ranks_create(tprt__gpu *gpu, int n_ranks, tprt__gpu_ranks **ranks);
/* After its last call has completed. NULL is allowed. */
void tprt__gpu_ranks_destroy(tprt__gpu *gpu, tprt__gpu_ranks *ranks);

/* tprt_cuda_reduce_rows of all of them, on a stream of this GPU. */
tprt_status tprt__gpu_reduce_rows(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                  const tprt_cuda_rows *rows, void *stream);
/* tprt_cuda_cross_entropy, likewise. */
tprt_status tprt__gpu_cross_entropy(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                    const tprt_cuda_entropy *entropy, void *stream);

/* tprt_cuda_multiply_reduce likewise, with the GPU's cuBLASLt, which tprt__gpu_prepare_products has
 * made. */
tprt_status tprt__gpu_multiply_reduce(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                      const tprt_cuda_gemm *gemms, const tprt_cuda_rows *rows,
                                      void *stream);
tprt_status tprt__gpu_prepare_products(tprt__gpu *gpu);

/* tprt_cuda_gather_multiply likewise, with a copier that tprt__gpu_prepare_gather has made. */
tprt_status tprt__gpu_gather_multiply(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                      const tprt_cuda_gather *rows, const tprt_cuda_gemm *gemms,
                                      int n_gemms, void *stream);
tprt_status tprt__gpu_prepare_gather(tprt__gpu *gpu, tprt__gpu_ranks *ranks);

#endif
