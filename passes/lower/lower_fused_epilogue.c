/* Lowers calls of fused functions that are a matmul with an epilogue to TPRT_SITE_FUSED_MATMUL. */
#include "passes/lower/lower_fused.h"

#include "tprt/cuda_gemm.h"

#include <string.h>

tp_status tp__lower_fused_epilogue(tp__lowering *l, const tp__fused_call *d) {
  static const char *const functions[] = {
      [TPRT_CUDA_NOTHING] = "none", [TPRT_CUDA_RELU] = "relu", [TPRT_CUDA_GELU] = "gelu"};
  static const char *const names[] = {"a", "b", "bias"};
  static const tprt_operand inputs[] = {TPRT_IN_A, TPRT_IN_B, TPRT_IN_BIAS};
  static const tprt_operand output = TPRT_OUT_TENSOR;
  enum { FACTORS = 3 /* the bits of a and b */ };
  tprt_abi_fused_matmul words = {.k = 0};
  int64_t bits, extra[sizeof words / sizeof(int64_t)];
  tprt_abi_site site;
  MlirType product;
  TP_TRY(tp__fused_bits(d, "operands", TP_LEN(names), names, &bits));
  if ((bits & FACTORS) != FACTORS || tp__n_bits(bits) != mlirOperationGetNumOperands(d->call))
    return tp__fused_refuse(d, "operands");
  TP_TRY(tp__fused_choice(d, "function", TP_LEN(functions), functions, &words.function));
  TP_TRY(tp__fused_matmul(d, &product, &words.k, &words.transpose_b));
  TP_TRY(tp__site_begin(d->call, TPRT_SITE_FUSED_MATMUL, 0, NULL, product, &site));
  tprt_operand given[TP_LEN(inputs)];
  tp__fused_operands(bits, TP_LEN(inputs), inputs, given);
  memcpy(extra, &words, sizeof words);
  return tp__fused_replace(l, d, &site, TP_LEN(extra), extra, given, &output);
}
