/* Arguments of the attention kernels (attention_kernels.cu) and of those of its gradient
 * (attention_gradient_kernels.cu). The layout is the same in C and CUDA. */
#ifndef TPRT_RUNTIME_CUDA_ATTENTION_ARGS_H
#define TPRT_RUNTIME_CUDA_ATTENTION_ARGS_H

#include <stdint.h>

enum {
  ATTENTION_OUTER = 4,
  ATTENTION_FEATURES = 128, /* most features of a query, a key or a value */
  ATTENTION_THREADS = 128,
  ATTENTION_PARTIAL = 3, /* numbers of a part of a row, beside its values */
  /* rows and columns of scores that a block has at a time, without and with tensor cores */
  ATTENTION_ROWS = 32,
  ATTENTION_COLUMNS = 32,
  ATTENTION_MMA_ROWS = 64,
  ATTENTION_MMA_COLUMNS = 64,
  /* with the tensor cores of sm_90: two groups of four warps have 64 rows each, and a third one
   * fetches tiles */
  ATTENTION_WGMMA_GROUPS = 2,
  ATTENTION_WGMMA_ROWS = 64 * ATTENTION_WGMMA_GROUPS,
  ATTENTION_WGMMA_COLUMNS = 128,
  ATTENTION_WGMMA_THREADS = 128 * (ATTENTION_WGMMA_GROUPS + 1),
};

/* Bytes of shared memory of the kernel for sm_90: queries, and two tiles of keys and of values,
 * each from a multiple of 1024 bytes on. `features` is a multiple of 64. */
#define ATTENTION_WGMMA_SHARED(features)                                                           \
  (1024 + 2 * (features) * (ATTENTION_WGMMA_ROWS + 4 * ATTENTION_WGMMA_COLUMNS))

/* Bytes of shared memory of the kernels of the gradient. Without tensor cores: four tiles of f32,
 * weights and gradients of scores. With them: four tiles of 16-bit elements, whose rows are 16
 * bytes apart. */
#define ATTENTION_GRADIENT_SHARED                                                                  \
  (4 *                                                                                             \
   (4 * ATTENTION_ROWS * (ATTENTION_FEATURES + 1) + 2 * ATTENTION_ROWS * (ATTENTION_COLUMNS + 1)))
#define ATTENTION_GRADIENT_MMA_SHARED(features) (2 * 4 * ATTENTION_MMA_ROWS * ((features) + 8))

/* The tensors of an attention, as indices of strides. */
enum {
  ATTENTION_Q,
  ATTENTION_K,
  ATTENTION_V,
  ATTENTION_MASK,
  ATTENTION_DROPOUT,
  ATTENTION_OUT,
  ATTENTION_MAX, /* of each row, f32; likewise the next one */
  ATTENTION_SUM,
  ATTENTION_GRADIENT, /* of the result */
  ATTENTION_GRADIENT_Q,
  ATTENTION_GRADIENT_K,
  ATTENTION_GRADIENT_V,
  ATTENTION_TENSORS,
};

/* What an element of the mask does to its score. */
typedef enum attention_mask {
  ATTENTION_NO_MASK,
  ATTENTION_KEEP,    /* a byte: 0 hides the score */
  ATTENTION_HIDE,    /* a byte: other than 0 hides the score */
  ATTENTION_ADD,     /* an element of the type of the queries */
  ATTENTION_ADD_F32, /* an f32 */
} attention_mask;

/* What an element of the dropout does to its weight, beside dropout_scale. */
typedef enum attention_dropout {
  ATTENTION_NO_DROPOUT,
  ATTENTION_KEEP_WEIGHT,  /* a byte: 0 drops the weight */
  ATTENTION_DROP_WEIGHT,  /* a byte: other than 0 drops the weight */
  ATTENTION_MULTIPLY,     /* an element of the type of the queries */
  ATTENTION_MULTIPLY_F32, /* an f32 */
} attention_dropout;

