/* Choices that rank 0 makes for all ranks, because other choices may give other bits. */
#include "cuda/program/gpu_executor.h"

/* What the ranks exchange before the first program is bound. */
enum { WANTED, LIBRARY, N_WORDS };

/* Returns what holds for all ranks, from the words of all. */
static tprt__choice_state agree(int n_ranks, const uint64_t *words) {
  bool any = false, same = true, is_shared = true;
  for (int r = 0; r < n_ranks; r++) {
    any |= words[r * N_WORDS + WANTED] != 0;
    same &= words[r * N_WORDS + WANTED] == words[WANTED];
    is_shared &= words[r * N_WORDS + LIBRARY] == words[LIBRARY];
  }
  return !any         ? TPRT__CHOICE_NOT_WANTED
         : !same      ? TPRT__CHOICE_NOT_ALL
         : !is_shared ? TPRT__CHOICE_NOT_SHARED
                      : TPRT__CHOICE_SHARED;
}

tprt_status tprt__choice_agree(tprt_context *context, uint64_t wanted, uint64_t library,
                               tprt__choice_state *state) {
  int n = tprt_comm_size(context->world);
  uint64_t mine[N_WORDS] = {[WANTED] = wanted, [LIBRARY] = wanted ? library : 0};
  uint64_t *all = tprt__alloc((size_t)n * sizeof mine);
  if (!all)
    return tprt__fail_memory((size_t)n * sizeof mine);
  const tprt_op gather = tprt_op_flat(TPRT_OP_ALL_GATHER, mine, all, N_WORDS, TPRT_U64, NULL);
  tprt_status status = tprt__comm_run_internal(context->world, &gather);
  if (!status)
    *state = agree(n, all);
  tprt__free(all);
  return status;
}

tprt_status tprt__choice_share(tprt_context *context, uint64_t *words, size_t n) {
  const tprt_op broadcast =
      tprt_op_flat(TPRT_OP_BROADCAST, words, words, (int64_t)n, TPRT_U64, NULL);
  return tprt__comm_run_internal(context->world, &broadcast);
}
