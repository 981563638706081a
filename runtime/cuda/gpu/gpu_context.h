/* The GPU of a context of compiled programs: a stream, memory, and the kernels of programs. Used by
 * one thread at a time. */
#ifndef TPRT_RUNTIME_CUDA_GPU_CONTEXT_H
#define TPRT_RUNTIME_CUDA_GPU_CONTEXT_H

#include "comm/op.h"
#include "cpu/contract.h"

typedef struct tprt__gpu tprt__gpu;
typedef struct tprt__gpu_kernels tprt__gpu_kernels;

/* Creates the GPU state on `device`, the rank's device counted from 1. If `device` is 0, it is
 * chosen by tprt__device_choose, with the rank modulo the number of devices. */
tprt_status tprt__gpu_create(int rank, int device, tprt__gpu **gpu);
/* NULL is allowed, as in all functions below that free an object. */
void tprt__gpu_destroy(tprt__gpu *gpu);

tprt_status tprt__gpu_alloc(tprt__gpu *gpu, size_t bytes, void **memory);
void tprt__gpu_free(tprt__gpu *gpu, void *memory);

/* Enqueues a copy between buffers of the GPU. */
tprt_status tprt__gpu_copy(tprt__gpu *gpu, void *to, const void *from, size_t bytes);
/* Copy from and to the host. They are ordered after earlier work in the stream, and complete when
 * they return. */
tprt_status tprt__gpu_upload(tprt__gpu *gpu, void *to, const void *from, size_t bytes);
tprt_status tprt__gpu_download(tprt__gpu *gpu, void *to, const void *from, size_t bytes);
tprt_status tprt__gpu_synchronize(tprt__gpu *gpu);
/* Returns a CUstream. */
void *tprt__gpu_stream(const tprt__gpu *gpu);

/* Returns the device copy of a host constant. It is created on first use and freed with the GPU. */
tprt_status tprt__gpu_constant(tprt__gpu *gpu, const void *host, size_t bytes, void **memory);

/* Loads the kernels of a PTX module. */
tprt_status tprt__gpu_kernels_load(tprt__gpu *gpu, const char *ptx, tprt__gpu_kernels **kernels);
void tprt__gpu_kernels_free(tprt__gpu *gpu, tprt__gpu_kernels *kernels);
/* Enqueues kernel tp_kernelNUMBER; see tprt_abi_launch. */
tprt_status tprt__gpu_launch(tprt__gpu *gpu, tprt__gpu_kernels *kernels, int32_t number,
                             int64_t n_blocks, int32_t n_threads, const uint64_t *arguments,
                             int32_t n_arguments);

/* ---- a second stream, for collectives that run asynchronously ---- */

/* A position in that stream, a CUevent. */
typedef struct tprt__gpu_event tprt__gpu_event;

/* Returns that stream, a CUstream, which is created on first use. Its later work waits for the work
 * that the programs' stream has now. */
tprt_status tprt__gpu_fork(tprt__gpu *gpu, void **stream);
/* Marks the work that the second stream has now. If *mark is NULL it becomes a new event, which the
 * caller frees with tprt__gpu_mark_free; otherwise the event is reused. Call it after
 * tprt__gpu_fork. */
tprt_status tprt__gpu_mark(tprt__gpu *gpu, tprt__gpu_event **mark);
void tprt__gpu_mark_free(const tprt__gpu *gpu, tprt__gpu_event *mark);
/* Makes later work of the programs' stream wait for a mark, or for all current work of the second
 * stream. */
tprt_status tprt__gpu_await(tprt__gpu *gpu, const tprt__gpu_event *mark);
tprt_status tprt__gpu_await_all(tprt__gpu *gpu);

/* ---- collectives on the memory of ranks whose GPUs can access each other ---- */

/* A stream of a GPU, into which work is enqueued. */
typedef struct tprt__gpu_queue {
  tprt__gpu *gpu;
  void *stream;
} tprt__gpu_queue;

