/* Copies that run concurrently with a stream. */
#ifndef TPRT_RUNTIME_CUDA_COPIER_H
#define TPRT_RUNTIME_CUDA_COPIER_H

#include "base/base.h"
#include "tprt/cuda_gemm.h"

/* Makes later copies wait for the work that the stream has now. */
tprt_status tprt__copier_fork(tprt_cuda_copier *copier, tprt_cuda_stream stream);
/* Makes later work of the stream wait for the copies enqueued so far. */
tprt_status tprt__copier_join(tprt_cuda_copier *copier, tprt_cuda_stream stream);
/* Equidistant runs of bytes, between memory of any GPUs. They are one copy, unless a step exceeds
 * the driver's maximum pitch. */
typedef struct tprt__copier_runs {
  void *to;
  const void *from;
  size_t to_step, from_step, bytes, n;
} tprt__copier_runs;
tprt_status tprt__copier_copy(tprt_cuda_copier *copier, const tprt__copier_runs *runs);
/* The copier's stream, for other work between copies. */
tprt_cuda_stream tprt__copier_stream(const tprt_cuda_copier *copier);

#endif
