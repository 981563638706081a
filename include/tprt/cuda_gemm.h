/* GEMM on NVIDIA GPUs through cuBLASLt, with its fused epilogues, and GEMMs overlapped with
 * collectives. The library loads cuBLASLt (TPRT_BLASLT_LIBRARY) when a handle is created; it is not
 * needed to build or start.
 *
 * Matrices are row-major. Calls only enqueue work, so they may be captured in a graph. The first
 * call with a shape asks cuBLASLt for an algorithm, which takes about 10 to 100 microseconds on the
 * host, and caches it. The choice is the first algorithm of the heuristics that uses a fixed
 * summation order and rounds once. Equal calls therefore give bitwise equal results, on the same
 * kind of GPU with the same cuBLASLt. Other shapes, including a part of the same matrix, may use
 * another summation order.
 *
 * Errors: on TPRT_INVALID_ARGUMENT or TPRT_UNSUPPORTED nothing was enqueued; TPRT_DEVICE reports
 * the cuBLASLt error. Threads: a handle is used by one thread at a time. Its GEMMs share a
 * workspace, so they run on one stream, or on several that wait for each other. */
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
  /* device memory, borrowed until the handle is destroyed; aligned to 256 bytes */
  void *workspace;
  /* 0: only algorithms that need no workspace. 32 MiB allow all algorithms on Hopper, 4 MiB on
   * older GPUs */
  size_t workspace_bytes;
} tprt_cuda_blas_config;

/* Creates a handle in the calling thread's current CUDA context, in which all its calls must be
 * made. TPRT_UNSUPPORTED, with the reason in the error text, without cuBLASLt. */
TPRT_API tprt_status tprt_cuda_blas_create(const tprt_cuda_blas_config *config,
                                           tprt_cuda_blas **blas);
/* Destroys a handle, after its last call has completed. */
TPRT_API void tprt_cuda_blas_destroy(tprt_cuda_blas *blas);

/* Epilogues: operations on x = alpha * op(a) op(b) + beta * c before it is rounded and stored. aux
 * is [m, aux_row] and carries data from the forward to the gradient GEMM: for GELU, x itself (with
 * the bias); for ReLU, one bit per element, x > 0. ReLU of NaN is NaN or 0, with either bit: this
 * depends on the kernel that cuBLASLt chooses for the shape, the types and the GPU (measured on an
 * H200 with cuBLASLt 13.1). */
typedef enum tprt_cuda_epilogue {
  TPRT_CUDA_NOTHING = 0, /* out = x + bias */
  TPRT_CUDA_RELU = 1,    /* out = max(x + bias, 0), NaN or 0 for NaN; aux is written if given */
  /* out = gelu(x + bias), tanh approximation; aux is written if given */
  TPRT_CUDA_GELU = 2,
  TPRT_CUDA_RELU_GRADIENT = 3, /* out = x where the bit in aux is 1, else 0; aux is read */
  TPRT_CUDA_GELU_GRADIENT = 4, /* out = x * gelu'(aux); aux is read */
  TPRT_CUDA_N_EPILOGUES = 5,
} tprt_cuda_epilogue;

/* A batch of GEMMs with op(a) [m, k], op(b) [k, n], out and c [m, n]. A transposed matrix is stored
 * as its transpose: a as [k, m], b as [n, k]. Addresses are multiples of 16. Start with `{.size =
 * sizeof gemm}`. */
typedef struct tprt_cuda_gemm {
  size_t size;
  /* type of a and b: f32, f64, f16, bf16 or f8. Sums are f32; of f64 they are f64 */
  tprt_dtype dtype;
  /* type of out, c, bias, bias_gradient, and aux of GELU: dtype, or f32 unless dtype is f64; with
   * f8 operands f32, f16 or bf16 */
  tprt_dtype out_dtype;
  int64_t m, n, k; /* if m or n is 0, there is nothing to do */
  int64_t batch;   /* 0 means 1 */
  bool transpose_a, transpose_b;
  /* f32 only: operands are rounded to 11 mantissa bits; several times as fast */
  bool tf32;
  int64_t row_a, row_b, row_out; /* row stride in elements, as stored; 0: dense */
  /* batch stride in elements; for a and b, 0: the same matrix for the whole batch */
  int64_t step_a, step_b, step_out;
  float alpha, beta; /* if beta is 0, c is not read */
  /* of f64 and f8: TPRT_CUDA_NOTHING, without bias and bias_gradient */
  tprt_cuda_epilogue epilogue;
  const void *a, *b;
  const void *c; /* same layout as out; NULL: c is out itself */
  void *out;
  const void *bias; /* [n], NULL: none; not with a gradient epilogue */
  /* [n], NULL: none. With a gradient epilogue: the sum of the rows of out. Without an epilogue: the
   * sum of the rows of op(b), which is the bias gradient if this GEMM computes the weight gradient.
   * Requires batch 1 */
  void *bias_gradient;
  void *aux;
  /* type of b, if that of a is f8: another f8 type. 0: dtype. f8 needs compute capability 8.9; one
   * of the operands is f8e4m3. Terms are contiguous in both (not transpose_a, transpose_b), and k,
   * n, rows and steps are multiples of 16. Products are exact, and sums are not cuBLASLt's fast
   * ones (CUBLASLT_MATMUL_DESC_FAST_ACCUM), which drop low bits */
  tprt_dtype dtype_b;
} tprt_cuda_gemm;

