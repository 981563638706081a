/* What a softmax needs of rows whose columns are split over the group, in programs for GPUs: a
 * kernel for this rank's columns, an all-gather of what it has found, and a kernel that puts that
 * together. */
#include "program/context.h"

#include "cuda/gpu/gpu_rows.h"

tprt_status tprt__softmax_bind(tprt_context *context, const tprt__site_state *state) {
  return tprt__rows_prepare(context, state->plan.recv_bytes + state->plan.send_bytes);
}

static tprt_status check_buffers(const tprt__softmax *softmax, const tprt__softmax_buffers *b) {
  const struct {
    const char *name;
    const void *buffer;
    bool wanted;
  } all[] = {{"logits", b->logits, true},
             {"target", b->target, softmax->target},
             {"largest", b->largest, softmax->results & TPRT_SOFTMAX_LARGEST},
             {"sum", b->sum, softmax->results & TPRT_SOFTMAX_SUM},
             {"picked", b->picked, softmax->results & TPRT_SOFTMAX_PICKED}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!all[i].buffer == all[i].wanted)
      return tprt__fail(TPRT_INVALID_ARGUMENT, "%s is %p, and the site has %s", all[i].name,
                        all[i].buffer, all[i].wanted ? "one" : "none");
  return TPRT_OK;
}

tprt_status tprt__softmax_run(tprt_context *context, const tprt__site *site,
                              const tprt__site_state *state, const tprt__softmax_buffers *b,
                              int64_t *traffic) {
  const tprt__softmax *softmax = &site->softmax;
  char *gathered = context->rows_room.memory, *own = gathered + state->plan.recv_bytes;
  *traffic = state->plan.traffic;
  if (state->plan.recv_bytes == 0) /* there may be no buffers either */
    return TPRT_OK;
  tprt_status status = check_buffers(softmax, b);
  if (status)
    return status;
  tprt_cuda_entropy entropy = {.size = sizeof entropy,
                               .dtype = softmax->dtype,
                               .tokens = softmax->tokens,
                               .columns = softmax->columns,
                               .logits = {b->logits},
                               .target = {b->target},
                               .target_dtype = softmax->target,
                               .pick = (tprt_cuda_pick)softmax->pick,
                               .own_picks = softmax->own,
                               .finite = softmax->finite,
                               .step = TPRT_CUDA_PARTS,
                               .n_parts = tprt_comm_size(state->comm),
                               .part = tprt_comm_rank(state->comm),
                               .parts = {own}};
  status = tprt__gpu_cross_entropy(context->gpu, context->alone, &entropy,
                                   tprt__gpu_stream(context->gpu));
  if (!status)
    status = tprt__gpu_collective(context, state, own, gathered);
  if (status)
    return status;
  entropy.step = TPRT_CUDA_FROM_PARTS;
  entropy.parts[0] = gathered;
  entropy.largest[0] = b->largest;
  entropy.sum[0] = b->sum;
  entropy.picked[0] = b->picked;
  return tprt__gpu_cross_entropy(context->gpu, context->alone, &entropy,
                                 tprt__gpu_stream(context->gpu));
}
