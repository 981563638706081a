/* Fused rows of programs on one GPU: groups of virtual ranks on a context's GPU, with their
 * memory. */
#ifndef TPRT_RUNTIME_CUDA_GPU_ROWS_H
#define TPRT_RUNTIME_CUDA_GPU_ROWS_H

#include "cuda/gpu/gpu_context.h"
#include "tprt/cuda_gemm.h"

typedef struct tprt__gpu_ranks tprt__gpu_ranks;

/* Creates a group of n_ranks ranks (at most TPRT_CUDA_MAX_RANKS), all on this GPU. */
tprt_status tprt__gpu_ranks_create(tprt__gpu *gpu, int n_ranks, tprt__gpu_ranks **ranks);
/* Call it after the group's last call has completed. NULL is allowed. */
void tprt__gpu_ranks_destroy(tprt__gpu *gpu, tprt__gpu_ranks *ranks);

/* Runs tprt_cuda_reduce_rows for all of them, on a stream of this GPU. */
tprt_status tprt__gpu_reduce_rows(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                  const tprt_cuda_rows *rows, void *stream);
/* Runs tprt_cuda_cross_entropy in the same way. */
tprt_status tprt__gpu_cross_entropy(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                    const tprt_cuda_entropy *entropy, void *stream);

/* Runs tprt_cuda_multiply_reduce in the same way, with the GPU's cuBLASLt handle, which
 * tprt__gpu_prepare_gemms creates. */
tprt_status tprt__gpu_multiply_reduce(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                      const tprt_cuda_gemm *gemms, const tprt_cuda_rows *rows,
                                      void *stream);
tprt_status tprt__gpu_prepare_gemms(tprt__gpu *gpu);

/* Runs tprt_cuda_gather_multiply in the same way, with a copier, which tprt__gpu_prepare_gather
 * creates. */
tprt_status tprt__gpu_gather_multiply(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                      const tprt_cuda_gather *rows, const tprt_cuda_gemm *gemms,
                                      int n_gemms, void *stream);
tprt_status tprt__gpu_prepare_gather(tprt__gpu *gpu, tprt__gpu_ranks *ranks);

#endif
