/* Sites of tables that are softmaxes of split rows. */
#include "program/table.h"

#include "tprt/cuda.h"

static tprt_status check_place(const tprt__program *program, const tprt__site *site) {
  if (program->target != TPRT_TARGET_CUDA)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "softmax: rows are split in programs for GPUs only");
  if (site->n_extra != TPRT_SOFTMAX_WORDS)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "softmax: %lld words of extra data, not %d",
                      (long long)site->n_extra, TPRT_SOFTMAX_WORDS);
  return TPRT_OK;
}

/* The product of all dimensions but the last. */
static tprt_status count_tokens(const tprt_op *op, int64_t *tokens) {
  *tokens = 1;
  for (int d = 0; d + 1 < op->n_dims; d++)
    if (__builtin_mul_overflow(*tokens, op->shape[d], tokens))
      return tprt__fail(TPRT_INVALID_ARGUMENT, "softmax: there are more than 2^63 of them");
  return TPRT_OK;
}

static tprt_status check_softmax(const tprt_op *op, const tprt__softmax *softmax) {
  const int64_t *last = op->shape + op->n_dims - 1,
                n_picked = softmax->results & TPRT_SOFTMAX_PICKED;
  if (op->n_dims < 1 || op->reduction ||
      (op->dtype != TPRT_F32 && op->dtype != TPRT_F16 && op->dtype != TPRT_BF16))
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "softmax: reduction %s of a tensor of %s of rank %d; it takes rows of f32, f16 or bf16",
        tprt_reduction_name(op->reduction), tprt_dtype_name(op->dtype), op->n_dims);
  if (*last < 1 || *last * (int64_t)tprt_dtype_size(op->dtype) % 16)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "softmax: %lld elements of %s are no multiple of 16 bytes", (long long)*last,
                      tprt_dtype_name(op->dtype));
  if (softmax->target && softmax->target != TPRT_I32 && softmax->target != TPRT_I64)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "softmax: a target of %s; it is i32 or i64",
                      tprt_dtype_name(softmax->target));
  if (!n_picked != !softmax->target)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "softmax: picked %s target",
                      n_picked ? "without" : "is no result, but there is a");
  return TPRT_OK;
}

tprt_status tprt__read_softmax(const tprt__program *program, tprt__site *site) {
  tprt__softmax *softmax = &site->softmax;
  tprt_op *op = &site->op;
  tprt_status status = check_place(program, site);
  if (status)
    return status;
  const struct {
    const char *name;
    int64_t low, high;
  } words[TPRT_SOFTMAX_WORDS] = {
      [TPRT_SOFTMAX_TARGET] = {"type of the target", 0, TPRT_N_DTYPES - 1},
      [TPRT_SOFTMAX_RESULTS] = {"results of the softmax", 1, 7},
      [TPRT_SOFTMAX_PICK] = {"pick", 0, TPRT_CUDA_LOG_PROBABILITY},
      [TPRT_SOFTMAX_OWN] = {"own", 0, 1},
      [TPRT_SOFTMAX_FINITE] = {"finite", 0, 1}};
  bool picks = site->extra[TPRT_SOFTMAX_RESULTS] & TPRT_SOFTMAX_PICKED;
  for (int i = 0; i < TPRT_SOFTMAX_WORDS && !status; i++) {
    bool of_pick = i == TPRT_SOFTMAX_PICK || i == TPRT_SOFTMAX_OWN;
    status = tprt__check_range(words[i].name, site->extra[i], words[i].low,
                               of_pick && !picks ? 0 : words[i].high);
  }
  if (!status)
    status = count_tokens(op, &softmax->tokens);
  if (status)
    return status;
  softmax->dtype = op->dtype;
  softmax->target = (tprt_dtype)site->extra[TPRT_SOFTMAX_TARGET];
  softmax->columns = op->n_dims ? op->shape[op->n_dims - 1] : 0;
  softmax->results = site->extra[TPRT_SOFTMAX_RESULTS];
  softmax->pick = site->extra[TPRT_SOFTMAX_PICK];
  softmax->own = site->extra[TPRT_SOFTMAX_OWN];
  softmax->finite = site->extra[TPRT_SOFTMAX_FINITE];
  status = check_softmax(op, softmax);
  if (!status)
    status = tprt__check_range("number of rows", softmax->tokens, 0, UINT32_MAX);
  if (!status) /* what is sent: vectors of 16 bytes */
    *op = (tprt_op){.size = sizeof *op,
                    .kind = op->kind,
                    .dtype = TPRT_F32,
                    .n_dims = 1,
                    .shape = {4 * softmax->tokens}};
  tprt__plan plan;
  return status ? status
                : tprt__plan_shape(op, (int)tprt__site_group_size(program, site), 0, &plan);
}
