/* What other files need of a group. */
#ifndef TPRT_RUNTIME_CUDA_GROUP_H
#define TPRT_RUNTIME_CUDA_GROUP_H

#include "cuda/fused/plan.h"

const tprt_cuda_group_config *tprt__cuda_group_config(const tprt_cuda_group *group);

/* tprt__fused_pointers of the group. */
tprt_status tprt__cuda_pointers(const tprt_cuda_group *group, const char *what,
                                const void *const *pointers, fused_reach reach, const void **out);

/* Enqueues a call that moves nothing: who has ended it knows that all ranks have come to it. */
tprt_status tprt__cuda_meet(tprt_cuda_group *group, tprt_cuda_stream stream);

/* What tprt_cuda_reduce_rows would refuse. */
tprt_status tprt__cuda_check_rows(const tprt_cuda_group *group, const tprt_cuda_rows *rows);

#endif
