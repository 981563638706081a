/* Contexts of compiled programs: what the files abi*.c and trace.c share. */
#ifndef TPRT_RUNTIME_CONTEXT_H
#define TPRT_RUNTIME_CONTEXT_H

#include "comm/comm.h"
#include "cuda/gpu/gpu_context.h"
#include "cpu/gemm_choice.h"
#include "program/table.h"

/* ---- trace.c: what a program called and when ---- */

typedef enum tprt__call_kind { TPRT__CALL_RUN, TPRT__CALL_START, TPRT__CALL_WAIT } tprt__call_kind;

typedef struct tprt__call {
  tprt__call_kind kind;
  int32_t site;
  tprt_site_kind what;
  int64_t begin_ns, end_ns;
  int64_t ran_ns, ended_ns; /* of a wait: when the collective ran, in whatever thread */
} tprt__call;

/* The last calls of a context; off while ring is NULL. Belongs to the context's thread. */
typedef struct tprt__trace {
  const char *path;
  tprt__call *ring;
  uint64_t n_seen;
} tprt__trace;

/* Reads TPRT_TRACE. */
tprt_status tprt__trace_begin(tprt__trace *trace);
void tprt__trace_add(tprt__trace *trace, const tprt__call *call);
/* Writes the file, if there is one to be written, and frees. */
void tprt__trace_end(tprt__trace *trace, int rank, int n_ranks);

/* ---- contexts ---- */

typedef struct tprt__site_state {
  tprt_comm *comm;                    /* borrowed from the world; NULL for contractions */
  tprt__plan plan;                    /* without buffers */
  tprt__gpu_contraction *contraction; /* of a GPU */
  struct tprt__rows_state *rows;      /* of sites for which tprt__site_has_rows */
  struct tprt__gather_state *gather;  /* TPRT_SITE_GATHER_MULTIPLY */
  tprt_site_stats stats;
  bool started; /* and not waited for, with these buffers */
  const void *send;
  void *recv;
  tprt_work *work;        /* of the host: while started */
  tprt__gpu_event *ended; /* of a GPU: in the stream that it was started on; NULL: it never was */
  int64_t started_ns;
} tprt__site_state;

/* A program on a context. */
typedef struct tprt__bound {
  struct tprt__bound *next;
  tprt__program program;
  void *private_base, *registered; /* private_base is what to free */
  unsigned char *private_block;
  tprt__site_state *sites;
  const char *ptx; /* of a GPU: the text that `kernels` was made of */
  tprt__gpu_kernels *kernels;
} tprt__bound;

/* Memory of the GPU that sites of a context share, since it does one thing after the other. */
typedef struct tprt__room {
  void *memory;
  size_t bytes;
} tprt__room;

struct tprt_context {
  tprt_comm *world;
  tprt_status status;
  char error[512];
  tprt__bound *programs, *current;
  bool on_demand; /* what is started is done by who waits for it, not by a thread */
  tprt__trace trace;
  tprt__gemm_how gemm;
  tprt__gemm_choice gemm_choice; /* of this rank, until a program is bound; then of all */
  char gemm_text[512];           /* "" until then */
  size_t scratch_bytes;          /* of gemm.scratch */
  tprt__gpu *gpu;                /* NULL: programs run on the host */
  int n_started;                 /* sites that are, of the GPU */
  void *assert_word;             /* of the GPU; made when a program asserts something */
  void *staging;                 /* on the host, of what a GPU computes */
  size_t staging_bytes;
  struct tprt__rows_group *rows_groups; /* communicators in which rows are reduced */
  struct tprt__gpu_ranks *alone;        /* this rank, as a group */
  tprt__room rows_room, product_room, gathered_room;
  struct tprt__graphs *graphs, *calling; /* calling: the program that tprt_context_replay calls */
  bool captures;                         /* what it enqueues is captured */
};

/* ---- calls.c ---- */
/* The collective of a site on memory of the host. */
tprt_status tprt__site_collective(const tprt__site_state *state, const void *send, void *recv);

/* ---- gpu_program_collective.c; all of it is put into streams, unless the backend has no programs for
 * GPUs ---- */
/* The collective of a site: in the program's stream, behind what that and what was started have. */
tprt_status tprt__gpu_collective(tprt_context *context, const tprt__site_state *state,
                                 const void *send, void *recv);
/* The same in the stream beside it, behind what both have now; and what comes into the program's
 * stream from now on waits for that. */
tprt_status tprt__gpu_start(tprt_context *context, tprt__site_state *state, const void *send,
                            void *recv);
