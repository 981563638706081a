/* GEMM: c += op(a) * op(b) or c = op(a) * op(b), row-major, by built-in kernels or by OpenBLAS. */
#ifndef TPRT_RUNTIME_BLAS_H
#define TPRT_RUNTIME_BLAS_H

#include "base/base.h"
#include "base/vectors.h"

#include <string.h>

/* Operands of a GEMM: c (m x n) += op(a) (m x k) * op(b) (k x n). Rows of c are ldc apart.
 * Transposed operands are stored as k x m (a) and n x k (b). */
typedef struct tprt__gemm_args {
  bool transpose_a, transpose_b;
  bool overwrite; /* c = op(a) * op(b): c is not read, and k must be positive */
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  /* tprt__gemm_scratch bytes, 64-byte aligned, that the call may overwrite; NULL selects kernels
   * that need none */
  void *scratch;
} tprt__gemm_args;

/* GEMM settings of a context. */
typedef struct tprt__gemm_settings {
  uint32_t library; /* bit tprt__gemm_class is set: OpenBLAS; else built-in kernels */
  int threads;      /* of one GEMM */
  /* tprt__gemm_scratch bytes, 64-byte aligned; NULL selects kernels that need none */
  void *scratch;
} tprt__gemm_settings;

/* Classes of GEMM, for each of which OpenBLAS or the built-in kernels are chosen. A class must not
 * depend on m or n, so that ranks that hold parts of a GEMM make the same choice as one rank that
 * holds all of it. */
enum { TPRT__GEMM_SHORT = 128, TPRT__GEMM_CLASSES = 4 };
static inline int tprt__gemm_class(bool wide, int64_t k) {
  return 2 * wide + (k > TPRT__GEMM_SHORT);
}

/* Runs a GEMM on float (wide == false) or double elements, of any size. Concurrent calls are safe
 * if each has its own scratch. */
void tprt__gemm(const tprt__gemm_settings *how, bool wide, const tprt__gemm_args *args);
/* True if tprt__gemm would use OpenBLAS. */
bool tprt__gemm_uses_library(const tprt__gemm_settings *how, bool wide,
                             const tprt__gemm_args *args);

/* ---- OpenBLAS, in blas.c ---- */

/* Loads OpenBLAS if it is installed and TPRT_GEMM permits it. Fails for malformed variables, and if
 * a requested library cannot be used. */
tprt_status tprt__blas_start(void);
bool tprt__blas_is_loaded(void);
/* Returns its version, and the processor for which its kernels are made. */
const char *tprt__blas_config(void);
/* Runs a GEMM of OpenBLAS on `threads` threads. Its thread count belongs to the process, so calls
 * with several threads are serialized. */
void tprt__blas_gemm(int threads, bool wide, const tprt__gemm_args *args);

/* ---- built-in kernels ----
 *
 * All kernels sum an element of C in the same order, which depends on k alone. The steps of k form
 * blocks of TPRT__SUM_STEPS. Each block is summed from zero by fused multiply-adds, step by step;
 * then the block sums are added to C in order. So no bit changes if a GEMM is split along m or n,
 * or if the kernel, the vector width or the number of threads changes. Blocks also bound the
 * rounding error. Processors without fused multiply-add round the products: same order, different
 * bits. */
enum { TPRT__SUM_STEPS = 128 };

/* Returns the widest vectors for GEMM that this processor has; TPRT__AVX2 also requires FMA. The
 * functions below accept these or narrower ones. */
tprt__vectors tprt__gemm_vectors(void);

/* Computes a part of a job on one of the threads. `scratch` is as in tprt__gemm_args. */
typedef void tprt__part_fn(const void *data, int64_t part, void *scratch);
/* Runs n_parts parts, in any order, on the caller and threads of the pool, together up to
 * `threads`. Returns false and runs nothing if that is one thread, or if the pool is busy. Worth it
 * from so many multiply-adds on. In gemm_pool.c. */
enum { TPRT__POOL_WORK = 1 << 20 };
bool tprt__pool_run(int threads, tprt__part_fn *part, const void *data, int64_t n_parts,
                    void *scratch);

/* Runs any GEMM on up to `threads` threads, or on the caller alone while the pool is busy. In
 * gemm_pool.c. */
void tprt__gemm_on_threads(int threads, tprt__vectors vectors, bool wide,
                           const tprt__gemm_args *args);

/* Runs any GEMM on this thread. */
void tprt__gemm_own(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

/* Runs GEMMs with few rows, in gemm_skinny.c. Returns false and does nothing if there are many
 * rows, if B is small, or without vectors. */
bool tprt__gemm_skinny(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

/* Runs large GEMMs, in gemm_blocked.c. Returns false and does nothing if the GEMM is small, or
 * without vectors or scratch. */
size_t tprt__gemm_scratch(void);
bool tprt__gemm_blocked(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

/* Runs any GEMM with plain loops, in gemm.c. */
void tprt__gemm_loops(tprt__vectors vectors, bool wide, const tprt__gemm_args *args);

#endif
