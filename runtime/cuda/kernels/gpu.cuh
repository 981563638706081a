/* Primitives of the fused kernels on a GPU. kernel.cuh describes them; emulation.h implements them
 * on the host. */
#ifndef TPRT_RUNTIME_CUDA_GPU_H
#define TPRT_RUNTIME_CUDA_GPU_H

#define TPRT_INLINE static __device__ __forceinline__

#include "cuda/kernels/args.h"
#include "cuda/kernels/numbers.cuh"

typedef struct cta {
  const fused_args *args;
  uint32_t rank, index, n_ctas, n_threads, epoch;
  thread own;
} cta;

#define UNROLL _Pragma("unroll")
#define ROLLED _Pragma("unroll 1")
/* Runs once, for the calling thread. */
#define EACH_THREAD(c, t) for (uint32_t t = threadIdx.x, next_ = t + 1; t < next_; t++)
#define THREAD(c, t) (&(c)->own)

#define KERNEL_NAMED(name, at_once)                                                                \
  TPRT_INLINE void name##_body(cta *c);                                                            \
  extern "C" __global__ void __launch_bounds__(FUSED_THREADS, at_once)                             \
      name(const __grid_constant__ fused_args args) {                                              \
    cta c;                                                                                         \
    c.args = &args;                                                                                \
    c.rank = args.first_rank + blockIdx.y;                                                         \
    c.index = blockIdx.x;                                                                          \
    c.n_ctas = gridDim.x;                                                                          \
    c.n_threads = blockDim.x;                                                                      \
    cta_begin(&c);                                                                                 \
    name##_body(&c);                                                                               \
    cta_end(&c);                                                                                   \
  }                                                                                                \
  TPRT_INLINE void name##_body(cta *c)

TPRT_INLINE void cta_sync(cta *c) {
  (void)c;
  __syncthreads();
}

/* ---- memory shared with other ranks: volatile accesses, so that the compiler neither caches nor
 * reorders them ---- */

TPRT_INLINE void store_release(uint32_t *to, uint32_t value) {
  asm volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(to), "r"(value) : "memory");
}

TPRT_INLINE uint32_t load_acquire(const uint32_t *from) {
  uint32_t value;
  asm volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(from) : "memory");
  return value;
}

TPRT_INLINE vector load_vector(const void *base, uint64_t i) {
  vector v;
  const char *from = (const char *)base + 16 * i;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "l"(from));
  return v;
}

TPRT_INLINE void store_vector(void *base, uint64_t i, vector v) {
  char *to = (char *)base + 16 * i;
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.word[0]), "r"(v.word[1]),
               "r"(v.word[2]), "r"(v.word[3])
               : "memory");
}

TPRT_INLINE void pause_spin(void) {}

TPRT_INLINE void pause_ns(uint32_t ns) { __nanosleep(ns); }

/* ---- reductions of `partial` over the threads of a CTA ---- */

/* All threads get the value of op over the `width` threads of their group, combined pairwise.
 * `width` is a power of two, at most a warp. */
#define REDUCE_NEIGHBORS(name, op)                                                                 \
  TPRT_INLINE void name(cta *c, uint32_t width) {                                                  \
    for (uint32_t step = width / 2; step > 0; step /= 2) {                                         \
      float other = __shfl_xor_sync(0xffffffffu, c->own.partial, step);                            \
      c->own.partial = op(c->own.partial, other);                                                  \
    }                                                                                              \
  }
__shared__ float of_warp[FUSED_THREADS / FUSED_WARP];
/* All threads get the value of op over the CTA: within warps, then over warps in order. */
#define REDUCE_ALL(name, neighbors, op)                                                            \
  TPRT_INLINE float name(cta *c) {                                                                 \
    neighbors(c, FUSED_WARP);                                                                      \
    __syncthreads(); /* the last result has been read */                                           \
    if (threadIdx.x % FUSED_WARP == 0)                                                             \
      of_warp[threadIdx.x / FUSED_WARP] = c->own.partial;                                          \
    __syncthreads();                                                                               \
    float value = of_warp[0];                                                                      \
    for (uint32_t warp = 1; warp < c->n_threads / FUSED_WARP; warp++)                              \
      value = op(value, of_warp[warp]);                                                            \
    return value;                                                                                  \
  }

#endif
