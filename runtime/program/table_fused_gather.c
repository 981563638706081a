/* Reads TPRT_SITE_FUSED_GATHER: an all-gather of rows with matmuls. */
#include "program/table.h"

#include <string.h>

static tprt_status check_tensor(const tprt_op *op) {
  if (op->reduction || (op->dtype != TPRT_F32 && op->dtype != TPRT_F16 && op->dtype != TPRT_BF16))
    return tprt__fail(
        TPRT_INVALID_ARGUMENT,
        "fused all-gather: reduction %s of %s; it must be no reduction, of f32, f16 or bf16",
        tprt_reduction_name(op->reduction), tprt_dtype_name(op->dtype));
  if (op->dim > op->n_dims - 2)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused all-gather: dimension %d of a tensor of rank %d cannot be gathered",
                      op->dim, op->n_dims);
  return TPRT_OK;
}

/* Checks that the site has exactly n operands with this role, which may repeat. */
static tprt_status check_count(const tprt__site *site, tprt_operand which, int64_t n) {
  bool right = tprt__site_operand(site, which, (int)n - 1) >= 0 &&
               tprt__site_operand(site, which, (int)n) < 0;
  return right ? TPRT_OK
               : tprt__fail(TPRT_INVALID_ARGUMENT,
                            "fused all-gather: there are %lld matmuls, but not as many %s",
                            (long long)n, which == TPRT_IN_B ? "right operands" : "products");
}

static tprt_status check_matmul(const tprt__site *site, int i) {
  const tprt__gathering *g = &site->gathering;
  tprt__contraction unused;
  tprt_abi_loop loops[TPRT__MATMUL_LOOPS];
  tprt_status status = tprt__check_range("columns of a matmul", g->columns[i], 1, INT64_MAX);
  if (!status)
    status = tprt__check_range("transposed operand", g->transposed[i], 0, 1);
  if (status)
    return status;
  tprt__matmul_loops(g->tokens, g->columns[i], g->width, g->transposed[i], loops);
  return tprt__matmul_plan(site->op.dtype, loops, &unused);
}

tprt_status tprt__read_fused_gather(const tprt__program *program, tprt__site *site) {
  tprt__gathering *g = &site->gathering;
  const tprt_op *op = &site->op;
  tprt_abi_fused_gather words;
  memcpy(&words, site->extra, sizeof words);
  tprt_status status = tprt__check_group(program, site);
  if (!status)
    status = check_tensor(op);
  if (!status)
    status = tprt__check_range("number of matmuls", words.n_matmuls, 1, TPRT_MAX_MATMULS);
  if (!status)
    status = check_count(site, TPRT_IN_B, words.n_matmuls);
  if (!status)
    status = check_count(site, TPRT_OUT_TENSOR, words.n_matmuls);
  if (status)
    return status;
  g->n = words.n_matmuls;
  memcpy(g->columns, words.columns, sizeof g->columns);
  memcpy(g->transposed, words.transpose_b, sizeof g->transposed);
  g->width = op->shape[op->n_dims - 1];
  int64_t own;
  status = tprt__count_rows(op, "fused all-gather", &own);
  if (!status && __builtin_mul_overflow(own, tprt__site_group_size(program, site), &g->tokens))
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "fused all-gather: there are more than 2^63 rows");
  g->blocks = 1;
  for (int d = 0; d < op->dim; d++)
    g->blocks *= op->shape[d];
  if (!status)
    status = tprt__check_range("width of gathered rows", g->width, 1, INT64_MAX);
  for (int i = 0; i < g->n && !status; i++)
    status = check_matmul(site, i);
  for (int i = (int)g->n; i < TPRT_MAX_MATMULS && !status; i++)
    status = tprt__check_range("words of an unused matmul", g->columns[i] | g->transposed[i], 0, 0);
  return status;
}
