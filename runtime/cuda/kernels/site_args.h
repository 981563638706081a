/* Arguments of the kernels for the sites of programs (site_kernels.cu): reductions, moves and
 * contractions on buffers of a GPU and its peers. No kernel waits for another kernel; the launching
 * code makes the streams wait. The layout is the same in C and CUDA. */
#ifndef TPRT_RUNTIME_CUDA_SITE_ARGS_H
#define TPRT_RUNTIME_CUDA_SITE_ARGS_H

#include <stdint.h>

enum {
  SITE_RANKS = 256, /* maximum per group: kernel arguments have at most 4 KiB */
  SITE_LOOPS = 32,
  SITE_THREADS = 256,
  SITE_VECTOR_BYTES = 16,
  SITE_TILE = 32,   /* rows and columns of C that a block of a contraction computes at a time */
  SITE_TILE_K = 16, /* columns of A and rows of B in shared memory at a time */
};

/* out[i] = the reduction of source[k], times scales[k] if there are any, over all k, in order, in
 * the accumulator type, rounded once.
 * out is contiguous and divided into runs. In the sources, each run begins `step` elements after
 * the previous one. A source may be equal to out if run equals step. */
typedef struct site_reduce {
  uint64_t n;         /* elements of out */
  uint64_t run, step; /* elements; n is a multiple of run */
  uint32_t n_sources;
  uint32_t reduction;   /* tprt_reduction */
  uint32_t divisor;     /* of TPRT_AVG */
  uint32_t is_unsigned; /* integers, for TPRT_AVG */
  uint32_t vectors;     /* all addresses, run and step are multiples of SITE_VECTOR_BYTES */
  const void *source[SITE_RANKS];
  const void *scales; /* one per source, of the accumulator type; NULL: none */
  void *out;
} site_reduce;

/* Moves pieces of n words from the memory of other ranks to that of this rank; see tprt__map. Row y
 * of blocks moves piece y. Words have 1 to 16 bytes. */
typedef struct site_move {
  uint64_t n;
  uint64_t send_run, recv_run;    /* in words */
  uint32_t send_n, recv_n;        /* pieces in a tensor; 1: the piece is the whole tensor */
  uint64_t limit;                 /* in words of out; words beyond it are not moved */
  uint32_t send_index;            /* this rank's piece in the tensors of the others */
  const void *source[SITE_RANKS]; /* NULL: not moved */
  void *out;
} site_move;

typedef struct site_loop {
  int64_t size;
  int64_t stride[3]; /* in elements, in A, B and C */
} site_loop;

/* Function applied to a sum of floats before it is rounded. */
enum { SITE_NO_FUNCTION, SITE_RELU, SITE_GELU };

/* C = A B, or C += A B, summed over k and the inner loops, for each iteration of the outer loops;
 * see tprt__contraction. */
typedef struct site_contract {
  const void *a, *b;
  void *c;
  site_loop m, n, k;
  uint32_t n_outer, n_inner, overwrite;
  /* applied to the sum plus bias[n], if there is one; for f32, f16 and bf16 */
  uint32_t function;
  uint32_t a_is_e5m2, b_is_e5m2; /* of factors of f8: f8e5m2, else f8e4m3 */
  const void *bias;              /* NULL: none */
  site_loop loops[SITE_LOOPS];   /* the outer loops, then the inner loops */
} site_contract;

#endif
