/* Rows that are gathered, and products of them, in programs for GPUs.
 *
 * Where the ranks are virtual ones of one GPU, the last that comes enqueues it for all: slices are copied while those before are multiplied. Elsewhere,
 * and where slices are not aligned or cuBLASLt has no algorithm for them, it is an all_gather and then the products. */
#include "abi_rows.h"

#include <string.h>

struct tprt__gather_state {
  bool together;
  tprt__gpu_ranks *ranks; /* then, of rank 0; else NULL */
  tprt__gpu_contraction *products[TPRT_GATHER_MOST];
};

/* ---- Binding ---- */

/* Rows of a rank, of what is gathered and of the products, begin at multiples of 16 bytes. */
static bool has_slices(const tprt__site *site, int64_t n_ranks) {
  const tprt__gathering *g = &site->gathering;
  int64_t blocks = g->blocks > 0 ? g->blocks : 1,
          slice = g->tokens / n_ranks / blocks * (int64_t)tprt_dtype_size(site->op.dtype);
  bool aligned = slice * g->width % 16 == 0;
  for (int i = 0; i < g->n; i++)
    aligned = aligned && slice * g->columns[i] % 16 == 0;
  return aligned;
}

static tprt_status plan_product(tprt_context *context, const tprt__site *site, int i, tprt__gpu_contraction **made) {
  const tprt__gathering *g = &site->gathering;
  tprt__contraction plan;
  int64_t words[12];
  tprt__product_words(g->tokens, g->columns[i], g->width, g->transposed[i], words);
  tprt_status status = tprt__product_plan(site->op.dtype, words, &plan);
  return status ? status : tprt__gpu_contraction_plan(context->gpu, &plan, 3, words, NULL, made);
}

tprt_status tprt__gather_bind(tprt_context *context, const tprt__site *site, tprt__site_state *state) {
  struct tprt__gather_state *gather = tprt__alloc(sizeof *gather);
  if (!gather)
    return tprt__fail_memory(sizeof *gather);
  state->gather = gather;
  struct tprt__rows_group *group = NULL;
  tprt_status status = tprt__rows_find_group(context, state->comm, &group);
  gather->together = !status && group->way == TPRT__ROWS_TOGETHER && has_slices(site, tprt_comm_size(state->comm));
  gather->ranks = group ? group->ranks : NULL;
  if (!status && gather->together)
    status = tprt__gpu_prepare_products(context->gpu);
  if (!status && gather->together && gather->ranks)
    status = tprt__gpu_prepare_gather(context->gpu, gather->ranks);
  for (int i = 0; i < site->gathering.n && !status; i++)
    status = plan_product(context, site, i, &gather->products[i]);
  return status ? status : tprt__make_room(context, state->plan.recv_bytes, &context->gathered_room);
}

void tprt__gather_unbind(tprt__site_state *state) {
  for (int i = 0; i < TPRT_GATHER_MOST && state->gather; i++)
    tprt__gpu_contraction_free(state->gather->products[i]);
  tprt__free(state->gather);
}

/* ---- Calls ---- */

static tprt_status check_buffers(const tprt__gathering *g, const tprt__gather_buffers *b) {
  if (!b->input)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "input is NULL");
  for (int i = 0; i < TPRT_GATHER_MOST; i++)
    if (!b->b[i] == (i < g->n) || !b->out[i] == (i < g->n))
      return tprt__fail(TPRT_INVALID_ARGUMENT, "b%d is %p and out%d is %p, and the site has %lld products", i, b->b[i], i,
                        b->out[i], (long long)g->n);
  return TPRT_OK;
}

/* What a rank gives. */
typedef struct gather_call {
  const tprt__site *site;
  tprt__gpu *gpu;
  tprt__gpu_ranks *ranks; /* of rank 0 */
  tprt__gather_buffers buffers;
  bool *is_done; /* to be set for all ranks, or for none */
} gather_call;

