/* Primitives of the fused kernels on the host. A CTA is one host thread, and its GPU threads are
 * iterations of a loop. The code between two synchronizations is one such loop, so a kernel cannot
 * rely on lockstep execution or on an order of threads. Signals between CTAs are real atomics
 * between real threads, which ThreadSanitizer checks. */
#ifndef TPRT_RUNTIME_CUDA_EMULATION_H
#define TPRT_RUNTIME_CUDA_EMULATION_H

#include "cuda/kernels/args.h"

#include <math.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "base/half.h"

typedef struct cta {
  const fused_args *args;
  uint32_t rank, index, n_ctas, n_threads, epoch;
  thread *threads; /* n_threads of them */
} cta;

#define UNROLL
#define ROLLED
#define EACH_THREAD(c, t) for (uint32_t t = 0; t < (c)->n_threads; t++)
#define THREAD(c, t) (&(c)->threads[t])

/* Defines name(c), which runs one CTA. */
#define KERNEL_NAMED(name, at_once)                                                                \
  TPRT_INLINE void name##_body(cta *c);                                                            \
  void name(cta *c);                                                                               \
  void name(cta *c) {                                                                              \
    cta_begin(c);                                                                                  \
    name##_body(c);                                                                                \
    cta_end(c);                                                                                    \
  }                                                                                                \
  TPRT_INLINE void name##_body(cta *c)

TPRT_INLINE void cta_sync(cta *c) { (void)c; }

TPRT_INLINE void store_release(uint32_t *to, uint32_t value) {
  __atomic_store_n(to, value, __ATOMIC_RELEASE);
}
TPRT_INLINE uint32_t load_acquire(const uint32_t *from) {
  return __atomic_load_n(from, __ATOMIC_ACQUIRE);
}

TPRT_INLINE vector load_vector(const void *base, uint64_t i) {
  vector v;
  memcpy(&v, (const char *)base + 16 * i, 16);
  return v;
}
TPRT_INLINE void store_vector(void *base, uint64_t i, vector v) {
  memcpy((char *)base + 16 * i, &v, 16);
}

/* A wait gives up after a number of polls. A poll takes half a microsecond on a GPU, and here too.
 * It rarely yields the processor, because a yield may take milliseconds on a busy machine. */
TPRT_INLINE void pause_spin(void) {
  enum { POLL_NS = 500, SELDOM = 256 };
  static _Thread_local uint32_t n_pauses;
  struct timespec begin, now;
  if (++n_pauses % SELDOM == 0)
    sched_yield();
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do
    clock_gettime(CLOCK_MONOTONIC, &now);
  while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < POLL_NS);
}
TPRT_INLINE void pause_ns(uint32_t ns) {
  struct timespec time = {.tv_nsec = (long)ns};
  nanosleep(&time, NULL);
}

#define REDUCE_NEIGHBORS(name, op)                                                                 \
  TPRT_INLINE void name(cta *c, uint32_t width) {                                                  \
    for (uint32_t step = width / 2; step > 0; step /= 2)                                           \
      for (uint32_t t = 0; t < c->n_threads; t++)                                                  \
        if (!(t & step)) {                                                                         \
          float *a = &c->threads[t].partial, *b = &c->threads[t ^ step].partial,                   \
                both = op(*a, *b);                                                                 \
          *a = *b = both;                                                                          \
        }                                                                                          \
  }
#define REDUCE_ALL(name, neighbors, op)                                                            \
  TPRT_INLINE float name(cta *c) {                                                                 \
    neighbors(c, FUSED_WARP);                                                                      \
    float value = c->threads[0].partial;                                                           \
    for (uint32_t t = FUSED_WARP; t < c->n_threads; t += FUSED_WARP)                               \
      value = op(value, c->threads[t].partial);                                                    \
    return value;                                                                                  \
  }

TPRT_INLINE float f16_widen(uint16_t half) { return f16_to_f32(half); }
TPRT_INLINE uint16_t f16_narrow(float value) { return f32_to_f16(value); }
TPRT_INLINE float bf16_widen(uint16_t half) { return bf16_to_f32(half); }
TPRT_INLINE uint16_t bf16_narrow(float value) { return f32_to_bf16(value); }

#endif
