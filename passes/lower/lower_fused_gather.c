/* Lowers calls of fused functions that all-gather rows and multiply them to
 * TPRT_SITE_FUSED_GATHER. */
#include "passes/lower/lower_fused.h"

#include "ir/work.h"

#include <string.h>

enum { MAX_INPUTS = 1 + TPRT_MAX_MATMULS, MAX_OUTPUTS = 1 + TPRT_MAX_MATMULS };

static tp_status read_matmuls(const tp__fused_call *d, int n, MlirType gathered,
                              tprt_abi_fused_gather *words) {
  MlirAttribute transposed = tp__fused_entry(d, "transposed");
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(gathered, &rank, shape);
  if (mlirAttributeIsNull(transposed) || !mlirAttributeIsAArray(transposed) ||
      mlirArrayAttrGetNumElements(transposed) != n)
    return tp__fused_refuse(d, "transposed");
  words->n_matmuls = n;
  for (int i = 0; i < n; i++) {
    MlirAttribute turned = mlirArrayAttrGetElement(transposed, i);
    int64_t elements = tp__n_elements(mlirValueGetType(mlirOperationGetOperand(d->call, 1 + i)));
    if (!mlirAttributeIsABool(turned) || elements % shape[rank - 1] != 0)
      return tp__fused_refuse(d, "transposed");
    words->columns[i] = elements / shape[rank - 1];
    words->transpose_b[i] = mlirBoolAttrGetValue(turned);
  }
  return TP_OK;
}

/* Reads the names of operands and results, and checks them: the operands are the tensor and n
 * factors; the results are n matmul results and optionally the gathered tensor. */
static tp_status read_names(const tp__fused_call *d, int n, int64_t *outputs) {
  static const char *const input_names[MAX_INPUTS] = {"input", "b0", "b1", "b2", "b3"};
  static const char *const output_names[MAX_OUTPUTS] = {"gathered", "out0", "out1", "out2", "out3"};
  int64_t inputs;
  TP_TRY(tp__fused_bits(d, "operands", MAX_INPUTS, input_names, &inputs));
  TP_TRY(tp__fused_bits(d, "results", MAX_OUTPUTS, output_names, outputs));
  if (n < 1 || inputs != (2 << n) - 1)
    return tp__fused_refuse(d, "operands");
  if (tp__n_bits(*outputs) != mlirOperationGetNumResults(d->call) || (*outputs | 1) != inputs)
    return tp__fused_refuse(d, "results");
  return TP_OK;
}

tp_status tp__lower_fused_gather(tp__lowering *l, const tp__fused_call *d) {
  static const tprt_operand inputs[MAX_INPUTS] = {TPRT_IN_TENSOR, TPRT_IN_B, TPRT_IN_B, TPRT_IN_B,
                                                  TPRT_IN_B};
  static const tprt_operand outputs[MAX_OUTPUTS] = {
      TPRT_OUT_GATHERED, TPRT_OUT_TENSOR, TPRT_OUT_TENSOR, TPRT_OUT_TENSOR, TPRT_OUT_TENSOR};
  MlirOperation op = d->call;
  tprt_abi_fused_gather words = {.n_matmuls = 0};
  tprt_abi_site site;
  int64_t extra[sizeof words / sizeof(int64_t)], results;
  int n_axes, axes[TP_MAX_AXES], n = (int)mlirOperationGetNumOperands(op) - 1;
  MlirAttribute dim = tp__fused_entry(d, "dim");
  tp_status status = read_names(d, n, &results);
  if (status == TP_OK && (mlirAttributeIsNull(dim) || !mlirAttributeIsAInteger(dim)))
    status = tp__fused_refuse(d, "dim");
  if (status == TP_OK)
    status = tp__fused_mesh_axes(d, &l->mesh, &n_axes, axes);
  MlirType input =
      status == TP_OK ? mlirValueGetType(mlirOperationGetOperand(op, 0)) : (MlirType){NULL};
  if (status == TP_OK)
    status = tp__site_begin(op, TPRT_SITE_FUSED_GATHER, n_axes, axes, input, &site);
  if (status == TP_OK)
    status = read_matmuls(d, n, input, &words);
  if (status != TP_OK)
    return status;
  site.dim = mlirIntegerAttrGetValueInt(dim);
  tprt_operand output_of[MAX_OUTPUTS];
  tp__fused_operands(results, MAX_OUTPUTS, outputs, output_of);
  memcpy(extra, &words, sizeof words);
  return tp__fused_replace(l, d, &site, TP_LEN(extra), extra, inputs, output_of);
}