/* Returns the row size of aux, in elements (GELU) or bits (ReLU): n rounded up to a multiple of 8
 * or 128, respectively. */
TPRT_API int64_t tprt_cuda_aux_row(tprt_cuda_epilogue epilogue, int64_t n);

TPRT_API tprt_status tprt_cuda_multiply(tprt_cuda_blas *blas, const tprt_cuda_gemm *gemm,
                                        tprt_cuda_stream stream);

/* ---- GEMM followed by a reduction over the ranks ---- */

/* tprt_cuda_reduce_rows of GEMM results, overlapped with the GEMM. Each rank's GEMM result is
 * [tokens, hidden]. It is computed in slices of rows, one per rank, the own slice last. cuBLASLt
 * stores each slice directly at the rank that reduces it. So a slice is sent, by the stores of its
 * GEMM, while the next slice is computed, and the reduction reads only the memory of its own rank.
 *
 * gemms: those of this process's ranks, in rank order: one, or n_ranks with virtual ranks. m is
 * tokens, n is hidden, out_dtype is the dtype of the rows, batch 1; out, beta, epilogue and bias
 * are unset, since `rows` describes the output. a is not transposed, and its slices begin at
 * multiples of 16 bytes. rows: algorithm SLICES or AUTO; with blocks, the slices of an owner form
 * one batch. input is symmetric here: ceil(tokens / n_ranks) * n_ranks rows at each rank (with
 * blocks: per block), which only calls of this function may access. */
TPRT_API tprt_status tprt_cuda_multiply_reduce(tprt_cuda_group *group, tprt_cuda_blas *blas,
                                               const tprt_cuda_gemm *gemms,
                                               const tprt_cuda_rows *rows, tprt_cuda_stream stream);

/* Returns true if computing in slices pays off, according to published measurements on Hopper (not
 * measurements of this library): at least 4096 tokens, at least 512 tokens per rank, and a
 * communication time between 0.05 and 2 times the GEMM time. `k` is that of one rank's GEMM. flops
 * is operations per second of a GPU, bandwidth bytes per second from a GPU to its peers. For
 * tprt_cuda_gather_multiply below, pass the width of the rows as hidden, and the total number of
 * columns of all GEMMs as k. Depends only on its arguments, so all ranks agree. */
TPRT_API bool tprt_cuda_choose_slices(tprt_dtype dtype, int64_t tokens, int64_t hidden, int64_t k,
                                      int n_ranks, double flops, double bandwidth);

/* ---- All-gather of rows followed by GEMMs ---- */

/* A second stream, which copies rows while GEMMs run, and an event. Created in the calling thread's
 * current CUDA context. Used by one thread at a time, for one call at a time; one per rank, or one
 * for all virtual ranks. */
typedef struct tprt_cuda_copier tprt_cuda_copier;
TPRT_API tprt_status tprt_cuda_copier_create(tprt_cuda_copier **copier);
/* Destroys a copier, after its last call has completed. */
TPRT_API void tprt_cuda_copier_destroy(tprt_cuda_copier *copier);

/* The rows to gather, [tokens, width] over all ranks, row-major and dense. Rank r has rows [r, r +
 * 1) * ceil(tokens / n_ranks), clipped to tokens: the last ranks may have fewer, or none. Start
 * with `{.size = sizeof rows}`. */
typedef struct tprt_cuda_gather {
  size_t size;
  tprt_dtype dtype; /* f32, f16, bf16 */
  int64_t tokens, width;
  const void *input[TPRT_CUDA_MAX_RANKS]; /* symmetric: the rows of each rank */
  /* local: all rows; without blocks, a rank's input may alias its place in it */
  void *gathered[TPRT_CUDA_MAX_RANKS];
  /* 0 or 1: none. Else the tokens form this many blocks, and each rank has an equal number of rows
   * of every block: a slice is then a batch. Not with aux */
  int64_t blocks;
} tprt_cuda_gather;

enum { TPRT_CUDA_MAX_GATHERED = 4 }; /* max number of GEMMs in a call */

/* All-gathers rows and multiplies them: each rank runs n_gemms GEMMs on the same gathered rows. The
 * GEMMs run slice by slice, where a slice is the rows of one rank, the own slice first. Meanwhile
 * the copy engines of the GPU copy the rows of the next rank from its memory: a pipeline of n_ranks
 * steps, as in Wang et al., Overlap Communication with Dependent Computation via Decomposition,
 * ASPLOS 2023.
 *
 * gemms: n_gemms per rank of this process, rank by rank. m is tokens, k is width, dtype is that of
 * the rows, batch 1. a is unset and not transposed; bias_gradient is unset, because it is a sum
 * over rows. Slices begin at multiples of 16 bytes, in the rows and in out. Slice s is computed by
 * GEMMs of the same shape on all ranks, so with equal operands it is bitwise equal on all ranks. It
 * need not be bitwise equal to one GEMM of all rows. Inputs may be overwritten once the call has
 * completed on their rank's stream. */
TPRT_API tprt_status tprt_cuda_gather_multiply(tprt_cuda_group *group, tprt_cuda_copier *copier,
                                               tprt_cuda_blas *blas, const tprt_cuda_gather *rows,
                                               const tprt_cuda_gemm *gemms, int n_gemms,
                                               tprt_cuda_stream stream);

#ifdef __cplusplus
}
#endif
#endif