static bool are_aligned(const void *const *arguments, int n_ranks) {
  uintptr_t bits = 0;
  for (int r = 0; r < n_ranks; r++) {
    const gather_call *call = arguments[r];
    bits |= (uintptr_t)call->buffers.input | (uintptr_t)call->buffers.gathered;
    for (int i = 0; i < TPRT_GATHER_MOST; i++)
      bits |= (uintptr_t)call->buffers.b[i] | (uintptr_t)call->buffers.out[i];
  }
  return bits % 16 == 0;
}

static tprt_status gather_for_all(const void *const *arguments, int n_ranks, void *stream) {
  const gather_call *first = arguments[0];
  const tprt__gathering *g = &first->site->gathering;
  tprt_cuda_gather rows = {
      .size = sizeof rows, .dtype = first->site->op.dtype, .tokens = g->tokens, .width = g->width, .blocks = g->blocks};
  tprt_cuda_gemm gemms[TPRT_CUDA_MAX_RANKS * TPRT_GATHER_MOST] = {{0}};
  for (int r = 0; r < n_ranks; r++) {
    const gather_call *call = arguments[r];
    if (call->site->kind != first->site->kind || memcmp(&call->site->gathering, g, sizeof *g) != 0)
      return tprt__fail(TPRT_MISMATCH, "ranks 0 and %d of the group multiply gathered rows at different sites", r);
    rows.input[r] = call->buffers.input;
    rows.gathered[r] = call->buffers.gathered;
    for (int i = 0; i < g->n; i++)
      gemms[r * g->n + i] = (tprt_cuda_gemm){.size = sizeof *gemms,
                                             .dtype = rows.dtype,
                                             .out_dtype = rows.dtype,
                                             .m = g->tokens,
                                             .n = g->columns[i],
                                             .k = g->width,
                                             .transpose_b = g->transposed[i],
                                             .alpha = 1,
                                             .b = call->buffers.b[i],
                                             .out = call->buffers.out[i]};
  }
  if (!are_aligned(arguments, n_ranks))
    return TPRT_OK;
  tprt_status status = tprt__gpu_gather_multiply(first->gpu, first->ranks, &rows, gemms, (int)g->n, stream);
  for (int r = 0; r < n_ranks && !status; r++)
    *((const gather_call *)arguments[r])->is_done = true;
  return status == TPRT_UNSUPPORTED ? TPRT_OK : status; /* which is: cuBLASLt has no algorithm, and nothing was enqueued */
}

static tprt_status gather_apart(tprt_context *context, const tprt__site *site, const tprt__site_state *state,
                                const tprt__gather_buffers *b) {
  const tprt__gpu_queue queue = {context->gpu, tprt__gpu_stream(context->gpu)};
  tprt_status status = tprt__gpu_collective(context, state, b->input, b->gathered);
  for (int i = 0; i < site->gathering.n && !status; i++)
    status = tprt__gpu_contraction_run(queue, state->gather->products[i], b->gathered, b->b[i], b->out[i]);
  return status;
}

tprt_status tprt__gather_run(tprt_context *context, const tprt__site *site, const tprt__site_state *state,
                             const tprt__gather_buffers *given, int64_t *traffic) {
  tprt__gather_buffers b = *given;
  bool is_done = false;
  *traffic = state->plan.traffic;
  if (state->plan.recv_bytes == 0) /* there may be no buffers either */
    return TPRT_OK;
  tprt_status status = check_buffers(&site->gathering, &b);
  if (status)
    return status;
  if (!b.gathered)
    b.gathered = context->gathered_room.memory;
  const gather_call call = {
      .site = site, .gpu = context->gpu, .ranks = state->gather->ranks, .buffers = b, .is_done = &is_done};
  if (state->gather->together)
    status = tprt_context_together(context, state->comm, gather_for_all, &call);
  return status || is_done ? status : gather_apart(context, site, state, &b);
}
