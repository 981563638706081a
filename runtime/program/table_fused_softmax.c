/* Reads TPRT_SITE_FUSED_SOFTMAX: the row statistics of a softmax over sharded columns. */
#include "program/table.h"

#include "tprt/cuda.h"

#include <string.h>

static tprt_status check_words(const tprt__site *site, const tprt_abi_fused_softmax *words) {
  bool picks = tprt__site_has(site, TPRT_OUT_PICKED);
  tprt_status status = tprt__check_range("type of the target", words->target, 0, TPRT_N_DTYPES - 1);
  if (!status)
    status = tprt__check_range("pick", words->pick, 0, picks ? TPRT_CUDA_LOG_PROBABILITY : 0);
  if (!status)
    status = tprt__check_range("own", words->own, 0, picks);
  if (!status)
    status = tprt__check_range("finite", words->finite, 0, 1);
  if (!status)
    status = tprt__check_range("number of outputs", site->operands.n_outputs, 1, TPRT_MAX_OUTPUTS);
  return status;
}

static tprt_status check_softmax(const tprt__site *site) {
  const tprt_op *op = &site->op;
  const tprt__softmax *softmax = &site->softmax;
  const int64_t *last = op->shape + op->n_dims - 1;
  bool picks = tprt__site_has(site, TPRT_OUT_PICKED);
  if (op->n_dims < 1 || op->reduction ||
      (op->dtype != TPRT_F32 && op->dtype != TPRT_F16 && op->dtype != TPRT_BF16))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused softmax: reduction %s of a tensor of %s of rank %d; it must be no "
                      "reduction, of rows of f32, f16 or bf16",
                      tprt_reduction_name(op->reduction), tprt_dtype_name(op->dtype), op->n_dims);
  if (*last < 1 || *last * (int64_t)tprt_dtype_size(op->dtype) % 16)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused softmax: %lld elements of %s are not a multiple of 16 bytes",
                      (long long)*last, tprt_dtype_name(op->dtype));
  if (softmax->target && softmax->target != TPRT_I32 && softmax->target != TPRT_I64)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "fused softmax: a target of %s; it must be i32 or i64",
                      tprt_dtype_name(softmax->target));
  if (picks != (softmax->target != 0) || picks != tprt__site_has(site, TPRT_IN_TARGET))
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "fused softmax: a target, its type and the picked column must be given together");
  return TPRT_OK;
}

tprt_status tprt__read_fused_softmax(const tprt__program *program, tprt__site *site) {
  tprt__softmax *softmax = &site->softmax;
  tprt_op *op = &site->op;
  tprt_abi_fused_softmax words;
  memcpy(&words, site->extra, sizeof words);
  tprt_status status = check_words(site, &words);
  if (!status)
    status = tprt__count_rows(op, "fused softmax", &softmax->tokens);
  if (status)
    return status;
  softmax->dtype = op->dtype;
  softmax->target = (tprt_dtype)words.target;
  softmax->columns = op->n_dims ? op->shape[op->n_dims - 1] : 0;
  softmax->pick = words.pick;
  softmax->own = words.own;
  softmax->finite = words.finite;
  status = check_softmax(site);
  if (!status)
    status = tprt__check_range("number of rows", softmax->tokens, 0, UINT32_MAX);
  if (status)
    return status;
  /* The collective is an all-gather of the row statistics: a vector of 16 bytes per row. */
  *op = (tprt_op){.size = sizeof *op,
                  .kind = op->kind,
                  .dtype = TPRT_F32,
                  .n_dims = 1,
                  .shape = {4 * softmax->tokens}};
  return tprt__check_group(program, site);
}
