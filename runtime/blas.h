/* Matrix products: c += op(a) * op(b) or c = op(a) * op(b), row-major, by kernels of our own or
 * by OpenBLAS. */
#ifndef TPRT_RUNTIME_BLAS_H
#define TPRT_RUNTIME_BLAS_H

#include "base.h"
#include "vectors.h"

#include <string.h>

/* c (m x n, rows ldc apart) += op(a) (m x k) * op(b) (k x n).
 * Transposed: a is stored k x m, b n x k. */
typedef struct tprt__gemm_args {
  bool transpose_a, transpose_b;
  bool overwrite; /* c =: what it holds is not read; k > 0 */
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  void *scratch; /* tprt__gemm_scratch bytes, aligned to 64, that the call may overwrite; NULL: kernels that need none */
} tprt__gemm_args;

/* How the GEMMs of a context are computed. */
typedef struct tprt__gemm_how {
  uint32_t library; /* bit tprt__gemm_class: by OpenBLAS; else by kernels of our own */
  int threads;      /* of one GEMM */
  void *scratch;    /* tprt__gemm_scratch bytes, aligned to 64; NULL: kernels that need none */
} tprt__gemm_how;

/* What is chosen alike. It must not depend on m and n: ranks that have parts of a GEMM choose as
 * one that has it all. */
enum { TPRT__GEMM_SHORT = 128, TPRT__GEMM_CLASSES = 4 };
static inline int tprt__gemm_class(bool wide, int64_t k) { return 2 * wide + (k > TPRT__GEMM_SHORT); }

/* Elements float (wide == false) or double. Any sizes; concurrent calls are safe, each with
 * scratch of its own. */
void tprt__gemm(const tprt__gemm_how *how, bool wide, const tprt__gemm_args *args);

/* ---- OpenBLAS, in blas.c ---- */

/* Loads it if TPRT_GEMM allows and it is there. A failure is about malformed variables, and a
 * library that was asked for. */
tprt_status tprt__blas_start(void);
bool tprt__blas_is_there(void);
/* Its version and the processor that its kernels are for. */
const char *tprt__blas_config(void);
/* One call by the library with so many threads, which is a number of the process. */
void tprt__blas_gemm(int threads, bool wide, const tprt__gemm_args *args);

/* ---- Kernels of our own ----
 *
 * All of them add an element of C up in one order, which depends on k alone: steps of k in blocks
 * of TPRT__SUM_STEPS, each block from zero by fused multiply-adds one after the other, and the sums
 * of the blocks, in order, to what C holds. So a GEMM that is cut along m or n, as ranks do, or that
 * another kernel computes, with vectors of another width, has the same bits. Blocks bound the
 * rounding errors, too. Processors without fused multiply-add round products, and have other bits in
 * the same order. */
enum { TPRT__SUM_STEPS = 128 };

/* The best vectors for GEMM that this processor has; AVX2 stands for AVX2 and FMA. The functions
 * below take these or worse ones. */
tprt__vectors tprt__gemm_vectors(void);

/* Any GEMM, on up to `threads` threads; alone while the others are busy. In gemm_pool.c. */
void tprt__gemm_on_threads(int threads, tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

/* Any GEMM, on this thread. */
void tprt__gemm_own(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

/* Few rows, in gemm_skinny.c. False, and nothing done, without vectors, or where there are many
 * rows or B is small. */
bool tprt__gemm_skinny(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

/* In gemm_blocked.c. False, and nothing done, without vectors or scratch, or where the GEMM is
 * small. */
size_t tprt__gemm_scratch(void);
bool tprt__gemm_blocked(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

/* The loops, in gemm.c. */
void tprt__gemm_loops(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

#endif
