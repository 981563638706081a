/* What a group takes of symmetric memory. */
#ifndef TPRT_RUNTIME_CUDA_SYMMETRIC_H
#define TPRT_RUNTIME_CUDA_SYMMETRIC_H

#include "base/base.h"
#include "tprt/cuda.h"

/* tprt_cuda_symmetric_create of a rank that may have failed before: `so_far`, with the thread's
 * error text, which all ranks then return. */
tprt_status tprt__cuda_symmetric_make(tprt_comm *comm, size_t bytes, tprt_status so_far,
                                      tprt_cuda_symmetric **memory);

/* tprt_cuda_symmetric_destroy because of a failure, whose text the thread keeps. */
void tprt__cuda_symmetric_give_up(tprt_cuda_symmetric *memory, tprt_status status);

/* Two ranks that have the same GPU; false if each has its own. */
bool tprt__cuda_symmetric_same_device(const tprt_cuda_symmetric *memory, int *a, int *b);

/* Collective: TPRT_OK if `mine` is so on all ranks, else the first failure, with its text, on
 * all. */
tprt_status tprt__cuda_agree(tprt_comm *comm, tprt_status mine);

#endif
