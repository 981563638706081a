/* Products of matrices on NVIDIA GPUs, by cuBLASLt, with what it can do in the same kernel. Like
 * the driver, the library loads it (TPRT_BLASLT_LIBRARY) when a handle is made; nothing here needs
 * it to build or to start.
 *
 * Matrices are row-major. Calls only enqueue, so they may be captured in a graph. The first call
 * with a shape asks cuBLASLt for an algorithm, which takes some 10 to 100 microseconds of the host,
 * and keeps it: the first that its heuristics name among those that add in an order of their own
 * and round once. So equal calls give equal bits, on the same kind of GPU with the same cuBLASLt;
 * other shapes, and that includes a part of the same matrix, may be added in another order.
 *
 * Errors: TPRT_INVALID_ARGUMENT or TPRT_UNSUPPORTED, and nothing was enqueued; TPRT_DEVICE with
 * what cuBLASLt says. Threads: a handle is used by one thread at a time, and its products are on
 * one stream, or on several that wait for each other, since they share its workspace. */
#ifndef TPRT_CUDA_GEMM_H
#define TPRT_CUDA_GEMM_H

#include "tprt/cuda.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tprt_cuda_blas tprt_cuda_blas;

/* Start with `{.size = sizeof config}`. */
typedef struct tprt_cuda_blas_config {
  size_t size;
  /* device memory, borrowed until the handle is destroyed; its address a multiple of 256 */
  void *workspace;
  /* 0: only algorithms without; 32 MiB let it choose freely on Hopper, 4 MiB before */
  size_t workspace_bytes;
} tprt_cuda_blas_config;

/* Makes a handle in the calling thread's current CUDA context, in which all its calls are to be
 * made. TPRT_UNSUPPORTED without cuBLASLt, and the text says why. */
TPRT_API tprt_status tprt_cuda_blas_create(const tprt_cuda_blas_config *config,
                                           tprt_cuda_blas **blas);
/* After its last call has completed. */
TPRT_API void tprt_cuda_blas_destroy(tprt_cuda_blas *blas);

/* What happens to x = alpha * op(a) op(b) + beta * c before it is rounded and stored. aux is [m,
 * aux_row] and belongs to the derivative: of GELU, x itself (with the bias); of ReLU, bits, whether
 * x > 0. */
typedef enum tprt_cuda_epilogue {
  TPRT_CUDA_NOTHING = 0, /* out = x + bias */
  TPRT_CUDA_RELU = 1,    /* out = max(x + bias, 0), of NaN 0; aux is written, if given */
  /* out = gelu(x + bias), its form with tanh; aux is written, if given */
  TPRT_CUDA_GELU = 2,
  TPRT_CUDA_RELU_GRADIENT = 3, /* out = x where aux has a 1, else 0; aux is read */
  TPRT_CUDA_GELU_GRADIENT = 4, /* out = x * gelu'(aux); aux is read */
  TPRT_CUDA_N_EPILOGUES = 5,
} tprt_cuda_epilogue;

/* op(a) [m, k], op(b) [k, n], out and c [m, n]: batch of them. A matrix that is transposed is
 * stored the other way round: a as [k, m], b as [n, k]. Addresses are multiples of 16. Start with
 * `{.size = sizeof gemm}`. */
typedef struct tprt_cuda_gemm {
  size_t size;
  tprt_dtype dtype;     /* of a and b: f32, f16, bf16. Products are added in f32 */
  tprt_dtype out_dtype; /* of out, c, bias, bias_gradient, aux of GELU: dtype, or f32 */
  int64_t m, n, k;      /* m or n of 0: nothing to do */
  int64_t batch;        /* 0 is 1 */
  bool transpose_a, transpose_b;
  /* f32 only: factors rounded to 11 bits, several times as fast */
  bool tf32;
  int64_t row_a, row_b, row_out; /* elements from one stored row to the next; 0: dense */
  /* elements from one matrix to the next; of a and b 0: the same for all */
  int64_t step_a, step_b, step_out;
  float alpha, beta; /* beta 0: c is not read */
  tprt_cuda_epilogue epilogue;
  const void *a, *b;
  const void *c; /* laid out as out; NULL: out itself */
  void *out;
  const void *bias; /* [n], NULL: none; not with a gradient */
  void *
      /* [n], NULL: none. With a gradient: the sum of the rows of out. Without epilogue: that of
       * op(b), which is the gradient of the bias where this product is that of the weights. batch
       * is 1 */
      bias_gradient;
  void *aux;
} tprt_cuda_gemm;

/* Elements (GELU) or bits (ReLU) of a row of aux: n rounded up, to 8 and 128. */
TPRT_API int64_t tprt_cuda_aux_row(tprt_cuda_epilogue epilogue, int64_t n);

