/* The language of the fused kernels, which are written once for three placements: one grid per
 * rank, each on its own GPU; one cooperative grid on one GPU, with blockIdx.y as the rank; and host
 * threads, for tests.
 *
 * It is the common subset of C and CUDA C++, with a CTA as an object. The body of a kernel is a
 * sequence of phases. The work of the threads of the CTA in a phase is written as
 *
 *     EACH_THREAD(c, t) { ... }
 *
 * where t is the thread's number and THREAD(c, t) its registers. Code between phases is the same
 * for all threads. If a phase reads shared or global memory that another thread wrote in an earlier
 * phase, there must be a cta_sync between them. */
#ifndef TPRT_RUNTIME_CUDA_KERNEL_H
#define TPRT_RUNTIME_CUDA_KERNEL_H

#include "cuda/kernels/args.h"

/* The unit of loads and stores. */
typedef struct vector {
  uint32_t word[4];
} vector;

/* State of one thread that lives from one phase to the next. */
typedef struct thread {
  /* its part of a row: vector j of the thread is vector t + j * n_threads of the row */
  float value[FUSED_VALUES];
  float partial; /* operand of a reduction over threads, and its result */
  float kept;
} thread;

#ifdef __CUDACC__
#include "cuda/kernels/gpu.cuh"
#else
#include "cuda/kernels/emulation.h"
#endif

/* `name` may be a macro. */
#define KERNEL(name) KERNEL_NAMED(name, 1)
/* So many CTAs of FUSED_THREADS threads fit on a multiprocessor. */
#define KERNEL_OF_CTAS(name, at_once) KERNEL_NAMED(name, at_once)

#include "base/float8.h"
#include "cuda/kernels/protocol.cuh"

TPRT_INLINE float add(float a, float b) { return a + b; }
/* Returns NaN if either operand is NaN. */
TPRT_INLINE float larger(float a, float b) { return a > b || a != a ? a : b; }
REDUCE_NEIGHBORS(add_neighbors, add)
REDUCE_NEIGHBORS(largest_of_neighbors, larger)
REDUCE_ALL(cta_sum, add_neighbors, add)
REDUCE_ALL(cta_largest, largest_of_neighbors, larger)

#endif
