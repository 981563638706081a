/* What compiled programs call while they run. */
#include "program/context.h"

void *tprt_abi_private(tprt_context *context) {
  return context->current ? context->current->private_block : NULL;
}
void *tprt_abi_registered(tprt_context *context) {
  return context->current ? context->current->registered : NULL;
}

int64_t tprt_abi_device(tprt_context *context) {
  return context->status ? 0 : tprt_comm_rank(context->world);
}

typedef enum site_class {
  COLLECTIVE,
  CONTRACTION,
  PRODUCT,
  ROWS,
  PRODUCT_ROWS,
  QUANTISED_ROWS,
  QUANTISED_PRODUCT_ROWS,
  SOFTMAX,
  GATHERING
} site_class;

static site_class class_of(tprt_site_kind kind) {
  static const site_class classes[] = {[TPRT_SITE_CONTRACT] = CONTRACTION,
                                       [TPRT_SITE_MULTIPLY] = PRODUCT,
                                       [TPRT_SITE_REDUCE_ROWS] = ROWS,
                                       [TPRT_SITE_MULTIPLY_ROWS] = PRODUCT_ROWS,
                                       [TPRT_SITE_QUANTISE_ROWS] = QUANTISED_ROWS,
                                       [TPRT_SITE_MULTIPLY_QUANTISE_ROWS] = QUANTISED_PRODUCT_ROWS,
                                       [TPRT_SITE_SOFTMAX_ROWS] = SOFTMAX,
                                       /* others collectives */
                                       [TPRT_SITE_GATHER_MULTIPLY] = GATHERING};
  return classes[kind];
}

/* The site's state; NULL for a number that the program does not have or a site of another class. */
static tprt__site_state *find_site(const tprt_context *context, int32_t site, site_class wanted) {
  const tprt__bound *current = context->current;
  if (!current || site < 0 || site >= current->program.n_sites)
    return NULL;
  return class_of(current->program.sites[site].kind) == wanted ? &current->sites[site] : NULL;
}

static int32_t fail_site(tprt_context *context, int32_t site, const char *what) {
  tprt__fail(TPRT_INVALID_ARGUMENT, "site %d of the bound program is no %s", site, what);
  return tprt__context_fail(context, TPRT_INVALID_ARGUMENT, NULL);
}

/* Ends a call that began at call->begin_ns. */
static void count(tprt_context *context, tprt__site_state *state, tprt__call *call, int64_t bytes) {
  call->end_ns = tprt__now();
  call->what = context->current->program.sites[call->site].kind;
  state->stats.calls += call->kind != TPRT__CALL_START;
  state->stats.bytes += bytes;
  state->stats.seconds += (double)(call->end_ns - call->begin_ns) * 1e-9;
  if (context->trace.ring)
    tprt__trace_add(&context->trace, call);
}

static int32_t fail_collective(tprt_context *context, int32_t site, tprt_status status) {
  tprt__fail(status, "site %d: %s", site, tprt_last_error());
  return tprt__context_fail(context, status, context->current->sites[site].comm);
}

tprt_status tprt__site_collective(const tprt__site_state *state, const void *send, void *recv) {
  tprt__plan plan = state->plan;
  tprt_status status = tprt__plan_buffers(&plan, send, recv);
  if (!status)
    status = tprt__comm_submit(state->comm, &plan, tprt__deadline(state->comm->timeout_ns));
  return status;
}

int32_t tprt_abi_collective(tprt_context *context, int32_t site, const void *send, void *recv) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, COLLECTIVE);
  if (!state)
    return fail_site(context, site, "collective");
  tprt__call call = {.kind = TPRT__CALL_RUN, .site = site, .begin_ns = tprt__now()};
  tprt_status status = context->gpu ? tprt__gpu_collective(context, state, send, recv)
                                    : tprt__site_collective(state, send, recv);
  if (status)
    return fail_collective(context, site, status);
  count(context, state, &call, state->plan.traffic);
  return TPRT_OK;
}

/* ---- In two calls ---- */

static tprt_status start_on_host(const tprt_context *context, tprt__site_state *state,
                                 const void *send, void *recv) {
  tprt__plan plan = state->plan;
  tprt_status status = tprt__plan_buffers(&plan, send, recv);
  return status ? status
                : tprt__comm_start(state->comm, &plan, tprt__deadline(state->comm->timeout_ns),
                                   context->on_demand, &state->work);
}

static tprt_status wait_on_host(tprt__site_state *state, tprt__call *call) {
  tprt_work *work = state->work;
  state->work = NULL;
  tprt_status status = tprt_work_wait(work, 0);
  tprt__work_times(work, &call->ran_ns, &call->ended_ns);
  tprt_work_destroy(work);
  return status;
}

