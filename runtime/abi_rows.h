/* Sites of rows: what the files abi_rows*.c and abi_gather.c share. */
#ifndef TPRT_RUNTIME_ABI_ROWS_H
#define TPRT_RUNTIME_ABI_ROWS_H

#include "context.h"
#include "cuda/gpu_peers.h"
#include "cuda/gpu_rows.h"

/* How the ranks of a communicator do it. */
typedef enum tprt__rows_way {
  TPRT__ROWS_APART,    /* collectives, and a kernel of each rank alone */
  TPRT__ROWS_TOGETHER, /* one kernel for all ranks, which are virtual ones of one GPU */
  TPRT__ROWS_ACROSS,   /* a kernel on the GPU of each, which reaches those of the others */
} tprt__rows_way;

enum { TPRT__WHY_BYTES = 256 };

/* A communicator, in a context. */
struct tprt__rows_group {
  struct tprt__rows_group *next;
  tprt_comm *comm;
  tprt__rows_way way;
  tprt__gpu_ranks *ranks;    /* together: of rank 0; else NULL */
  tprt__gpu_peers *peers;    /* across */
  char why[TPRT__WHY_BYTES]; /* apart: what else there would be is not there */
};

/* Of a site. */
struct tprt__rows_state {
  struct tprt__rows_group *group;
  tprt__rows_way way; /* that of the group, or apart */
  char why[TPRT__WHY_BYTES];
  tprt__site_state gather;        /* TPRT_ROWS_GATHERED: of the slices of out */
  tprt__gpu_contraction *product; /* TPRT_SITE_MULTIPLY_ROWS, as it is done where it is not sliced */
};

/* ---- abi_rows.c ---- */
/* Collective over the communicator when it is first asked for. */
tprt_status tprt__rows_find_group(tprt_context *context, tprt_comm *comm, struct tprt__rows_group **group);
/* All but the algorithm and what is of each rank. */
tprt_cuda_rows tprt__rows_describe(const tprt__site *site, const tprt__rows_buffers *b);
/* Bytes of what a rank sums, or of its product: of whole slices for all ranks. */
tprt_status tprt__rows_input_bytes(const tprt__site *site, const tprt__site_state *state, int64_t *bytes);

/* ---- abi_rows_across.c ---- */
/* Collective; the same status on all ranks. */
tprt_status tprt__rows_bind_across(tprt_context *context, const tprt__site *site, const tprt__site_state *state);
tprt_status tprt__rows_run_across(tprt_context *context, const tprt__site *site, const tprt__site_state *state,
                                  const tprt__rows_buffers *b);

#endif
