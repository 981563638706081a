/* Runs all-gathers of rows with fused matmuls, between GPUs that can access each other's memory:
 * each GPU copies the rows of the other ranks while it multiplies.
 *
 * A rank first copies its rows into its exchange buffer, from which the other ranks read them. Its
 * own matmuls read the program's buffer, so the exchange buffer is free again once all ranks have
 * copied from it. The choice of this mode depends only on the shape, so all ranks agree. If factors
 * or results are not aligned to 16 bytes, or cuBLASLt has no algorithm for the slices, a rank
 * copies all rows first and multiplies them afterwards. Each rank decides this locally; it does not
 * affect the other ranks. */
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
  if (status != TPRT_UNSUPPORTED) /* TPRT_UNSUPPORTED: only the copy was enqueued */
    return status;
  status = tprt__gpu_peers_gather(tprt__gpu_of(context)->gpu, peers, &rows, NULL, 0);
  for (int i = 0; i < site->gathering.n && !status; i++)
    status = tprt__gpu_contraction_run(queue, tprt__gpu_site_of(state)->gather->products[i],
                                       b->gathered, b->b[i], b->out[i]);
  return status;
}
