/* GEMM: c += op(a) * op(b) or c = op(a) * op(b), row-major, by built-in kernels or by OpenBLAS. */
#ifndef TPRT_RUNTIME_BLAS_H
#define TPRT_RUNTIME_BLAS_H

#include "base/base.h"
#include "base/vectors.h"

#include <string.h>

/* c (m x n, rows ldc apart) += op(a) (m x k) * op(b) (k x n).
 * Transposed: a is stored k x m, b n x k. */
typedef struct tprt__gemm_args {
  bool transpose_a, transpose_b;
  bool overwrite; /* c = op(a) * op(b): c is not read; k > 0 */
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  /* tprt__gemm_scratch bytes, aligned to 64, that the call may overwrite; NULL: kernels that need
   * none */
  void *scratch;
} tprt__gemm_args;

/* The GEMM settings of a context. */
typedef struct tprt__gemm_how {
  uint32_t library; /* bit tprt__gemm_class: by OpenBLAS; else by built-in kernels */
  int threads;      /* of one GEMM */
  void *scratch;    /* tprt__gemm_scratch bytes, aligned to 64; NULL: kernels that need none */
} tprt__gemm_how;

/* Classes of GEMM for which OpenBLAS or the built-in kernels are chosen. A class must not depend on
 * m or n, so that ranks that hold parts of a GEMM choose as one rank that holds all of it. */
enum { TPRT__GEMM_SHORT = 128, TPRT__GEMM_CLASSES = 4 };
static inline int tprt__gemm_class(bool wide, int64_t k) {
  return 2 * wide + (k > TPRT__GEMM_SHORT);
}

/* Elements are float (wide == false) or double; any sizes. Concurrent calls are safe if each has
 * its own scratch. */
void tprt__gemm(const tprt__gemm_how *how, bool wide, const tprt__gemm_args *args);

/* ---- OpenBLAS, in blas.c ---- */

/* Loads OpenBLAS if it is installed and TPRT_GEMM allows it. Fails for malformed variables, and if
 * a library that was requested cannot be used. */
tprt_status tprt__blas_start(void);
bool tprt__blas_is_there(void);
/* Its version and the processor that its kernels are for. */
const char *tprt__blas_config(void);
/* One call of OpenBLAS on `threads` threads. Its thread count belongs to the process, so calls with
 * several threads take turns. */
void tprt__blas_gemm(int threads, bool wide, const tprt__gemm_args *args);

/* ---- Built-in kernels ----
 *
 * All of them sum an element of C in one order, which depends on k alone. The steps of k form
 * blocks of TPRT__SUM_STEPS. Each block is summed from zero by fused multiply-adds, one step after
 * the other; block sums are then added to C in order. Splitting a GEMM along m or n, or another
 * kernel, vector width or number of threads, therefore changes no bit. Blocks also bound the
 * rounding error. Processors without fused multiply-add round products: the same order, other
 * bits. */
enum { TPRT__SUM_STEPS = 128 };

/* The widest vectors for GEMM that this processor has; TPRT__AVX2 requires FMA too. The functions
 * below take these or narrower ones. */
tprt__vectors tprt__gemm_vectors(void);

/* Any GEMM, on up to `threads` threads; on the caller alone while the pool is busy. In
 * gemm_pool.c. */
void tprt__gemm_on_threads(int threads, tprt__vectors vectors, bool wide,
                           const tprt__gemm_args *args);

/* Any GEMM, on this thread. */
void tprt__gemm_own(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

/* GEMMs with few rows, in gemm_skinny.c. Returns false and does nothing if there are many rows, B
 * is small, or there are no vectors. */
bool tprt__gemm_skinny(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

/* Large GEMMs, in gemm_blocked.c. Returns false and does nothing if the GEMM is small, or without
 * vectors or scratch. */
size_t tprt__gemm_scratch(void);
bool tprt__gemm_blocked(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

/* Any GEMM by plain loops, in gemm.c. */
void tprt__gemm_loops(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

#endif
