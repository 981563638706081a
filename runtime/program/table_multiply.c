/* Sites of tables that are products with what is done to their elements. */
#include "program/table.h"

#include "tprt/cuda.h"
#include "tprt/cuda_gemm.h"

static tprt_status check_multiply(const tprt__program *program, const tprt__site *site) {
  const tprt_op *op = &site->op;
  if (program->target != TPRT_TARGET_CUDA)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "product: elements are finished in programs for GPUs only");
  if (site->n_extra != TPRT_FINISH_WORDS)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "product: %lld words of extra data, not %d",
                      (long long)site->n_extra, TPRT_FINISH_WORDS);
  if (op->n_dims < 1 || op->reduction ||
      (op->dtype != TPRT_F32 && op->dtype != TPRT_F16 && op->dtype != TPRT_BF16))
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "product: reduction %s of a tensor of %s of rank %d; it is rows of f32, f16 or bf16",
        tprt_reduction_name(op->reduction), tprt_dtype_name(op->dtype), op->n_dims);
  return TPRT_OK;
}

tprt_status tprt__read_multiply(const tprt__program *program, tprt__site *site) {
  const tprt_op *op = &site->op;
  int64_t rows = 1, columns;
  tprt_status status = check_multiply(program, site);
  if (status)
    return status;
  const struct {
    const char *name;
    int64_t low, high;
  } words[TPRT_FINISH_WORDS] = {
      [TPRT_FINISH_K] = {"k of a product", 1, INT64_MAX},
      [TPRT_FINISH_TRANSPOSED] = {"transposed factor", 0, 1},
      [TPRT_FINISH_FUNCTION] = {"function of a product", TPRT_CUDA_NOTHING, TPRT_CUDA_GELU},
      [TPRT_FINISH_BIAS] = {"bias of a product", 0, 1}};
  for (int i = 0; i < TPRT_FINISH_WORDS && !status; i++)
    status = tprt__check_range(words[i].name, site->extra[i], words[i].low, words[i].high);
  columns = op->shape[op->n_dims - 1];
  if (!status)
    status = tprt__check_range("columns of a product", columns, 1, INT64_MAX);
  for (int d = 0; d + 1 < op->n_dims && !status; d++)
    if (op->shape[d] < 0 || __builtin_mul_overflow(rows, op->shape[d], &rows))
      status = tprt__fail(TPRT_INVALID_ARGUMENT, "product: dimension %d has size %lld", d,
                          (long long)op->shape[d]);
  if (status)
    return status;
  site->finish.function = site->extra[TPRT_FINISH_FUNCTION];
  site->finish.bias = site->extra[TPRT_FINISH_BIAS];
  tprt__product_words(rows, columns, site->extra[TPRT_FINISH_K],
                      site->extra[TPRT_FINISH_TRANSPOSED], site->finish.words);
  site->contraction = tprt__alloc(sizeof *site->contraction);
  if (!site->contraction)
    return tprt__fail_memory(sizeof *site->contraction);
  return tprt__product_plan(op->dtype, site->finish.words, site->contraction);
}
