/* What a context of compiled programs has of a GPU: a stream, memory, and the kernels of programs.
 * One thread at a time. */
#ifndef TPRT_RUNTIME_CUDA_GPU_CONTEXT_H
#define TPRT_RUNTIME_CUDA_GPU_CONTEXT_H

#include "comm/op.h"
#include "cpu/contract.h"

typedef struct tprt__gpu tprt__gpu;
typedef struct tprt__gpu_kernels tprt__gpu_kernels;

/* On the device that the rank's communicator has, counted from 1; if that is 0, on that of
 * TPRT_DEVICE, the thread's current one, or that of the rank's number modulo their number. */
tprt_status tprt__gpu_create(int rank, int device, tprt__gpu **gpu);
/* NULL is allowed, as everywhere below where something is freed. */
void tprt__gpu_destroy(tprt__gpu *gpu);

tprt_status tprt__gpu_alloc(tprt__gpu *gpu, size_t bytes, void **memory);
void tprt__gpu_free(tprt__gpu *gpu, void *memory);

/* Between buffers of the GPU: enqueued. */
tprt_status tprt__gpu_copy(tprt__gpu *gpu, void *to, const void *from, size_t bytes);
/* From and to the host: done when they return, behind what was enqueued before. */
tprt_status tprt__gpu_upload(tprt__gpu *gpu, void *to, const void *from, size_t bytes);
tprt_status tprt__gpu_download(tprt__gpu *gpu, void *to, const void *from, size_t bytes);
tprt_status tprt__gpu_synchronize(tprt__gpu *gpu);
/* A CUstream. */
void *tprt__gpu_stream(const tprt__gpu *gpu);

/* The copy of a constant of the host's, made when it is first asked for and freed with the GPU. */
tprt_status tprt__gpu_constant(tprt__gpu *gpu, const void *host, size_t bytes, void **memory);

/* The kernels of a module of PTX. */
tprt_status tprt__gpu_kernels_load(tprt__gpu *gpu, const char *ptx, tprt__gpu_kernels **kernels);
void tprt__gpu_kernels_free(tprt__gpu *gpu, tprt__gpu_kernels *kernels);
/* Enqueues tp_kernelNUMBER; see tprt_abi_launch. */
tprt_status tprt__gpu_launch(tprt__gpu *gpu, tprt__gpu_kernels *kernels, int32_t number,
                             int64_t n_blocks, int32_t n_threads, const uint64_t *arguments,
                             int32_t n_arguments);

/* ---- A stream beside that of the programs, for collectives that are started ---- */

/* A place in that stream, a CUevent. */
typedef struct tprt__gpu_event tprt__gpu_event;

/* That stream, a CUstream, which is made when it is first asked for: what comes into it next waits
 * for what the programs' stream has. */
tprt_status tprt__gpu_fork(tprt__gpu *gpu, void **stream);
/* Marks what that stream has by now; NULL is replaced by an event, to be freed with
 * tprt__gpu_mark_free, any other is used again. After a fork. */
tprt_status tprt__gpu_mark(tprt__gpu *gpu, tprt__gpu_event **mark);
void tprt__gpu_mark_free(const tprt__gpu *gpu, tprt__gpu_event *mark);
/* What comes into the programs' stream next waits for a mark, or for all that the other stream has
 * by now. */
tprt_status tprt__gpu_await(tprt__gpu *gpu, const tprt__gpu_event *mark);
tprt_status tprt__gpu_await_all(tprt__gpu *gpu);

/* ---- Collectives, as operations on the memory of ranks whose GPUs reach each other's ---- */

/* Where something is put: a stream of a GPU. */
typedef struct tprt__gpu_queue {
  tprt__gpu *gpu;
  void *stream;
} tprt__gpu_queue;

/* What comes into the one next waits for what the other has. The GPUs reach each other's memory. */
tprt_status tprt__gpu_follow(tprt__gpu_queue behind, tprt__gpu_queue before);

/* Whether there are kernels for an operation of a program; TPRT_UNSUPPORTED with the reason. */
tprt_status tprt__gpu_accept(const tprt__plan *plan);
/* What comes into any of the streams next waits for all that any of them has. Where the GPUs differ
 * they are made to reach each other's memory; TPRT_UNSUPPORTED where two cannot. */
tprt_status tprt__gpu_meet(const tprt__gpu_queue *queues, int n);

