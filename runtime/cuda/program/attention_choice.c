/* Attentions by the makers that TPRT_ATTENTION names, or that rank 0 has timed. All ranks use the
 * same maker, because another one may give other bits. */
#include "cuda/program/gpu_executor.h"

#include <stdio.h>

static void describe(tprt__gpu_attentions *all) {
  static const char *const whys[] = {
      [TPRT__CHOICE_NOT_ALL] = "own kernels: TPRT_ATTENTION is not the same on all ranks",
      [TPRT__CHOICE_NOT_SHARED] =
          "own kernels: the ranks have different GPUs or versions of cuDNN"};
  if (all->state == TPRT__CHOICE_NOT_WANTED)
    return;
  if (all->state != TPRT__CHOICE_SHARED)
    snprintf(all->text, sizeof all->text, "%s", whys[all->state]);
  else if (all->wish == TPRT__GPU_WISH_CUDNN)
    snprintf(all->text, sizeof all->text, "cuDNN for %d of %d (pinned by TPRT_ATTENTION)",
             all->n_by[TPRT__GPU_BY_CUDNN], all->n);
  else
    snprintf(
        all->text, sizeof all->text,
        "cuDNN for %d of %d (timed by rank 0: %d measured, %d from the cache, %d not timed%s%s)",
        all->n_by[TPRT__GPU_BY_CUDNN], all->n, all->n_timed[TPRT__GPU_MEASURED],
        all->n_timed[TPRT__GPU_CACHED], all->n_timed[TPRT__GPU_NOT_TIMED],
        *all->failure ? "; " : "", all->failure);
}

/* No rank has cuDNN. If the user named it, that is a failure; if it
 * was to be tried, it is not. */
static tprt_status miss_library(tprt__gpu_attentions *all, tprt_status status, const char *why) {
  if (all->wish == TPRT__GPU_WISH_CUDNN)
    return tprt__fail(status, "TPRT_ATTENTION=cudnn: %s", why);
  all->state = TPRT__CHOICE_NOT_WANTED;
  snprintf(all->text, sizeof all->text, "own kernels: %s", why);
  return TPRT_OK;
}

tprt_status tprt__attention_prepare(tprt_context *context) {
  const tprt__gpu *gpu = tprt__gpu_of(context)->gpu;
  tprt__gpu_attentions *all = &tprt__gpu_of(context)->attentions;
  uint64_t library = 0;
  if (all->is_decided)
    return TPRT_OK;
  tprt_status missing = all->wish ? tprt__gpu_attention_library(gpu, &library) : TPRT_OK;
  char why[sizeof all->text - sizeof "own kernels: "];
  snprintf(why, sizeof why, "%s", missing ? tprt_last_error() : "");
  tprt_status status = tprt__choice_agree(context, all->wish, library, &all->state);
  if (!status && all->state == TPRT__CHOICE_SHARED && missing)
    status = miss_library(all, missing, why);
  if (status)
    return status;
  all->is_decided = true;
  describe(all);
  return TPRT_OK;
}

/* The choice of rank 0. If cuDNN fails, as with a driver that is too old for it, and was only to be
 * tried, it is not taken. */
static tprt_status choose(tprt__gpu_attentions *all, tprt__gpu_attention *attention,
                          tprt__gpu_maker *maker, tprt__gpu_timing *how) {
  bool has = false, is_timed = all->wish == TPRT__GPU_WISH_TIMED;
  *maker = TPRT__GPU_BY_OWN;
  *how = TPRT__GPU_NOT_TIMED;
  tprt_status status = tprt__gpu_attention_offer(attention, TPRT__GPU_BY_CUDNN, &has);
  if (status && !is_timed)
    return tprt__fail(status, "TPRT_ATTENTION=cudnn: %s", tprt_last_error());
  if (status)
    snprintf(all->failure, sizeof all->failure, "%s", tprt_last_error());
  if (!has)
    return TPRT_OK;
  if (is_timed)
    return tprt__gpu_attention_choose(attention, maker, how);
  *maker = TPRT__GPU_BY_CUDNN;
  return TPRT_OK;
}

tprt_status tprt__attention_bind(tprt_context *context, tprt__gpu_attention *attention) {
  tprt__gpu_attentions *all = &tprt__gpu_of(context)->attentions;
  tprt__gpu_maker maker = TPRT__GPU_BY_OWN;
  tprt__gpu_timing how = TPRT__GPU_NOT_TIMED;
  tprt_status status = TPRT_OK;
  if (all->state != TPRT__CHOICE_SHARED)
    return TPRT_OK;
  if (tprt_comm_rank(context->world) == 0)
    status = choose(all, attention, &maker, &how);
  uint64_t words[] = {maker, how};
  if (!status)
    status = tprt__choice_share(context, words, sizeof words / sizeof *words);
  if (!status)
    status = tprt__gpu_attention_use(attention, (tprt__gpu_maker)words[0]);
  if (status)
    return status;
  all->n++;
  all->n_by[words[0]]++;
  all->n_timed[words[1]]++;
  describe(all);
  return TPRT_OK;
}
