/* Computes matmuls of fused reductions in slices, between GPUs that can access each other's memory:
 * the slice with the rows that a rank reduces is stored at that rank.
 *
 * The choice of slices depends only on the shape, so all ranks agree. Each rank decides locally how
 * it computes its slices: with cuBLASLt, or as contractions if cuBLASLt has no algorithm or the
 * factors are not aligned to 16 bytes. */
#include "cuda/program/rows.h"

#include <stdio.h>
#include <string.h>

static int64_t slice_of(const tprt__rows *rows, int n_ranks) {
  return (tprt__rows_block(rows) + n_ranks - 1) / n_ranks;
}

bool tprt__rows_has_slices(const tprt__site *site, int n_ranks) {
  const tprt__rows *rows = &site->rows;
  int64_t row = rows->k * (int64_t)tprt_dtype_size(site->op.dtype);
  return slice_of(rows, n_ranks) * row % 16 == 0 &&
         (rows->blocks <= 1 || tprt__rows_block(rows) * row % 16 == 0);
}

tprt_cuda_gemm tprt__rows_gemm(const tprt__site *site, const tprt__rows_buffers *b) {
  return (tprt_cuda_gemm){.size = sizeof(tprt_cuda_gemm),
                          .dtype = site->op.dtype,
                          .out_dtype = site->op.dtype,
                          .m = site->rows.tokens,
                          .n = site->rows.hidden,
                          .k = site->rows.k,
                          .transpose_b = site->rows.transpose_b,
                          .tf32 = site->tf32 && site->op.dtype == TPRT_F32,
                          .alpha = 1,
                          .a = b->a,
                          .b = b->b};
}

/* ---- Binding ---- */

/* Plans the matmul of m rows of each block, stored like the slices of one rank. */
static tprt_status plan_slice(tprt_context *context, const tprt__site *site, int n_ranks, int64_t m,
                              tprt__gpu_contraction **made) {
  const tprt__rows *rows = &site->rows;
  tprt_abi_loop loops[1 + TPRT__MATMUL_LOOPS] = {
      {rows->blocks,
       {tprt__rows_block(rows) * rows->k, 0, slice_of(rows, n_ranks) * rows->hidden}}};
  tprt__matmul_loops(m, rows->hidden, rows->k, rows->transpose_b, loops + 1);
  tprt__contraction plan;
  tprt_status status =
      tprt__contraction_plan(site->op.dtype, 1 + TPRT__MATMUL_LOOPS, loops, true, &plan);
  const tprt__gpu_product product = {
      .of = &plan, .n_loops = 1 + TPRT__MATMUL_LOOPS, .loops = loops, .tf32 = site->tf32};
  return status ? status : tprt__gpu_contraction_plan(tprt__gpu_of(context)->gpu, &product, made);
}

tprt_status tprt__rows_bind_slices(tprt_context *context, const tprt__site *site,
                                   const tprt__site_state *state) {
  struct tprt__rows_state *of = tprt__gpu_site_of(state)->rows;
  int n = tprt_comm_size(state->comm);
  int64_t slice = slice_of(&site->rows, n),
          last = slice ? tprt__rows_block(&site->rows) % slice : 0;
  if (!tprt__rows_has_slices(site, n))
    snprintf(of->why, sizeof of->why,
             "the matmul is not sliced: slices of %lld rows of %lld elements of %s are not "
             "multiples of 16 bytes",
             (long long)slice, (long long)site->rows.k, tprt_dtype_name(site->op.dtype));
  if (*of->why || slice == 0)
    return TPRT_OK;
  of->sliced = true;
  tprt_status status = plan_slice(context, site, n, slice, &of->slices[0]);
  return status || last == 0 ? status : plan_slice(context, site, n, last, &of->slices[1]);
}

void tprt__rows_unbind_slices(const struct tprt__rows_state *rows) {
  for (int i = 0; i < 2; i++)
    tprt__gpu_contraction_free(rows->slices[i]);
}

/* ---- Calls ---- */

/* Computes the slices as contractions, in the order that the cuBLASLt path uses: beginning with the
 * slice of the next rank. */
static tprt_status contract(tprt_context *context, const tprt__site *site,
                            const tprt__site_state *state, const tprt__rows_buffers *b,
                            const tprt_cuda_rows *to) {
  const tprt__rows *rows = &site->rows;
  const tprt__gpu_queue queue = tprt__gpu_queue_of(context);
  int n = tprt_comm_size(state->comm), me = tprt_comm_rank(state->comm);
  int64_t slice = slice_of(rows, n), size = (int64_t)tprt_dtype_size(site->op.dtype);
  tprt_status status = TPRT_OK;
  for (int i = 1; i <= n && !status; i++) {
    int owner = (me + i) % n;
    int64_t first = owner * slice, left = tprt__rows_block(rows) - first;
    const char *a = (const char *)b->a + first * rows->k * size;
    char *out =
        (char *)(uintptr_t)to->input[owner] + me * rows->blocks * slice * rows->hidden * size;
    if (left > 0)
      status = tprt__gpu_contraction_run(
          queue, tprt__gpu_site_of(state)->rows->slices[left < slice], a, b->b, out);
  }
  return status;
}

tprt_status tprt__rows_multiply_p2p(tprt_context *context, const tprt__site *site,
                                    const tprt__site_state *state, const tprt__rows_buffers *b,
                                    tprt_cuda_rows *rows) {
  const tprt__gpu_peers *peers = tprt__gpu_site_of(state)->rows->group->peers;
  const tprt_cuda_gemm gemm = tprt__rows_gemm(site, b);
  tprt_status status = TPRT_UNSUPPORTED;
  if (((uintptr_t)b->a | (uintptr_t)b->b) % 16 == 0)
    status = tprt__gpu_peers_multiply(tprt__gpu_of(context)->gpu, peers, &gemm, rows);
  /* TPRT_UNSUPPORTED means that cuBLASLt has no algorithm, and nothing was enqueued */
  if (status != TPRT_UNSUPPORTED)
    return status;
  status = contract(context, site, state, b, rows);
  rows->input_sent = true;
  return status ? status : tprt__gpu_peers_reduce(tprt__gpu_of(context)->gpu, peers, rows);
}
