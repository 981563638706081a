/* Sums over the group with what is done to the rows of them, in programs for GPUs.
 *
 * One way works with every backend: the collectives that it stands for, and between them a kernel for what is done to the rows, of a
 * group of this rank alone. */
#include "context.h"

#include "cuda/gpu_rows.h"

/* Of a site. */
struct tprt__rows_state {
  tprt__site_state gather; /* TPRT_ROWS_GATHERED: of the slices of out */
};

/* ---- Binding ---- */

/* Room for the sum and for a slice of out, which the sites of a context share: it does one thing after the other. */
static tprt_status make_room(tprt_context *context, int64_t bytes) {
  size_t wanted = ((size_t)bytes + 255) / 256 * 256;
  if (wanted <= context->rows_bytes)
    return TPRT_OK;
  void *made;
  tprt_status status = tprt__gpu_alloc(context->gpu, 2 * wanted, &made);
  if (status)
    return status;
  tprt__gpu_free(context->gpu, context->rows_room);
  context->rows_room = made;
  context->rows_bytes = wanted;
  return TPRT_OK;
}

static tprt_status plan_gather(const tprt__site *site, const tprt__site_state *state, tprt__site_state *gather) {
  tprt_op op = site->op;
  int n = tprt_comm_size(state->comm);
  op.kind = TPRT_OP_ALL_GATHER;
  op.reduction = TPRT_NO_REDUCTION;
  op.shape[op.dim] /= n;
  gather->comm = state->comm;
  return tprt__plan_shape(&op, n, tprt_comm_rank(state->comm), &gather->plan);
}

tprt_status tprt__rows_bind(tprt_context *context, const tprt__site *site, tprt__site_state *state) {
  state->rows = tprt__alloc(sizeof *state->rows);
  if (!state->rows)
    return tprt__fail_memory(sizeof *state->rows);
  tprt_status status = make_room(context, state->plan.recv_bytes);
  if (!status && site->rows.layout == TPRT_ROWS_GATHERED)
    status = plan_gather(site, state, &state->rows->gather);
  if (!status && !context->alone)
    status = tprt__gpu_ranks_create(context->gpu, 1, &context->alone);
  return status;
}

void tprt__rows_unbind(tprt__site_state *state) { tprt__free(state->rows); }

void tprt__rows_end(tprt_context *context) {
  if (!context->gpu)
    return;
  tprt__gpu_ranks_destroy(context->gpu, context->alone);
  tprt__gpu_free(context->gpu, context->rows_room);
}

/* ---- Calls ---- */

static tprt_status check_buffers(const tprt__rows *rows, const tprt__rows_buffers *b) {
  const struct {
    const char *name;
    const void *buffer;
    bool wanted;
  } all[] = {{"input", b->input, true},
             {"residual", b->residual, rows->operands & TPRT_ROWS_RESIDUAL},
             {"bias", b->bias, rows->operands & TPRT_ROWS_BIAS},
             {"gamma", b->gamma, rows->operands & TPRT_ROWS_GAMMA},
             {"beta", b->beta, rows->operands & TPRT_ROWS_BETA},
             {"residual_out", b->residual_out, rows->operands & TPRT_ROWS_RESIDUAL_OUT},
             {"out", b->out, true}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (!all[i].buffer == all[i].wanted)
      return tprt__fail(TPRT_INVALID_ARGUMENT, "%s is %p, and the site has %s", all[i].name, all[i].buffer,
                        all[i].wanted ? "one" : "none");
  return TPRT_OK;
}

/* What is done to rows of the sum, which lie in `sum`. */
static tprt_cuda_rows describe(const tprt__site *site, const tprt__rows_buffers *b, int64_t tokens, const void *sum,
                               void *out) {
  const tprt__rows *rows = &site->rows;
  return (tprt_cuda_rows){.size = sizeof(tprt_cuda_rows),
                          .dtype = site->op.dtype,
                          .tokens = tokens,
                          .hidden = rows->hidden,
                          .algorithm = TPRT_CUDA_PULL,
                          .norm = (tprt_cuda_norm)rows->norm,
                          .epsilon = rows->epsilon,
                          .bias = b->bias,
                          .gamma = b->gamma,
                          .beta = b->beta,
                          .input = {sum},
                          .residual = {b->residual},
                          .residual_out = {b->residual_out},
                          .out = {out}};
}

tprt_status tprt__rows_run(tprt_context *context, const tprt__site *site, const tprt__site_state *state,
                           const tprt__rows_buffers *b, int64_t *traffic) {
  tprt_status status = check_buffers(&site->rows, b);
  if (status)
    return status;
  *traffic = 0;
  if (state->plan.recv_bytes == 0)
    return TPRT_OK;
  int64_t n_slices = site->rows.layout == TPRT_ROWS_WHOLE ? 1 : tprt_comm_size(state->comm), of_gather = 0;
  bool gathers = site->rows.layout == TPRT_ROWS_GATHERED;
  char *sum = context->rows_room, *slice = sum + context->rows_bytes;
  const tprt_cuda_rows rows = describe(site, b, site->rows.tokens / n_slices, sum, gathers ? slice : b->out);
  status = tprt__gpu_collective(context, state, b->input, sum, traffic);
  if (!status)
    status = tprt__gpu_reduce_rows(context->gpu, context->alone, &rows, tprt__gpu_stream(context->gpu));
  if (!status && gathers)
    status = tprt__gpu_collective(context, &state->rows->gather, slice, b->out, &of_gather);
  *traffic += of_gather;
  return status;
}
