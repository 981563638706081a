/* Implements the calls of compiled programs: each checks the site, runs it with the context's
 * executor, and updates the counters. */
#include "program/executor.h"

void *tprt_abi_private(tprt_context *context) {
  return context->current ? context->current->private_block : NULL;
}
void *tprt_abi_registered(tprt_context *context) {
  return context->current ? context->current->registered : NULL;
}

int64_t tprt_abi_device(tprt_context *context) {
  return context->status ? 0 : tprt_comm_rank(context->world);
}

typedef enum site_class { COLLECTIVE, CONTRACTION, FUSED } site_class;

static site_class class_of(tprt_site_kind kind) {
  if (tprt__site_is_fused(kind))
    return FUSED;
  return kind == TPRT_SITE_CONTRACT ? CONTRACTION : COLLECTIVE;
}

/* Returns the state of a site. NULL if the program has no such site or its class is another one. */
static tprt__site_state *find_site(const tprt_context *context, int32_t site, site_class wanted) {
  const tprt__bound *current = context->current;
  if (!current || site < 0 || site >= current->program.n_sites)
    return NULL;
  return class_of(current->program.sites[site].kind) == wanted ? &current->sites[site] : NULL;
}

static int32_t fail_site(tprt_context *context, int32_t site, const char *what) {
  tprt__fail(TPRT_INVALID_ARGUMENT, "site %d of the bound program is not of kind %s", site, what);
  return tprt__context_fail(context, TPRT_INVALID_ARGUMENT, NULL);
}

/* Ends a call that began at call->begin_ns: updates the site's counters and the trace. A start and
 * its wait count as one call. */
static void count(tprt_context *context, tprt__site_state *state, tprt_call *call, int64_t bytes) {
  call->end_ns = tprt__now();
  call->what = context->current->program.sites[call->site].kind;
  state->stats.calls += call->kind != TPRT_CALL_START;
  state->stats.bytes += bytes;
  state->stats.seconds += (double)(call->end_ns - call->begin_ns) * 1e-9;
  call->bytes = bytes;
  if (context->trace.ring || context->trace.kept)
    tprt__trace_add(&context->trace, call);
}

/* Fails the context. If the site has a communicator, its fault may name another rank as the
 * cause. */
static int32_t fail_call(tprt_context *context, int32_t site, tprt_status status) {
  tprt__fail(status, "site %d: %s", site, tprt_last_error());
  return tprt__context_fail(context, status, context->current->sites[site].comm);
}

tprt_status tprt__site_collective(const tprt__site_state *state, const void *send, void *recv) {
  tprt__plan plan = state->plan;
  tprt_status status = tprt__plan_buffers(&plan, send, recv);
  if (!status)
    status = tprt__comm_submit(state->comm, &plan, tprt__deadline(tprt__comm_timeout(state->comm)));
  return status;
}

int32_t tprt_abi_collective(tprt_context *context, int32_t site, const void *send, void *recv) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, COLLECTIVE);
  if (!state)
    return fail_site(context, site, "collective");
  tprt_call call = {.kind = TPRT_CALL_RUN, .site = site, .begin_ns = tprt__now()};
  tprt_status status = context->executor->collective(context, state, send, recv);
  if (status)
    return fail_call(context, site, status);
  count(context, state, &call, state->plan.traffic);
  return TPRT_OK;
}

/* ---- Started collectives ---- */

int32_t tprt_abi_start(tprt_context *context, int32_t site, const void *send, void *recv) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, COLLECTIVE);
  if (!state)
    return fail_site(context, site, "collective");
  tprt_call call = {.kind = TPRT_CALL_START, .site = site, .begin_ns = tprt__now()};
  tprt_status status = state->started ? tprt__fail(TPRT_INVALID_ARGUMENT,
                                                   "it was already started and not waited for")
                                      : TPRT_OK;
  if (!status)
    status = context->executor->start(context, state, send, recv);
  if (status)
    return fail_call(context, site, status);
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
  tprt_call call = {.kind = TPRT_CALL_WAIT, .site = site, .begin_ns = tprt__now()};
  if (!state->started || state->send != send || state->recv != recv)
    return fail_call(context, site,
                     tprt__fail(TPRT_INVALID_ARGUMENT, "it was not started with these buffers"));
  state->started = false;
  tprt_status status = context->executor->wait(context, state, &call);
  if (status)
    return fail_call(context, site, status);
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
  tprt_call call = {.kind = TPRT_CALL_RUN, .site = site, .begin_ns = tprt__now()};
  tprt_status status =
      context->executor->contract(context, &context->current->program.sites[site], state, a, b, c);
  if (status)
    return fail_call(context, site, status);
  count(context, state, &call, 0);
  return TPRT_OK;
}

int32_t tprt_abi_fused(tprt_context *context, int32_t site, const void *const *inputs,
                       void *const *outputs) {
  if (context->status)
    return (int32_t)context->status;
  tprt__site_state *state = find_site(context, site, FUSED);
  if (!state)
    return fail_site(context, site, "fused site");
  tprt_call call = {.kind = TPRT_CALL_RUN, .site = site, .begin_ns = tprt__now()};
  int64_t traffic = 0;
  tprt_status status = context->executor->fused(context, &context->current->program.sites[site],
                                                state, inputs, outputs, &traffic);
  if (status)
    return fail_call(context, site, status);
  count(context, state, &call, traffic);
  return TPRT_OK;
}

/* ---- Statistics ---- */

tprt_status tprt_context_site_stats(const tprt_context *context, int32_t site,
                                    tprt_site_stats *stats) {
  TPRT__NEED(context);
  TPRT__NEED(stats);
  if (!context->current || site < 0 || site >= context->current->program.n_sites) {
    return tprt__fail(TPRT_INVALID_ARGUMENT, "the bound program has no site %d", site);
  }
  *stats = context->current->sites[site].stats;
  return TPRT_OK;
}

void tprt_context_reset_stats(tprt_context *context) {
  for (int i = 0; context && context->current && i < context->current->program.n_sites; i++) {
    context->current->sites[i].stats = (tprt_site_stats){.calls = 0};
  }
}
