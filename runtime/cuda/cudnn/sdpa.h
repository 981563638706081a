/* Attention by cuDNN ("scaled dot product attention"): what it supports, its graph and plans. */
#ifndef TPRT_RUNTIME_CUDA_SDPA_H
#define TPRT_RUNTIME_CUDA_SDPA_H

#include "cuda/cudnn/cudnn.h"
#include "tprt/abi.h"

/* Ids of the tensors that have memory, or that are values of the host. */
typedef enum sdpa_tensor {
  SDPA_Q,
  SDPA_K,
  SDPA_V,
  SDPA_OUT,
  SDPA_MAX,
  SDPA_SUM,
  SDPA_N_MEMORY,
  SDPA_SCALE = SDPA_N_MEMORY, /* f32 */
  SDPA_HIDDEN,                /* f32, the score of hidden columns */
  SDPA_ADDED,                 /* i32, added to the number of a row */
  SDPA_SUBTRACTED,            /* i32, then subtracted */
  SDPA_N_TENSORS,
} sdpa_tensor;

/* The dimensions of tensors that are no features. */
enum { SDPA_BATCH, SDPA_HEAD, SDPA_ROW, SDPA_N_STRIDES };

/* An attention as cuDNN has it: features are contiguous, and query head h uses head h / group of
 * keys and values. Addresses are multiples of 16. */
typedef struct tprt__sdpa {
  tprt_dtype dtype;                              /* f16 or bf16 */
  int64_t batch, heads, group;                   /* heads of queries */
  int64_t rows, columns, features, values;       /* features of queries and keys, and of values */
  int64_t stride[SDPA_N_MEMORY][SDPA_N_STRIDES]; /* in elements */
  float scale;
  bool causal;
  int64_t offset; /* row + offset is the last column that is not hidden */
  bool has_statistics;
} tprt__sdpa;

enum { SDPA_ALIGNMENT = 16 };

/* Describes a site for cuDNN. False if cuDNN has no such attention, or if it might treat NaN,
 * infinite numbers or hidden rows differently from the site:
 * - masks, dropout, caps, positions, and results of f32;
 * - causal masks that hide all columns of a row, or whose hidden scores are finite and above -1e30,
 *   so that they might count;
 * - scales that are not positive, whose largest score is not that of the largest product;
 * - layouts that are not four dimensions with contiguous features, or whose strides are no
 *   multiples of 16 bytes; statistics that are not dense. */
bool tprt__sdpa_of(tprt_dtype dtype, const tprt_abi_fused_attention *words, bool has_statistics,
                   tprt__sdpa *sdpa);

/* A causal mask whose last row sees the last column is written as cuDNN knows it: row + columns -
 * rows >= column. Others add their offset. */
static inline bool tprt__sdpa_ends_with_columns(const tprt__sdpa *sdpa) {
  return sdpa->causal && sdpa->offset != 0 && sdpa->offset == sdpa->columns - sdpa->rows;
}

/* ---- sdpa_graph.c ---- */

/* 56 of the graph, two heuristics, and for each engine that they name its settings, itself and a
 * plan. */
enum { SDPA_MOST_ENGINES = 16, SDPA_MOST_DESCRIPTORS = 64 + 6 * SDPA_MOST_ENGINES };

/* A graph of operations, with all descriptors it consists of. */
typedef struct tprt__sdpa_graph {
  const tprt__cudnn *cudnn;
  cudnn_descriptor parts[SDPA_MOST_DESCRIPTORS];
  int n_parts;
  cudnn_descriptor graph;
  tprt_status status; /* of the first call that failed, which has set the error text */
} tprt__sdpa_graph;

/* Makes the graph. `handle` may be NULL if there is no device. */
tprt_status tprt__sdpa_graph_make(const tprt__cudnn *cudnn, cudnn_handle handle,
                                  const tprt__sdpa *sdpa, tprt__sdpa_graph *graph);
/* Also frees what a failed make has left. */
void tprt__sdpa_graph_free(tprt__sdpa_graph *graph);

/* Creates a descriptor, which the graph frees; NULL after a failure. */
cudnn_descriptor tprt__sdpa_create(tprt__sdpa_graph *graph, int type);
/* Sets an attribute; nothing after a failure. */
void tprt__sdpa_set(tprt__sdpa_graph *graph, cudnn_descriptor descriptor, int attribute, int type,
                    int64_t n, const void *elements);
void tprt__sdpa_finalize(tprt__sdpa_graph *graph, cudnn_descriptor descriptor);

/* ---- sdpa_plan.c ---- */

/* A kernel of cuDNN that computes a graph. */
typedef struct tprt__sdpa_plan {
  tprt__sdpa of;
  tprt__sdpa_graph graph;
  cudnn_descriptor plan; /* is a part of the graph */
  int64_t workspace_bytes;
} tprt__sdpa_plan;

/* Lists engines with their settings that can compute the graph and always give the same bits; best
 * first, up to `most`, which is at most SDPA_MOST_ENGINES. They are parts of the graph. `device`
 * has the properties of a device in place of that of the handle; NULL: none. */
tprt_status tprt__sdpa_engines(tprt__sdpa_graph *graph, cudnn_descriptor device, int most,
                               cudnn_descriptor *configs, int *n);
/* Plans an attention with the first of them. Compiles and loads its kernel. TPRT_UNSUPPORTED, with
 * the reason, if cuDNN has none. */
tprt_status tprt__sdpa_plan_make(const tprt__cudnn *cudnn, cudnn_handle handle,
                                 const tprt__sdpa *sdpa, tprt__sdpa_plan *plan);
void tprt__sdpa_plan_free(tprt__sdpa_plan *plan);
/* Enqueues it into the stream of the handle. `memory`: tensors SDPA_Q, ..., in memory of the
 * GPU; without statistics the last two are not used. */
tprt_status tprt__sdpa_plan_run(cudnn_handle handle, const tprt__sdpa_plan *plan,
                                void *const memory[SDPA_N_MEMORY], void *workspace);

#endif
