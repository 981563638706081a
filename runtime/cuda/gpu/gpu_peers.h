/* Fused rows of programs whose ranks have one GPU each and can access each other's memory: one
 * kernel per GPU. */
#ifndef TPRT_RUNTIME_CUDA_GPU_PEERS_H
#define TPRT_RUNTIME_CUDA_GPU_PEERS_H

#include "cuda/gpu/gpu_context.h"
#include "tprt/cuda_gemm.h"

typedef struct tprt__gpu_peers tprt__gpu_peers;

/* Collective; all ranks of `comm`, which is borrowed, get the same status. TPRT_UNSUPPORTED if two
 * ranks share a GPU or cannot access each other's memory. `timeout_ns` is the approximate time
 * after which a kernel gives up waiting for the kernels of other ranks. */
tprt_status tprt__gpu_peers_create(tprt__gpu *gpu, tprt_comm *comm, int64_t timeout_ns,
                                   tprt__gpu_peers **peers);
/* Collective. Provides buffers of at least these sizes, for inputs that other ranks read or write,
 * and for results that they store. The contents of earlier buffers are lost. */
tprt_status tprt__gpu_peers_reserve(tprt__gpu *gpu, tprt__gpu_peers *peers, size_t input_bytes,
                                    size_t output_bytes);
/* True if the buffers are large enough; the same on all ranks. */
bool tprt__gpu_peers_fit(const tprt__gpu_peers *peers, size_t input_bytes, size_t output_bytes);
/* Collective. NULL is allowed. */
void tprt__gpu_peers_destroy(tprt__gpu *gpu, tprt__gpu_peers *peers);

/* Addresses of the buffers on this GPU, indexed by rank. */
void *const *tprt__gpu_peers_inputs(const tprt__gpu_peers *peers);
void *const *tprt__gpu_peers_outputs(const tprt__gpu_peers *peers);
/* Bytes of staging, for tprt_cuda_choose. */
size_t tprt__gpu_peers_staging(const tprt__gpu_peers *peers);

/* Runs tprt_cuda_reduce_rows for this rank in the GPU's stream. */
tprt_status tprt__gpu_peers_reduce(tprt__gpu *gpu, const tprt__gpu_peers *peers,
                                   const tprt_cuda_rows *rows);
/* Runs tprt_cuda_multiply_reduce in the same way, with the GPU's cuBLASLt handle, which
 * tprt__gpu_prepare_gemms creates. */
tprt_status tprt__gpu_peers_multiply(tprt__gpu *gpu, const tprt__gpu_peers *peers,
                                     const tprt_cuda_gemm *gemm, const tprt_cuda_rows *rows);
/* Runs tprt_cuda_gather_multiply in the same way, with a copier, which
 * tprt__gpu_peers_prepare_gather creates. Without GEMMs it only copies, and addresses may have any
 * alignment. */
tprt_status tprt__gpu_peers_gather(tprt__gpu *gpu, const tprt__gpu_peers *peers,
                                   const tprt_cuda_gather *rows, const tprt_cuda_gemm *gemms,
                                   int n_gemms);
tprt_status tprt__gpu_peers_prepare_gather(tprt__gpu *gpu, tprt__gpu_peers *peers);
/* Returns TPRT_TIMEOUT if a kernel of this rank has ever given up. Waits for the stream. */
tprt_status tprt__gpu_peers_check(tprt__gpu *gpu, const tprt__gpu_peers *peers);

#endif
