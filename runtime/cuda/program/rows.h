/* Fused reductions and gathers of rows: types and functions shared by the files rows*.c and
 * gather*.c. */
#ifndef TPRT_RUNTIME_CUDA_PROGRAM_ROWS_H
#define TPRT_RUNTIME_CUDA_PROGRAM_ROWS_H

#include "cuda/gpu/gpu_peers.h"
#include "cuda/gpu/gpu_rows.h"
#include "cuda/program/gpu_executor.h"

/* The buffers of a call; NULL for operands that the site does not have. */
typedef struct tprt__rows_buffers {
  const void *input, *a, *b; /* input: the tensor; a and b: the factors of a matmul */
  const void *residual, *bias, *gamma, *beta, *static_scale;
  void *residual_out, *out, *quantized, *scale;
} tprt__rows_buffers;

typedef struct tprt__gather_buffers {
  const void *input, *b[TPRT_MAX_MATMULS];
  void *gathered, *out[TPRT_MAX_MATMULS];
} tprt__gather_buffers;

/* How the ranks of a communicator run fused sites. */
typedef enum tprt__rows_mode {
  TPRT__ROWS_UNFUSED,    /* collectives, and an epilogue kernel on each rank */
  TPRT__ROWS_SHARED_GPU, /* one kernel for all ranks, which are virtual ranks of one GPU */
  TPRT__ROWS_P2P,        /* one kernel per GPU, which accesses the memory of the others */
} tprt__rows_mode;

enum { TPRT__WHY_BYTES = 256 };

/* State of a communicator in a context. */
struct tprt__rows_group {
  struct tprt__rows_group *next;
  tprt_comm *comm;
  tprt__rows_mode mode;
  tprt__gpu_ranks *ranks;    /* shared GPU: set on rank 0 only; else NULL */
  tprt__gpu_peers *peers;    /* peer-to-peer: the exchange buffers; else NULL */
  char why[TPRT__WHY_BYTES]; /* unfused: why a faster mode is unavailable */
};

/* Results that a site computes from the reduced rows, other than the residual sum. */
typedef enum tprt__rows_result {
  TPRT__ROWS_RESULT_OUT,
  TPRT__ROWS_RESULT_QUANTIZED,
  TPRT__ROWS_RESULT_SCALE,
  TPRT__ROWS_RESULTS
} tprt__rows_result;

/* State of TPRT_SITE_FUSED_REDUCE. */
struct tprt__rows_state {
  struct tprt__rows_group *group;
  tprt__rows_mode mode; /* the group's mode, or unfused */
  char why[TPRT__WHY_BYTES];
  /* TPRT_ROWS_GATHERED: the all-gathers of the result slices; without a plan for absent results */
  tprt__site_state gather[TPRT__ROWS_RESULTS];
  /* offsets of these slices in rows_room, behind the reduced rows */
  int64_t slice[TPRT__ROWS_RESULTS];
  int64_t room; /* bytes needed in rows_room */
  /* the whole matmul, for calls that do not compute it in slices; NULL: no matmul */
  tprt__gpu_contraction *product;
  bool sliced; /* peer-to-peer: the matmul is computed in slices, on all ranks */
  /* if sliced: the matmul of a full slice, and of a last, shorter slice; NULL: there is none */
  tprt__gpu_contraction *slices[2];
};

/* State of TPRT_SITE_FUSED_GATHER. */
struct tprt__gather_state {
  struct tprt__rows_group *group;
  tprt__rows_mode mode; /* the group's mode, or unfused */
  char why[TPRT__WHY_BYTES];
  tprt__gpu_contraction *products[TPRT_MAX_MATMULS]; /* the matmuls of all gathered rows */
};

/* ---- rows.c ---- */
/* Finds or creates the state of a communicator. Collective over the communicator when it is
 * created. */
tprt_status tprt__rows_find_group(tprt_context *context, tprt_comm *comm,
                                  struct tprt__rows_group **group);
/* Handles the status of binding a site. If the communicator itself has failed, returns `status`.
 * Otherwise an error selects the unfused mode, with the thread's error text in `why`, and TPRT_OK
 * is returned. */
tprt_status tprt__rows_fall_back(const tprt_comm *comm, tprt_status status, tprt__rows_mode *mode,
                                 char why[TPRT__WHY_BYTES]);
