/* What the host gives to the kernels of a program's sites (site_kernels.cu): reductions, moves and
 * contractions on buffers of a GPU and of its peers. No kernel waits for another; who launches them
 * makes the streams wait. The same layout in C and in CUDA. */
#ifndef TPRT_RUNTIME_CUDA_SITE_ARGS_H
#define TPRT_RUNTIME_CUDA_SITE_ARGS_H

#include <stdint.h>

enum {
  SITE_RANKS = 256, /* the most of a group: arguments of a kernel are at most 4 KiB */
  SITE_LOOPS = 32,
  SITE_THREADS = 256,
  SITE_VECTOR_BYTES = 16,
  SITE_TILE = 32,   /* rows and columns of C that a block of a contraction computes at a time */
  SITE_TILE_K = 16, /* of A and B that it has in shared memory */
};

/* out[i] = the reduction of source[k] over all k, in their order, in the accumulator type, rounded
 * once. out is dense; it is cut into runs, and in the sources the next run begins `step` elements
 * behind the one before. A source may be equal to out where run is equal to step. */
typedef struct site_reduce {
  uint64_t n;         /* elements of out */
  uint64_t run, step; /* elements; n is a multiple of run */
  uint32_t n_sources;
  uint32_t reduction; /* tprt_reduction */
  uint32_t vectors;   /* all addresses, run and step are multiples of SITE_VECTOR_BYTES */
  const void *source[SITE_RANKS];
  void *out;
} site_reduce;

/* Pieces of n words from the memory of others to that of this rank: see tprt__map. Block row y does
 * piece y. Words of 1 to 16 bytes. */
typedef struct site_move {
  uint64_t n;
  uint64_t send_run, recv_run;    /* words */
  uint32_t send_n, recv_n;        /* pieces in a tensor; 1: the piece is all of it */
  uint64_t limit;                 /* words of out: what would lie behind them is not moved */
  uint32_t send_index;            /* this rank's piece in the tensors of the others */
  const void *source[SITE_RANKS]; /* NULL: not to be moved */
  void *out;
} site_move;

typedef struct site_loop {
  int64_t size;
  int64_t stride[3]; /* elements, in A, B, C */
} site_loop;

/* What is done to a sum of floats before it is rounded. */
enum { SITE_NO_FUNCTION, SITE_RELU, SITE_GELU };

/* C = A B, or C += A B, summed over k and the inner loops, for each iteration of the outer ones:
 * see tprt__contraction. */
typedef struct site_contract {
  const void *a, *b;
  void *c;
  site_loop m, n, k;
  uint32_t n_outer, n_inner, overwrite;
  /* of the sum, with bias[n] where there is one; of f32, f16 and bf16 */
  uint32_t function;
  const void *bias;            /* NULL: none */
  site_loop loops[SITE_LOOPS]; /* the outer ones, then the inner ones */
} site_contract;

#endif
