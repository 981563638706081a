/* Runs all-gathers of rows with fused matmuls, in programs for GPUs (TPRT_SITE_FUSED_GATHER).
 *
 * Slices of rows are copied while earlier slices are multiplied. Virtual ranks of one GPU: the last
 * rank that arrives enqueues the work of all ranks. Ranks with one GPU each that can access each
 * other's memory: every rank enqueues its own work (gather_p2p.c). All other groups, and sites
 * whose slices are not aligned, run unfused: an all_gather, then the matmuls. Virtual ranks also
 * run unfused if the buffers are not aligned or cuBLASLt has no algorithm for the slices. */
#include "cuda/program/rows.h"

#include <stdio.h>
#include <string.h>

/* ---- Binding ---- */

/* Checks that the rows of each rank begin at multiples of 16 bytes, in the gathered tensor and in
 * the matmul results. TPRT_UNSUPPORTED if not. */
static tprt_status check_slices(const tprt__site *site, int64_t n_ranks) {
  const tprt__gathering *g = &site->gathering;
  int64_t slice = g->tokens / n_ranks / (g->blocks > 0 ? g->blocks : 1),
          bytes = slice * (int64_t)tprt_dtype_size(site->op.dtype);
  for (int i = -1; i < g->n; i++) {
    int64_t width = i < 0 ? g->width : g->columns[i];
    if (bytes * width % 16)
      return tprt__fail(TPRT_UNSUPPORTED,
                        "slices of %lld rows of %lld elements of %s are not multiples of 16 bytes",
                        (long long)slice, (long long)width, tprt_dtype_name(site->op.dtype));
  }
  return TPRT_OK;
}

static tprt_status plan_matmul(tprt_context *context, const tprt__site *site, int i,
                               tprt__gpu_contraction **made) {
  const tprt__gathering *g = &site->gathering;
  tprt__contraction plan;
  tprt_abi_loop loops[TPRT__MATMUL_LOOPS];
  tprt__matmul_loops(g->tokens, g->columns[i], g->width, g->transposed[i], loops);
  const tprt__gpu_product product = {
      .of = &plan, .n_loops = TPRT__MATMUL_LOOPS, .loops = loops, .tf32 = site->tf32};
  tprt_status status = tprt__matmul_plan(site->op.dtype, loops, &plan);
  return status ? status : tprt__gpu_contraction_plan(tprt__gpu_of(context)->gpu, &product, made);
}

/* Chooses the mode of a site; all ranks choose the same one. */
static tprt_status choose_mode(tprt_context *context, const tprt__site *site,
                               const tprt__site_state *state) {
  struct tprt__gather_state *gather = tprt__gpu_site_of(state)->gather;
  gather->mode = gather->group->mode;
  snprintf(gather->why, sizeof gather->why, "%s", gather->group->why);
  if (gather->mode == TPRT__ROWS_UNFUSED)
    return TPRT_OK;
  tprt_status status = check_slices(site, tprt_comm_size(state->comm));
  if (!status && gather->mode == TPRT__ROWS_P2P)
    status =
        tprt__rows_reserve_p2p(context, gather->group->peers, (size_t)state->plan.send_bytes, 0);
  return tprt__rows_fall_back(state->comm, status, &gather->mode, gather->why);
}

tprt_status tprt__gather_bind(tprt_context *context, const tprt__site *site,
                              tprt__site_state *state) {
  struct tprt__gather_state *gather = tprt__alloc(sizeof *gather);
  if (!gather)
    return tprt__fail_memory(sizeof *gather);
  tprt__gpu_site_of(state)->gather = gather;
  tprt_status status = tprt__rows_find_group(context, state->comm, &gather->group);
  if (!status)
    status = choose_mode(context, site, state);
  if (!status && gather->mode != TPRT__ROWS_UNFUSED)
    status = tprt__gpu_prepare_gemms(tprt__gpu_of(context)->gpu);
  if (!status && gather->mode == TPRT__ROWS_SHARED_GPU && gather->group->ranks)
    status = tprt__gpu_prepare_gather(tprt__gpu_of(context)->gpu, gather->group->ranks);
  if (!status && gather->mode == TPRT__ROWS_P2P)
    status = tprt__gpu_peers_prepare_gather(tprt__gpu_of(context)->gpu, gather->group->peers);
  for (int i = 0; i < site->gathering.n && !status; i++)
    status = plan_matmul(context, site, i, &gather->products[i]);
  return status ? status
                : tprt__gpu_buffer_reserve(context, state->plan.recv_bytes,
                                           &tprt__gpu_of(context)->gathered_scratch);
}

void tprt__gather_unbind(tprt__gpu_site *site) {
  for (int i = 0; i < TPRT_MAX_MATMULS && site->gather; i++)
    tprt__gpu_contraction_free(site->gather->products[i]);
  tprt__free(site->gather);
}

/* ---- Slices ---- */

tprt_cuda_gather tprt__gather_describe(const tprt__site *site) {
  const tprt__gathering *g = &site->gathering;
  return (tprt_cuda_gather){.size = sizeof(tprt_cuda_gather),
                            .dtype = site->op.dtype,
                            .tokens = g->tokens,
                            .width = g->width,
                            .blocks = g->blocks};
}

tprt_cuda_gemm tprt__gather_gemm(const tprt__site *site, const tprt__gather_buffers *b, int i) {
  const tprt__gathering *g = &site->gathering;
  return (tprt_cuda_gemm){.size = sizeof(tprt_cuda_gemm),
                          .dtype = site->op.dtype,
                          .out_dtype = site->op.dtype,
                          .m = g->tokens,
                          .n = g->columns[i],
                          .k = g->width,
                          .transpose_b = g->transposed[i],
                          .tf32 = site->tf32 && site->op.dtype == TPRT_F32,
                          .alpha = 1,
                          .b = b->b[i],
                          .out = b->out[i]};
}

