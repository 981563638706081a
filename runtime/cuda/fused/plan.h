/* Translates the public description of a fused call into a kernel launch. Only checks and
 * arithmetic, so no GPU is needed. */
#ifndef TPRT_RUNTIME_CUDA_PLAN_H
#define TPRT_RUNTIME_CUDA_PLAN_H

#include "base/base.h"
#include "cuda/kernels/args.h"
#include "tprt/cuda.h"

/* X(constant, name) for every kernel; FUSED_<constant> is the kernel tprt_<name>. */
#define FUSED_OF_ELEMENT(X, TYPE, type)                                                            \
  X(REDUCE_ROWS_##TYPE, reduce_rows_##type)                                                        \
  X(REDUCE_SHORT_ROWS_##TYPE, reduce_short_rows_##type)                                            \
  X(CROSS_ENTROPY_##TYPE, cross_entropy_##type)
#define FUSED_KERNELS(X)                                                                           \
  FUSED_OF_ELEMENT(X, F32, f32)                                                                    \
  FUSED_OF_ELEMENT(X, F16, f16) FUSED_OF_ELEMENT(X, BF16, bf16) X(EXCHANGE, exchange)

typedef enum fused_kernel {
#define ROW(constant, name) FUSED_##constant,
  FUSED_KERNELS(ROW)
#undef ROW
      FUSED_N_KERNELS
} fused_kernel;

extern const char *const tprt__fused_names[FUSED_N_KERNELS];

/* The properties of a group that a plan needs. */
typedef struct fused_group {
  tprt_cuda_group_config config;
  int n_ctas[FUSED_N_KERNELS]; /* maximum per rank */
} fused_group;

typedef struct fused_launch {
  fused_kernel kernel;
  uint32_t n_ctas; /* of a rank; 0: nothing to do */
  uint32_t n_threads;
  fused_args args;
} fused_launch;

tprt_status tprt__fused_check_config(const tprt_cuda_group_config *config);
/* Returns the number of CTAs of a rank in a launch, at most, if so many fit on the device. */
int tprt__fused_ctas(const tprt_cuda_group_config *config, int fit);

tprt_status tprt__fused_plan_rows(const fused_group *group, const tprt_cuda_rows *rows,
                                  fused_launch *launch);
tprt_status tprt__fused_plan_entropy(const fused_group *group, const tprt_cuda_entropy *entropy,
                                     fused_launch *launch);
tprt_status tprt__fused_plan_all_gather(const fused_group *group, tprt_dtype dtype, int n_dims,
                                        const int64_t *shape, int dim, const void *const *send,
                                        void *const *recv, fused_launch *launch);
tprt_status tprt__fused_plan_all_to_all(const fused_group *group, tprt_dtype dtype, int n_dims,
                                        const int64_t *shape, int split_dim, int concat_dim,
                                        const void *const *send, void *const *recv,
                                        fused_launch *launch);

/* Plans an exchange without data, by one CTA of each rank. */
void tprt__fused_plan_barrier(const fused_group *group, fused_launch *launch);

/* ---- shared by the planning files ---- */

/* Whose pointers a call reads. */
typedef enum fused_reach {
  FUSED_LOCAL,    /* of the ranks of this process */
  FUSED_SYMMETRIC /* of all ranks */
} fused_reach;

/* Checks that the pointers in reach are set and are multiples of 16; `optional`: they may also all
 * be NULL. Copies them to `out`, with NULL for ranks out of reach. */
tprt_status tprt__fused_pointers(const fused_group *group, const char *what,
                                 const void *const *pointers, fused_reach reach, bool optional,
                                 const void **out);
/* Fills in the fields common to all launches. */
void tprt__fused_begin(const fused_group *group, fused_kernel kernel, uint64_t wanted_ctas,
                       uint32_t n_threads, fused_launch *launch);
/* Returns the kernel that corresponds to `of_f32` for the type. */
tprt_status tprt__fused_kernel_for(fused_kernel of_f32, tprt_dtype dtype, fused_kernel *kernel);
/* Checks that staging has capacity for two buffers of n_ranks slots. */
tprt_status tprt__fused_staging(const fused_group *group, uint64_t slot_bytes,
                                fused_launch *launch);

#endif