/* Nobody on the host knows when a GPU does something; it does that in between. */
static tprt_status wait_on_gpu(tprt_context *context, const tprt__site_state *state,
                               tprt__call *call) {
  call->ran_ns = state->started_ns;
  call->ended_ns = call->begin_ns;
  return tprt__gpu_wait(context, state);
}

int32_t tprt_abi_start(tprt_context *context, int32_t site, const void *send, void *recv) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, COLLECTIVE);
  if (!state)
    return fail_site(context, site, "collective");
  tprt__call call = {.kind = TPRT__CALL_START, .site = site, .begin_ns = tprt__now()};
  tprt_status status =
      state->started ? tprt__fail(TPRT_INVALID_ARGUMENT, "it was started before and not waited for")
                     : TPRT_OK;
  if (!status)
    status = context->gpu ? tprt__gpu_start(context, state, send, recv)
                          : start_on_host(context, state, send, recv);
  if (status)
    return fail_collective(context, site, status);
  state->started = true;
  state->send = send;
  state->recv = recv;
  count(context, state, &call, state->plan.traffic);
  state->started_ns = call.end_ns;
  return TPRT_OK;
}

int32_t tprt_abi_wait(tprt_context *context, int32_t site, const void *send, void *recv) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, COLLECTIVE);
  if (!state)
    return fail_site(context, site, "collective");
  tprt__call call = {.kind = TPRT__CALL_WAIT, .site = site, .begin_ns = tprt__now()};
  if (!state->started || state->send != send || state->recv != recv)
    return fail_collective(
        context, site, tprt__fail(TPRT_INVALID_ARGUMENT, "it was not started with these buffers"));
  state->started = false;
  tprt_status status =
      context->gpu ? wait_on_gpu(context, state, &call) : wait_on_host(state, &call);
  if (status)
    return fail_collective(context, site, status);
  count(context, state, &call, 0);
  return TPRT_OK;
}

int32_t tprt_abi_contract(tprt_context *context, int32_t site, const void *a, const void *b,
                          void *c) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, CONTRACTION);
  if (!state)
    return fail_site(context, site, "contraction");
  tprt__call call = {.kind = TPRT__CALL_RUN, .site = site, .begin_ns = tprt__now()};
  const tprt__site *which = &context->current->program.sites[site];
  tprt_status status = TPRT_OK;
  if (context->gpu)
    status =
        tprt__gpu_contraction_run((tprt__gpu_queue){context->gpu, tprt__gpu_stream(context->gpu)},
                                  state->contraction, a, b, c);
  else
    tprt__contraction_run(which->contraction, &context->gemm, a, b, c);
  if (status)
    return tprt__context_fail(context, tprt__fail(status, "site %d: %s", site, tprt_last_error()),
                              NULL);
  count(context, state, &call, 0);
  return TPRT_OK;
}

int32_t tprt_abi_multiply(tprt_context *context, int32_t site, const void *a, const void *b,
                          const void *bias, void *out) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, PRODUCT);
  if (!state)
    return fail_site(context, site, "product with what is done to its elements");
  tprt__call call = {.kind = TPRT__CALL_RUN, .site = site, .begin_ns = tprt__now()};
  const tprt__gpu_queue queue = {context->gpu, tprt__gpu_stream(context->gpu)};
  tprt_status status = tprt__gpu_product_run(queue, state->contraction, a, b, bias, out);
  if (status)
    return tprt__context_fail(context, tprt__fail(status, "site %d: %s", site, tprt_last_error()),
                              NULL);
  count(context, state, &call, 0);
  return TPRT_OK;
}

static int32_t run_rows(tprt_context *context, int32_t site, site_class wanted, const char *what,
                        const tprt__rows_buffers *buffers) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, wanted);
  if (!state)
    return fail_site(context, site, what);
  tprt__call call = {.kind = TPRT__CALL_RUN, .site = site, .begin_ns = tprt__now()};
  int64_t traffic = 0;
  tprt_status status =
      tprt__rows_run(context, &context->current->program.sites[site], state, buffers, &traffic);
  if (status)
    return fail_collective(context, site, status);
  count(context, state, &call, traffic);
  return TPRT_OK;
}

