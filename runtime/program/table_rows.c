/* Sites of tables that reduce rows, with what they need of tprt/cuda.h. */
#include "program/table.h"

#include "tprt/cuda.h"

#include <string.h>

tprt_status tprt__read_layout(const tprt__program *program, tprt__site *site) {
  if (program->target != TPRT_TARGET_CUDA)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "rows are reduced in programs for GPUs only");
  int n_words =
      TPRT_ROWS_WORDS +
      (tprt__site_quantises_rows(site->kind) ? TPRT_QUANTISE_WORDS - TPRT_ROWS_WORDS : 0) +
      (tprt__site_multiplies_rows(site->kind) ? TPRT_MULTIPLY_WORDS - TPRT_ROWS_WORDS : 0);
  if (site->n_extra != n_words)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "rows: %lld words of extra data, not %d",
                      (long long)site->n_extra, n_words);
  site->rows.layout = site->extra[TPRT_ROWS_LAYOUT];
  tprt_status status =
      tprt__check_range("layout of rows", site->rows.layout, TPRT_ROWS_WHOLE, TPRT_ROWS_GATHERED);
  if (!status && site->rows.layout != TPRT_ROWS_WHOLE)
    site->op.kind = TPRT_OP_REDUCE_SCATTER;
  return status;
}

static tprt_status check_norm(const int64_t *extra, int64_t operands) {
  int64_t norm = extra[TPRT_ROWS_NORM];
  bool gamma = operands & TPRT_ROWS_GAMMA, beta = operands & TPRT_ROWS_BETA;
  tprt_status status =
      tprt__check_range("norm of rows", norm, TPRT_CUDA_NO_NORM, TPRT_CUDA_LAYER_NORM);
  if (!status)
    status = tprt__check_range("epsilon", extra[TPRT_ROWS_EPSILON], 0,
                               norm == TPRT_CUDA_NO_NORM ? 0 : UINT32_MAX);
  if (!status && (gamma != (norm != TPRT_CUDA_NO_NORM) || (beta && norm != TPRT_CUDA_LAYER_NORM)))
    status = tprt__fail(TPRT_INVALID_ARGUMENT, "rows: norm %lld %s gamma and %s beta",
                        (long long)norm, gamma ? "with" : "without", beta ? "with" : "without");
  return status;
}

/* What the kernels take: see tprt/cuda.h. */
static tprt_status check_rows(const tprt_op *op, const tprt__rows *rows) {
  bool scatters = rows->layout != TPRT_ROWS_WHOLE;
  if (op->reduction != TPRT_SUM ||
      (op->dtype != TPRT_F32 && op->dtype != TPRT_F16 && op->dtype != TPRT_BF16))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "rows: reduction %s of %s; there are sums of f32, f16 and bf16",
                      tprt_reduction_name(op->reduction), tprt_dtype_name(op->dtype));
  if (op->n_dims < 1 || op->dim > (scatters ? op->n_dims - 2 : 0))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "rows: dimension %d of a tensor of rank %d is scattered", op->dim,
                      op->n_dims);
  if (rows->hidden < 1 || rows->hidden * (int64_t)tprt_dtype_size(op->dtype) % 16)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "rows: %lld elements of %s are no multiple of 16 bytes",
                      (long long)rows->hidden, tprt_dtype_name(op->dtype));
  if (rows->hidden > TPRT_CUDA_MAX_HIDDEN &&
      (rows->norm || rows->quantise || rows->operands & TPRT_ROWS_BIAS))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "rows of %lld elements; at most %d",
                      (long long)rows->hidden, TPRT_CUDA_MAX_HIDDEN);
  if (rows->quantise == TPRT_CUDA_PER_GROUP && rows->hidden % TPRT_CUDA_GROUP)
    return tprt__fail(TPRT_INVALID_ARGUMENT, "rows of %lld elements are no groups of %d",
                      (long long)rows->hidden, TPRT_CUDA_GROUP);
  return TPRT_OK;
}

void tprt__product_words(int64_t m, int64_t n, int64_t k, bool transpose_b, int64_t words[12]) {
  const int64_t loops[] = {m, k, 0, n, n, 0, transpose_b ? k : 1, 1, k, 1, transpose_b ? 1 : n, 0};
  memcpy(words, loops, sizeof loops);
}

