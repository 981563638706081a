/* GEMMs with few rows, as when a model decodes: every element of B is used m times only, so the
 * time is that of reading B once. A library first copies B into an order of its own, which is
 * more traffic than the GEMM needs; here B is read where it stands.
 *
 * A is copied to a contiguous block of m rows, which undoes transposition. By rows, eight rows
 * of B stay in registers while all rows of A pass; transposed, squares of B are transposed in
 * registers, so that columns of C stand side by side there, too. The order of the sums is that
 * of blas.h. A processor without fused multiply-add is left to the loops. */
#include "blas.h"

#include <string.h>

#if TPRT__HAS_TARGETS
#include <immintrin.h>

#define UNROLLED _Pragma("GCC unroll 16")

enum {
  DEPTH = 8,   /* rows of B in registers */
  STRIP = 512, /* columns of C in a block */
  ROWS_BY_ROWS = 32,
  ROWS_TRANSPOSED = 8
};

/* Smaller ones are as fast in other ways. */
enum { MIN_LENGTH = 64, MIN_ELEMENTS = 1 << 14 };

/* A B that no cache is sure to hold is fetched in advance, a block of rows or columns ahead: the
 * processor's own prefetcher begins anew with each of these short runs. With fewer rows memory
 * is busy without it. */
enum { FETCHED_ROWS = 3, FETCHED_ELEMENTS = 1 << 18 };

#define ELEMENT float
#define BITS 32
#define LANES 16
#define NAME(x) x##_f32_avx512
#define TARGET __attribute__((target("avx512f")))
#define VECTORS 2
#define BLOCKS 1
#define FUSED(x, y, sum) (vector_f32_avx512) _mm512_fmadd_ps(x, (__m512)(y), (__m512)(sum))
#define FUSED_ONE __builtin_fmaf
#define BROADCAST _mm512_set1_ps
#include "gemm_skinny_kernels.h"

#define ELEMENT double
#define BITS 64
#define LANES 8
#define NAME(x) x##_f64_avx512
#define TARGET __attribute__((target("avx512f")))
#define VECTORS 2
#define BLOCKS 1
#define FUSED(x, y, sum) (vector_f64_avx512) _mm512_fmadd_pd(x, (__m512d)(y), (__m512d)(sum))
#define FUSED_ONE __builtin_fma
#define BROADCAST _mm512_set1_pd
#include "gemm_skinny_kernels.h"

#define ELEMENT float
#define BITS 32
#define LANES 8
#define NAME(x) x##_f32_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define VECTORS 1
#define BLOCKS 2
#define FUSED(x, y, sum) (vector_f32_avx2) _mm256_fmadd_ps(x, (__m256)(y), (__m256)(sum))
#define FUSED_ONE __builtin_fmaf
#define BROADCAST _mm256_set1_ps
#include "gemm_skinny_kernels.h"

#define ELEMENT double
#define BITS 64
#define LANES 4
#define NAME(x) x##_f64_avx2
#define TARGET __attribute__((target("avx2,fma")))
#define VECTORS 1
#define BLOCKS 2
#define FUSED(x, y, sum) (vector_f64_avx2) _mm256_fmadd_pd(x, (__m256d)(y), (__m256d)(sum))
#define FUSED_ONE __builtin_fma
#define BROADCAST _mm256_set1_pd
#include "gemm_skinny_kernels.h"

typedef void multiply_fn(const tprt__gemm_args *g);
static multiply_fn *const multiplies[][2] = {[TPRT__AVX512] = {multiply_f32_avx512, multiply_f64_avx512},
                                             [TPRT__AVX2] = {multiply_f32_avx2, multiply_f64_avx2}};

bool tprt__gemm_skinny(tprt__vectors vectors, bool wide, const tprt__gemm_args *g) {
  if (vectors == TPRT__PLAIN || g->m > (g->transpose_b ? ROWS_TRANSPOSED : ROWS_BY_ROWS) || g->k < MIN_LENGTH ||
      g->n * g->k < MIN_ELEMENTS)
    return false;
  multiplies[vectors][wide](g);
  return true;
}

#else

bool tprt__gemm_skinny(tprt__vectors vectors, bool wide, const tprt__gemm_args *g) {
  (void)vectors, (void)wide, (void)g;
  return false;
}

#endif
