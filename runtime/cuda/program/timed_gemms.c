/* Matmuls by the algorithms that rank 0 has timed, if TPRT_TIMED_GEMM=1 on all ranks. All ranks use
 * the same algorithm, because another one may give other bits. */
#include "cuda/program/gpu_executor.h"

#include <stdio.h>
#include <string.h>

static void describe(tprt__gpu_timed *timed) {
  static const char *const whys[] = {
      [TPRT__CHOICE_NOT_WANTED] = "",
      [TPRT__CHOICE_SHARED] = "timed",
      [TPRT__CHOICE_NOT_ALL] = "first choices: TPRT_TIMED_GEMM is not 1 on all ranks",
      [TPRT__CHOICE_NOT_SHARED] = "first choices: the ranks have different GPUs or libraries"};
  if (timed->state == TPRT__CHOICE_NOT_WANTED)
    return;
  int n = snprintf(timed->text, sizeof timed->text, "cuBLASLt (%s", whys[timed->state]);
  if (timed->state == TPRT__CHOICE_SHARED)
    n += snprintf(timed->text + n, sizeof timed->text - (size_t)n,
                  " by rank 0: %d measured, %d from the cache, %d not timed",
                  timed->n[TPRT__GPU_MEASURED], timed->n[TPRT__GPU_CACHED],
                  timed->n[TPRT__GPU_NOT_TIMED]);
  snprintf(timed->text + n, sizeof timed->text - (size_t)n, ")");
}

tprt_status tprt__timed_prepare(tprt_context *context) {
  tprt__gpu_timed *timed = &tprt__gpu_of(context)->timed;
  if (timed->is_decided)
    return TPRT_OK;
  uint64_t library = timed->is_wanted ? tprt__gpu_gemm_library(tprt__gpu_of(context)->gpu) : 0;
  tprt_status status = tprt__choice_agree(context, timed->is_wanted, library, &timed->state);
  if (status)
    return status;
  timed->is_decided = true;
  describe(timed);
  return TPRT_OK;
}

tprt_status tprt__timed_bind(tprt_context *context, tprt__gpu_contraction *contraction) {
  tprt__gpu_state *state = tprt__gpu_of(context);
  tprt__gpu_algorithm chosen = {.how = TPRT__GPU_NOT_TIMED};
  uint64_t words[1 + TPRT__ALGORITHM_WORDS] = {0};
  tprt_status status = TPRT_OK;
  if (state->timed.state != TPRT__CHOICE_SHARED || !tprt__gpu_contraction_is_gemm(contraction))
    return TPRT_OK;
  if (tprt_comm_rank(context->world) == 0)
    status = tprt__gpu_algorithm_choose(state->gpu, contraction, &chosen);
  if (status)
    return status;
  words[0] = chosen.how;
  memcpy(words + 1, chosen.words, sizeof chosen.words);
  status = tprt__choice_share(context, words, sizeof words / sizeof *words);
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
