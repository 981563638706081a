/* GEMM by built-in kernels: selects the kernel. Plain loops handle the shapes that no kernel takes.
 *
 * The loops copy panels of A and B to small contiguous blocks, which removes transposition, and
 * update rows of sums by four rows of B at a time. Compilers vectorize them. */
#include "cpu/blas.h"

enum { BLOCK_M = 32, BLOCK_N = 256, FEW_COLUMNS = 4 };

#define FUSED_F32(x, y, sum) __builtin_fmaf(x, y, sum)
#define FUSED_F64(x, y, sum) __builtin_fma(x, y, sum)
#define APART(x, y, sum) ((sum) + (x) * (y))

#if TPRT__HAS_TARGETS
#define ELEMENT float
#define NAME(x) x##_f32_fused
#define TARGET __attribute__((target("avx2,fma")))
#define MULTIPLY_ADD FUSED_F32
#include "cpu/gemm_loops.h"

#define ELEMENT double
#define NAME(x) x##_f64_fused
#define TARGET __attribute__((target("avx2,fma")))
#define MULTIPLY_ADD FUSED_F64
#include "cpu/gemm_loops.h"
#endif

/* Instances for the processor that the compiler targets. Without a fused multiply-add instruction
 * they use a multiplication and an addition. */
#define ELEMENT float
#define NAME(x) x##_f32
#define TARGET
#ifdef __FP_FAST_FMAF
#define MULTIPLY_ADD FUSED_F32
#else
#define MULTIPLY_ADD APART
#endif
#include "cpu/gemm_loops.h"

#define ELEMENT double
#define NAME(x) x##_f64
#define TARGET
#ifdef __FP_FAST_FMA
#define MULTIPLY_ADD FUSED_F64
#else
#define MULTIPLY_ADD APART
#endif
#include "cpu/gemm_loops.h"

void tprt__gemm_loops(tprt__vectors vectors, bool wide, const tprt__gemm_args *g) {
#if TPRT__HAS_TARGETS
  if (vectors != TPRT__PLAIN) {
    (wide ? loops_f64_fused : loops_f32_fused)(g);
    return;
  }
#else
  (void)vectors;
#endif
  (wide ? loops_f64 : loops_f32)(g);
}

tprt__vectors tprt__gemm_vectors(void) {
#if TPRT__HAS_TARGETS
  if (__builtin_cpu_supports("avx512f"))
    return TPRT__AVX512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    return TPRT__AVX2;
#endif
  return TPRT__PLAIN;
}

void tprt__gemm_own(tprt__vectors vectors, bool wide, const tprt__gemm_args *g) {
  if (!tprt__gemm_skinny(vectors, wide, g) && !tprt__gemm_blocked(vectors, wide, g))
    tprt__gemm_loops(vectors, wide, g);
}
