/* What the host gives to a fused kernel, and the memory through which the ranks of a group speak.
 * Read by the kernels, by the launcher and by the tests; the same layout in C and in CUDA. */
#ifndef TPRT_RUNTIME_CUDA_ARGS_H
#define TPRT_RUNTIME_CUDA_ARGS_H

#include <stdint.h>

enum {
  FUSED_RANKS = 8,     /* the most of a group */
  FUSED_CTAS = 256,    /* the most of a rank */
  FUSED_THREADS = 512, /* the most of a CTA */
  FUSED_VALUES = 32,   /* of a row, in one thread's registers */
  FUSED_WARP = 32,
  FUSED_GROUP = 128, /* elements that share a scale of quantisation */
  FUSED_STAGES = 2,  /* rounds of signals in a call */
  FUSED_ARRIVED = 0, /* the rank has begun the call: what the stream did before is done */
  FUSED_WRITTEN = 1, /* the rank has read what it reads and written what it writes */
};

/* Signals. Every rank has one such block, which all can reach; zeroed before first use, then
 * touched by kernels only.
 *
 * Calls are numbered, from 1, by a counter in device memory, so that a captured graph can be
 * replayed: the kernel reads the counter, calls the number after it its epoch, and leaves the epoch
 * there. CTA b of rank r tells CTA b of rank d that it has reached a stage by storing the epoch in
 * d's flag[stage][b][r]. Flags are never reset; a waiter asks for epochs that are not older than
 * its own, in arithmetic modulo 2^32. All ranks make the same calls, with the same number of CTAs.
 *
 * Why nothing is overwritten too early: a rank's kernel of call k+1 begins when its kernel of call
 * k has ended, and no kernel ends before some CTA of it has seen ARRIVED of all ranks. So who has
 * ended call k+1 knows that all ranks have ended call k, and two staging buffers, used in turn, are
 * enough. */
typedef struct fused_signals {
  uint32_t flag[FUSED_STAGES][FUSED_CTAS][FUSED_RANKS];
  /* all equal between calls: each CTA of a call writes its share of them */
  uint32_t epoch[FUSED_CTAS];
  uint32_t failure; /* epoch of the first call in which a wait was given up, or 0 */
} fused_signals;

typedef enum fused_algorithm { FUSED_PUSH = 1, FUSED_PULL = 2, FUSED_SLICES = 3 } fused_algorithm;

typedef enum fused_norm { FUSED_NO_NORM = 0, FUSED_RMS_NORM = 1, FUSED_LAYER_NORM = 2 } fused_norm;

typedef enum fused_quantise {
  FUSED_NO_QUANTISE = 0,
  FUSED_STATIC = 1, /* by the scale that is given */
  FUSED_PER_TOKEN = 2,
  FUSED_PER_GROUP = 3,
} fused_quantise;

/* A reduction over the ranks and what happens to each row of the sum. Vectors are 16 bytes. */
typedef struct fused_rows {
  uint64_t n_vectors;     /* of the whole tensor */
  uint64_t block_vectors; /* FUSED_SLICES: the tensor is blocks of so many; else one block is all */
  /* FUSED_SLICES: rank r owns vectors [r, r + 1) * slice_vectors of each block; else all of them */
  uint64_t slice_vectors;
  /* of a row; without norm and quantisation the last of a slice may be shorter */
  uint32_t row_vectors;
  uint8_t algorithm;     /* fused_algorithm */
  uint8_t norm;          /* fused_norm */
  uint8_t quantise;      /* fused_quantise */
  uint8_t match_unfused; /* round after each step, as separate kernels would */
  uint8_t divides;       /* quantised values are y / scale, not y * (1 / scale) */
  /* bits, with FUSED_SLICES: which tensors have the rank's slice only, at the front of their
   * memory; of the input, that of every rank, one behind the other */
  uint8_t sharded;
  float epsilon;
  float least_largest;       /* scales are those of a largest magnitude that is no smaller */
  float least_scale;         /* and no smaller than this */
  const float *static_scale; /* one number, multiplies the quantised values to give the real ones */
  const void *bias;          /* one row, or NULL */
  const void *gamma;         /* one row; of norms */
  const void *beta;          /* one row, or NULL; of layer norm */
  /* By rank; a rank's own entries must be set. Symmetric: all entries must be. */
  const void *input[FUSED_RANKS];    /* symmetric, but with FUSED_PUSH and FUSED_SENT_INPUT */
  const void *residual[FUSED_RANKS]; /* NULL: none */
  /* the sum before the norm; NULL: not stored; symmetric if pushed */
  void *residual_out[FUSED_RANKS];
  void *out[FUSED_RANKS];       /* NULL: not stored; symmetric if pushed */
  void *quantised[FUSED_RANKS]; /* f8e4m3, symmetric if pushed */
  /* one per token, or per group of a token; symmetric if pushed */
  float *scale[FUSED_RANKS];
} fused_rows;

