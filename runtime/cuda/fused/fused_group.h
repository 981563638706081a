/* Internal functions of a group of ranks with fused kernels. */
#ifndef TPRT_RUNTIME_CUDA_GROUP_H
#define TPRT_RUNTIME_CUDA_GROUP_H

#include "cuda/fused/plan.h"

const tprt_cuda_group_config *tprt__cuda_group_config(const tprt_cuda_group *group);

/* tprt__fused_pointers for the group. */
tprt_status tprt__cuda_pointers(const tprt_cuda_group *group, const char *what,
                                const void *const *pointers, fused_reach reach, const void **out);

/* Enqueues a call that moves no data. When it has completed, all ranks have reached it. */
tprt_status tprt__cuda_barrier(tprt_cuda_group *group, tprt_cuda_stream stream);

/* Fails exactly if tprt_cuda_reduce_rows would refuse the rows. */
tprt_status tprt__cuda_check_rows(const tprt_cuda_group *group, const tprt_cuda_rows *rows);

#endif
