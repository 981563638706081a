/* The language in which the fused kernels are written, once, for three placements: one grid per
 * rank on GPUs of their own, one cooperative grid whose blockIdx.y is the rank on one GPU, and
 * threads of a host, for tests.
 *
 * It is the part of C that CUDA C++ has too, with a CTA as an object. A body is a sequence of
 * phases; what the threads of the CTA do in a phase stands in
 *
 *     EACH_THREAD(c, t) { ... }
 *
 * where t is the thread's number and THREAD(c, t) its registers; all that is between phases is the
 * same for all threads. A phase that reads from shared or global memory what another thread wrote
 * in one before has a cta_sync between. */
#ifndef TPRT_RUNTIME_CUDA_KERNEL_H
#define TPRT_RUNTIME_CUDA_KERNEL_H

#include "cuda/kernels/args.h"

/* What is loaded and stored at once. */
typedef struct vector {
  uint32_t word[4];
} vector;

/* Of one thread, from one phase to the next. */
typedef struct thread {
  /* its part of a row: vector j of the thread is vector t + j * n_threads of the row */
  float value[FUSED_VALUES];
  float partial; /* goes into a reduction over threads, and is its result */
  float kept;
} thread;

/* Defects that a test seeds to show that it finds them; host only. */
enum {
  DEFECT_NONE,
  DEFECT_RELAXED_FLAG,   /* signals that order nothing */
  DEFECT_SINGLE_BUFFER,  /* staging without turns */
  DEFECT_MOVING_BUFFERS, /* the second staging buffer begins where the slots of the call end */
  DEFECT_NO_WAIT,
  DEFECT_NO_SECOND_WAIT, /* calls end before the others have read */
};
#ifndef FUSED_DEFECT
#define FUSED_DEFECT DEFECT_NONE
#endif

#ifdef __CUDACC__
#include "cuda/kernels/gpu.cuh"
#else
#include "cuda/kernels/emulation.h"
#endif

#define KERNEL(name) KERNEL_NAMED(name) /* which may be a macro */

#include "base/float8.h"
#include "cuda/kernels/protocol.cuh"

TPRT_INLINE float add(float a, float b) { return a + b; }
/* NaN, if one of them is. */
TPRT_INLINE float larger(float a, float b) { return a > b || a != a ? a : b; }
REDUCE_NEIGHBOURS(add_neighbours, add)
REDUCE_NEIGHBOURS(largest_of_neighbours, larger)
REDUCE_ALL(cta_sum, add_neighbours, add)
REDUCE_ALL(cta_largest, largest_of_neighbours, larger)

#endif
