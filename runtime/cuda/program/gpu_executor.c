/* Runs compiled programs on a GPU: enqueues their sites into the context's streams. */
#include "cuda/program/gpu_executor.h"

/* ---- Contexts ---- */

static tprt_status create(tprt_context *context, const tprt_context_config *config) {
  (void)config;
  tprt__gpu_state *state = tprt__alloc(sizeof *state);
  if (!state)
    return tprt__fail_memory(sizeof *state);
  tprt_status status = tprt__gpu_wants_timing(&state->timed.is_wanted);
  if (!status)
    status = tprt__gpu_attention_wish(&state->attentions.wish);
  if (!status)
    status = tprt__gpu_create(tprt_comm_rank(context->world), context->world->transport->device,
                              &state->gpu);
  if (status) {
    tprt__free(state);
    return status;
  }
  context->own = state;
  return TPRT_OK;
}

static tprt_status prepare(tprt_context *context) {
  tprt_status status = tprt__timed_prepare(context);
  return status ? status : tprt__attention_prepare(context);
}

static const char *gemm(const tprt_context *context) { return tprt__gpu_of(context)->timed.text; }

static const char *attention(const tprt_context *context) {
  return tprt__gpu_of(context)->attentions.text;
}

static void destroy(tprt_context *context) {
  tprt__gpu_state *state = tprt__gpu_of(context);
  tprt__graphs_end(context);
  tprt__free(state->staging);
  tprt__route_memory_free(&state->route);
  tprt__rows_end(context);
  tprt__gpu_free(state->gpu, state->assert_word);
  tprt__gpu_destroy(state->gpu);
  tprt__free(state);
}

tprt_status tprt__gpu_buffer_reserve(tprt_context *context, int64_t bytes,
                                     tprt__gpu_buffer *buffer) {
  size_t wanted = ((size_t)bytes + 255) / 256 * 256;
  if (wanted <= buffer->bytes)
    return TPRT_OK;
  void *made;
  tprt_status status = tprt__gpu_alloc(tprt__gpu_of(context)->gpu, wanted, &made);
  if (status)
    return status;
  tprt__graphs_forget(context); /* captured graphs contain the old address */
  tprt__gpu_free(tprt__gpu_of(context)->gpu, buffer->memory);
  *buffer = (tprt__gpu_buffer){made, wanted};
  return TPRT_OK;
}

/* ---- Sites ---- */

static tprt_status bind_attention(tprt_context *context, const tprt__site *site,
                                  tprt__site_state *state) {
  tprt__attention_kind kind = site->kind == TPRT_SITE_FUSED_ATTENTION_GRADIENT
                                  ? TPRT__ATTENTION_GRADIENT
                              : tprt__site_has(site, TPRT_OUT_MAX) ? TPRT__ATTENTION_STATISTICS
                                                                   : TPRT__ATTENTION;
  tprt__gpu_attention **made = &tprt__gpu_site_of(state)->attention;
  tprt_status status = tprt__gpu_attention_plan(tprt__gpu_of(context)->gpu, kind, site->op.dtype,
                                                &site->attention, made);
  return status || kind == TPRT__ATTENTION_GRADIENT ? status : tprt__attention_bind(context, *made);
}

