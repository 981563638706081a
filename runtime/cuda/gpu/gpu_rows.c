/* Fused rows of programs on one GPU: groups of virtual ranks. */
#include "cuda/gpu/gpu_rows.h"

#include "cuda/gpu/gpu_inside.h"

struct tprt__gpu_ranks {
  tprt_cuda_group *group;
  void *signals;            /* of all ranks */
  tprt_cuda_copier *copier; /* NULL: no rows were gathered for GEMMs yet */
};

static tprt_status make_signals(tprt__gpu *gpu, int n_ranks, tprt__gpu_ranks *ranks,
                                tprt_cuda_group_config *config) {
  size_t each = (tprt_cuda_signal_bytes() + 255) / 256 * 256, bytes = each * (size_t)n_ranks;
  void *zeros = tprt__alloc(bytes); /* zeroed */
  if (!zeros)
    return tprt__fail_memory(bytes);
  tprt_status status = tprt__gpu_alloc(gpu, bytes, &ranks->signals);
  if (!status)
    status = tprt__gpu_upload(gpu, ranks->signals, zeros, bytes);
  tprt__free(zeros);
  for (int r = 0; r < n_ranks; r++)
    config->signals[r] = (char *)ranks->signals + (size_t)r * each;
  return status;
}

tprt_status tprt__gpu_ranks_create(tprt__gpu *gpu, int n_ranks, tprt__gpu_ranks **result) {
  tprt_cuda_group_config config = {
      .size = sizeof config, .n_ranks = n_ranks, .rank = TPRT_CUDA_ALL_RANKS};
  tprt__gpu_ranks *ranks = tprt__alloc(sizeof *ranks);
  if (!ranks)
    return tprt__fail_memory(sizeof *ranks);
  tprt_status status = make_signals(gpu, n_ranks, ranks, &config);
  if (!status)
    status = tprt__gpu_enter(gpu);
  if (!status) {
    status = tprt_cuda_group_create(&config, &ranks->group);
    tprt__gpu_leave(gpu);
  }
  if (status) {
    tprt__gpu_ranks_destroy(gpu, ranks);
    return status;
  }
  *result = ranks;
  return TPRT_OK;
}

void tprt__gpu_ranks_destroy(tprt__gpu *gpu, tprt__gpu_ranks *ranks) {
  if (!ranks)
    return;
  tprt__gpu_free(gpu, ranks->signals);
  if (ranks->group && !tprt__gpu_enter(gpu)) {
    tprt_cuda_copier_destroy(ranks->copier);
    tprt_cuda_group_destroy(ranks->group);
    tprt__gpu_leave(gpu);
  }
  tprt__free(ranks);
}

tprt_status tprt__gpu_reduce_rows(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                  const tprt_cuda_rows *rows, void *stream) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt_cuda_reduce_rows(ranks->group, rows, stream);
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_prepare_gemms(tprt__gpu *gpu) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt__gpu_make_lane(gpu, 0, true);
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_multiply_reduce(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                      const tprt_cuda_gemm *gemms, const tprt_cuda_rows *rows,
                                      void *stream) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt_cuda_multiply_reduce(ranks->group, gpu->lanes[0].blas, gemms, rows, stream);
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_cross_entropy(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                    const tprt_cuda_entropy *entropy, void *stream) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt_cuda_cross_entropy(ranks->group, entropy, stream);
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_prepare_gather(tprt__gpu *gpu, tprt__gpu_ranks *ranks) {
  tprt_status status = ranks->copier ? TPRT_OK : tprt__gpu_enter(gpu);
  if (status || ranks->copier)
    return status;
  status = tprt_cuda_copier_create(&ranks->copier);
  tprt__gpu_leave(gpu);
  return status;
}

tprt_status tprt__gpu_gather_multiply(tprt__gpu *gpu, tprt__gpu_ranks *ranks,
                                      const tprt_cuda_gather *rows, const tprt_cuda_gemm *gemms,
                                      int n_gemms, void *stream) {
  tprt_status status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = tprt_cuda_gather_multiply(ranks->group, ranks->copier, gpu->lanes[0].blas, rows, gemms,
                                     n_gemms, stream);
  tprt__gpu_leave(gpu);
  return status;
}
