/* Code shared by the planning of all kinds of fused calls. */
#include "cuda/fused/plan.h"

#include <string.h>

const char *const tprt__fused_names[FUSED_N_KERNELS] = {
#define ROW(constant, name) [FUSED_##constant] = "tprt_" #name,
    FUSED_KERNELS(ROW)
#undef ROW
};

size_t tprt_cuda_signal_bytes(void) { return sizeof(fused_signals); }

static tprt_status aligned(const char *what, int rank, const void *pointer) {
  if ((uintptr_t)pointer % 16 == 0)
    return TPRT_OK;
  return tprt__fail(
      TPRT_INVALID_ARGUMENT,
      "CUDA: %s of rank %d is at %p; fused kernels need addresses that are multiples of 16", what,
      rank, pointer);
}

tprt_status tprt__fused_check_config(const tprt_cuda_group_config *config) {
  if (config->n_ranks < 1 || config->n_ranks > FUSED_RANKS)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "CUDA: invalid group of %d ranks; it must have 1 to %d", (int)config->n_ranks,
                      FUSED_RANKS);
  if (config->rank != TPRT_CUDA_ALL_RANKS && (config->rank < 0 || config->rank >= config->n_ranks))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: rank %d is out of range in a group of %d",
                      (int)config->rank, (int)config->n_ranks);
  if (config->max_ctas < 0 || config->max_ctas > FUSED_CTAS)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: max_ctas is %d; it must be 0 to %d",
                      (int)config->max_ctas, FUSED_CTAS);
  for (int r = 0; r < config->n_ranks; r++) {
    if (!config->signals[r])
      return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: the signals of rank %d are NULL", r);
    tprt_status status = aligned("signals", r, config->signals[r]);
    if (!status)
      status = aligned("staging", r, config->staging[r]);
    if (status)
      return status;
    if (!config->staging[r] && config->staging_bytes > 0)
      return tprt__fail(TPRT_INVALID_ARGUMENT,
                        "CUDA: staging_bytes is %zu, but rank %d has no staging",
                        config->staging_bytes, r);
  }
  return TPRT_OK;
}

int tprt__fused_ctas(const tprt_cuda_group_config *config, int fit) {
  /* Blocks of a kernel that waits for other GPUs keep their multiprocessors. If they took all, a
   * kernel of another stream, such as NCCL's, could not start; and if another GPU waits for that
   * one, neither would end. 64 blocks are taken to be enough for the links between GPUs. */
  enum { BESIDE_OTHERS = 64 };
  int most =
      config->rank == TPRT_CUDA_ALL_RANKS || config->n_ranks == 1 ? FUSED_CTAS : BESIDE_OTHERS;
  return config->max_ctas ? config->max_ctas : fit < most ? fit : most;
}

tprt_status tprt__fused_pointers(const fused_group *group, const char *what,
                                 const void *const *pointers, fused_reach reach, bool optional,
                                 const void **out) {
  const tprt_cuda_group_config *config = &group->config;
  bool all = reach == FUSED_SYMMETRIC || config->rank == TPRT_CUDA_ALL_RANKS;
  int n_set = 0, n_needed = 0;
  memset(out, 0, FUSED_RANKS * sizeof *out);
  for (int r = 0; r < config->n_ranks; r++) {
    if (!all && r != config->rank)
      continue;
    tprt_status status = aligned(what, r, pointers[r]);
    if (status)
      return status;
    out[r] = pointers[r];
    n_needed++;
    n_set += pointers[r] != NULL;
  }
  if (n_set == n_needed || (n_set == 0 && optional))
    return TPRT_OK;
  return tprt__fail(
      TPRT_INVALID_ARGUMENT, "CUDA: %s is set for %d of %d ranks%s", what, n_set, n_needed,
      reach == FUSED_SYMMETRIC ? "; other ranks access it, so the address of every rank is needed"
                               : "");
}

void tprt__fused_begin(const fused_group *group, fused_kernel kernel, uint64_t wanted_ctas,
                       uint32_t n_threads, fused_launch *launch) {
  const tprt_cuda_group_config *config = &group->config;
  uint64_t most = (uint64_t)group->n_ctas[kernel];
  launch->kernel = kernel;
  launch->n_ctas = (uint32_t)(wanted_ctas < most ? wanted_ctas : most);
  launch->n_threads = n_threads;
  fused_args *args = &launch->args;
  args->n_ranks = (uint32_t)config->n_ranks;
  args->first_rank = config->rank == TPRT_CUDA_ALL_RANKS ? 0 : (uint32_t)config->rank;
  args->spin_limit = config->spin_limit;
  args->skew_ns = config->skew_ns;
  for (int r = 0; r < config->n_ranks; r++) {
    args->signals[r] = config->signals[r];
    args->staging[r] = config->staging[r];
  }
}

tprt_status tprt__fused_kernel_for(fused_kernel of_f32, tprt_dtype dtype, fused_kernel *kernel) {
  /* in the order of FUSED_KERNELS */
  static const tprt_dtype dtypes[] = {TPRT_F32, TPRT_F16, TPRT_BF16};
  enum { KERNELS_OF_ELEMENT = FUSED_EXCHANGE / 3 };
  for (int i = 0; i < 3; i++)
    if (dtypes[i] == dtype) {
      *kernel = (fused_kernel)(i * KERNELS_OF_ELEMENT + of_f32);
      return TPRT_OK;
    }
  const char *name = tprt_dtype_name(dtype);
  return tprt__fail(TPRT_UNSUPPORTED,
                    "CUDA: no fused kernel for type %s; supported are f32, f16 and bf16",
                    name ? name : "?");
}

tprt_status tprt__fused_staging(const fused_group *group, uint64_t slot_bytes,
                                fused_launch *launch) {
  uint64_t half = group->config.staging_bytes / 2 / 16 * 16,
           needed = slot_bytes * (uint64_t)group->config.n_ranks;
  if (needed > half)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "CUDA: the call needs %llu bytes of staging, the group has %zu",
                      2 * (unsigned long long)needed, group->config.staging_bytes);
  launch->args.turn_bytes = half;
  launch->args.slot_bytes = slot_bytes;
  return TPRT_OK;
}
