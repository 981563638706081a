/* Sites of tables that gather rows and multiply them. */
#include "program/table.h"

static tprt_status check_place(const tprt__program *program, const tprt__site *site) {
  const tprt_op *op = &site->op;
  if (program->target != TPRT_TARGET_CUDA)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "rows are gathered for products in programs for GPUs only");
  if (op->reduction || (op->dtype != TPRT_F32 && op->dtype != TPRT_F16 && op->dtype != TPRT_BF16))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "gathered rows: reduction %s of %s; they are of f32, f16 or bf16",
                      tprt_reduction_name(op->reduction), tprt_dtype_name(op->dtype));
  if (op->dim > op->n_dims - 2)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "gathered rows: dimension %d of a tensor of rank %d is gathered", op->dim,
                      op->n_dims);
  return TPRT_OK;
}

static tprt_status read_product(const tprt__site *site, int i, tprt__gathering *g) {
  tprt__contraction unused;
  int64_t words[12];
  g->columns[i] = site->extra[TPRT_GATHER_COLUMNS + 2 * i];
  g->transposed[i] = site->extra[TPRT_GATHER_TRANSPOSED + 2 * i];
  tprt_status status = tprt__check_range("columns of a product", g->columns[i], 1, INT64_MAX);
  if (!status)
    status = tprt__check_range("transposed factor", g->transposed[i], 0, 1);
  if (status)
    return status;
  tprt__product_words(g->tokens, g->columns[i], g->width, g->transposed[i], words);
  return tprt__product_plan(site->op.dtype, words, &unused);
}

tprt_status tprt__read_gathering(const tprt__program *program, tprt__site *site) {
  tprt__gathering *g = &site->gathering;
  const tprt_op *op = &site->op;
  tprt_status status = check_place(program, site);
  if (!status && site->n_extra < 1)
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "gathered rows: there are no words of extra data");
  if (!status)
    status =
        tprt__check_range("number of products", site->extra[TPRT_GATHER_N], 1, TPRT_GATHER_MOST);
  if (status)
    return status;
  g->n = site->extra[TPRT_GATHER_N];
  if (site->n_extra != 1 + 2 * g->n)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "gathered rows: %lld words of extra data, not %lld",
                      (long long)site->n_extra, (long long)(1 + 2 * g->n));
  g->width = op->shape[op->n_dims - 1];
  g->tokens = tprt__site_group_size(program, site);
  g->blocks = 1;
  for (int d = 0; d < op->n_dims - 1; d++) {
    g->blocks *= d < op->dim ? op->shape[d] : 1;
    if (__builtin_mul_overflow(g->tokens, op->shape[d], &g->tokens))
      return tprt__fail(TPRT_INVALID_ARGUMENT, "gathered rows: there are more than 2^63 of them");
  }
  status = tprt__check_range("width of gathered rows", g->width, 1, INT64_MAX);
  for (int i = 0; i < g->n && !status; i++)
    status = read_product(site, i, g);
  return status;
}