/* Both an attention and its gradient have each tensor once, as an input or as an output. */
static tprt_status run_attention(tprt_context *context, const tprt__site *site,
                                 const tprt__site_state *state, const void *const *inputs,
                                 void *const *outputs, int64_t *traffic) {
  static const struct {
    tprt_operand input, output; /* 0: none */
  } roles[TPRT_ATTENTION_TENSORS] = {[TPRT_ATTENTION_Q] = {TPRT_IN_QUERIES, 0},
                                     [TPRT_ATTENTION_K] = {TPRT_IN_KEYS, 0},
                                     [TPRT_ATTENTION_V] = {TPRT_IN_VALUES, 0},
                                     [TPRT_ATTENTION_MASK] = {TPRT_IN_MASK, 0},
                                     [TPRT_ATTENTION_DROPOUT] = {TPRT_IN_DROPOUT, 0},
                                     [TPRT_ATTENTION_OUT] = {TPRT_IN_ATTENDED, TPRT_OUT_TENSOR},
                                     [TPRT_ATTENTION_MAX] = {TPRT_IN_MAX, TPRT_OUT_MAX},
                                     [TPRT_ATTENTION_SUM] = {TPRT_IN_SUM, TPRT_OUT_SUM},
                                     [TPRT_ATTENTION_GRADIENT] = {TPRT_IN_GRADIENT, 0},
                                     [TPRT_ATTENTION_GRADIENT_Q] = {0, TPRT_OUT_GRADIENT_QUERIES},
                                     [TPRT_ATTENTION_GRADIENT_K] = {0, TPRT_OUT_GRADIENT_KEYS},
                                     [TPRT_ATTENTION_GRADIENT_V] = {0, TPRT_OUT_GRADIENT_VALUES}};
  (void)traffic;
  tprt__gpu_attention_buffers buffers = {
      .position = tprt__site_input(site, inputs, TPRT_IN_POSITION, 0),
      .workspace = tprt__site_output(site, outputs, TPRT_OUT_WORKSPACE, 0)};
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++) {
    const void *input = roles[x].input ? tprt__site_input(site, inputs, roles[x].input, 0) : NULL;
    buffers.of[x] =
        input || !roles[x].output ? input : tprt__site_output(site, outputs, roles[x].output, 0);
  }
  return tprt__gpu_attention_run(tprt__gpu_queue_of(context), tprt__gpu_site_of(state)->attention,
                                 &buffers);
}

static const struct {
  tprt_status (*bind)(tprt_context *context, const tprt__site *site, tprt__site_state *state);
  tprt_status (*run)(tprt_context *context, const tprt__site *site, const tprt__site_state *state,
                     const void *const *inputs, void *const *outputs, int64_t *traffic);
} fused_kinds[] = {
    [TPRT_SITE_FUSED_REDUCE] = {tprt__rows_bind, tprt__rows_run},
    [TPRT_SITE_FUSED_GATHER] = {tprt__gather_bind, tprt__gather_run},
    [TPRT_SITE_FUSED_SOFTMAX] = {tprt__softmax_bind, tprt__softmax_run},
    [TPRT_SITE_FUSED_MATMUL] = {tprt__matmul_bind, tprt__matmul_run},
    [TPRT_SITE_FUSED_ATTENTION] = {bind_attention, run_attention},
    [TPRT_SITE_FUSED_ATTENTION_GRADIENT] = {bind_attention, run_attention},
    [TPRT_SITE_FUSED_CONTRACTIONS] = {tprt__products_bind, tprt__products_run},
};

tprt_status tprt__bind_to_gpu(const tprt_context *context, tprt__site_state *state) {
  const tprt__transport *transport = state->comm->transport;
  tprt__plan without = state->plan;
  without.gpu = tprt__gpu_of(context)->gpu;
  without.send_bytes = without.recv_bytes = 0; /* the buffers are not known yet */
  bool takes = transport->n_ranks > 1 && transport->backend->capabilities & TPRT_CAP_GPU_PROGRAMS;
  return takes ? transport->backend->accept(transport, &without, false) : TPRT_OK;
}

static tprt_status bind_site(tprt_context *context, const tprt__site *site,
                             tprt__site_state *state) {
  tprt__gpu_site *made = state->own = tprt__alloc(sizeof *made);
  if (!made)
    return tprt__fail_memory(sizeof *made);
  if (site->kind == TPRT_SITE_CONTRACT)
    return tprt__product_bind(context, site, state);
  bool in_stream = state->comm && site->kind != TPRT_SITE_ROUTE;
  tprt_status status = in_stream ? tprt__bind_to_gpu(context, state) : TPRT_OK;
  return status || !tprt__site_is_fused(site->kind) || site->kind == TPRT_SITE_ROUTE
             ? status
             : fused_kinds[site->kind].bind(context, site, state);
}

static void unbind_site(tprt_context *context, tprt__site_state *state) {
  tprt__gpu_site *site = tprt__gpu_site_of(state);
  if (!site)
    return;
  for (int i = 0; i < TPRT_MAX_MATMULS; i++)
    tprt__gpu_contraction_free(site->products[i]);
  tprt__gpu_attention_free(site->attention);
  tprt__gpu_mark_free(tprt__gpu_of(context)->gpu, site->ended);
  tprt__rows_unbind(site);
  tprt__gather_unbind(site);
  tprt__free(site);
}

