/* GEMMs by cuBLASLt, for other parts of the library. */
#ifndef TPRT_RUNTIME_CUDA_GEMM_H
#define TPRT_RUNTIME_CUDA_GEMM_H

#include "cuda/gemm/blaslt.h"
#include "tprt/cuda_gemm.h"

/* Checks a GEMM except for its addresses, and caches its algorithm, so that a later call finds it.
 * TPRT_UNSUPPORTED if cuBLASLt has no algorithm. */
tprt_status tprt__cuda_gemm_prepare(tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm);

/* Like tprt_cuda_multiply, by an algorithm that tprt__cuda_gemm_accept accepts; NULL: by cuBLASLt's
 * first choice. */
tprt_status tprt__cuda_gemm_multiply(tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm,
                                     const blaslt_algorithm *algorithm, tprt_cuda_stream stream);

/* A step for a slice of a GEMM: tprt__cuda_gemm_check or tprt_cuda_multiply. */
typedef tprt_status tprt__cuda_gemm_step(tprt_cuda_blas *blas, const tprt_cuda_gemm *slice,
                                         tprt_cuda_stream stream);

/* Like tprt__cuda_gemm_prepare, but also checks the addresses: fails exactly if tprt_cuda_multiply
 * would refuse the GEMM. Ignores the stream. */
tprt_status tprt__cuda_gemm_check(tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm,
                                  tprt_cuda_stream stream);

/* tprt_cuda_gather_multiply without GEMMs. All addresses must be set but may have any alignment. */
tprt_status tprt__cuda_gather(tprt_cuda_group *group, tprt_cuda_copier *copier,
                              const tprt_cuda_gather *rows, tprt_cuda_stream stream);

#endif
