/* Plans the cross-entropy. */
#include "cuda/fused/plan.h"

#include <string.h>

static tprt_status check_shape(const tprt_cuda_entropy *e) {
  int64_t lanes = 16 / (int64_t)tprt_dtype_size(e->dtype);
  if (e->tokens < 0 || e->tokens > UINT32_MAX || e->columns < 1 || e->columns / lanes > UINT32_MAX)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: invalid shape of logits: %lld x %lld",
                      (long long)e->tokens, (long long)e->columns);
  if (e->columns % lanes)
    return tprt__fail(
        TPRT_UNSUPPORTED,
        "CUDA: %lld columns of %s per rank; the cross entropy needs a multiple of %lld",
        (long long)e->columns, tprt_dtype_name(e->dtype), (long long)lanes);
  if (e->target_dtype && e->target_dtype != TPRT_I64 && e->target_dtype != TPRT_I32)
    return tprt__fail(TPRT_UNSUPPORTED, "CUDA: targets of type %s; they must be i64 or i32",
                      tprt_dtype_name(e->target_dtype));
  if ((unsigned)e->pick > TPRT_CUDA_LOG_PROBABILITY)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: pick %d does not exist", (int)e->pick);
  return TPRT_OK;
}

static tprt_status check_steps(const fused_group *group, const tprt_cuda_entropy *e) {
  if ((unsigned)e->step > TPRT_CUDA_FROM_PARTS)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: step %d of the cross entropy does not exist",
                      (int)e->step);
  if (e->step == TPRT_CUDA_ALL_STEPS)
    return TPRT_OK;
  if (group->config.n_ranks != 1)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "CUDA: steps of the cross entropy are for groups of one rank, not of %d",
                      group->config.n_ranks);
  if (e->n_parts < 1 || e->part < 0 || e->part >= e->n_parts)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: invalid part %d of %d of the columns", e->part,
                      e->n_parts);
  return TPRT_OK;
}

static tprt_status fill_pointers(const fused_group *group, const tprt_cuda_entropy *e,
                                 fused_entropy *to) {
  bool parts = e->step == TPRT_CUDA_PARTS, from_parts = e->step == TPRT_CUDA_FROM_PARTS,
       any = parts;
  const struct {
    const char *name;
    const void *from;
    void *to;
    bool used, optional, result, of_target;
  } arrays[] = {
      {"logits", e->logits, to->logits, !from_parts, false, false, false},
      {"target", e->target, to->target, true, true, false, false},
      {"parts", e->parts, to->parts, parts || from_parts, false, false, false},
      {"loss", e->loss, to->loss, !parts, true, true, true},
      {"log_sum", e->log_sum, to->log_sum, !parts, true, true, false},
      {"largest", e->largest, to->largest, !parts, true, true, false},
      {"sum", e->sum, to->sum, !parts, true, true, false},
      {"picked", e->picked, to->picked, !parts, true, true, true},
  };
  int rank = group->config.rank == TPRT_CUDA_ALL_RANKS ? 0 : group->config.rank;
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
    const void *from[FUSED_RANKS], *checked[FUSED_RANKS];
    memcpy(from, arrays[i].from, sizeof from);
    if (!arrays[i].used)
      continue;
    tprt_status status =
        tprt__fused_pointers(group, arrays[i].name, from, FUSED_LOCAL, arrays[i].optional, checked);
    if (status)
      return status;
    if (arrays[i].of_target && checked[rank] && !to->target[rank])
      return tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: %s needs target", arrays[i].name);
    any = any || (arrays[i].result && checked[rank]);
    memcpy(arrays[i].to, checked, sizeof checked);
  }
  return any ? TPRT_OK
             : tprt__fail(TPRT_INVALID_ARGUMENT, "CUDA: the cross entropy has no outputs");
}

tprt_status tprt__fused_plan_entropy(const fused_group *group, const tprt_cuda_entropy *given,
                                     fused_launch *launch) {
  tprt_cuda_entropy copy = {0}, *e = &copy;
  fused_kernel kernel;
  fused_launch plan = {0};
  fused_entropy *to = &plan.args.of.entropy;
  tprt_status status = tprt__struct_copy(e, sizeof *e, given, "tprt_cuda_entropy");
  if (!status)
    status = tprt__fused_kernel_for(FUSED_CROSS_ENTROPY_F32, e->dtype, &kernel);
  if (!status)
    status = check_shape(e);
  if (!status)
    status = check_steps(group, e);
  if (!status)
    status = fill_pointers(group, e, to);
  if (status)
    return status;

  bool steps = e->step != TPRT_CUDA_ALL_STEPS;
  to->n_rows = (uint32_t)e->tokens;
  to->row_vectors = (uint32_t)(e->columns * (int64_t)tprt_dtype_size(e->dtype) / 16);
  to->n_parts = (uint32_t)(steps ? e->n_parts : group->config.n_ranks);
  to->first_part = (uint32_t)(steps ? e->part : 0);
  to->step = (uint8_t)e->step;
  to->pick = (uint8_t)e->pick;
  to->own = e->own_picks;
  to->finite = e->finite;
  to->wide_target = e->target_dtype != TPRT_I32;
  to->ignored = e->ignored;
  uint32_t threads = to->row_vectors < FUSED_THREADS
                         ? (to->row_vectors + FUSED_WARP - 1) / FUSED_WARP * FUSED_WARP
                         : FUSED_THREADS;
  uint64_t n_ctas = e->step == TPRT_CUDA_FROM_PARTS ? ((uint64_t)e->tokens + threads - 1) / threads
                                                    : (uint64_t)e->tokens;
  tprt__fused_begin(group, kernel, n_ctas, threads, &plan);
  if (!steps)
    status = tprt__fused_staging(group, (uint64_t)e->tokens * 16, &plan);
  if (!status)
    *launch = plan;
  return status;
}