/* Makes later work in `behind` wait for the current work of `before`. The GPUs can access each
 * other's memory. */
tprt_status tprt__gpu_follow(tprt__gpu_queue behind, tprt__gpu_queue before);

/* Checks that there are kernels for an operation of a program. TPRT_UNSUPPORTED, with the reason,
 * if not. */
tprt_status tprt__gpu_accept(const tprt__plan *plan);
/* Makes later work in each stream wait for the current work of all streams. If the GPUs differ,
 * enables access to each other's memory; TPRT_UNSUPPORTED if two GPUs do not support it. */
tprt_status tprt__gpu_join_streams(const tprt__gpu_queue *queues, int n);

/* out[i] = the reduction of the n sources in order, rounded once. There are `count` elements. In
 * the sources, each run of `run` elements begins `step` elements after the previous one. A source
 * may be equal to out if it is one run. For TPRT_PREMUL_SUM, each source has a factor. */
typedef struct tprt__gpu_reduction {
  tprt_dtype dtype;
  tprt_reduction reduction;
  const void *const *sources;
  int n;
  void *out;
  int64_t count, run, step;
  int divisor;        /* of TPRT_AVG; 0: n */
  const void *scales; /* the factors, in memory of the GPU, of the type that sums up elements */
} tprt__gpu_reduction;
/* Loads the kernel for a reduction, which may wait for the GPU. TPRT_UNSUPPORTED if there are more
 * sources than a kernel can have. */
tprt_status tprt__gpu_load_reduction(tprt__gpu *gpu, tprt_dtype dtype, tprt_reduction reduction,
                                     int n_sources);
tprt_status tprt__gpu_reduce(tprt__gpu_queue queue, const tprt__gpu_reduction *reduction);

/* Copies piece `index` of each of the n sources, of `piece` bytes, to the piece of out with the
 * source's number, or to all of out if it has one piece. NULL sources are skipped. Bytes beyond
 * `limit` bytes of out are not copied. */
typedef struct tprt__gpu_move {
  const void *const *sources;
  int n, index;
  void *out;
  int64_t piece, limit;
  tprt__map send_map, recv_map;
} tprt__gpu_move;
tprt_status tprt__gpu_move_pieces(tprt__gpu_queue queue, const tprt__gpu_move *move);
/* Returns the driver's number of the device. */
int tprt__gpu_number(const tprt__gpu *gpu);
/* True if both are the same device. */
bool tprt__gpu_is_same(const tprt__gpu *a, const tprt__gpu *b);
/* Calls fn in the GPU's context. */
tprt_status tprt__gpu_together(tprt__gpu_queue queue, tprt_together_fn *fn,
                               const void *const *arguments, int n_ranks);
tprt_status tprt__gpu_zero(tprt__gpu_queue queue, void *memory, int64_t bytes);

/* ---- graphs: the work of the programs of n ranks, captured for repeated launches ---- */

typedef struct tprt__gpu_graph tprt__gpu_graph;

/* Loads the driver's functions for graphs. TPRT_UNSUPPORTED, with the reason, if they are missing.
 * Call it before all functions below. */
tprt_status tprt__gpu_graphs_load(void);
/* Begins a capture: later work in the streams of these GPUs, and in streams that wait for them, is
 * captured instead of executed. If it fails, nothing is captured. */
tprt_status tprt__gpu_capture_begin(tprt__gpu *const *gpus, int n);
/* Ends the capture for all of them. Free the graph with tprt__gpu_graph_free and the first GPU. If
 * this fails with TPRT_DEVICE, the capture has ended too. */
tprt_status tprt__gpu_capture_end(tprt__gpu *const *gpus, int n, tprt__gpu_graph **graph);
/* Discards the capture of this GPU's stream: ends it if it began there. Else the rank where it
 * began ends it, and this waits for that. */
void tprt__gpu_capture_abandon(tprt__gpu *gpu, int64_t timeout_ns);
/* Launches a graph after all current work of the streams; later work in the streams waits for
 * it. */