tprt_status tprt__product_plan(tprt_dtype dtype, const int64_t words[12], tprt__contraction *plan) {
  return tprt__contraction_plan(dtype, 3, words, words[0] > 0, plan);
}

static tprt_status read_product(tprt__site *site) {
  tprt__rows *rows = &site->rows;
  /* its words are the last */
  const int64_t *extra = site->extra + site->n_extra - TPRT_MULTIPLY_WORDS;
  tprt_status status = tprt__check_range("k of a product", extra[TPRT_MULTIPLY_K], 1, INT64_MAX);
  if (!status)
    status = tprt__check_range("transposed factor", extra[TPRT_MULTIPLY_TRANSPOSED], 0, 1);
  if (status)
    return status;
  rows->k = extra[TPRT_MULTIPLY_K];
  rows->transpose_b = extra[TPRT_MULTIPLY_TRANSPOSED];
  tprt__product_words(rows->tokens, rows->hidden, rows->k, rows->transpose_b, rows->words);
  site->contraction = tprt__alloc(sizeof *site->contraction);
  if (!site->contraction)
    return tprt__fail_memory(sizeof *site->contraction);
  return tprt__product_plan(site->op.dtype, rows->words, site->contraction);
}

static tprt_status read_quantisation(tprt__site *site) {
  enum { MOST_FLOAT = 0x7f7fffff }; /* bits of the largest */
  const int64_t *extra = site->extra;
  tprt__rows *rows = &site->rows;
  tprt_status status = tprt__check_range("quantisation", extra[TPRT_QUANTISE_KIND],
                                         TPRT_CUDA_STATIC, TPRT_CUDA_PER_GROUP);
  int64_t most = extra[TPRT_QUANTISE_KIND] == TPRT_CUDA_STATIC ? 0 : MOST_FLOAT;
  if (!status)
    status =
        tprt__check_range("least of what is largest", extra[TPRT_QUANTISE_LEAST_LARGEST], 0, most);
  if (!status)
    status = tprt__check_range("least scale", extra[TPRT_QUANTISE_LEAST_SCALE], 0, most);
  if (!status)
    status = tprt__check_range("division by scales", extra[TPRT_QUANTISE_DIVIDES], 0, 1);
  rows->quantise = extra[TPRT_QUANTISE_KIND];
  rows->least_largest = extra[TPRT_QUANTISE_LEAST_LARGEST];
  rows->least_scale = extra[TPRT_QUANTISE_LEAST_SCALE];
  rows->divides = extra[TPRT_QUANTISE_DIVIDES];
  return status;
}

tprt_status tprt__read_rows(tprt__site *site) {
  bool quantises = tprt__site_quantises_rows(site->kind);
  tprt__rows *rows = &site->rows;
  const tprt_op *op = &site->op;
  const int64_t most = TPRT_ROWS_RESIDUAL | TPRT_ROWS_BIAS | TPRT_ROWS_GAMMA | TPRT_ROWS_BETA |
                       TPRT_ROWS_RESIDUAL_OUT | (quantises ? TPRT_ROWS_OUT : 0);
  rows->operands = site->extra[TPRT_ROWS_OPERANDS];
  rows->norm = site->extra[TPRT_ROWS_NORM];
  rows->algorithm = site->extra[TPRT_ROWS_ALGORITHM];
  rows->epsilon = site->extra[TPRT_ROWS_EPSILON];
  tprt_status status = tprt__check_range("operands of rows", rows->operands, 0, most);
  if (!status)
    status = check_norm(site->extra, rows->operands);
  if (!status)
    status = tprt__check_range("algorithm of rows", rows->algorithm, 0, TPRT_CUDA_N_ALGORITHMS - 1);
  if (!status && quantises)
    status = read_quantisation(site);
  if (status)
    return status;
  rows->operands |= quantises ? 0 : TPRT_ROWS_OUT;
  rows->hidden = op->n_dims ? op->shape[op->n_dims - 1] : 0;
  rows->tokens = rows->blocks = 1;
  for (int d = 0; d + 1 < op->n_dims; d++) {
    if (__builtin_mul_overflow(rows->tokens, op->shape[d], &rows->tokens))
      return tprt__fail(TPRT_INVALID_ARGUMENT, "rows: there are more than 2^63 of them");
    rows->blocks *= d < op->dim ? op->shape[d] : 1;
  }
  status = check_rows(op, rows);
  return status || !tprt__site_multiplies_rows(site->kind) ? status : read_product(site);
}
