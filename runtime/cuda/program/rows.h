/* Fused reductions and gathers of rows: what the files rows*.c and gather*.c share. */
#ifndef TPRT_RUNTIME_CUDA_PROGRAM_ROWS_H
#define TPRT_RUNTIME_CUDA_PROGRAM_ROWS_H

#include "cuda/gpu/gpu_peers.h"
#include "cuda/gpu/gpu_rows.h"
#include "cuda/program/gpu_executor.h"

/* The buffers of a call; NULL for what the site does not have. */
typedef struct tprt__rows_buffers {
  const void *input, *a, *b; /* the tensor, or the factors of a matmul */
  const void *residual, *bias, *gamma, *beta, *static_scale;
  void *residual_out, *out, *quantised, *scale;
} tprt__rows_buffers;

typedef struct tprt__gather_buffers {
  const void *input, *b[TPRT_MAX_MATMULS];
  void *gathered, *out[TPRT_MAX_MATMULS];
} tprt__gather_buffers;

/* How the ranks of a communicator run fused sites. */
typedef enum tprt__rows_mode {
  TPRT__ROWS_UNFUSED,    /* collectives, and a kernel of each rank alone */
  TPRT__ROWS_SHARED_GPU, /* one kernel for all ranks, which are virtual ones of one GPU */
  TPRT__ROWS_P2P,        /* a kernel on the GPU of each, which reaches those of the others */
} tprt__rows_mode;

enum { TPRT__WHY_BYTES = 256 };

/* A communicator, in a context. */
struct tprt__rows_group {
  struct tprt__rows_group *next;
  tprt_comm *comm;
  tprt__rows_mode mode;
  tprt__gpu_ranks *ranks;    /* shared GPU: of rank 0; else NULL */
  tprt__gpu_peers *peers;    /* peer-to-peer */
  char why[TPRT__WHY_BYTES]; /* unfused: why a faster mode is unavailable */
};

/* What a site makes of the sum, of the rows that out has. */
typedef enum tprt__rows_result {
  TPRT__ROWS_RESULT_OUT,
  TPRT__ROWS_RESULT_QUANTISED,
  TPRT__ROWS_RESULT_SCALE,
  TPRT__ROWS_RESULTS
} tprt__rows_result;

/* Of a site. */
struct tprt__rows_state {
  struct tprt__rows_group *group;
  tprt__rows_mode mode; /* that of the group, or unfused */
  char why[TPRT__WHY_BYTES];
  tprt__site_state
      /* TPRT_ROWS_GATHERED: of the slices of each; without plan for what there is not */
      gather[TPRT__ROWS_RESULTS];
  int64_t slice[TPRT__ROWS_RESULTS]; /* where these slices are in rows_room, behind the sum */
  int64_t room;                      /* bytes of it */
  /* of a site that multiplies, as it is done where it is not sliced */
  tprt__gpu_contraction *product;
  bool sliced; /* peer-to-peer: it is, on all ranks */
  /* then: a slice of all rows that a rank may have, and one of fewer; NULL: there is none */
  tprt__gpu_contraction *slices[2];
};

/* Of TPRT_SITE_FUSED_GATHER. */
struct tprt__gather_state {
  struct tprt__rows_group *group;
  tprt__rows_mode mode; /* that of the group, or unfused */
  char why[TPRT__WHY_BYTES];
  tprt__gpu_contraction *products[TPRT_MAX_MATMULS]; /* of all rows */
};

/* ---- rows.c ---- */
/* Collective over the communicator when it is first asked for. */
tprt_status tprt__rows_find_group(tprt_context *context, tprt_comm *comm,
                                  struct tprt__rows_group **group);
/* What kept a site from its way, with the thread's error text, is the reason for collectives,
 * unless the communicator failed of it. */
tprt_status tprt__rows_excuse(const tprt_comm *comm, tprt_status status, tprt__rows_mode *mode,
                              char why[TPRT__WHY_BYTES]);
/* Before a call between GPUs; a status where that is being captured and cannot be. */
tprt_status tprt__rows_begin_p2p(tprt_context *context);
/* Collective: what others read or fill, and what they store as results, has at least so many bytes.
 * The same status on all ranks. */
tprt_status tprt__rows_make_room_p2p(tprt_context *context, tprt__gpu_peers *peers,
                                     size_t input_bytes, size_t output_bytes);
/* Rows of each block; 0 where there are none. */
int64_t tprt__rows_block(const tprt__rows *rows);
/* Bytes of what a rank sums, or of its product: of whole slices for all ranks. */
tprt_status tprt__rows_input_bytes(const tprt__site *site, const tprt__site_state *state,
                                   int64_t *bytes);

/* ---- rows_results.c ---- */
/* Whether the site has it, and a rank's buffer for it. */
bool tprt__rows_has_result(const tprt__site *site, tprt__rows_result which);
void *tprt__rows_buffer(const tprt__rows_buffers *b, tprt__rows_result which);
/* Its type, and how many elements a row has of it. */
tprt_dtype tprt__rows_result_dtype(const tprt__site *site, tprt__rows_result which);
int64_t tprt__rows_result_width(const tprt__rows *rows, tprt__rows_result which);
/* Room of this rank alone: for the sum, and behind it for the slices that are gathered. */
tprt_status tprt__rows_plan_room(const tprt_context *context, const tprt__site *site,
                                 tprt__site_state *state);
/* All but the algorithm and what is of each rank. */
tprt_cuda_rows tprt__rows_describe(const tprt__site *site, const tprt__rows_buffers *b);

/* ---- rows_p2p.c ---- */
/* Room that all reach. Collective; the same status on all ranks. */
tprt_status tprt__rows_bind_p2p(tprt_context *context, const tprt__site *site,
                                const tprt__site_state *state);
/* Then, of a product: whether and how it is sliced. A failure is this rank's. */
tprt_status tprt__rows_bind_product_p2p(tprt_context *context, const tprt__site *site,
                                        const tprt__site_state *state);
tprt_status tprt__rows_run_p2p(tprt_context *context, const tprt__site *site,
                               const tprt__site_state *state, const tprt__rows_buffers *b);

/* ---- rows_slices.c ---- */
/* Whether slices of the left factor begin at multiples of 16 bytes, as all that cuBLASLt is
 * given. */
bool tprt__rows_has_slices(const tprt__site *site, int n_ranks);
/* The product, without a place for it. */
tprt_cuda_gemm tprt__rows_gemm(const tprt__site *site, const tprt__rows_buffers *b);
/* Of a product between GPUs: decides whether it is sliced, and says why if it is not. */
tprt_status tprt__rows_bind_slices(tprt_context *context, const tprt__site *site,
                                   const tprt__site_state *state);
void tprt__rows_unbind_slices(const struct tprt__rows_state *rows);
/* Reduces the product; `rows` has all but what is sent. */
tprt_status tprt__rows_multiply_p2p(tprt_context *context, const tprt__site *site,
                                    const tprt__site_state *state, const tprt__rows_buffers *b,
                                    tprt_cuda_rows *rows);

/* ---- gather.c ---- */
/* The rows, without buffers, and product i of them. */
tprt_cuda_gather tprt__gather_describe(const tprt__site *site);
tprt_cuda_gemm tprt__gather_gemm(const tprt__site *site, const tprt__gather_buffers *b, int i);
/* All at multiples of 16 bytes. */
bool tprt__gather_is_aligned(const tprt__gather_buffers *b);

/* ---- gather_p2p.c ---- */
tprt_status tprt__gather_run_p2p(tprt_context *context, const tprt__site *site,
                                 const tprt__site_state *state, const tprt__gather_buffers *b);

#endif
