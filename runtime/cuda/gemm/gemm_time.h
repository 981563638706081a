/* Times the algorithms of a GEMM. */
#ifndef TPRT_RUNTIME_CUDA_GEMM_TIME_H
#define TPRT_RUNTIME_CUDA_GEMM_TIME_H

#include "cuda/driver/device.h"
#include "cuda/gemm/blaslt.h"
#include "tprt/cuda_gemm.h"

/* An algorithm, and the time of a call; 0: there was no other to compare with. */
typedef struct tprt__timed_algorithm {
  blaslt_algorithm algorithm;
  double us;
} tprt__timed_algorithm;

/* Measures the first algorithms of cuBLASLt's heuristics, and gives the fastest: of equally fast
 * ones the first. Allocates operands of its own; TPRT_NO_MEMORY if they do not fit. Waits for the
 * stream, which must not be captured. The addresses of the GEMM may be unset. */
tprt_status tprt__cuda_gemm_time(const tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm,
                                 const cuda_device_calls *device, cuda_stream stream,
                                 tprt__timed_algorithm *fastest);

/* TPRT_UNSUPPORTED, with the reason, if an algorithm cannot compute this GEMM on this GPU. */
tprt_status tprt__cuda_gemm_accept(const tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm,
                                   const blaslt_algorithm *algorithm);

/* Writes everything on which the choice of an algorithm depends, except for the GPU, as a line. */
void tprt__cuda_gemm_print(const tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm, char *text,
                           size_t size);

#endif