/* out[i] = the reduction of the n sources, in their order, rounded once; `count` elements, of which
 * in the sources `step` elements are from one run of `run` to the next. A source may be equal to
 * out where it is one run. */
typedef struct tprt__gpu_reduction {
  tprt_dtype dtype;
  tprt_reduction reduction;
  const void *const *sources;
  int n;
  void *out;
  int64_t count, run, step;
} tprt__gpu_reduction;
tprt_status tprt__gpu_reduce(tprt__gpu_queue queue, const tprt__gpu_reduction *reduction);

/* Piece `index` of each of the n sources, of `piece` bytes, to the piece of out with the source's
 * number, or to all of out; NULL: a source of which there is nothing. What would lie behind `limit`
 * bytes of out is left out. */
typedef struct tprt__gpu_move {
  const void *const *sources;
  int n, index;
  void *out;
  int64_t piece, limit;
  tprt__map send_map, recv_map;
} tprt__gpu_move;
tprt_status tprt__gpu_move_pieces(tprt__gpu_queue queue, const tprt__gpu_move *move);
/* The driver's number of the device. */
int tprt__gpu_number(const tprt__gpu *gpu);
/* Whether two are the same device. */
bool tprt__gpu_is_same(const tprt__gpu *a, const tprt__gpu *b);
/* Calls fn in the context of the GPU. */
tprt_status tprt__gpu_together(tprt__gpu_queue queue, tprt_together_fn *fn,
                               const void *const *arguments, int n_ranks);
tprt_status tprt__gpu_zero(tprt__gpu_queue queue, void *memory, int64_t bytes);

/* ---- Graphs: what the programs of n ranks put into their streams, to be launched again ---- */

typedef struct tprt__gpu_graph tprt__gpu_graph;

/* Loads what the driver has for them; TPRT_UNSUPPORTED with the reason. Before all below. */
tprt_status tprt__gpu_graphs_load(void);
/* From here on what comes into the streams of these GPUs, and those that wait for them, is captured
 * and not done. */
tprt_status tprt__gpu_capture_begin(tprt__gpu *const *gpus, int n);
/* The end, for all of them; to be freed with the first. The capture has ended also where this fails
 * with TPRT_DEVICE. */
tprt_status tprt__gpu_capture_end(tprt__gpu *const *gpus, int n, tprt__gpu_graph **graph);
/* Ends a capture that is of no use. */
void tprt__gpu_capture_abandon(tprt__gpu *first);
/* Behind what all streams have; what comes into them next waits for it. */
tprt_status tprt__gpu_graph_launch(tprt__gpu *const *gpus, int n, const tprt__gpu_graph *graph);
void tprt__gpu_graph_free(const tprt__gpu *first, tprt__gpu_graph *graph);

/* ---- Contractions ---- */

/* What is done to each element of a product [m, n] before it is rounded: f(x + bias), a bias for
 * each column. */
typedef struct tprt__gpu_finish {
  uint32_t function; /* tprt_cuda_epilogue, no gradient */
  bool bias;
} tprt__gpu_finish;

/* A contraction of a site, which `of` and `loops` describe (see tprt__contraction_plan), as the GPU
 * does it: by cuBLASLt where it is one product of matrices of f32, f16 or bf16, or a few, else by a
 * kernel. TPRT_UNSUPPORTED where cuBLASLt would be needed and is not installed. With `finish`
 * (NULL: none), which is copied, it is that of tprt__matmul_loops. */
typedef struct tprt__gpu_contraction tprt__gpu_contraction;
tprt_status tprt__gpu_contraction_plan(tprt__gpu *gpu, const tprt__contraction *of, int64_t n_loops,
                                       const tprt_abi_loop *loops, const tprt__gpu_finish *finish,
                                       tprt__gpu_contraction **contraction);
void tprt__gpu_contraction_free(tprt__gpu_contraction *contraction);
/* Enqueues it, on memory of the GPU. */
tprt_status tprt__gpu_contraction_run(tprt__gpu_queue queue,
                                      const tprt__gpu_contraction *contraction, const void *a,
                                      const void *b, void *c);
/* The same of one with a finish; bias is NULL where it has none. */
tprt_status tprt__gpu_product_run(tprt__gpu_queue queue, const tprt__gpu_contraction *contraction,
                                  const void *a, const void *b, const void *bias, void *out);

#endif