tprt_status tprt__gpu_wait(tprt_context *context, const tprt__site_state *state);
/* What comes into the program's stream from now on waits for all that was started. */
tprt_status tprt__gpu_await_started(tprt_context *context);

/* ---- gpu_executor.c ---- */
/* tprt_context_together, but no stream waits for another, fn is called with none and in no GPU's
 * context, and GPUs may differ. */
tprt_status tprt__gpu_gather(tprt_context *context, tprt_comm *comm, tprt_together_fn *fn,
                             const void *mine);

/* ---- program_graph.c ---- */
/* The program does something that cannot be captured. If it is being captured the context's status
 * is not TPRT_OK afterwards. */
void tprt__graph_refuse(tprt_context *context, const char *why);
/* Whether all ranks have one graph, since their streams wait for each other. */
bool tprt__graphs_are_shared(const tprt_context *context);
/* Drops what was captured, of all programs: they are captured again. Not while one is being
 * captured. */
void tprt__graphs_forget(tprt_context *context);
/* The same, and all that is known of programs. Not while one is called. */
void tprt__graphs_end(tprt_context *context);

/* ---- rows.c: TPRT_SITE_REDUCE_ROWS and the other kinds of rows ---- */
typedef struct tprt__rows_buffers {
  const void *input, *a, *b; /* the rows, or the factors whose product they are */
  const void *residual, *bias, *gamma, *beta, *static_scale;
  void *residual_out, *out, *quantised, *scale;
} tprt__rows_buffers;

/* Completes a state that has its group and the plan of its sum. */
tprt_status tprt__rows_bind(tprt_context *context, const tprt__site *site, tprt__site_state *state);
void tprt__rows_unbind(tprt__site_state *state);
void tprt__rows_end(tprt_context *context);
tprt_status tprt__rows_run(tprt_context *context, const tprt__site *site,
                           const tprt__site_state *state, const tprt__rows_buffers *buffers,
                           int64_t *traffic);
/* Whether kernels of this rank gave up waiting for those of others; waits for what it has
 * enqueued. */
tprt_status tprt__rows_look(const tprt_context *context);

/* Room on the GPU for so many bytes, context->rows_room, which the sites of a context share: it
 * does one thing after the other. And a group of this rank alone, context->alone. */
tprt_status tprt__rows_prepare(tprt_context *context, int64_t bytes);

/* At least so many bytes of room. */
tprt_status tprt__make_room(tprt_context *context, int64_t bytes, tprt__room *room);

/* ---- gather.c: TPRT_SITE_GATHER_MULTIPLY ---- */
typedef struct tprt__gather_buffers {
  const void *input, *b[TPRT_GATHER_MOST];
  void *gathered, *out[TPRT_GATHER_MOST];
} tprt__gather_buffers;

/* Completes a state that has its group and the plan of the all_gather. */
tprt_status tprt__gather_bind(tprt_context *context, const tprt__site *site,
                              tprt__site_state *state);
void tprt__gather_unbind(tprt__site_state *state);
tprt_status tprt__gather_run(tprt_context *context, const tprt__site *site,
                             const tprt__site_state *state, const tprt__gather_buffers *buffers,
                             int64_t *traffic);

/* ---- softmax.c: TPRT_SITE_SOFTMAX_ROWS ---- */
typedef struct tprt__softmax_buffers {
  const void *logits, *target;
  void *largest, *sum, *picked;
} tprt__softmax_buffers;

/* Completes a state that has its group and the plan of the gather. */
tprt_status tprt__softmax_bind(tprt_context *context, const tprt__site_state *state);
tprt_status tprt__softmax_run(tprt_context *context, const tprt__site *site,
                              const tprt__site_state *state, const tprt__softmax_buffers *buffers,
                              int64_t *traffic);

/* ---- abi.c ---- */
/* Whether the backend has the collective of a state, which has its group and plan, for GPUs; the
 * tensors are still to come. */
tprt_status tprt__bind_to_gpu(const tprt_context *context, tprt__site_state *state);
/* Ends what was started, on communicators that have failed or will complete it. The buffers are the
 * caller's afterwards. */
void tprt__end_started(tprt__bound *program);
/* Records the first failure (text: the thread's last error) and ends the operations of all peers.
 * `comm`, if not NULL, is where it happened: its fault names the culprit, which need not be this
 * rank. */
int32_t tprt__context_fail(tprt_context *context, tprt_status status, const tprt_comm *comm);

#endif
