/* Matrix products: c += op(a) * op(b) or c = op(a) * op(b), row-major, by code of our own or by OpenBLAS. */
#ifndef TPRT_RUNTIME_BLAS_H
#define TPRT_RUNTIME_BLAS_H

#include "base.h"
#include "vectors.h"

#include <string.h>

/* c (m x n, rows ldc apart) += op(a) (m x k) * op(b) (k x n). Transposed: a is stored k x m, b n x k. */
typedef struct tprt__gemm_args {
  bool transpose_a, transpose_b;
  bool overwrite; /* c =: what it holds is not read; k > 0 */
  int64_t m, n, k;
  const void *a, *b;
  void *c;
  int64_t lda, ldb, ldc;
  void *scratch; /* tprt__gemm_blocked_scratch bytes, aligned to 64, that the call may overwrite; NULL: other ways only */
} tprt__gemm_args;

/* Zeros in c, for ways that only add. */
static inline void tprt__gemm_clear(const tprt__gemm_args *args, size_t element_size) {
  for (int64_t i = 0; i < args->m; i++)
    memset((char *)args->c + (size_t)(i * args->ldc) * element_size, 0, (size_t)args->n * element_size);
}

/* Elements float (wide == false) or double. Any sizes; concurrent calls are safe. */
void tprt__gemm(bool wide, const tprt__gemm_args *args);

/* Loads OpenBLAS unless TPRT_BLAS is 0; without it the loops are used. A failure is about a malformed variable only. */
tprt_status tprt__blas_start(void);
/* Threads of one product; of the process, as that is what OpenBLAS can set. */
void tprt__blas_set_threads(int n);
/* "openblas" or "built-in". */
const char *tprt__blas_name(void);

/* Few rows of f32, in gemm_skinny.c: with these vectors, or the next ones that the processor has. False, and nothing done, where it has none of
 * them, or the product is none with few rows and a large B. */
bool tprt__gemm_skinny_f32(tprt__vectors vectors, const tprt__gemm_args *args);

/* Large products of f32, in gemm_blocked.c. False, and nothing done, without AVX-512 or scratch, or where the product is small. */
size_t tprt__gemm_blocked_scratch(void);
bool tprt__gemm_blocked_f32(const tprt__gemm_args *args);

/* The loops, in gemm.c. */
void tprt__gemm_loops_f32(const tprt__gemm_args *args);
void tprt__gemm_loops_f64(const tprt__gemm_args *args);

#endif