tprt_status tprt__gpu_graph_launch(tprt__gpu *const *gpus, int n, const tprt__gpu_graph *graph);
void tprt__gpu_graph_free(const tprt__gpu *first, tprt__gpu_graph *graph);

/* ---- contractions ---- */

/* Epilogue applied to each element of a product [m, n] before it is rounded: f(x + bias), with one
 * bias per column. */
typedef struct tprt__gpu_finish {
  uint32_t function; /* a tprt_cuda_epilogue that is no gradient */
  bool bias;
} tprt__gpu_finish;

/* Describes a contraction: `of` is the plan of its loops (see tprt__contraction_plan). Borrowed. */
typedef struct tprt__gpu_product {
  const tprt__contraction *of;
  int64_t n_loops;
  const tprt_abi_loop *loops;
  tprt_dtype factors[2]; /* the types of A and B; 0: that of C */
  /* NULL: none. Else the loops are those of tprt__matmul_loops */
  const tprt__gpu_finish *finish;
  bool tf32; /* cuBLASLt rounds operands of f32 to TF32 */
  int lane;  /* its place in tprt__gpu_contractions_run, from 0; else 0 */
} tprt__gpu_product;

/* A planned contraction. It runs with cuBLASLt if it is one GEMM of floats, or a few, and with a
 * kernel otherwise. TPRT_UNSUPPORTED if cuBLASLt is needed but not installed. */
typedef struct tprt__gpu_contraction tprt__gpu_contraction;
tprt_status tprt__gpu_contraction_plan(tprt__gpu *gpu, const tprt__gpu_product *product,
                                       tprt__gpu_contraction **contraction);
void tprt__gpu_contraction_free(tprt__gpu_contraction *contraction);
/* Enqueues it, on memory of the GPU. */
tprt_status tprt__gpu_contraction_run(tprt__gpu_queue queue,
                                      const tprt__gpu_contraction *contraction, const void *a,
                                      const void *b, void *c);
/* Memory of the GPU; bias is NULL if there is none. */
typedef struct tprt__gpu_operands {
  const void *a, *b, *bias;
  void *out;
} tprt__gpu_operands;
/* Enqueues n contractions, of lanes 0 to n - 1, that may run at the same time, after all current
 * work of the queue; its later work waits for all of them. */
tprt_status tprt__gpu_contractions_run(tprt__gpu_queue queue, int n,
                                       tprt__gpu_contraction *const *contractions,
                                       const tprt__gpu_operands *operands);
/* Like tprt__gpu_contraction_run, for a contraction with `finish`. `bias` is NULL if it has
 * none. */
tprt_status tprt__gpu_matmul_run(tprt__gpu_queue queue, const tprt__gpu_contraction *contraction,
                                 const void *a, const void *b, const void *bias, void *out);

/* ---- timed algorithms of contractions ---- */

typedef enum tprt__gpu_timing {
  TPRT__GPU_NOT_TIMED, /* the first choice of cuBLASLt */
  TPRT__GPU_CACHED,
  TPRT__GPU_MEASURED,
  TPRT__GPU_N_TIMINGS,
} tprt__gpu_timing;

/* An algorithm of cuBLASLt, opaque. */
enum { TPRT__ALGORITHM_WORDS = 8 };
typedef struct tprt__gpu_algorithm {
  tprt__gpu_timing how;
  uint64_t words[TPRT__ALGORITHM_WORDS];
} tprt__gpu_algorithm;

/* True if cuBLASLt computes the contraction. */
bool tprt__gpu_contraction_is_gemm(const tprt__gpu_contraction *contraction);
/* Finds the fastest algorithm of a contraction by cuBLASLt: in a file, or by measuring. It is not
 * timed if there is no writable cache folder or not enough memory for operands, or if the programs'
 * stream is captured. */
tprt_status tprt__gpu_algorithm_choose(tprt__gpu *gpu, const tprt__gpu_contraction *contraction,
                                       tprt__gpu_algorithm *algorithm);
