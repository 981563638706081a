/* Arguments of the fused kernels, and the memory through which the ranks of a group signal each
 * other. Shared by the kernels, the launcher and the tests; the layout is the same in C and
 * CUDA. */
#ifndef TPRT_RUNTIME_CUDA_ARGS_H
#define TPRT_RUNTIME_CUDA_ARGS_H

#include <stdint.h>

enum {
  FUSED_RANKS = 8,       /* maximum per group */
  FUSED_CTAS = 256,      /* maximum per rank */
  FUSED_THREADS = 512,   /* maximum per CTA */
  FUSED_VALUES = 32,     /* maximum of a row in the registers of one thread */
  FUSED_FEW_VALUES = 16, /* the same for kernels of short rows */
  FUSED_WARP = 32,
  FUSED_GROUP = 128, /* elements that share a quantization scale */
  FUSED_STAGES = 2,  /* rounds of signals in a call */
  FUSED_ARRIVED = 0, /* the rank has begun the call: earlier work in its stream is complete */
  FUSED_WRITTEN = 1, /* the rank has completed its reads and writes */
};

/* Signals. Every rank has one such block, which all ranks can access. It is zeroed before first
 * use; after that only kernels access it.
 *
 * Calls are numbered from 1 by a counter in device memory, so that a captured graph can be
 * replayed. The kernel reads the counter, uses the next number as its epoch, and stores the epoch
 * in the counter. CTA b of rank r signals CTA b of rank d that it has reached a stage by storing
 * the epoch in d's flag[stage][b][r]. Flags are never reset: a waiter accepts any epoch that is not
 * older than its own, in arithmetic modulo 2^32. All ranks make the same calls with the same number
 * of CTAs.
 *
 * Why two staging buffers, used alternately, suffice: a rank's kernel of call k+1 begins after its
 * kernel of call k has ended, and no kernel ends before one of its CTAs has seen ARRIVED of all
 * ranks. So a rank that has ended call k+1 knows that all ranks have ended call k. */
typedef struct fused_signals {
  uint32_t flag[FUSED_STAGES][FUSED_CTAS][FUSED_RANKS];
  /* all equal between calls: the CTAs of a call each write a share of them */
  uint32_t epoch[FUSED_CTAS];
  uint32_t failure; /* epoch of the first call in which a wait gave up, or 0 */
} fused_signals;

typedef enum fused_algorithm { FUSED_PUSH = 1, FUSED_PULL = 2, FUSED_SLICES = 3 } fused_algorithm;

typedef enum fused_norm { FUSED_NO_NORM = 0, FUSED_RMS_NORM = 1, FUSED_LAYER_NORM = 2 } fused_norm;

typedef enum fused_quantize {
  FUSED_NO_QUANTIZE = 0,
  FUSED_STATIC = 1, /* by the given scale */
  FUSED_PER_TOKEN = 2,
  FUSED_PER_GROUP = 3,
} fused_quantize;

/* A reduction over the ranks with fused row epilogues. Vectors are 16 bytes. */
typedef struct fused_rows {
  uint64_t n_vectors; /* of the whole tensor */
  /* FUSED_SLICES: vectors of a block; otherwise one block is the whole tensor */
  uint64_t block_vectors;
  /* FUSED_SLICES: rank r owns vectors [r, r + 1) * slice_vectors of each block; else all vectors */
  uint64_t slice_vectors;
  /* vectors of a row; without norm and quantization, the last row of a slice may be shorter */
  uint32_t row_vectors;
  uint8_t algorithm;     /* fused_algorithm */
  uint8_t norm;          /* fused_norm */
  uint8_t quantize;      /* fused_quantize */
  uint8_t match_unfused; /* round after each step, as unfused kernels would */
  uint8_t divides;       /* quantized values are y / scale rather than y * (1 / scale) */
  /* Bits. FUSED_SHARDED_*, only with FUSED_SLICES: the tensor contains only the rank's slice, at
   * the start of its memory. FUSED_SENT_INPUT: the input contains this rank's slice from every
   * rank, one after the other. */
  uint8_t sharded;
  float epsilon;
  float least_largest; /* lower bound of the largest magnitude from which a scale is computed */
  float least_scale;   /* lower bound of a scale */
  /* one number; multiplied by it, quantized values give the real values */
  const float *static_scale;
  const void *bias;  /* one row; NULL: none */
  const void *gamma; /* one row; required by norms */
  const void *beta;  /* one row; NULL: none; layer norm only */
  /* Indexed by rank. A rank's own entries must be set; of symmetric arrays, all entries. */
  const void *input[FUSED_RANKS];    /* symmetric, except with FUSED_PUSH and FUSED_SENT_INPUT */
  const void *residual[FUSED_RANKS]; /* NULL: none */
  /* the sum before the norm; NULL: not stored; symmetric if written at all ranks */
  void *residual_out[FUSED_RANKS];
  void *out[FUSED_RANKS];       /* NULL: not stored; symmetric if written at all ranks */
  void *quantized[FUSED_RANKS]; /* f8e4m3; symmetric like out */
  /* one per token, or per group of a token; symmetric like out */
  float *scale[FUSED_RANKS];
} fused_rows;

