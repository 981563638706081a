/* Rows that are gathered, and products of them, between GPUs that reach each other's memory: each
 * copies the rows of the others while it multiplies.
 *
 * A rank's rows are copied to where the others find them; its own products read them where the
 * program has them, so others may fill that place again as soon as all have copied. Whether it is
 * done so is a function of the shape, so all ranks agree; where factors or results do not lie at
 * multiples of 16 bytes, or cuBLASLt has no algorithm for slices, a rank copies all rows and then
 * multiplies them, which the others do not see. */
#include "cuda/program/rows.h"

static tprt_status multiply_in_slices(tprt_context *context, const tprt__site *site,
                                      const tprt__site_state *state, const tprt__gather_buffers *b,
                                      const tprt_cuda_gather *rows) {
  tprt_cuda_gemm gemms[TPRT_MAX_MATMULS];
  if (!tprt__gather_is_aligned(b))
    return TPRT_UNSUPPORTED;
  for (int i = 0; i < site->gathering.n; i++)
    gemms[i] = tprt__gather_gemm(site, b, i);
  return tprt__gpu_peers_gather(tprt__gpu_of(context)->gpu,
                                tprt__gpu_site_of(state)->gather->group->peers, rows, gemms,
                                (int)site->gathering.n);
}

tprt_status tprt__gather_run_p2p(tprt_context *context, const tprt__site *site,
                                 const tprt__site_state *state, const tprt__gather_buffers *b) {
  const tprt__gpu_peers *peers = tprt__gpu_site_of(state)->gather->group->peers;
  const tprt__gpu_queue queue = tprt__gpu_queue_of(context);
  void *const *rooms = tprt__gpu_peers_inputs(peers);
  int n = tprt_comm_size(state->comm), me = tprt_comm_rank(state->comm);
  tprt_cuda_gather rows = tprt__gather_describe(site);
  for (int r = 0; r < n; r++)
    rows.input[r] = rooms[r];
  rows.input[me] = b->input;
  rows.gathered[me] = b->gathered;
  tprt_status status = tprt__gpu_copy(tprt__gpu_of(context)->gpu, rooms[me], b->input,
                                      (size_t)state->plan.send_bytes);
  if (!status)
    status = multiply_in_slices(context, site, state, b, &rows);
  if (status != TPRT_UNSUPPORTED) /* which is: nothing was enqueued but the copy */
    return status;
  status = tprt__gpu_peers_gather(tprt__gpu_of(context)->gpu, peers, &rows, NULL, 0);
  for (int i = 0; i < site->gathering.n && !status; i++)
    status = tprt__gpu_contraction_run(queue, tprt__gpu_site_of(state)->gather->products[i],
                                       b->gathered, b->b[i], b->out[i]);
  return status;
}
