/* The executor of compiled programs on a GPU: what it keeps in a context, and what its files share.
 */
#ifndef TPRT_RUNTIME_CUDA_PROGRAM_GPU_EXECUTOR_H
#define TPRT_RUNTIME_CUDA_PROGRAM_GPU_EXECUTOR_H

#include "cuda/gpu/gpu_context.h"
#include "program/executor.h"

/* Memory of the GPU that all sites of a context share: it runs one thing at a time. */
typedef struct tprt__gpu_buffer {
  void *memory;
  size_t bytes;
} tprt__gpu_buffer;

/* Of a context. */
typedef struct tprt__gpu_state {
  tprt__gpu *gpu;
  int n_started;     /* sites that are started and not waited for */
  void *assert_word; /* of the GPU; allocated when a program asserts something */
  void *staging;     /* on the host, for collectives that run there */
  size_t staging_bytes;
  struct tprt__rows_group *rows_groups; /* communicators in which rows are reduced */
  struct tprt__gpu_ranks *alone;        /* this rank, as a group */
  tprt__gpu_buffer rows_room, product_room, gathered_room;
  struct tprt__graphs *graphs, *calling; /* calling: the program that tprt_context_replay calls */
  bool captures;                         /* calls are captured in a graph */
} tprt__gpu_state;

/* Of a program. */
typedef struct tprt__gpu_program {
  const char *ptx; /* the text of its kernels; NULL: it said nothing of kernels yet */
  tprt__gpu_kernels *kernels;
} tprt__gpu_program;

/* Of a site. */
typedef struct tprt__gpu_site {
  tprt__gpu_contraction *contraction; /* TPRT_SITE_CONTRACT and TPRT_SITE_FUSED_MATMUL */
  struct tprt__rows_state *rows;      /* TPRT_SITE_FUSED_REDUCE */
  struct tprt__gather_state *gather;  /* TPRT_SITE_FUSED_GATHER */
  tprt__gpu_event *ended;             /* in the side stream; NULL: it was never started */
} tprt__gpu_site;

/* NULL for a context of the host. */
static inline tprt__gpu_state *tprt__gpu_of(const tprt_context *context) {
  return context->executor == &tprt__gpu_executor ? context->own : NULL;
}
static inline tprt__gpu_site *tprt__gpu_site_of(const tprt__site_state *state) {
  return state->own;
}

/* The program's stream. */
static inline tprt__gpu_queue tprt__gpu_queue_of(const tprt_context *context) {
  tprt__gpu *gpu = tprt__gpu_of(context)->gpu;
  return (tprt__gpu_queue){gpu, tprt__gpu_stream(gpu)};
}

/* ---- gpu_executor.c ---- */
/* tprt_context_together, except that streams do not wait for each other, fn runs without a stream
 * and outside of any GPU's context, and the GPUs may differ. */
tprt_status tprt__gpu_gather(tprt_context *context, tprt_comm *comm, tprt_together_fn *fn,
                             const void *mine);
/* Whether the backend has the collective of a state, whose group and plan are set, for GPUs. */
tprt_status tprt__bind_to_gpu(const tprt_context *context, tprt__site_state *state);
/* Grows a shared buffer to at least so many bytes. */
tprt_status tprt__gpu_buffer_reserve(tprt_context *context, int64_t bytes,
                                     tprt__gpu_buffer *buffer);

/* ---- gpu_program_collective.c: in streams, unless the backend has no programs for GPUs ---- */
/* Runs the collective of a site in the program's stream, behind all that this stream and the side
 * stream have. */
tprt_status tprt__gpu_collective(tprt_context *context, const tprt__site_state *state,
                                 const void *send, void *recv);
/* Starts it in the side stream, behind all that both streams have. */
tprt_status tprt__gpu_start(tprt_context *context, tprt__site_state *state, const void *send,
                            void *recv);
/* What the program's stream gets from now on waits for a started site; for all started sites. */
tprt_status tprt__gpu_wait(tprt_context *context, const tprt__site_state *state);
tprt_status tprt__gpu_await_started(tprt_context *context);

/* ---- program_graph.c ---- */
/* Notes that the program does something that cannot be captured. During a capture this sets the
 * context's status. */
void tprt__graph_refuse(tprt_context *context, const char *why);
/* Whether all ranks share one graph, because their streams wait for each other. */
bool tprt__graphs_are_shared(const tprt_context *context);
/* Drops the captures of all programs, which are captured again. Not during a capture. */
void tprt__graphs_forget(tprt_context *context);
/* The same, and all that is known of programs. Not while one is called. */
void tprt__graphs_end(tprt_context *context);

/* ---- Fused sites: each kind has bind, which completes a state with a group and a plan, and run
 * ---- */
/* rows.c */
tprt_status tprt__rows_bind(tprt_context *context, const tprt__site *site, tprt__site_state *state);
void tprt__rows_unbind(tprt__gpu_site *site);
tprt_status tprt__rows_run(tprt_context *context, const tprt__site *site,
                           const tprt__site_state *state, const void *const *inputs,
                           void *const *outputs, int64_t *traffic);
/* Frees what the context has for all sites of rows. */
void tprt__rows_end(tprt_context *context);
/* Whether kernels of this rank gave up waiting for those of others; waits for what it enqueued. */
tprt_status tprt__rows_look(const tprt_context *context);
/* At least so many bytes of rows_room, and a group of this rank alone. */
tprt_status tprt__rows_prepare(tprt_context *context, int64_t bytes);

/* gather.c */
tprt_status tprt__gather_bind(tprt_context *context, const tprt__site *site,
                              tprt__site_state *state);
void tprt__gather_unbind(tprt__gpu_site *site);
tprt_status tprt__gather_run(tprt_context *context, const tprt__site *site,
                             const tprt__site_state *state, const void *const *inputs,
                             void *const *outputs, int64_t *traffic);

/* softmax.c */
tprt_status tprt__softmax_bind(tprt_context *context, const tprt__site *site,
                               tprt__site_state *state);
tprt_status tprt__softmax_run(tprt_context *context, const tprt__site *site,
                              const tprt__site_state *state, const void *const *inputs,
                              void *const *outputs, int64_t *traffic);

#endif
