/* Reads TPRT_SITE_FUSED_REDUCE: a reduction of rows with an epilogue. The limits are those of the
 * kernels (tprt/cuda.h). */
#include "program/table.h"

#include "tprt/cuda.h"

#include <string.h>

static tprt_status check_norm(const tprt__site *site, const tprt_abi_fused_reduce *words) {
  bool gamma = tprt__site_has(site, TPRT_IN_GAMMA), beta = tprt__site_has(site, TPRT_IN_BETA);
  bool norm = words->norm != TPRT_CUDA_NO_NORM;
  tprt_status status =
      tprt__check_range("norm of rows", words->norm, TPRT_CUDA_NO_NORM, TPRT_CUDA_LAYER_NORM);
  if (!status)
    status = tprt__check_range("epsilon", words->epsilon, 0, norm ? UINT32_MAX : 0);
  if (!status && (gamma != norm || (beta && words->norm != TPRT_CUDA_LAYER_NORM)))
    status =
        tprt__fail(TPRT_INVALID_ARGUMENT,
                   "fused reduction: norm %lld does not match its operands: %s gamma and %s beta",
                   (long long)words->norm, gamma ? "with" : "without", beta ? "with" : "without");
  return status;
}

static tprt_status check_quantization(const tprt__site *site, const tprt_abi_fused_reduce *words) {
  enum { MAX_FLOAT_BITS = 0x7f7fffff }; /* the bits of the largest finite f32 */
  bool quantizes = words->quantize != TPRT_CUDA_NO_QUANTIZE;
  bool is_static = words->quantize == TPRT_CUDA_STATIC;
  int64_t most = quantizes && !is_static ? MAX_FLOAT_BITS : 0;
  tprt_status status = tprt__check_range("quantization", words->quantize, TPRT_CUDA_NO_QUANTIZE,
                                         TPRT_CUDA_PER_GROUP);
  if (!status)
    status = tprt__check_range("lower limit of the max", words->least_max, 0, most);
  if (!status)
    status = tprt__check_range("lower limit of scales", words->least_scale, 0, most);
  if (!status)
    status = tprt__check_range("division by scales", words->divides, 0, quantizes);
  if (!status && (tprt__site_has(site, TPRT_OUT_QUANTIZED) != quantizes ||
                  tprt__site_has(site, TPRT_OUT_SCALE) != (quantizes && !is_static) ||
                  tprt__site_has(site, TPRT_IN_STATIC_SCALE) != is_static ||
                  (!quantizes && !tprt__site_has(site, TPRT_OUT_TENSOR))))
    status = tprt__fail(TPRT_INVALID_ARGUMENT,
                        "fused reduction: quantization %lld does not match its operands",
                        (long long)words->quantize);
  return status;
}

static tprt_status check_factors(const tprt__site *site, const tprt_abi_fused_reduce *words) {
  bool multiplies = tprt__site_has(site, TPRT_IN_A);
  if (multiplies != tprt__site_has(site, TPRT_IN_B) ||
      multiplies == tprt__site_has(site, TPRT_IN_TENSOR))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused reduction: the input must be a tensor, or both operands of a matmul");
  tprt_status status =
      tprt__check_range("k of a matmul", words->k, multiplies, multiplies ? INT64_MAX : 0);
  return status ? status
                : tprt__check_range("transposed operand", words->transpose_b, 0, multiplies);
}

/* Checks the limits of the kernels. */
static tprt_status check_rows(const tprt__site *site) {
  const tprt_op *op = &site->op;
  const tprt__rows *rows = &site->rows;
  bool scatters = rows->layout != TPRT_ROWS_WHOLE;
  if (op->reduction != TPRT_SUM ||
      (op->dtype != TPRT_F32 && op->dtype != TPRT_F16 && op->dtype != TPRT_BF16))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused reduction: %s of %s; it must be a sum of f32, f16 or bf16",
                      tprt_reduction_name(op->reduction), tprt_dtype_name(op->dtype));
  if (op->n_dims < 1 || op->dim > (scatters ? op->n_dims - 2 : 0))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused reduction: dimension %d of a tensor of rank %d cannot be scattered",
                      op->dim, op->n_dims);
  if (rows->hidden < 1 || rows->hidden * (int64_t)tprt_dtype_size(op->dtype) % 16)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused reduction: %lld elements of %s are not a multiple of 16 bytes",
                      (long long)rows->hidden, tprt_dtype_name(op->dtype));
  if (rows->hidden > TPRT_CUDA_MAX_HIDDEN &&
      (rows->norm || rows->quantize || tprt__site_has(site, TPRT_IN_BIAS)))
    return tprt__fail(TPRT_INVALID_ARGUMENT, "fused reduction: rows of %lld elements; at most %d",
                      (long long)rows->hidden, TPRT_CUDA_MAX_HIDDEN);
  if (rows->quantize == TPRT_CUDA_PER_GROUP && rows->hidden % TPRT_CUDA_GROUP)
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused reduction: rows of %lld elements cannot be divided into groups of %d",
                      (long long)rows->hidden, TPRT_CUDA_GROUP);
  return TPRT_OK;
}

static tprt_status check_words(const tprt__site *site, const tprt_abi_fused_reduce *words) {
  tprt_status status = check_norm(site, words);
  if (!status)
    status =
        tprt__check_range("algorithm of rows", words->algorithm, 0, TPRT_CUDA_N_ALGORITHMS - 1);
  if (!status)
    status = check_quantization(site, words);
  if (!status)
    status = check_factors(site, words);
  return status;
}

tprt_status tprt__read_fused_reduce(const tprt__program *program, tprt__site *site) {
  tprt__rows *rows = &site->rows;
  tprt_op *op = &site->op;
  tprt_abi_fused_reduce words;
  memcpy(&words, site->extra, sizeof words);
  tprt_status status =
      tprt__check_range("layout of rows", words.layout, TPRT_ROWS_WHOLE, TPRT_ROWS_GATHERED);
  if (status)
    return status;
  if (words.layout != TPRT_ROWS_WHOLE)
    op->kind = TPRT_OP_REDUCE_SCATTER;
  status = tprt__check_group(program, site);
  if (!status)
    status = check_words(site, &words);
  if (status)
    return status;
  *rows = (tprt__rows){.blocks = 1,
                       .hidden = op->n_dims ? op->shape[op->n_dims - 1] : 0,
                       .layout = words.layout,
                       .norm = words.norm,
                       .algorithm = words.algorithm,
                       .epsilon = words.epsilon,
                       .quantize = words.quantize,
                       .divides = words.divides,
                       .least_largest = words.least_max,
                       .least_scale = words.least_scale,
                       .k = words.k,
                       .transpose_b = words.transpose_b};
  status = tprt__count_rows(op, "fused reduction", &rows->tokens);
  for (int d = 0; d + 1 < op->n_dims && d < op->dim; d++)
    rows->blocks *= op->shape[d];
  if (!status)
    status = check_rows(site);
  if (status || rows->k == 0)
    return status;
  tprt__matmul_loops(rows->tokens, rows->hidden, rows->k, rows->transpose_b, rows->loops);
  return tprt__plan_site_matmul(site, rows->loops);
}
