/* Computes the row statistics of a softmax over sharded columns, in programs for GPUs: a kernel for
 * this rank's columns, an all-gather of its statistics, and a kernel that combines them. */
#include "cuda/program/gpu_executor.h"

#include "cuda/gpu/gpu_rows.h"

tprt_status tprt__softmax_bind(tprt_context *context, const tprt__site *site,
                               tprt__site_state *state) {
  (void)site;
  return tprt__rows_prepare(context, state->plan.recv_bytes + state->plan.send_bytes);
}

tprt_status tprt__softmax_run(tprt_context *context, const tprt__site *site,
                              const tprt__site_state *state, const void *const *inputs,
                              void *const *outputs, int64_t *traffic) {
  (void)traffic; /* already set to that of the all-gather */
  const tprt__softmax *softmax = &site->softmax;
  char *gathered = tprt__gpu_of(context)->rows_scratch.memory,
       *own = gathered + state->plan.recv_bytes;
  tprt_cuda_entropy entropy = {.size = sizeof entropy,
                               .dtype = softmax->dtype,
                               .tokens = softmax->tokens,
                               .columns = softmax->columns,
                               .logits = {tprt__site_input(site, inputs, TPRT_IN_TENSOR, 0)},
                               .target = {tprt__site_input(site, inputs, TPRT_IN_TARGET, 0)},
                               .target_dtype = softmax->target,
                               .pick = (tprt_cuda_pick)softmax->pick,
                               .own_picks = softmax->own,
                               .finite = softmax->finite,
                               .step = TPRT_CUDA_PARTS,
                               .n_parts = tprt_comm_size(state->comm),
                               .part = tprt_comm_rank(state->comm),
                               .parts = {own}};
  tprt_status status =
      tprt__gpu_cross_entropy(tprt__gpu_of(context)->gpu, tprt__gpu_of(context)->alone, &entropy,
                              tprt__gpu_stream(tprt__gpu_of(context)->gpu));
  if (!status)
    status = tprt__gpu_collective(context, state, own, gathered);
  if (status)
    return status;
  entropy.step = TPRT_CUDA_FROM_PARTS;
  entropy.parts[0] = gathered;
  entropy.largest[0] = tprt__site_output(site, outputs, TPRT_OUT_MAX, 0);
  entropy.sum[0] = tprt__site_output(site, outputs, TPRT_OUT_SUM, 0);
  entropy.picked[0] = tprt__site_output(site, outputs, TPRT_OUT_PICKED, 0);
  return tprt__gpu_cross_entropy(tprt__gpu_of(context)->gpu, tprt__gpu_of(context)->alone, &entropy,
                                 tprt__gpu_stream(tprt__gpu_of(context)->gpu));
}