bool tprt__gather_is_aligned(const tprt__gather_buffers *b) {
  uintptr_t bits = (uintptr_t)b->input | (uintptr_t)b->gathered;
  for (int i = 0; i < TPRT_MAX_MATMULS; i++)
    bits |= (uintptr_t)b->b[i] | (uintptr_t)b->out[i];
  return bits % 16 == 0;
}

/* ---- Shared GPU ---- */

/* The contribution of one rank to a call. */
typedef struct gather_call {
  const tprt__site *site;
  tprt__gpu *gpu;
  tprt__gpu_ranks *ranks; /* set on rank 0 only */
  tprt__gather_buffers buffers;
  bool *is_done; /* output: set for all ranks, or for none */
} gather_call;

static bool are_aligned(const void *const *arguments, int n_ranks) {
  bool aligned = true;
  for (int r = 0; r < n_ranks; r++)
    aligned = aligned && tprt__gather_is_aligned(&((const gather_call *)arguments[r])->buffers);
  return aligned;
}

/* Enqueues a call for all ranks, if slices are possible. Runs once, in the last rank that
 * arrives. */
static tprt_status gather_for_all(const void *const *arguments, int n_ranks, void *stream) {
  const gather_call *first = arguments[0];
  const tprt__gathering *g = &first->site->gathering;
  tprt_cuda_gather rows = tprt__gather_describe(first->site);
  tprt_cuda_gemm gemms[TPRT_CUDA_MAX_RANKS * TPRT_MAX_MATMULS] = {{0}};
  for (int r = 0; r < n_ranks; r++) {
    const gather_call *call = arguments[r];
    if (call->site->kind != first->site->kind || memcmp(&call->site->gathering, g, sizeof *g) != 0)
      return tprt__fail(TPRT_MISMATCH,
                        "ranks 0 and %d of the group multiply gathered rows at different sites", r);
    rows.input[r] = call->buffers.input;
    rows.gathered[r] = call->buffers.gathered;
    for (int i = 0; i < g->n; i++)
      gemms[r * g->n + i] = tprt__gather_gemm(call->site, &call->buffers, i);
  }
  if (!are_aligned(arguments, n_ranks))
    return TPRT_OK;
  tprt_status status =
      tprt__gpu_gather_multiply(first->gpu, first->ranks, &rows, gemms, (int)g->n, stream);
  for (int r = 0; r < n_ranks && !status; r++)
    *((const gather_call *)arguments[r])->is_done = true;
  /* TPRT_UNSUPPORTED means that cuBLASLt has no algorithm, and nothing was enqueued */
  return status == TPRT_UNSUPPORTED ? TPRT_OK : status;
}

static tprt_status run_shared_gpu(tprt_context *context, const tprt__site *site,
                                  const tprt__site_state *state, const tprt__gather_buffers *b,
                                  bool *is_done) {
  const gather_call call = {.site = site,
                            .gpu = tprt__gpu_of(context)->gpu,
                            .ranks = tprt__gpu_site_of(state)->gather->group->ranks,
                            .buffers = *b,
                            .is_done = is_done};
  return tprt_context_together(context, state->comm, gather_for_all, &call);
}

/* ---- Unfused ---- */

/* Enqueues a call as an all-gather, then the matmuls. */
static tprt_status gather_unfused(tprt_context *context, const tprt__site *site,
                                  const tprt__site_state *state, const tprt__gather_buffers *b) {
  const tprt__gpu_queue queue = tprt__gpu_queue_of(context);
  tprt_status status = tprt__gpu_collective(context, state, b->input, b->gathered);
  for (int i = 0; i < site->gathering.n && !status; i++)
    status = tprt__gpu_contraction_run(queue, tprt__gpu_site_of(state)->gather->products[i],
                                       b->gathered, b->b[i], b->out[i]);
  return status;
}

static tprt__gather_buffers find_buffers(const tprt__site *site, const void *const *inputs,
                                         void *const *outputs) {
  tprt__gather_buffers b = {.input = tprt__site_input(site, inputs, TPRT_IN_TENSOR, 0),
                            .gathered = tprt__site_output(site, outputs, TPRT_OUT_GATHERED, 0)};
  for (int i = 0; i < site->gathering.n; i++) {
    b.b[i] = tprt__site_input(site, inputs, TPRT_IN_B, i);
    b.out[i] = tprt__site_output(site, outputs, TPRT_OUT_TENSOR, i);
  }
  return b;
}

tprt_status tprt__gather_run(tprt_context *context, const tprt__site *site,
                             const tprt__site_state *state, const void *const *inputs,
                             void *const *outputs, int64_t *traffic) {
  (void)traffic; /* already set to that of the all-gather */
  tprt__gather_buffers b = find_buffers(site, inputs, outputs);
  bool is_done = false;
  tprt_status status = TPRT_OK;
  if (!b.gathered)
    b.gathered = tprt__gpu_of(context)->gathered_scratch.memory;
  if (tprt__gpu_site_of(state)->gather->mode == TPRT__ROWS_P2P) {
    status = tprt__rows_begin_p2p(context);
    return status ? status : tprt__gather_run_p2p(context, site, state, &b);
  }
  if (tprt__gpu_site_of(state)->gather->mode == TPRT__ROWS_SHARED_GPU)
    status = run_shared_gpu(context, site, state, &b, &is_done);
  return status || is_done ? status : gather_unfused(context, site, state, &b);
}