int32_t tprt_abi_reduce_rows(tprt_context *context, int32_t site, const void *input,
                             const void *residual, const void *bias, const void *gamma,
                             const void *beta, void *residual_out, void *out) {
  const tprt__rows_buffers buffers = {.input = input,
                                      .residual = residual,
                                      .bias = bias,
                                      .gamma = gamma,
                                      .beta = beta,
                                      .residual_out = residual_out,
                                      .out = out};
  return run_rows(context, site, ROWS, "reduction of rows", &buffers);
}

int32_t tprt_abi_multiply_rows(tprt_context *context, int32_t site, const void *a, const void *b,
                               const void *residual, const void *bias, const void *gamma,
                               const void *beta, void *residual_out, void *out) {
  const tprt__rows_buffers buffers = {.a = a,
                                      .b = b,
                                      .residual = residual,
                                      .bias = bias,
                                      .gamma = gamma,
                                      .beta = beta,
                                      .residual_out = residual_out,
                                      .out = out};
  return run_rows(context, site, PRODUCT_ROWS, "reduction of rows of a product", &buffers);
}

int32_t tprt_abi_quantise_rows(tprt_context *context, int32_t site, const void *input,
                               const void *residual, const void *bias, const void *gamma,
                               const void *beta, const void *static_scale, void *residual_out,
                               void *out, void *quantised, void *scale) {
  const tprt__rows_buffers buffers = {.input = input,
                                      .residual = residual,
                                      .bias = bias,
                                      .gamma = gamma,
                                      .beta = beta,
                                      .static_scale = static_scale,
                                      .residual_out = residual_out,
                                      .out = out,
                                      .quantised = quantised,
                                      .scale = scale};
  return run_rows(context, site, QUANTISED_ROWS, "reduction of rows that are quantised", &buffers);
}

int32_t tprt_abi_multiply_quantise_rows(tprt_context *context, int32_t site, const void *a,
                                        const void *b, const void *residual, const void *bias,
                                        const void *gamma, const void *beta,
                                        const void *static_scale, void *residual_out, void *out,
                                        void *quantised, void *scale) {
  const tprt__rows_buffers buffers = {.a = a,
                                      .b = b,
                                      .residual = residual,
                                      .bias = bias,
                                      .gamma = gamma,
                                      .beta = beta,
                                      .static_scale = static_scale,
                                      .residual_out = residual_out,
                                      .out = out,
                                      .quantised = quantised,
                                      .scale = scale};
  return run_rows(context, site, QUANTISED_PRODUCT_ROWS,
                  "reduction of rows of a product that are quantised", &buffers);
}

int32_t tprt_abi_softmax_rows(tprt_context *context, int32_t site, const void *logits,
                              const void *target, void *largest, void *sum, void *picked) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, SOFTMAX);
  if (!state)
    return fail_site(context, site, "softmax of rows");
  tprt__call call = {.kind = TPRT__CALL_RUN, .site = site, .begin_ns = tprt__now()};
  const tprt__softmax_buffers buffers = {logits, target, largest, sum, picked};
  int64_t traffic = 0;
  tprt_status status =
      tprt__softmax_run(context, &context->current->program.sites[site], state, &buffers, &traffic);
  if (status)
    return fail_collective(context, site, status);
  count(context, state, &call, traffic);
  return TPRT_OK;
}

int32_t tprt_abi_gather_multiply(tprt_context *context, int32_t site, const void *input,
                                 const void *b0, const void *b1, const void *b2, const void *b3,
                                 void *gathered, void *out0, void *out1, void *out2, void *out3) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, GATHERING);
  if (!state)
    return fail_site(context, site, "product of gathered rows");
  tprt__call call = {.kind = TPRT__CALL_RUN, .site = site, .begin_ns = tprt__now()};
  const tprt__gather_buffers buffers = {
      .input = input, .b = {b0, b1, b2, b3}, .gathered = gathered, .out = {out0, out1, out2, out3}};
  int64_t traffic = 0;
  tprt_status status =
      tprt__gather_run(context, &context->current->program.sites[site], state, &buffers, &traffic);
  if (status)
    return fail_collective(context, site, status);
  count(context, state, &call, traffic);
  return TPRT_OK;
}

/* ---- Statistics ---- */

tprt_status tprt_context_site_stats(const tprt_context *context, int32_t site,
                                    tprt_site_stats *stats) {
  if (!context->current || site < 0 || site >= context->current->program.n_sites) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "the bound program has no site %d", site);
  }
  *stats = context->current->sites[site].stats;
  return TPRT_OK;
}

void tprt_context_reset_stats(tprt_context *context) {
  for (int i = 0; context->current && i < context->current->program.n_sites; i++) {
    context->current->sites[i].stats = (tprt_site_stats){.calls = 0};
  }
}