TPRT_API tprt_status tprt_cuda_multiply(tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm,
                                        tprt_cuda_stream stream);

/* ---- A product and the sum of it over the ranks ---- */

/* tprt_cuda_reduce_rows of products: each rank's is [tokens, hidden], and it is computed in slices
 * of rows, one for each rank, which cuBLASLt stores where the rank is that reduces them, its own
 * last. So what is sent is sent while the next slice is computed, by the stores of the product
 * itself, and the reduction reads memory of its own rank only.
 *
 * gemms: of this process's ranks, in their order: one, or n_ranks of virtual ranks. m is tokens, n
 * is hidden, out_dtype is dtype of the rows, batch 1; no out, beta, epilogue or bias, which are the
 * rows' affair. a is not transposed, and its slices begin at multiples of 16 bytes. rows: algorithm
 * SLICES or AUTO; with blocks, the slices of an owner are one batch. input is symmetric here:
 * ceil(tokens / n_ranks) * n_ranks rows at each rank (with blocks, of each), which only calls like
 * this one touch. */
TPRT_API tprt_status tprt_cuda_multiply_reduce(tprt_cuda_group *group, tprt_cuda_blas *blas,
                                               const tprt_cuda_gemm *gemms,
                                               const tprt_cuda_rows *rows, tprt_cuda_stream stream);

/* Whether that pays, by public measurements on Hopper, none of ours: from 4096 tokens and 512 a
 * rank on, where sending takes between a 20th of the time of the product and twice it. `k` of one
 * rank's product; operations and bytes per second of a GPU, the latter to its peers. For rows that
 * are gathered, see below: hidden is their width, k the columns of all products of them. A function
 * of its arguments alone, so all ranks agree. */
TPRT_API bool tprt_cuda_choose_slices(tprt_dtype dtype, int64_t tokens, int64_t hidden, int64_t k,
                                      int n_ranks, double flops, double bandwidth);

/* ---- Rows that are gathered, and products of them ---- */

/* A second stream, on which rows are copied while products are computed, and an event. Made in the
 * calling thread's current CUDA context; used by one thread at a time, for one call at a time: one
 * on each rank, or one for all virtual ranks. */
typedef struct tprt_cuda_copier tprt_cuda_copier;
TPRT_API tprt_status tprt_cuda_copier_create(tprt_cuda_copier **copier);
/* After its last call has completed. */
TPRT_API void tprt_cuda_copier_destroy(tprt_cuda_copier *copier);

/* The rows of all ranks, [tokens, width], row-major and dense. Rank r has rows [r, r + 1) *
 * ceil(tokens / n_ranks), as far as there are so many: the last ranks may have fewer, or none.
 * Start with `{.size = sizeof rows}`. */
typedef struct tprt_cuda_gather {
  size_t size;
  tprt_dtype dtype; /* f32, f16, bf16 */
  int64_t tokens, width;
  const void *input[TPRT_CUDA_MAX_RANKS]; /* symmetric: a rank's own rows */
  /* local: all rows; without blocks, the input of a rank may be its place in it */
  void *gathered[TPRT_CUDA_MAX_RANKS];
  int64_t
      /* 0 or 1: none. Else the tokens are so many blocks, of which each rank has as many rows of
       * each: a slice is a batch. Not with aux */
      blocks;
} tprt_cuda_gather;

enum { TPRT_CUDA_MAX_GATHERED = 4 }; /* products of the same rows in a call */

/* All-gather, and products of what is gathered: n_gemms on each rank, of the same rows. They are
 * computed slice by slice, each of the rows of one rank, first those of the rank itself; meanwhile
 * the rows of the next rank are copied from its memory, by the engines of the GPU that copy: a
 * pipeline of n_ranks steps, as in Wang et al., Overlap Communication with Dependent Computation
 * via Decomposition, ASPLOS 2023.
 *
 * gemms: n_gemms of each of this process's ranks, rank by rank. m is tokens, k is width, dtype that
 * of the rows, batch 1; no a, which is not transposed, and no bias_gradient, which is a sum over
 * rows. Slices begin at multiples of 16 bytes, of the rows and of out. Slice s is computed by
 * products of the same shape on all ranks: of the same factors it has the same bits on all, which
 * need not be those of one product of all rows. Inputs may be written again when the call has
 * completed on their rank's stream. */
TPRT_API tprt_status tprt_cuda_gather_multiply(tprt_cuda_group *group, tprt_cuda_copier *copier,
                                               tprt_cuda_blas *blas, const tprt_cuda_gather *rows,
                                               const tprt_cuda_gemm *gemms, int n_gemms,
                                               tprt_cuda_stream stream);

#ifdef __cplusplus
}
#endif
#endif