/* Allocates both blocks in GPU memory; GPU allocations are sufficiently aligned. */
static tprt_status allocate(tprt_context *context, tprt__bound *program) {
  tprt__gpu *gpu = tprt__gpu_of(context)->gpu;
  tprt_status status = TPRT_OK;
  program->own = tprt__alloc(sizeof(tprt__gpu_program));
  if (!program->own)
    return tprt__fail_memory(sizeof(tprt__gpu_program));
  if (program->program.private_bytes)
    status = tprt__gpu_alloc(gpu, program->program.private_bytes, &program->private_block);
  if (!status && program->program.registered_bytes)
    status = tprt__gpu_alloc(gpu, program->program.registered_bytes, &program->registered);
  return status;
}

static void release(tprt_context *context, tprt__bound *program) {
  tprt__gpu *gpu = tprt__gpu_of(context)->gpu;
  tprt__gpu_program *own = program->own;
  if (own)
    tprt__gpu_kernels_free(gpu, own->kernels);
  tprt__free(own);
  tprt__gpu_free(gpu, program->registered);
  tprt__gpu_free(gpu, program->private_block);
}

/* ---- Calls ---- */

static tprt_status collective(tprt_context *context, tprt__site_state *state, const void *send,
                              void *recv) {
  return tprt__gpu_collective(context, state, send, recv);
}

/* The host cannot observe when a GPU runs an operation, so the trace shows the time between start
 * and wait. */
static tprt_status wait(tprt_context *context, tprt__site_state *state, tprt_call *call) {
  call->ran_ns = state->started_ns;
  call->ended_ns = call->begin_ns;
  return tprt__gpu_wait(context, state);
}

/* Nothing to end: the stream orders later work after the operation. */
static void abandon(tprt__site_state *state) { (void)state; }

static tprt_status contract(tprt_context *context, const tprt__site *site,
                            const tprt__site_state *state, const void *a, const void *b, void *c) {
  (void)site;
  return tprt__gpu_contraction_run(tprt__gpu_queue_of(context),
                                   tprt__gpu_site_of(state)->products[0], a, b, c);
}

static tprt_status check_pointers(const tprt__site *site, const void *const *inputs,
                                  void *const *outputs) {
  const tprt_abi_operands *operands = &site->operands;
  for (int i = 0; i < operands->n_inputs; i++)
    if (!inputs[i])
      return tprt__fail(TPRT_INVALID_ARGUMENT, "input %d of the site is NULL", i);
  for (int i = 0; i < operands->n_outputs; i++)
    if (!outputs[i])
      return tprt__fail(TPRT_INVALID_ARGUMENT, "output %d of the site is NULL", i);
  return TPRT_OK;
}

static tprt_status fused(tprt_context *context, const tprt__site *site, tprt__site_state *state,
                         const void *const *inputs, void *const *outputs, int64_t *traffic) {
  /* what a route sends is known only when it runs */
  if (site->kind == TPRT_SITE_ROUTE)
    return tprt__gpu_route_run(context, site, state, inputs, outputs, traffic);
  bool is_empty = state->comm ? state->plan.recv_bytes == 0
                  : site->contraction
                      ? site->contraction->empty
                      : tprt__gpu_attention_is_empty(tprt__gpu_site_of(state)->attention);
  *traffic = state->plan.traffic;
  if (is_empty) /* then the pointers may be NULL */
    return TPRT_OK;
  tprt_status status = check_pointers(site, inputs, outputs);
  return status ? status
                : fused_kinds[site->kind].run(context, site, state, inputs, outputs, traffic);
}

const tprt__executor tprt__gpu_executor = {
    .target = TPRT_TARGET_CUDA,
    .name = "a CUDA GPU",
    .is_asynchronous = true,
    .create = create,
    .destroy = destroy,
    .prepare = prepare,
    .gemm = gemm,
    .attention = attention,
    .bind_site = bind_site,
    .unbind_site = unbind_site,
    .allocate = allocate,
    .release = release,
    .collective = collective,
    .start = tprt__gpu_start,
    .wait = wait,
    .abandon = abandon,
    .contract = contract,
    .fused = fused,
};
