/* Executors run the sites of a compiled program, on the host or on a GPU.
 *
 * A context has one executor for its lifetime. context.c and calls.c check arguments, update
 * counters, trace, and record failures. An executor binds sites, owns memory, and runs or enqueues
 * operations. All functions that return a status set the thread's error text on failure. */
#ifndef TPRT_RUNTIME_PROGRAM_EXECUTOR_H
#define TPRT_RUNTIME_PROGRAM_EXECUTOR_H

#include "program/context.h"

typedef struct tprt__executor {
  tprt_target target;
  const char *name; /* for messages, such as "the host" */
  /* True if operations may outlive the call that starts them. Then plans of permutes own their
   * lists of destinations. */
  bool is_asynchronous;
  /* Sets context->own. Owns nothing after a failure. */
  tprt_status (*create)(tprt_context *context, const tprt_context_config *config);
  /* Frees context->own. All programs are already unbound. */
  void (*destroy)(tprt_context *context);
  /* Prepares the context for programs. Collective; called before each program is bound. */
  tprt_status (*prepare)(tprt_context *context);
  /* See tprt_context_gemm. */
  const char *(*gemm)(const tprt_context *context);
  /* See tprt_context_attention. */
  const char *(*attention)(const tprt_context *context);
  /* Completes the state of a site. If the site communicates, its communicator and plan are already
   * set. */
  tprt_status (*bind_site)(tprt_context *context, const tprt__site *site, tprt__site_state *state);
  /* Frees the executor's state of a site. Also called for a site whose binding failed. */
  void (*unbind_site)(tprt_context *context, tprt__site_state *state);
  /* Allocates the private and the registered block. */
  tprt_status (*allocate)(tprt_context *context, tprt__bound *program);
  /* Frees both blocks and the executor's state of the program. */
  void (*release)(tprt_context *context, tprt__bound *program);
  tprt_status (*collective)(tprt_context *context, tprt__site_state *state, const void *send,
                            void *recv);
  tprt_status (*start)(tprt_context *context, tprt__site_state *state, const void *send,
                       void *recv);
  /* Sets call->ran_ns and call->ended_ns. */
  tprt_status (*wait)(tprt_context *context, tprt__site_state *state, tprt_call *call);
  /* Ends a started operation, if there is one, on communicators that have failed or will complete
   * it. */
  void (*abandon)(tprt__site_state *state);
  tprt_status (*contract)(tprt_context *context, const tprt__site *site,
                          const tprt__site_state *state, const void *a, const void *b, void *c);
  /* *traffic: the algorithmic bytes that this device sends. */
  tprt_status (*fused)(tprt_context *context, const tprt__site *site, tprt__site_state *state,
                       const void *const *inputs, void *const *outputs, int64_t *traffic);
} tprt__executor;

extern const tprt__executor tprt__host_executor;
extern const tprt__executor tprt__gpu_executor;

#endif
