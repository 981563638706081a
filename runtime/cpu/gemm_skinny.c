/* GEMMs with few rows, as in decoding. Each element of B is used only m times, so the time is that
 * of reading B once. Libraries pack B first, which adds memory traffic; these kernels read B in
 * place.
 *
 * A is copied to a contiguous block of m rows, which removes transposition. If B is stored by rows,
 * eight of its rows stay in registers while all rows of A are processed. If B is transposed,
 * squares of it are transposed in registers, so that lanes are columns of C in this case too. The
 * order of the sums is that of blas.h. Processors without fused multiply-add use the plain
 * loops. */
#include "cpu/blas.h"

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

/* Below these sizes the other kernels are equally fast. */
enum { MIN_LENGTH = 64, MIN_ELEMENTS = 1 << 14 };

/* If B may exceed the caches, it is prefetched one block of rows or columns ahead, because the
 * hardware prefetcher restarts at each of these short runs. With fewer rows than FETCHED_ROWS,
 * memory bandwidth is saturated anyway. */
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
#include "cpu/gemm_skinny_kernels.h"

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
#include "cpu/gemm_skinny_kernels.h"

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
#include "cpu/gemm_skinny_kernels.h"

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
#include "cpu/gemm_skinny_kernels.h"

typedef void multiply_fn(const tprt__gemm_args *g);
static multiply_fn *const multiplies[][2] = {
    [TPRT__AVX512] = {multiply_f32_avx512, multiply_f64_avx512},
    [TPRT__AVX2] = {multiply_f32_avx2, multiply_f64_avx2}};

bool tprt__gemm_skinny(tprt__vectors vectors, bool wide, const tprt__gemm_args *g) {
  if (vectors == TPRT__PLAIN || g->m > (g->transpose_b ? ROWS_TRANSPOSED : ROWS_BY_ROWS) ||
      g->k < MIN_LENGTH || g->n * g->k < MIN_ELEMENTS)
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
