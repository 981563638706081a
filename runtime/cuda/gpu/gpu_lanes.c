/* Lanes: streams in which contractions run side by side. Each has a workspace for cuBLASLt, which
 * products that run at the same time cannot share. */
#include "cuda/gpu/gpu_inside.h"

enum { WORKSPACE_BYTES = 32 << 20 /* see tprt/cuda_gemm.h */ };

static tprt_status make_stream(tprt__gpu *gpu, gpu_lane *lane) {
  tprt_status status = TPRT_OK;
  if (!lane->stream)
    status = tprt__gpu_check(
        gpu, gpu->device->stream_create(&lane->stream, CUDA_STREAM_NON_BLOCKING), "a stream");
  if (!status && !lane->ended)
    status = tprt__gpu_check(
        gpu, gpu->device->event_create(&lane->ended, CUDA_EVENT_DISABLE_TIMING), "an event");
  return status;
}

tprt_status tprt__gpu_make_lane(tprt__gpu *gpu, int number, bool blas) {
  gpu_lane *lane = &gpu->lanes[number];
  tprt_status status = number ? make_stream(gpu, lane) : TPRT_OK;
  if (status || !blas || lane->blas)
    return status;
  if (!lane->workspace)
    status = tprt__gpu_check(gpu, gpu->device->memory_alloc(&lane->workspace, WORKSPACE_BYTES),
                             "the workspace of cuBLASLt");
  const tprt_cuda_blas_config config = {.size = sizeof config,
                                        .workspace = (void *)(uintptr_t)lane->workspace,
                                        .workspace_bytes = WORKSPACE_BYTES};
  return status ? status : tprt_cuda_blas_create(&config, &lane->blas);
}

tprt_status tprt__gpu_lanes_begin(tprt__gpu_queue queue, int n) {
  tprt_status status = TPRT_OK;
  for (int i = 1; i < n && !status; i++)
    status = tprt__gpu_order(queue.gpu, queue.gpu->lanes[i].ended, queue.stream,
                             queue.gpu->lanes[i].stream);
  return status;
}

tprt_status tprt__gpu_lanes_join(tprt__gpu_queue queue, int n) {
  tprt_status status = TPRT_OK;
  for (int i = 1; i < n; i++) {
    tprt_status ordered = tprt__gpu_order(queue.gpu, queue.gpu->lanes[i].ended,
                                          queue.gpu->lanes[i].stream, queue.stream);
    status = status ? status : ordered;
  }
  return status;
}

void tprt__gpu_lanes_end(tprt__gpu *gpu) {
  for (int i = 0; i < TPRT_MAX_MATMULS; i++) {
    gpu_lane *lane = &gpu->lanes[i];
    if (lane->stream) {
      gpu->calls->stream_synchronize(lane->stream);
      gpu->device->stream_destroy(lane->stream);
    }
    if (lane->ended)
      gpu->device->event_destroy(lane->ended);
    tprt_cuda_blas_destroy(lane->blas);
    if (lane->workspace)
      gpu->device->memory_free(lane->workspace);
  }
}
