/* Copies beside what a stream does. */
#ifndef TPRT_RUNTIME_CUDA_COPIER_H
#define TPRT_RUNTIME_CUDA_COPIER_H

#include "base/base.h"
#include "tprt/cuda_gemm.h"

/* The copier goes on where the stream is now. */
tprt_status tprt__copier_fork(tprt_cuda_copier *copier, tprt_cuda_stream stream);
/* The stream goes on when the copier has done what it was given so far. */
tprt_status tprt__copier_join(tprt_cuda_copier *copier, tprt_cuda_stream stream);
/* Runs of bytes that are as far apart, between memory of any GPUs: one copy, unless a step is
 * longer than the driver takes. */
typedef struct tprt__copier_runs {
  void *to;
  const void *from;
  size_t to_step, from_step, bytes, n;
} tprt__copier_runs;
tprt_status tprt__copier_copy(tprt_cuda_copier *copier, const tprt__copier_runs *runs);
/* For what else belongs between the copies. */
tprt_cuda_stream tprt__copier_stream(const tprt_cuda_copier *copier);

#endif
