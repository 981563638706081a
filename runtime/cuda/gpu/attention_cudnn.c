/* Attention by cuDNN, whose handle all attentions of a GPU share. */
#include "cuda/cudnn/sdpa.h"
#include "cuda/gpu/attention_makers.h"

typedef struct cudnn_attention {
  struct cudnn_attention *next; /* of those that have ended */
  tprt__sdpa_plan plan;
  void *workspace; /* NULL: it needs none */
} cudnn_attention;

/* ---- the handle; called in the GPU's context ---- */

/* Programs run in one stream only, which the handle therefore has from the beginning: a change of
 * the stream could not be captured. */
static tprt_status make_handle(tprt__gpu *gpu, const tprt__cudnn *cudnn) {
  if (gpu->cudnn_handle)
    return TPRT_OK;
  tprt_status status = tprt__cudnn_check(cudnn, cudnn->create(&gpu->cudnn_handle), "a handle");
  if (!status)
    status = tprt__cudnn_check(cudnn, cudnn->set_stream(gpu->cudnn_handle, gpu->stream),
                               "the stream of a handle");
  if (status)
    tprt__gpu_cudnn_end(gpu);
  return status;
}

static void free_attention(tprt__gpu *gpu, cudnn_attention *attention) {
  tprt__sdpa_plan_free(&attention->plan);
  if (attention->workspace)
    gpu->device->memory_free(tprt__cuda_address(attention->workspace));
  tprt__free(attention);
}

void tprt__gpu_cudnn_end(tprt__gpu *gpu) {
  const tprt__cudnn *cudnn;
  if (!gpu->cudnn_handle || tprt__cudnn_load(&cudnn))
    return;
  gpu->calls->stream_synchronize(gpu->stream); /* no kernel may be running */
  while (gpu->cudnn_ended) {
    cudnn_attention *ended = gpu->cudnn_ended;
    gpu->cudnn_ended = ended->next;
    free_attention(gpu, ended);
  }
  cudnn->destroy(gpu->cudnn_handle);
  gpu->cudnn_handle = NULL;
}

/* ---- attentions ---- */

static tprt_status make_plan(tprt__gpu *gpu, const tprt__sdpa *sdpa, tprt__sdpa_plan *plan) {
  const tprt__cudnn *cudnn;
  tprt_status status = tprt__cudnn_load(&cudnn);
  if (!status)
    status = tprt__gpu_enter(gpu);
  if (status)
    return status;
  status = make_handle(gpu, cudnn);
  if (!status)
    status = tprt__sdpa_plan_make(cudnn, gpu->cudnn_handle, sdpa, plan);
  tprt__gpu_leave(gpu);
  return status;
}

static tprt_status plan(tprt__gpu *gpu, const tprt__attention_problem *problem, void **result) {
  tprt__sdpa sdpa;
  if (problem->kind == TPRT__ATTENTION_GRADIENT ||
      !tprt__sdpa_of(problem->dtype, &problem->words, problem->kind == TPRT__ATTENTION_STATISTICS,
                     &sdpa))
    return tprt__fail(TPRT_UNSUPPORTED, "cuDNN: it has no such attention");
  cudnn_attention *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  tprt_status status = make_plan(gpu, &sdpa, &made->plan);
  if (!status && made->plan.workspace_bytes > 0) {
    status = tprt__gpu_alloc(gpu, (size_t)made->plan.workspace_bytes, &made->workspace);
    if (status)
      tprt__sdpa_plan_free(&made->plan);
  }
  if (status)
    tprt__free(made);
  else
    *result = made;
  return status;
}

/* Graphs of programs may still have its kernel, which is part of the plan; they end before the GPU
 * does. */
static void end(tprt__gpu *gpu, void *made) {
  cudnn_attention *attention = made;
  attention->next = gpu->cudnn_ended;
  gpu->cudnn_ended = attention;
}

static bool takes(const void *made, const tprt__gpu_attention_buffers *buffers) {
  const cudnn_attention *attention = made;
  uintptr_t statistics =
      (uintptr_t)buffers->of[TPRT_ATTENTION_MAX] | (uintptr_t)buffers->of[TPRT_ATTENTION_SUM];
  return tprt__attention_is_aligned(buffers) &&
         (!attention->plan.of.has_statistics || statistics % SDPA_ALIGNMENT == 0);
}

static tprt_status run(tprt__gpu_queue queue, const void *made,
                       const tprt__gpu_attention_buffers *buffers) {
  const cudnn_attention *attention = made;
  void *const memory[SDPA_N_MEMORY] = {
      [SDPA_Q] = (void *)(uintptr_t)buffers->of[TPRT_ATTENTION_Q],
      [SDPA_K] = (void *)(uintptr_t)buffers->of[TPRT_ATTENTION_K],
      [SDPA_V] = (void *)(uintptr_t)buffers->of[TPRT_ATTENTION_V],
      [SDPA_OUT] = (void *)(uintptr_t)buffers->of[TPRT_ATTENTION_OUT],
      [SDPA_MAX] = (void *)(uintptr_t)buffers->of[TPRT_ATTENTION_MAX],
      [SDPA_SUM] = (void *)(uintptr_t)buffers->of[TPRT_ATTENTION_SUM]};
  tprt_status status = tprt__gpu_enter(queue.gpu);
  if (status)
    return status;
  status =
      tprt__sdpa_plan_run(queue.gpu->cudnn_handle, &attention->plan, memory, attention->workspace);
  tprt__gpu_leave(queue.gpu);
  return status;
}

const tprt__attention_maker tprt__attention_by_cudnn = {
    .name = "cudnn", .plan = plan, .end = end, .takes = takes, .run = run};
