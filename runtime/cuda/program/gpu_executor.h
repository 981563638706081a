/* The executor of compiled programs on a GPU: its state in a context, and the functions shared by
 * its files. */
#ifndef TPRT_RUNTIME_CUDA_PROGRAM_GPU_EXECUTOR_H
#define TPRT_RUNTIME_CUDA_PROGRAM_GPU_EXECUTOR_H

#include "cuda/gpu/gpu_context.h"
#include "program/executor.h"
#include "program/route.h"

/* GPU memory shared by all sites of a context, which run one at a time. */
typedef struct tprt__gpu_buffer {
  void *memory;
  size_t bytes;
} tprt__gpu_buffer;

/* Whether rank 0 chooses for all ranks. */
typedef enum tprt__choice_state {
  TPRT__CHOICE_NOT_WANTED,
  TPRT__CHOICE_SHARED,
  TPRT__CHOICE_NOT_ALL,    /* the ranks want different things */
  TPRT__CHOICE_NOT_SHARED, /* wanted, but the ranks' GPUs or libraries differ */
} tprt__choice_state;

/* The algorithms of matmuls. */
typedef struct tprt__gpu_timed {
  bool is_wanted, is_decided;
  tprt__choice_state state;
  int n[TPRT__GPU_N_TIMINGS]; /* contractions */
  char text[160];             /* in words; "": not wanted */
} tprt__gpu_timed;

/* The makers of attentions, without gradients. */
typedef struct tprt__gpu_attentions {
  tprt__gpu_wish wish;
  bool is_decided;
  tprt__choice_state state;
  int n, n_by[TPRT__GPU_N_MAKERS], n_timed[TPRT__GPU_N_TIMINGS];
  char failure[256]; /* of cuDNN, if it was only to be tried; "": none */
  char text[512];    /* in words; "": not wanted */
} tprt__gpu_attentions;

/* State of a context. */
typedef struct tprt__gpu_state {
  tprt__gpu *gpu;
  tprt__gpu_timed timed;
  tprt__gpu_attentions attentions;
  int n_started;     /* number of sites that are started and not yet waited for */
  void *assert_word; /* in GPU memory; allocated when a program contains an assertion */
  void *staging;     /* host memory, for collectives that run on the host */
  size_t staging_bytes;
  tprt__route_memory route;             /* for rows that routes send and receive */
  struct tprt__rows_group *rows_groups; /* communicators of fused reductions and gathers */
  struct tprt__gpu_ranks *alone;        /* a group of this rank only */
  /* rows_room: reduced rows and result slices of unfused sites, or softmax statistics.
   * product_room: matmul results to be reduced. gathered_room: gathered rows that are not a
   * result */
  tprt__gpu_buffer rows_scratch, matmul_scratch, gathered_scratch;
  /* calling: the program that tprt_context_replay is calling, or NULL */
  struct tprt__graphs *graphs, *calling;
  bool captures; /* a graph capture is in progress */
} tprt__gpu_state;

/* State of a program. */
typedef struct tprt__gpu_program {
  const char *ptx; /* PTX of its kernels; NULL until the program calls tprt_abi_kernels */
  tprt__gpu_kernels *kernels;
} tprt__gpu_program;

/* State of a site. */
typedef struct tprt__gpu_site {
  /* TPRT_SITE_CONTRACT and TPRT_SITE_FUSED_MATMUL: one; TPRT_SITE_FUSED_CONTRACTIONS */
  tprt__gpu_contraction *products[TPRT_MAX_MATMULS];
  tprt__gpu_attention *attention;    /* TPRT_SITE_FUSED_ATTENTION and its gradient */
  struct tprt__rows_state *rows;     /* TPRT_SITE_FUSED_REDUCE */
  struct tprt__gather_state *gather; /* TPRT_SITE_FUSED_GATHER */
  tprt__gpu_event *ended;            /* its end in the side stream; NULL: it was never started */
} tprt__gpu_site;

/* Returns the GPU state of a context; NULL for a context of the host. */
static inline tprt__gpu_state *tprt__gpu_of(const tprt_context *context) {
  return context->executor == &tprt__gpu_executor ? context->own : NULL;
}
static inline tprt__gpu_site *tprt__gpu_site_of(const tprt__site_state *state) {
  return state->own;
}

/* Returns the programs' stream. */
static inline tprt__gpu_queue tprt__gpu_queue_of(const tprt_context *context) {
  tprt__gpu *gpu = tprt__gpu_of(context)->gpu;
  return (tprt__gpu_queue){gpu, tprt__gpu_stream(gpu)};
}

/* ---- gpu_executor.c ---- */
/* Like tprt_context_together, except that the streams do not wait for each other, fn runs without a
 * stream and outside of any CUDA context, and the GPUs may differ. */
tprt_status tprt__gpu_gather(tprt_context *context, tprt_comm *comm, tprt_together_fn *fn,
                             const void *mine);
/* Checks that the backend supports the collective of a state, whose communicator and plan are set,
 * on GPU memory. */
