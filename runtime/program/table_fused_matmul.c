/* Reads TPRT_SITE_FUSED_MATMUL: a matmul with an epilogue. */
#include "program/table.h"

#include "tprt/cuda_gemm.h"

#include <string.h>

tprt_status tprt__read_fused_matmul(const tprt__program *program, tprt__site *site) {
  (void)program;
  const tprt_op *op = &site->op;
  int64_t rows;
  tprt_abi_fused_matmul words;
  memcpy(&words, site->extra, sizeof words);
  if (op->n_dims < 1 || op->reduction ||
      (op->dtype != TPRT_F32 && op->dtype != TPRT_F16 && op->dtype != TPRT_BF16))
    return tprt__fail(TPRT_INVALID_ARGUMENT,
                      "fused matmul: reduction %s of a tensor of %s of rank %d; it must be no "
                      "reduction, of rows of f32, f16 or bf16",
                      tprt_reduction_name(op->reduction), tprt_dtype_name(op->dtype), op->n_dims);
  int64_t columns = op->shape[op->n_dims - 1];
  tprt_status status = tprt__check_range("k of a matmul", words.k, 1, INT64_MAX);
  if (!status)
    status = tprt__check_range("transposed operand", words.transpose_b, 0, 1);
  if (!status)
    status = tprt__check_range("function of a matmul", words.function, TPRT_CUDA_NOTHING,
                               TPRT_CUDA_GELU);
  if (!status)
    status = tprt__check_range("columns of a matmul", columns, 1, INT64_MAX);
  if (!status)
    status = tprt__count_rows(op, "fused matmul", &rows);
  if (status)
    return status;
  site->matmul.function = words.function;
  tprt__matmul_loops(rows, columns, words.k, words.transpose_b, site->matmul.loops);
  return tprt__plan_site_matmul(site, site->matmul.loops);
}
