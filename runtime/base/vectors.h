/* Kinds of SIMD vectors for which the runtime compiles its own loops. The processor determines
 * which kind is used; tests request each of them. */
#ifndef TPRT_RUNTIME_VECTORS_H
#define TPRT_RUNTIME_VECTORS_H

#include <stdbool.h>

/* Ordered from best to worst. */
typedef enum tprt__vectors { TPRT__AVX512, TPRT__AVX2, TPRT__PLAIN, TPRT__N_VECTORS } tprt__vectors;

#if defined(__x86_64__) && defined(__GNUC__)
#define TPRT__HAS_TARGETS 1
#define TPRT__TARGET_AVX512 __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#define TPRT__TARGET_AVX2 __attribute__((target("avx2")))
#else
#define TPRT__HAS_TARGETS 0
#endif

/* True if the processor supports the instructions that functions of this target need. */
static inline bool tprt__vectors_here(tprt__vectors vectors) {
#if TPRT__HAS_TARGETS
  if (vectors == TPRT__AVX512)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  if (vectors == TPRT__AVX2)
    return __builtin_cpu_supports("avx2");
#endif
  return vectors == TPRT__PLAIN;
}

/* Returns the best kind that the processor supports. */
static inline tprt__vectors tprt__vectors_best(void) {
  return tprt__vectors_here(TPRT__AVX512) ? TPRT__AVX512
         : tprt__vectors_here(TPRT__AVX2) ? TPRT__AVX2
                                          : TPRT__PLAIN;
}

#endif