tprt_status tprt__bind_to_gpu(const tprt_context *context, tprt__site_state *state);
/* Grows a shared buffer to at least `bytes` bytes. Its contents are lost. */
tprt_status tprt__gpu_buffer_reserve(tprt_context *context, int64_t bytes,
                                     tprt__gpu_buffer *buffer);

/* ---- shared_choice.c; collective over the world ---- */
/* Compares what the ranks want (0: nothing), and a hash of the library that they want it with. */
tprt_status tprt__choice_agree(tprt_context *context, uint64_t wanted, uint64_t library,
                               tprt__choice_state *state);
/* Gives all ranks the words of rank 0. */
tprt_status tprt__choice_share(tprt_context *context, uint64_t *words, size_t n);

/* ---- attention_choice.c ---- */
/* Decides, once, with all ranks who may compute attentions. */
tprt_status tprt__attention_prepare(tprt_context *context);
/* Makes an attention use the maker that rank 0 chooses. Collective over the world. */
tprt_status tprt__attention_bind(tprt_context *context, tprt__gpu_attention *attention);

/* ---- timed_gemms.c ---- */
/* Decides, once, with all ranks whether algorithms are timed. */
tprt_status tprt__timed_prepare(tprt_context *context);
/* If so, makes a contraction use the algorithm that rank 0 chooses. Collective over the world. */
tprt_status tprt__timed_bind(tprt_context *context, tprt__gpu_contraction *contraction);

/* ---- gpu_program_collective.c ---- */
/* Runs the collective of a site in the programs' stream, after all current work of this stream and
 * of the side stream. If the backend lacks TPRT_CAP_GPU_PROGRAMS, it runs through the host. */
tprt_status tprt__gpu_collective(tprt_context *context, const tprt__site_state *state,
                                 const void *send, void *recv);
/* Starts the collective in the side stream, after all current work of both streams. If the backend
 * lacks TPRT_CAP_GPU_PROGRAMS, it runs to its end through the host. */
tprt_status tprt__gpu_start(tprt_context *context, tprt__site_state *state, const void *send,
                            void *recv);
/* Make later work of the programs' stream wait for a started site, or for all started sites. */
tprt_status tprt__gpu_wait(tprt_context *context, const tprt__site_state *state);
tprt_status tprt__gpu_await_started(tprt_context *context);

/* ---- program_graph.c ---- */
/* Records that the program performs an operation that cannot be captured. During a capture this
 * also sets the context's status. */
void tprt__graph_refuse(tprt_context *context, const char *why);
/* True if all ranks share one graph, because their streams wait for each other. */
bool tprt__graphs_are_shared(const tprt_context *context);
/* Frees the graphs of all programs, which are then captured again. Not during a capture. */
void tprt__graphs_forget(tprt_context *context);
/* Frees the graphs and all other state of replayed programs. Not while a program is being
 * called. */
void tprt__graphs_end(tprt_context *context);

/* ---- Fused sites ---- */
/* Each kind has bind, which completes a state that has a communicator and a plan, and run, which
 * enqueues a call. */

/* gpu_products.c: contractions, in TPRT_SITE_CONTRACT and fused sites */
tprt_status tprt__product_bind(tprt_context *context, const tprt__site *site,
                               tprt__site_state *state);
tprt_status tprt__matmul_bind(tprt_context *context, const tprt__site *site,
                              tprt__site_state *state);
tprt_status tprt__matmul_run(tprt_context *context, const tprt__site *site,
                             const tprt__site_state *state, const void *const *inputs,
                             void *const *outputs, int64_t *traffic);
tprt_status tprt__products_bind(tprt_context *context, const tprt__site *site,
                                tprt__site_state *state);
tprt_status tprt__products_run(tprt_context *context, const tprt__site *site,
                               const tprt__site_state *state, const void *const *inputs,
                               void *const *outputs, int64_t *traffic);

/* rows.c */
tprt_status tprt__rows_bind(tprt_context *context, const tprt__site *site, tprt__site_state *state);
void tprt__rows_unbind(tprt__gpu_site *site);
tprt_status tprt__rows_run(tprt_context *context, const tprt__site *site,
                           const tprt__site_state *state, const void *const *inputs,
                           void *const *outputs, int64_t *traffic);
/* Frees the state that all fused sites of a context share. */
void tprt__rows_end(tprt_context *context);
/* Reports whether a kernel of this rank has given up waiting for the kernels of other ranks. Waits
 * for the enqueued work. */
tprt_status tprt__rows_check(const tprt_context *context);
/* Provides at least `bytes` bytes in rows_room, and the group of this rank only. */
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

/* ---- gpu_program_collective.c ---- */

/* Provides host memory for n parts of these sizes, each aligned to 64 bytes. All calls share it. */
tprt_status tprt__gpu_stage(tprt_context *context, int n, const size_t *bytes, void **parts);

/* ---- gpu_route.c ---- */

tprt_status tprt__gpu_route_run(tprt_context *context, const tprt__site *site,
                                const tprt__site_state *state, const void *const *inputs,
                                void *const *outputs, int64_t *traffic);

#endif
