/* Fused rows of programs whose ranks have a GPU each, which reach each other's memory: a kernel on
 * each. */
#ifndef TPRT_RUNTIME_CUDA_GPU_PEERS_H
#define TPRT_RUNTIME_CUDA_GPU_PEERS_H

#include "cuda/gpu/gpu_context.h"
#include "tprt/cuda_gemm.h"

typedef struct tprt__gpu_peers tprt__gpu_peers;

/* Collective, and the same status on all ranks of `comm`, which is borrowed: TPRT_UNSUPPORTED where
 * two have one GPU, or do not reach each other's. `timeout_ns`: about how long a kernel waits for
 * those of the others before it gives up. */
tprt_status tprt__gpu_peers_create(tprt__gpu *gpu, tprt_comm *comm, int64_t timeout_ns,
                                   tprt__gpu_peers **peers);
/* Collective: makes room, of at least so many bytes, for what the others read or fill, and for what
 * they store as results. What there was before goes. */
tprt_status tprt__gpu_peers_reserve(tprt__gpu *gpu, tprt__gpu_peers *peers, size_t input_bytes,
                                    size_t output_bytes);
/* Whether there is that; the same on all ranks. */
bool tprt__gpu_peers_have_room(const tprt__gpu_peers *peers, size_t input_bytes,
                               size_t output_bytes);
/* Collective. NULL is allowed. */
void tprt__gpu_peers_destroy(tprt__gpu *gpu, tprt__gpu_peers *peers);

/* By rank: where this GPU reaches the rooms. */
void *const *tprt__gpu_peers_inputs(const tprt__gpu_peers *peers);
void *const *tprt__gpu_peers_outputs(const tprt__gpu_peers *peers);
/* What tprt_cuda_choose is to know of. */
size_t tprt__gpu_peers_staging(const tprt__gpu_peers *peers);

/* tprt_cuda_reduce_rows of this rank, in the GPU's stream. */
tprt_status tprt__gpu_peers_reduce(tprt__gpu *gpu, const tprt__gpu_peers *peers,
                                   const tprt_cuda_rows *rows);
/* tprt_cuda_multiply_reduce, likewise, with the GPU's cuBLASLt, which tprt__gpu_prepare_products
 * has made. */
tprt_status tprt__gpu_peers_multiply(tprt__gpu *gpu, const tprt__gpu_peers *peers,
                                     const tprt_cuda_gemm *gemm, const tprt_cuda_rows *rows);
/* tprt_cuda_gather_multiply, likewise, with a copier that tprt__gpu_peers_prepare_gather has made.
 * Without products it copies only, and addresses may be any. */
tprt_status tprt__gpu_peers_gather(tprt__gpu *gpu, const tprt__gpu_peers *peers,
                                   const tprt_cuda_gather *rows, const tprt_cuda_gemm *gemms,
                                   int n_gemms);
tprt_status tprt__gpu_peers_prepare_gather(tprt__gpu *gpu, tprt__gpu_peers *peers);
/* TPRT_TIMEOUT if a kernel of this rank ever gave up; waits for the stream. */
tprt_status tprt__gpu_peers_check(tprt__gpu *gpu, const tprt__gpu_peers *peers);

#endif
