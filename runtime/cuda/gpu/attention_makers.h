/* What computes attentions of programs: the kernels of this library, or cuDNN. */
#ifndef TPRT_RUNTIME_CUDA_GPU_ATTENTION_MAKERS_H
#define TPRT_RUNTIME_CUDA_GPU_ATTENTION_MAKERS_H

#include "cuda/gpu/gpu_inside.h"

/* An attention without its memory. */
typedef struct tprt__attention_problem {
  tprt__attention_kind kind;
  tprt_dtype dtype; /* of queries */
  tprt_abi_fused_attention words;
} tprt__attention_problem;

typedef struct tprt__attention_maker {
  const char *name; /* in cache files */
  /* Sets *made to what `end` frees. TPRT_UNSUPPORTED, with the reason, if it has no such
   * attention. */
  tprt_status (*plan)(tprt__gpu *gpu, const tprt__attention_problem *problem, void **made);
  void (*end)(tprt__gpu *gpu, void *made);
  /* False if it does not compute on this memory, which another maker then does. */
  bool (*takes)(const void *made, const tprt__gpu_attention_buffers *buffers);
  /* Enqueues it into the programs' stream. */
  tprt_status (*run)(tprt__gpu_queue queue, const void *made,
                     const tprt__gpu_attention_buffers *buffers);
} tprt__attention_maker;

extern const tprt__attention_maker tprt__attention_by_own, tprt__attention_by_cudnn;

/* By tprt__gpu_maker. */
extern const tprt__attention_maker *const tprt__attention_makers[TPRT__GPU_N_MAKERS];

/* Tensors whose elements lie anywhere: masks, dropout and statistics. */
static inline bool tprt__attention_is_scalar(int x) {
  return x == TPRT_ATTENTION_MASK || x == TPRT_ATTENTION_DROPOUT || x == TPRT_ATTENTION_MAX ||
         x == TPRT_ATTENTION_SUM;
}

/* True if the addresses of all others are multiples of 16. */
static inline bool tprt__attention_is_aligned(const tprt__gpu_attention_buffers *buffers) {
  uintptr_t addresses = 0;
  for (int x = 0; x < TPRT_ATTENTION_TENSORS; x++)
    addresses |= tprt__attention_is_scalar(x) ? 0 : (uintptr_t)buffers->of[x];
  return addresses % 16 == 0;
}

/* ---- gpu_attention.c ---- */

struct tprt__gpu_attention {
  tprt__gpu *gpu;
  tprt__attention_problem problem;
  void *made[TPRT__GPU_N_MAKERS]; /* NULL: the maker has no such attention, or was not asked */
  tprt__gpu_maker maker;
};

#endif
