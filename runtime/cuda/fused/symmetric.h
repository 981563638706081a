/* Internal functions of symmetric memory, for groups. */
#ifndef TPRT_RUNTIME_CUDA_SYMMETRIC_H
#define TPRT_RUNTIME_CUDA_SYMMETRIC_H

#include "base/base.h"
#include "tprt/cuda.h"

/* tprt_cuda_symmetric_create for a rank that may have failed before. `so_far` is its status, with
 * the thread's error text; if it is a failure, all ranks fail. */
tprt_status tprt__cuda_symmetric_make(tprt_comm *comm, size_t bytes, tprt_status so_far,
                                      tprt_cuda_symmetric **memory);

/* tprt_cuda_symmetric_destroy after a failure; keeps the thread's error text. */
void tprt__cuda_symmetric_give_up(tprt_cuda_symmetric *memory, tprt_status status);

/* Finds two ranks that share a GPU. Returns false if each has its own. */
bool tprt__cuda_symmetric_same_device(const tprt_cuda_symmetric *memory, int *a, int *b);

/* Collective. Returns TPRT_OK if `mine` is TPRT_OK on all ranks, else the first failure with its
 * text, on all ranks. */
tprt_status tprt__cuda_agree(tprt_comm *comm, tprt_status mine);

#endif
