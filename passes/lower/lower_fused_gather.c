/* Rows that are gathered with products of them -> tprt_abi_gather_multiply. */
#include "passes/lower/lower_fused.h"

#include "ir/work.h"

enum { N_GATHER_OPERANDS = 1 + TPRT_GATHER_MOST, N_GATHER_RESULTS = 1 + TPRT_GATHER_MOST };

/* The words of the products, of which there are n: a factor and a result each. */
static tp_status read_gathering(const tp__fused_call *d, int n, MlirType gathered, int64_t *extra) {
  MlirAttribute transposed = tp__fused_entry(d, "transposed");
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(gathered, &rank, shape);
  if (mlirAttributeIsNull(transposed) || !mlirAttributeIsAArray(transposed) ||
      mlirArrayAttrGetNumElements(transposed) != n)
    return tp__fused_refuse(d, "transposed");
  extra[TPRT_GATHER_N] = n;
  for (int i = 0; i < n; i++) {
    MlirAttribute turned = mlirArrayAttrGetElement(transposed, i);
    int64_t elements = tp__n_elements(mlirValueGetType(mlirOperationGetOperand(d->call, 1 + i)));
    if (!mlirAttributeIsABool(turned) || elements % shape[rank - 1] != 0)
      return tp__fused_refuse(d, "transposed");
    extra[TPRT_GATHER_COLUMNS + 2 * i] = elements / shape[rank - 1];
    extra[TPRT_GATHER_TRANSPOSED + 2 * i] = mlirBoolAttrGetValue(turned);
  }
  return TP_OK;
}

tp_status tp__lower_fused_gather(tp__lowering *l, const tp__fused_call *d) {
  static const char *const operands_of[N_GATHER_OPERANDS] = {"input", "b0", "b1", "b2", "b3"};
  static const char *const results_of[N_GATHER_RESULTS] = {"gathered", "out0", "out1", "out2",
                                                           "out3"};
  MlirOperation op = d->call;
  int64_t site[TPRT_SITE_WORDS], extra[1 + 2 * TPRT_GATHER_MOST] = {0}, operands, results;
  int n_axes, axes[TP_MAX_AXES], at = 0, n = (int)mlirOperationGetNumOperands(op) - 1;
  MlirAttribute dim = tp__fused_entry(d, "dim");
  tp_status status = tp__fused_bits(d, "operands", N_GATHER_OPERANDS, operands_of, &operands);
  if (status == TP_OK)
    status = tp__fused_bits(d, "results", N_GATHER_RESULTS, results_of, &results);
  if (status == TP_OK && (n < 1 || operands != (2 << n) - 1))
    status = tp__fused_refuse(d, "operands");
  if (status == TP_OK &&
      (tp__n_bits(results) != mlirOperationGetNumResults(op) || (results | 1) != operands))
    status = tp__fused_refuse(d, "results");
  if (status == TP_OK && (mlirAttributeIsNull(dim) || !mlirAttributeIsAInteger(dim)))
    status = tp__fused_refuse(d, "dim");
  if (status == TP_OK)
    status = tp__fused_mesh_axes(d, &l->mesh, &n_axes, axes);
  MlirType input =
      status == TP_OK ? mlirValueGetType(mlirOperationGetOperand(op, 0)) : (MlirType){NULL};
  if (status == TP_OK)
    status = tp__site_begin(op, TPRT_SITE_GATHER_MULTIPLY, n_axes, axes, input, site);
  if (status == TP_OK)
    status = read_gathering(d, n, input, extra);
  if (status != TP_OK)
    return status;
  site[27] = mlirIntegerAttrGetValueInt(dim);
  MlirValue none = tp__build_one(op, "llvm.mlir.zero", 0, NULL, l->ptr), buffers[N_GATHER_RESULTS];
  MlirValue given[2 + N_GATHER_OPERANDS + N_GATHER_RESULTS] = {l->ctx},
                                          *received = given + 2 + N_GATHER_OPERANDS;
  for (int i = 0; i < N_GATHER_RESULTS; i++)
    received[i] = results >> i & 1
                      ? tp__site_receive(l, op, mlirValueGetType(mlirOperationGetResult(op, at++)),
                                         &buffers[i])
                      : none;
  for (int i = 0; i < N_GATHER_OPERANDS; i++)
    given[2 + i] = i <= n ? tp__site_send(l, op, mlirOperationGetOperand(op, i)) : none;
  given[1] = tp__build_int(op, l->i32, tp__lowering_site(l, site, 1 + 2 * n, extra));
  tp__build_call(l, op, "tprt_abi_gather_multiply", TP_LEN(given), given, l->i32);
  at = 0;
  for (int i = 0; i < N_GATHER_RESULTS; i++) {
    if (!(results >> i & 1))
      continue;
    MlirValue result = mlirOperationGetResult(op, at++);
    mlirValueReplaceAllUsesOfWith(result,
                                  tp__site_value(l, op, mlirValueGetType(result), buffers[i]));
  }
  mlirOperationDestroy(op);
  return TP_OK;
}
