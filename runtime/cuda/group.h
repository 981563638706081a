/* What other files need of a group. */
#ifndef TPRT_RUNTIME_CUDA_GROUP_H
#define TPRT_RUNTIME_CUDA_GROUP_H

#include "tprt/cuda.h"

const tprt_cuda_group_config *tprt__cuda_group_config(const tprt_cuda_group *group);

/* What tprt_cuda_reduce_rows would refuse. */
tprt_status tprt__cuda_check_rows(const tprt_cuda_group *group, const tprt_cuda_rows *rows);

#endif
