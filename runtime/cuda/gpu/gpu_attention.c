/* Attention of programs on a GPU, and its gradient, by one of the makers. */
#include "cuda/gpu/attention_makers.h"

const tprt__attention_maker *const tprt__attention_makers[TPRT__GPU_N_MAKERS] = {
    [TPRT__GPU_BY_OWN] = &tprt__attention_by_own, [TPRT__GPU_BY_CUDNN] = &tprt__attention_by_cudnn};

/* The kernels of this library are planned in any case: they compute what others do not take. */
tprt_status tprt__gpu_attention_plan(tprt__gpu *gpu, tprt__attention_kind kind, tprt_dtype dtype,
                                     const tprt_abi_fused_attention *words,
                                     tprt__gpu_attention **result) {
  tprt__gpu_attention *made = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  made->gpu = gpu;
  made->problem = (tprt__attention_problem){.kind = kind, .dtype = dtype, .words = *words};
  tprt_status status =
      tprt__attention_by_own.plan(gpu, &made->problem, &made->made[TPRT__GPU_BY_OWN]);
  if (status)
    tprt__free(made);
  else
    *result = made;
  return status;
}

void tprt__gpu_attention_free(tprt__gpu_attention *attention) {
  for (int i = 0; attention && i < TPRT__GPU_N_MAKERS; i++)
    if (attention->made[i])
      tprt__attention_makers[i]->end(attention->gpu, attention->made[i]);
  tprt__free(attention);
}

bool tprt__gpu_attention_is_empty(const tprt__gpu_attention *attention) {
  const tprt_abi_fused_attention *words = &attention->problem.words;
  bool is_empty = words->group.size == 0 || words->row.size == 0;
  for (int i = 0; i < TPRT_ATTENTION_OUTER; i++)
    is_empty |= words->outer[i].size == 0;
  return is_empty;
}

tprt_status tprt__gpu_attention_offer(tprt__gpu_attention *attention, tprt__gpu_maker maker,
                                      bool *has) {
  tprt_status status = TPRT_OK;
  if (!attention->made[maker])
    status = tprt__attention_makers[maker]->plan(attention->gpu, &attention->problem,
                                                 &attention->made[maker]);
  *has = !status;
  return status == TPRT_UNSUPPORTED ? TPRT_OK : status;
}

tprt_status tprt__gpu_attention_use(tprt__gpu_attention *attention, tprt__gpu_maker maker) {
  bool has = false;
  tprt_status status = tprt__gpu_attention_offer(attention, maker, &has);
  if (!status && !has)
    return tprt__fail(TPRT_UNSUPPORTED, "the attention that rank 0 chose: %s", tprt_last_error());
  if (!status)
    attention->maker = maker;
  return status;
}

tprt_status tprt__gpu_attention_run(tprt__gpu_queue queue, const tprt__gpu_attention *attention,
                                    const tprt__gpu_attention_buffers *buffers) {
  tprt__gpu_maker maker = attention->maker;
  if (!tprt__attention_makers[maker]->takes(attention->made[maker], buffers))
    maker = TPRT__GPU_BY_OWN;
  return tprt__attention_makers[maker]->run(queue, attention->made[maker], buffers);
}