/* Call it before each peer-to-peer call. Fails if a capture is in progress that cannot contain such
 * a call. */
tprt_status tprt__rows_begin_p2p(tprt_context *context);
/* Collective. Provides exchange buffers of at least these sizes, for inputs that other ranks access
 * and for results that they store. The status is the same on all ranks. */
tprt_status tprt__rows_reserve_p2p(tprt_context *context, tprt__gpu_peers *peers,
                                   size_t input_bytes, size_t output_bytes);
/* Returns the number of rows in each block; 0 if there are no blocks. */
int64_t tprt__rows_block(const tprt__rows *rows);
/* Computes the bytes of a rank's input (or matmul result), rounded up to slices of equal size for
 * all ranks. */
tprt_status tprt__rows_input_bytes(const tprt__site *site, const tprt__site_state *state,
                                   int64_t *bytes);

/* ---- rows_results.c ---- */
/* has_result: true if the site has this result. buffer: returns a rank's buffer for it. */
bool tprt__rows_has_result(const tprt__site *site, tprt__rows_result which);
void *tprt__rows_buffer(const tprt__rows_buffers *b, tprt__rows_result which);
/* Return the element type of a result, and its number of elements per row. */
tprt_dtype tprt__rows_result_dtype(const tprt__site *site, tprt__rows_result which);
int64_t tprt__rows_result_width(const tprt__rows *rows, tprt__rows_result which);
/* Plans rows_room: the reduced rows, then the result slices to be gathered. Also plans the
 * all-gathers of these slices. */
tprt_status tprt__rows_plan_scratch(const tprt_context *context, const tprt__site *site,
                                    tprt__site_state *state);
/* Describes a call, except for the algorithm, blocks, sharding, and the buffers that differ per
 * rank. */
tprt_cuda_rows tprt__rows_describe(const tprt__site *site, const tprt__rows_buffers *b);

/* ---- rows_p2p.c ---- */
/* Reserves exchange buffers that all ranks can access. Collective; the status is the same on all
 * ranks. */
tprt_status tprt__rows_bind_p2p(tprt_context *context, const tprt__site *site,
                                const tprt__site_state *state);
/* For a site with a matmul, call it afterwards: decides whether the matmul is computed in slices,
 * and plans them. A failure affects only this rank. */
tprt_status tprt__rows_bind_matmul_p2p(tprt_context *context, const tprt__site *site,
                                       const tprt__site_state *state);
tprt_status tprt__rows_run_p2p(tprt_context *context, const tprt__site *site,
                               const tprt__site_state *state, const tprt__rows_buffers *b);

/* ---- rows_slices.c ---- */
/* True if slices of the left factor begin at multiples of 16 bytes, as cuBLASLt requires here. */
bool tprt__rows_has_slices(const tprt__site *site, int n_ranks);
/* Describes the matmul, without the address of its result. */
tprt_cuda_gemm tprt__rows_gemm(const tprt__site *site, const tprt__rows_buffers *b);
/* Decides whether a peer-to-peer matmul is computed in slices, and plans these; if not, sets
 * `why`. */
tprt_status tprt__rows_bind_slices(tprt_context *context, const tprt__site *site,
                                   const tprt__site_state *state);
void tprt__rows_unbind_slices(const struct tprt__rows_state *rows);
/* Computes the matmul in slices and reduces it. `rows` describes the reduction, except for
 * input_sent. */
tprt_status tprt__rows_multiply_p2p(tprt_context *context, const tprt__site *site,
                                    const tprt__site_state *state, const tprt__rows_buffers *b,
                                    tprt_cuda_rows *rows);

/* ---- gather.c ---- */
/* describe: describes the gathered rows, without buffers. gemm: describes matmul i of them. */
tprt_cuda_gather tprt__gather_describe(const tprt__site *site);
tprt_cuda_gemm tprt__gather_gemm(const tprt__site *site, const tprt__gather_buffers *b, int i);
/* True if all buffers begin at multiples of 16 bytes. */
bool tprt__gather_is_aligned(const tprt__gather_buffers *b);

/* ---- gather_p2p.c ---- */
tprt_status tprt__gather_run_p2p(tprt_context *context, const tprt__site *site,
                                 const tprt__site_state *state, const tprt__gather_buffers *b);

#endif
