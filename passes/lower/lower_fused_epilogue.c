/* Products with what is done to their elements -> tprt_abi_multiply. */
#include "passes/lower/lower_fused.h"

#include "tprt/cuda_gemm.h"

tp_status tp__lower_fused_epilogue(tp__lowering *l, const tp__fused_call *d) {
  static const char *const functions[] = {
      [TPRT_CUDA_NOTHING] = "none", [TPRT_CUDA_RELU] = "relu", [TPRT_CUDA_GELU] = "gelu"};
  static const char *const operands_of[] = {"a", "b", "bias"};
  MlirOperation op = d->call;
  int64_t site[TPRT_SITE_WORDS], extra[TPRT_FINISH_WORDS], operands;
  MlirType product;
  tp_status status = tp__fused_bits(d, "operands", TP_LEN(operands_of), operands_of, &operands);
  if (status == TP_OK &&
      ((operands & 3) != 3 || tp__n_bits(operands) != mlirOperationGetNumOperands(op)))
    status = tp__fused_refuse(d, "operands");
  if (status == TP_OK)
    status =
        tp__fused_choice(d, "function", TP_LEN(functions), functions, &extra[TPRT_FINISH_FUNCTION]);
  if (status == TP_OK)
    status = tp__fused_product(d, &product, &extra[TPRT_FINISH_K], &extra[TPRT_FINISH_TRANSPOSED]);
  if (status == TP_OK)
    status = tp__site_begin(op, TPRT_SITE_MULTIPLY, 0, NULL, product, site);
  if (status != TP_OK)
    return status;
  extra[TPRT_FINISH_BIAS] = operands >> 2 & 1;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirValue given[6] = {l->ctx}, buffer;
  given[5] = tp__site_receive(l, op, type, &buffer);
  for (int i = 0; i < 3; i++)
    given[2 + i] = operands >> i & 1 ? tp__site_send(l, op, mlirOperationGetOperand(op, i))
                                     : tp__build_one(op, "llvm.mlir.zero", 0, NULL, l->ptr);
  given[1] = tp__build_int(op, l->i32, tp__lowering_site(l, site, TPRT_FINISH_WORDS, extra));
  tp__build_call(l, op, "tprt_abi_multiply", TP_LEN(given), given, l->i32);
  tp__replace_op(op, tp__site_value(l, op, type, buffer));
  return TP_OK;
}
