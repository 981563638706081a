/* Products of matrices by cuBLASLt, as other parts of the library use them. */
#ifndef TPRT_RUNTIME_CUDA_GEMM_H
#define TPRT_RUNTIME_CUDA_GEMM_H

#include "tprt/cuda_gemm.h"

/* Checks a product, but for its addresses, and keeps the algorithm for it, so that a call finds
 * that. TPRT_UNSUPPORTED where cuBLASLt has none. */
tprt_status tprt__cuda_gemm_prepare(tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm);

/* The same with its addresses: what tprt_cuda_multiply would refuse. */
tprt_status tprt__cuda_gemm_check(tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm);

/* tprt_cuda_gather_multiply without products; the addresses, which are all there, may be any. */
tprt_status tprt__cuda_gather(tprt_cuda_group *group, tprt_cuda_copier *copier,
                              const tprt_cuda_gather *rows, tprt_cuda_stream stream);

#endif
