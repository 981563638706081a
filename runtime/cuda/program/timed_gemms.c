/* Matmuls by the algorithms that rank 0 has timed, if TPRT_TIMED_GEMM=1 on all ranks. All ranks use
 * the same algorithm, because another one may give other bits. */
#include "cuda/program/gpu_executor.h"

#include <stdio.h>
#include <string.h>

/* What the ranks exchange before the first program is bound. */
enum { WANTED, LIBRARY, N_WORDS };

static void describe(tprt__gpu_timed *timed) {
  static const char *const whys[] = {
      [TPRT__TIMED_NOT_WANTED] = "",
      [TPRT__TIMED] = "timed",
      [TPRT__TIMED_NOT_ALL] = "first choices: TPRT_TIMED_GEMM is not 1 on all ranks",
      [TPRT__TIMED_NOT_SHARED] = "first choices: the ranks have different GPUs or libraries"};
  if (timed->state == TPRT__TIMED_NOT_WANTED)
    return;
  int n = snprintf(timed->text, sizeof timed->text, "cuBLASLt (%s", whys[timed->state]);
  if (timed->state == TPRT__TIMED)
    n += snprintf(timed->text + n, sizeof timed->text - (size_t)n,
                  " by rank 0: %d measured, %d from the cache, %d not timed",
                  timed->n[TPRT__GPU_MEASURED], timed->n[TPRT__GPU_CACHED],
                  timed->n[TPRT__GPU_NOT_TIMED]);
  snprintf(timed->text + n, sizeof timed->text - (size_t)n, ")");
}

/* Returns what holds for all ranks, from the words of all. */
static tprt__timed_state agree(int n_ranks, const uint64_t *words) {
  bool any = false, all = true, is_shared = true;
  for (int r = 0; r < n_ranks; r++) {
    any |= words[r * N_WORDS + WANTED];
    all &= words[r * N_WORDS + WANTED];
    is_shared &= words[r * N_WORDS + LIBRARY] == words[LIBRARY];
  }
  return !any         ? TPRT__TIMED_NOT_WANTED
         : !all       ? TPRT__TIMED_NOT_ALL
         : !is_shared ? TPRT__TIMED_NOT_SHARED
                      : TPRT__TIMED;
}

tprt_status tprt__timed_prepare(tprt_context *context) {
  tprt__gpu_state *state = tprt__gpu_of(context);
  int n = tprt_comm_size(context->world);
  if (state->timed.is_decided)
    return TPRT_OK;
  bool wanted = state->timed.is_wanted;
  uint64_t mine[N_WORDS] = {[WANTED] = wanted,
                            [LIBRARY] = wanted ? tprt__gpu_gemm_library(state->gpu) : 0};
  uint64_t *all = tprt__alloc((size_t)n * sizeof mine);
  if (!all)
    return tprt__fail_memory((size_t)n * sizeof mine);
  const tprt_op gather = tprt_op_flat(TPRT_OP_ALL_GATHER, mine, all, N_WORDS, TPRT_U64, NULL);
  tprt_status status = tprt__comm_run_internal(context->world, &gather);
  if (!status) {
    state->timed.state = agree(n, all);
    state->timed.is_decided = true;
    describe(&state->timed);
  }
  tprt__free(all);
  return status;
}

tprt_status tprt__timed_bind(tprt_context *context, tprt__gpu_contraction *contraction) {
  tprt__gpu_state *state = tprt__gpu_of(context);
  tprt__gpu_algorithm chosen = {.how = TPRT__GPU_NOT_TIMED};
  uint64_t words[1 + TPRT__ALGORITHM_WORDS] = {0};
  tprt_status status = TPRT_OK;
  if (state->timed.state != TPRT__TIMED || !tprt__gpu_contraction_is_gemm(contraction))
    return TPRT_OK;
  if (tprt_comm_rank(context->world) == 0)
    status = tprt__gpu_algorithm_choose(state->gpu, contraction, &chosen);
  if (status)
    return status;
  words[0] = chosen.how;
  memcpy(words + 1, chosen.words, sizeof chosen.words);
  const tprt_op broadcast =
      tprt_op_flat(TPRT_OP_BROADCAST, words, words, sizeof words / sizeof *words, TPRT_U64, NULL);
  status = tprt__comm_run_internal(context->world, &broadcast);
  if (status)
    return status;
  chosen.how = (tprt__gpu_timing)words[0];
  memcpy(chosen.words, words + 1, sizeof chosen.words);
  state->timed.n[chosen.how]++;
  describe(&state->timed);
  return chosen.how == TPRT__GPU_NOT_TIMED
             ? TPRT_OK
             : tprt__gpu_contraction_use(state->gpu, contraction, &chosen);
}
