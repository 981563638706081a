/* Executors: what runs the sites of a compiled program, on the host or on a GPU.
 *
 * A context has one executor for its lifetime. context.c and calls.c check arguments, count, trace
 * and record failures; an executor binds sites, owns memory and enqueues or runs. All functions
 * return a status with the thread's error text set. */
#ifndef TPRT_RUNTIME_PROGRAM_EXECUTOR_H
#define TPRT_RUNTIME_PROGRAM_EXECUTOR_H

#include "program/context.h"

typedef struct tprt__executor {
  tprt_target target;
  const char *name; /* "the host" */
  /* Operations may outlive the call that starts them: plans of permutes own their destinations. */
  bool is_asynchronous;
  /* Sets context->own. On failure nothing is left. */
  tprt_status (*create)(tprt_context *context, const tprt_context_config *config);
  /* Frees context->own; all programs are unbound by then. */
  void (*destroy)(tprt_context *context);
  /* Collective, before a program is bound. */
  tprt_status (*prepare)(tprt_context *context);
  /* Completes the state of a site, whose communicator and plan are set if it communicates. */
  tprt_status (*bind_site)(tprt_context *context, const tprt__site *site, tprt__site_state *state);
  /* Also of a site whose binding failed. */
  void (*unbind_site)(tprt_context *context, tprt__site_state *state);
  /* Allocates the private and the registered block. */
  tprt_status (*allocate)(tprt_context *context, tprt__bound *program);
  /* Frees both, and what the executor has of the program. */
  void (*release)(tprt_context *context, tprt__bound *program);
  tprt_status (*collective)(tprt_context *context, tprt__site_state *state, const void *send,
                            void *recv);
  tprt_status (*start)(tprt_context *context, tprt__site_state *state, const void *send,
                       void *recv);
  /* Sets call->ran_ns and call->ended_ns. */
  tprt_status (*wait)(tprt_context *context, tprt__site_state *state, tprt__call *call);
  /* Ends an operation that was started, on communicators that have failed or will complete it. */
  void (*abandon)(tprt__site_state *state);
  tprt_status (*contract)(tprt_context *context, const tprt__site *site,
                          const tprt__site_state *state, const void *a, const void *b, void *c);
  /* *traffic: algorithmic bytes that this device sends. */
  tprt_status (*fused)(tprt_context *context, const tprt__site *site, tprt__site_state *state,
                       const void *const *inputs, void *const *outputs, int64_t *traffic);
} tprt__executor;

extern const tprt__executor tprt__host_executor;
extern const tprt__executor tprt__gpu_executor;

#endif