enum { FUSED_SHARDED_RESIDUAL = 1, FUSED_SHARDED_OUT = 2, FUSED_SENT_INPUT = 4 };

/* Blocks of memory to peers: all-gather and all-to-all along any dimensions. Rank r's piece for
 * rank p begins at send[r] + p * piece and goes to recv[p] + r * place, as a box of three
 * dimensions. Counts and steps in vectors. */
typedef struct fused_exchange {
  uint64_t piece, place;
  uint64_t send_step[2], recv_step[2]; /* of the two outer dimensions; the inner one is dense */
  uint32_t extent[3];
  const void *send[FUSED_RANKS];
  void *recv[FUSED_RANKS]; /* symmetric */
} fused_exchange;

/* Softmax cross entropy of rows whose columns are split over the ranks, evenly and in order. */
typedef enum fused_step {
  FUSED_ALL_STEPS = 0, /* the ranks exchange their parts of rows through staging */
  FUSED_PARTS = 1,     /* of the rank's columns: vectors, one a row, to `parts` */
  /* `parts` has those of all parts of the columns, one part behind the other; logits are not
   * read */
  FUSED_FROM_PARTS = 2,
} fused_step;

typedef enum fused_pick {
  FUSED_LOGIT = 0,
  FUSED_LESS_LARGEST = 1,    /* logit - largest */
  FUSED_LOG_PROBABILITY = 2, /* logit - largest - log(sum) */
} fused_pick;

typedef struct fused_entropy {
  uint32_t n_rows;
  uint32_t row_vectors;         /* of one part of the columns */
  uint32_t n_parts, first_part; /* of the columns; which part rank 0 has */
  uint8_t step;                 /* fused_step */
  uint8_t pick;                 /* fused_pick */
  uint8_t own;                  /* only picks of the rank's own columns */
  uint8_t finite;               /* sums are relative to 0 where the largest logit is infinite */
  uint8_t wide_target;          /* int64_t, else int32_t */
  int64_t ignored;              /* rows with this target have loss 0 */
  const void *logits[FUSED_RANKS];
  const void
      /* the column, counted over all parts; NaN is the loss of one that does not exist. NULL:
       * none */
      *target[FUSED_RANKS];
  void *parts[FUSED_RANKS];
  /* One number a row; NULL: not stored. */
  float *loss[FUSED_RANKS];
  float *log_sum[FUSED_RANKS]; /* log of the sum of exponentials, for the gradient */
  float *largest[FUSED_RANKS];
  float *sum[FUSED_RANKS];    /* of exponentials relative to the largest */
  float *picked[FUSED_RANKS]; /* of the target, as `pick` says; 0 where it is no column */
} fused_entropy;

typedef struct fused_args {
  uint32_t n_ranks;
  uint32_t first_rank; /* blockIdx.y counts from it: one rank a grid, or all ranks in one grid */
  uint32_t spin_limit; /* polls of a wait before it is given up; 0: none */
  uint32_t skew_ns;    /* for tests: CTAs pause up to so long at every stage */
  fused_signals *signals[FUSED_RANKS];
  /* Two staging buffers, the second turn_bytes behind the first in every call, whatever its slots
   * are: what one call writes must not lie where the call before is still being read. What rank s
   * sends to rank r lies in slot s of staging[r]. */
  unsigned char *staging[FUSED_RANKS];
  uint64_t turn_bytes;
  uint64_t slot_bytes;
  union {
    fused_rows rows;
    fused_exchange exchange;
    fused_entropy entropy;
  } of;
} fused_args;

#endif