enum { FUSED_SHARDED_RESIDUAL = 1, FUSED_SHARDED_OUT = 2, FUSED_SENT_INPUT = 4 };

/* Blocks of memory sent to peers: all-gather and all-to-all along any dimensions. Rank r's piece
 * for rank p begins at send[r] + p * piece and is stored at recv[p] + r * place, as a box of three
 * dimensions. Counts and steps are in vectors. */
typedef struct fused_exchange {
  uint64_t piece, place;
  /* of the two outer dimensions; the inner one is contiguous */
  uint64_t send_step[2], recv_step[2];
  uint32_t extent[3];
  const void *send[FUSED_RANKS];
  void *recv[FUSED_RANKS]; /* symmetric */
} fused_exchange;

/* Softmax cross-entropy of rows whose columns are split over the ranks, evenly and in order. */
typedef enum fused_step {
  /* one launch: the ranks exchange the partial results of rows through staging */
  FUSED_ALL_STEPS = 0,
  /* writes the partial results of the rank's columns, one vector per row, to `parts` */
  FUSED_PARTS = 1,
  /* reads the partial results of all column parts from `parts`, one part after the other, and no
   * logits */
  FUSED_FROM_PARTS = 2,
} fused_step;

typedef enum fused_pick {
  FUSED_LOGIT = 0,
  FUSED_LESS_LARGEST = 1,    /* logit - largest */
  FUSED_LOG_PROBABILITY = 2, /* logit - largest - log(sum) */
} fused_pick;

typedef struct fused_entropy {
  uint32_t n_rows;
  uint32_t row_vectors;         /* vectors of one part of the columns in a row */
  uint32_t n_parts, first_part; /* number of column parts; the part of rank 0 */
  uint8_t step;                 /* fused_step */
  uint8_t pick;                 /* fused_pick */
  uint8_t own;                  /* only picks from the rank's own columns */
  uint8_t finite;               /* sums are relative to 0 if the largest logit is infinite */
  uint8_t wide_target;          /* targets are int64_t, else int32_t */
  int64_t ignored;              /* rows with this target have loss 0 */
  const void *logits[FUSED_RANKS];
  /* The target column, counted over all parts; the loss is NaN for one that does not exist. NULL:
   * no target. */
  const void *target[FUSED_RANKS];
  void *parts[FUSED_RANKS];
  /* One number per row; NULL: not stored. */
  float *loss[FUSED_RANKS];
  float *log_sum[FUSED_RANKS]; /* logarithm of the sum of exponentials, for the gradient */
  float *largest[FUSED_RANKS];
  float *sum[FUSED_RANKS]; /* of exponentials relative to the largest logit */
  /* value of the target, as `pick` specifies; 0 if the target is not a column */
  float *picked[FUSED_RANKS];
} fused_entropy;

typedef struct fused_args {
  uint32_t n_ranks;
  uint32_t first_rank; /* added to blockIdx.y: a grid covers one rank, or all ranks */
  uint32_t spin_limit; /* polls before a wait gives up; 0: no limit */
  uint32_t skew_ns;    /* for tests: maximum pause of CTAs at every stage */
  fused_signals *signals[FUSED_RANKS];
  /* Two staging buffers per rank, the second turn_bytes after the first. turn_bytes is the same in
   * every call, whatever the slots are: a call must not write where the call before may still be
   * reading. The data from rank s to rank r is in slot s of staging[r]. */
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
