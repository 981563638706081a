/* Runs collectives of programs on a GPU: in its streams if the backend supports that, else through
 * the host. */
#include "cuda/program/gpu_executor.h"

/* ---- Through the host: for backends that can only access host memory ---- */

tprt_status tprt__gpu_stage(tprt_context *context, int n, const size_t *bytes, void **parts) {
  size_t total = 0;
  for (int i = 0; i < n; i++)
    total += (bytes[i] + 63) / 64 * 64;
  if (total > tprt__gpu_of(context)->staging_bytes) {
    void *staging = tprt__alloc(total);
    if (!staging)
      return tprt__fail_memory(total);
    tprt__free(tprt__gpu_of(context)->staging);
    tprt__gpu_of(context)->staging = staging;
    tprt__gpu_of(context)->staging_bytes = total;
  }
  unsigned char *at = tprt__gpu_of(context)->staging;
  for (int i = 0; i < n; i++) {
    parts[i] = at;
    at += (bytes[i] + 63) / 64 * 64;
  }
  return TPRT_OK;
}

static tprt_status run_on_host(tprt_context *context, const tprt__site_state *state,
                               const void *send, void *recv) {
  const size_t bytes[2] = {(size_t)state->plan.send_bytes, (size_t)state->plan.recv_bytes};
  void *parts[2] = {NULL};
  tprt__graph_refuse(context, "its collectives go through host memory");
  if (context->status)
    return context->status;
  tprt_status status = tprt__gpu_stage(context, 2, bytes, parts);
  if (!status)
    status = tprt__gpu_download(tprt__gpu_of(context)->gpu, parts[0], send, bytes[0]);
  if (!status)
    status = tprt__site_collective(state, parts[0], parts[1]);
  return status ? status : tprt__gpu_upload(tprt__gpu_of(context)->gpu, recv, parts[1], bytes[1]);
}

/* ---- Collectives ---- */

/* Runs a collective in a group of one rank: the result is the input, or zeros for a permute without
 * a source. */
static tprt_status run_alone(tprt_context *context, const tprt__plan *plan) {
  if (plan->kind == TPRT_OP_PERMUTE && plan->source < 0)
    return tprt__gpu_zero(tprt__gpu_queue_of(context), plan->recv, plan->recv_bytes);
  return plan->recv == plan->send ? TPRT_OK
                                  : tprt__gpu_copy(tprt__gpu_of(context)->gpu, plan->recv,
                                                   plan->send, (size_t)plan->recv_bytes);
}

/* True if the collective runs in a stream. Otherwise it runs as a local copy in the programs'
 * stream, or on the host. */
static bool is_launched(const tprt__site_state *state) {
  return state->plan.n_ranks > 1 && tprt_comm_capabilities(state->comm) & TPRT_CAP_GPU_PROGRAMS;
}

static tprt_status launch(tprt_context *context, const tprt__site_state *state, void *stream,
                          const void *send, void *recv) {
  tprt__plan plan = state->plan;
  tprt_status status = tprt__plan_buffers(&plan, send, recv);
  plan.gpu = tprt__gpu_of(context)->gpu;
  plan.stream = stream;
  plan.captured = tprt__gpu_of(context)->captures;
  if (!status && plan.captured)
    status = tprt__comm_accept(state->comm, &plan, 1, false);
  if (status == TPRT_UNSUPPORTED) {
    tprt__graph_refuse(context, tprt_last_error());
    return context->status;
  }
  return status ? status
                : tprt__comm_launch(state->comm, &plan, 1,
                                    tprt__deadline(tprt__comm_timeout(state->comm)), NULL);
}

static tprt_status run_unlaunched(tprt_context *context, const tprt__site_state *state,
                                  const void *send, void *recv) {
  tprt__plan plan = state->plan;
  tprt_status status = tprt__plan_buffers(&plan, send, recv);
  if (status)
    return status;
  return plan.n_ranks == 1 ? run_alone(context, &plan) : run_on_host(context, state, send, recv);
}

/* A backend may process one collective at a time, so all ranks must run the collectives of a
 * program in one order, even with two streams. */
tprt_status tprt__gpu_await_started(tprt_context *context) {
  return tprt__gpu_of(context)->n_started > 0 ? tprt__gpu_await_all(tprt__gpu_of(context)->gpu)
                                              : TPRT_OK;
}

tprt_status tprt__gpu_collective(tprt_context *context, const tprt__site_state *state,
                                 const void *send, void *recv) {
  if (!is_launched(state))
    return run_unlaunched(context, state, send, recv);
  tprt_status status = tprt__gpu_await_started(context);
  return status ? status
                : launch(context, state, tprt__gpu_stream(tprt__gpu_of(context)->gpu), send, recv);
}

/* ---- Started collectives ---- */

tprt_status tprt__gpu_start(tprt_context *context, tprt__site_state *state, const void *send,
                            void *recv) {
  void *stream;
  if (!is_launched(state))
    return run_unlaunched(context, state, send, recv);
  tprt_status status = tprt__gpu_fork(tprt__gpu_of(context)->gpu, &stream);
  if (!status)
    status = launch(context, state, stream, send, recv);
  if (!status)
    status = tprt__gpu_mark(tprt__gpu_of(context)->gpu, &tprt__gpu_site_of(state)->ended);
  tprt__gpu_of(context)->n_started += !status;
  return status;
}

tprt_status tprt__gpu_wait(tprt_context *context, const tprt__site_state *state) {
  if (!is_launched(state))
    return TPRT_OK;
  tprt__gpu_of(context)->n_started--;
  return tprt__gpu_await(tprt__gpu_of(context)->gpu, tprt__gpu_site_of(state)->ended);
}