/* A loop of size 1 stands for none. */
typedef struct attention_loop {
  int64_t size;
  int64_t stride[ATTENTION_TENSORS]; /* in elements; 0: the tensor lacks this dimension */
} attention_loop;

/* For each iteration of the outer loops and each row of each member of the group:
 *
 *     score[column] = scale * sum(q[row][feature] * k[column][feature]) + mask[row][column]
 *     out[row] = sum(exp(score[column] - largest) * v[column]) / sum(exp(score[column] - largest))
 *
 * where the score of a hidden column is `hidden`. With `cap`, cap * tanh(x / cap) takes the place
 * of the scaled product x (soft cap). With `causal`, columns beyond row + offset + *position are
 * hidden. A row whose scores are all -infinity is 0/0, NaN, or 0 with `zeroes_hidden`. With
 * `dropout`, values are multiplied by weights times dropout_scale and the elements of the dropout:
 * numbers, or 0 for dropped weights and 1 for others. The divisor is that of all weights. With
 * `zeroes_dropped` dropped weights are 0 also where they are NaN.
 *
 * With `max` and `sum`, they receive the largest score and the sum of exponentials of each row.
 * (Their one number max + log(sum) would lose the sum where all scores of a row are hidden by a
 * large number.) From them, the kernels of the gradient make the weights again (FlashAttention-2:
 * Dao 2023). With w the weight of a column in a row and g the gradient of the result:
 *
 *     delta[row] = sum(g[row][value] * out[row][value])
 *     s[row][column] = w * (sum(g[row][value] * v[column][value]) - delta[row])
 *     gradient_q[row] = scale * sum(s[row][column] * k[column])
 *     gradient_k[column] = scale * sum(s[row][column] * q[row])
 *     gradient_v[column] = sum(w * g[row])
 *
 * With `cap`, s is also multiplied by 1 - tanh(x / cap)^2. With `dropout`, the product of g and v
 * in s, and w in gradient_v, are dropped or multiplied as the weight is,
 * where s of a hidden column is 0, unless `passes_hidden`. The kernel for the queries' gradient
 * writes `delta`, the other one reads it.
 *
 * If the grid has a second dimension, its blocks share the columns of a row ("split", after
 * Flash-Decoding: Dao et al. 2023): each writes its part of the result to `partial`, and the kernel
 * that combines them makes the result. Of n parts of all rows, `partial` has the sums of weighted
 * values, and behind all of them ATTENTION_PARTIAL numbers of each row: its largest score, its sum,
 * and whether a weight is kept. */
typedef struct attention_args {
  const void *q, *k, *v;
  const void *mask;
  const void *dropout;
  const void *position; /* an integer of position_bytes, 4 or 8; NULL: 0 */
  void *out;            /* the gradient's kernels only read it */
  float *max, *sum;     /* NULL: they are not wanted */
  const void *gradient;
  void *gradient_q, *gradient_k, *gradient_v;
  float *partial; /* of a grid with a second dimension */
  float *delta;   /* of all rows, in the order of the outer loops, members of the group and rows */
  attention_loop outer[ATTENTION_OUTER];
  /* queries that share keys and values; its rows follow each other in a block */
  attention_loop group;
  attention_loop row, column;
  attention_loop feature; /* of queries and keys */
  attention_loop value;   /* feature of values and results */
  int64_t offset;
  float scale, hidden;
  uint32_t mask_kind;    /* attention_mask */
  uint32_t dropout_kind; /* attention_dropout */
  float dropout_scale;
  uint32_t zeroes_dropped;
  uint32_t n_parts; /* blocks that share the columns of a row; 1: none do */
  uint32_t causal, position_bytes;
  uint32_t wide;          /* bit x: result x is f32, whatever the operands are */
  uint32_t passes_hidden; /* hidden scores pass gradients on: they were hidden by an addition */
  uint32_t zeroes_hidden; /* a row whose scores are all -infinity is 0 */
  float cap;              /* of scores; 0: there is none */
} attention_args;

#endif