/* Lets later runs of the contraction use this algorithm. TPRT_UNSUPPORTED if this GPU cannot. */
tprt_status tprt__gpu_contraction_use(tprt__gpu *gpu, tprt__gpu_contraction *contraction,
                                      const tprt__gpu_algorithm *algorithm);
/* Reads TPRT_TIMED_GEMM. */
tprt_status tprt__gpu_wants_timing(bool *wanted);
/* Returns a hash of cuBLASLt's version and of the kind of GPU; 0: no library. */
uint64_t tprt__gpu_gemm_library(const tprt__gpu *gpu);

/* ---- attention ---- */

typedef enum tprt__attention_kind {
  TPRT__ATTENTION,
  TPRT__ATTENTION_STATISTICS, /* with max and sum of its rows */
  TPRT__ATTENTION_GRADIENT,
} tprt__attention_kind;

/* A planned attention (tprt_abi_fused_attention) of queries of `dtype`, whose words have been
 * checked. Kernels of this library compute it until tprt__gpu_attention_use. TPRT_UNSUPPORTED if it
 * has more blocks than a grid. */
typedef struct tprt__gpu_attention tprt__gpu_attention;
tprt_status tprt__gpu_attention_plan(tprt__gpu *gpu, tprt__attention_kind kind, tprt_dtype dtype,
                                     const tprt_abi_fused_attention *words,
                                     tprt__gpu_attention **attention);
void tprt__gpu_attention_free(tprt__gpu_attention *attention);
/* True if there are no rows. */
bool tprt__gpu_attention_is_empty(const tprt__gpu_attention *attention);

/* What computes attentions. */
typedef enum tprt__gpu_maker {
  TPRT__GPU_BY_OWN, /* the kernels of this library */
  TPRT__GPU_BY_CUDNN,
  TPRT__GPU_N_MAKERS,
} tprt__gpu_maker;
/* Asks a maker. *has: it supports the attention; if not, the error text has the reason. */
tprt_status tprt__gpu_attention_offer(tprt__gpu_attention *attention, tprt__gpu_maker maker,
                                      bool *has);
/* Lets later runs use a maker, except on memory that it does not take, such as misaligned
 * addresses. TPRT_UNSUPPORTED if it does not support the attention. */
tprt_status tprt__gpu_attention_use(tprt__gpu_attention *attention, tprt__gpu_maker maker);
/* Finds the fastest maker of those that support the attention: in a file, or by measuring. It is
 * not timed if there is no writable cache folder or not enough memory for operands, or if the
 * programs' stream is captured; then *maker is TPRT__GPU_BY_OWN. */
tprt_status tprt__gpu_attention_choose(tprt__gpu_attention *attention, tprt__gpu_maker *maker,
                                       tprt__gpu_timing *how);
/* Reads TPRT_ATTENTION. */
typedef enum tprt__gpu_wish {
  TPRT__GPU_WISH_OWN,
  TPRT__GPU_WISH_CUDNN,
  TPRT__GPU_WISH_TIMED,
} tprt__gpu_wish;
tprt_status tprt__gpu_attention_wish(tprt__gpu_wish *wish);
/* Gives a hash of cuDNN's version and of the kind of GPU. TPRT_UNSUPPORTED, with the reason, if
 * there is no cuDNN. */
tprt_status tprt__gpu_attention_library(const tprt__gpu *gpu, uint64_t *library);

/* Memory of the GPU: tensors TPRT_ATTENTION_Q, ..., of which those that the attention does not have
 * are NULL. A gradient also has a workspace. */
typedef struct tprt__gpu_attention_buffers {
  const void *of[TPRT_ATTENTION_TENSORS];
  const void *position;
  float *workspace;
} tprt__gpu_attention_buffers;
/* Enqueues it into the programs' stream. */
tprt_status tprt__gpu_attention_run(tprt__gpu_queue queue, const tprt__gpu_attention *attention,
                                    const tprt__gpu_attention_buffers *buffers);

#endif
