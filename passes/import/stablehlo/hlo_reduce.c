/* Reductions and map: linalg.generic with the op's body. */
#include "passes/import/stablehlo/hlo_elementwise.h"

/* ---- reduce, map ---- */

enum { MAX_REDUCED = TP_MAX_GENERIC_OPERANDS / 2 };

static tp_status check_reduce(MlirOperation op, int n, int n_dims, const int64_t *dims) {
  tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, 0)), to = {0};
  uint32_t reduced = 0;
  for (int i = 0; i < n_dims; i++)
    reduced |= UINT32_C(1) << dims[i];
  for (int d = 0; d < from.rank; d++)
    if (!(reduced >> d & 1))
      to.sizes[to.rank++] = from.sizes[d];
  for (int i = 0; i < n; i++) {
    MlirType result = mlirValueGetType(mlirOperationGetResult(op, i));
    tp_hlo_shape has = tp__hlo_shape(result);
    bool same = has.rank == to.rank &&
                memcmp(has.sizes, to.sizes, (size_t)to.rank * sizeof *to.sizes) == 0 &&
                tp__hlo_same_shape(tp__hlo_operand_type(op, i), tp__hlo_operand_type(op, 0)) &&
                tp__hlo_shape(tp__hlo_operand_type(op, n + i)).rank == 0 &&
                mlirTypeEqual(tp__hlo_operand_element(op, n + i), tp__element_type(result));
    if (!same)
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "operands %d and %d do not give result %d: inputs have one shape, initial "
                       "values are numbers of the result's type",
                       i, n + i, i);
  }
  return TP_OK;
}

/* A reduction accumulates in the type of its initial value; the body gets inputs of that type. */
static MlirValue widened(tp_hlo *hlo, MlirOperation op, int i, MlirValue input) {
  MlirType element = tp__hlo_result_element(op, i), from = tp__hlo_operand_element(op, i);
  if (mlirTypeEqual(element, from))
    return input;
  tp_hlo plain = {0};
  return tp__hlo_cast(hlo, input, tp__hlo_kind(from), tp__hlo_kind(element),
                      tp__hlo_type(&plain, element));
}

static tp_status reduce_body(tp_hlo *hlo, MlirOperation op, int n, MlirOperation generic,
                             MlirOperation yield) {
  MlirValue arguments[2 * MAX_REDUCED];
  MlirOperation outer = hlo->where;
  hlo->where = yield;
  for (int i = 0; i < n; i++) {
    arguments[i] = tp__hlo_body_arg(generic, n + i);
    arguments[n + i] = widened(hlo, op, i, tp__hlo_body_arg(generic, i));
  }
  hlo->where = outer;
  TP_TRY(tp__hlo_body(hlo, op, 0, yield, 2 * n, arguments));
  if (mlirOperationGetNumOperands(yield) != n)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "region 0 returns %d values, but the op has %d results",
                     (int)mlirOperationGetNumOperands(yield), n);
  return TP_OK;
}

static tp_status reduce(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int n = (int)mlirOperationGetNumResults(op), n_dims, all[TP_MAX_RANK], kept[TP_MAX_RANK];
  int n_kept = 0;
  int64_t dims[TP_MAX_RANK];
  MlirValue operands[2 * MAX_REDUCED];
  MlirAttribute maps[2 * MAX_REDUCED];
  if (n < 1 || n > MAX_REDUCED || mlirOperationGetNumOperands(op) != 2 * n)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has %d operands and %d results; it needs an input and an initial value per "
                     "result, and at most %d results",
                     (int)mlirOperationGetNumOperands(op), n, MAX_REDUCED);
  int rank = tp__hlo_shape(tp__hlo_operand_type(op, 0)).rank;
  TP_TRY(tp__hlo_dims(op, "dimensions", rank, &n_dims, dims));
  TP_TRY(check_reduce(op, n, n_dims, dims));
  for (int d = 0; d < rank; d++) {
    bool is_reduced = false;
    for (int i = 0; i < n_dims; i++)
      is_reduced |= dims[i] == d;
    all[d] = d;
    if (!is_reduced)
      kept[n_kept++] = d;
  }
  for (int i = 0; i < n; i++) {
    operands[i] = tp__hlo_operand(hlo, op, i);
    operands[n + i] =
        tp__hlo_fill(hlo, tp__hlo_result_type(hlo, op, i), tp__hlo_operand(hlo, op, n + i));
    maps[i] = tp__hlo_loop_map(hlo, rank, rank, all);
    maps[n + i] = tp__hlo_loop_map(hlo, rank, n_kept, kept);
  }
  MlirOperation yield, generic = tp__hlo_generic(hlo, n, n, operands, maps, &yield);
  TP_TRY(reduce_body(hlo, op, n, generic, yield));
  return tp__hlo_replace_all(hlo, op, generic);
}

static tp_status map(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int n = (int)mlirOperationGetNumOperands(op), all[TP_MAX_RANK];
  MlirValue operands[TP_MAX_GENERIC_OPERANDS], arguments[TP_MAX_GENERIC_OPERANDS];
  MlirAttribute maps[TP_MAX_GENERIC_OPERANDS];
  MlirType type = tp__hlo_result_type(hlo, op, 0);
  int rank = tp__hlo_shape(type).rank;
  if (n < 1 || n >= TP_MAX_GENERIC_OPERANDS)
    return tp__error(op, TP_UNSUPPORTED, "has %d operands; 1 to %d are supported", n,
                     TP_MAX_GENERIC_OPERANDS - 1);
  for (int d = 0; d < rank; d++)
    all[d] = d;
  for (int i = 0; i <= n; i++) {
    MlirValue old = i < n ? mlirOperationGetOperand(op, i) : mlirOperationGetResult(op, 0);
    if (!tp__hlo_same_shape(mlirValueGetType(old), type))
      return tp__error(op, TP_INVALID_ARGUMENT, "operand %d does not have the result's shape", i);
    operands[i] =
        i < n ? tp__hlo_value(hlo, old) : tp__hlo_build(hlo, "tensor.empty", type, 0, NULL);
    maps[i] = tp__hlo_loop_map(hlo, rank, rank, all);
  }
  MlirOperation yield, generic = tp__hlo_generic(hlo, n, 1, operands, maps, &yield);
  for (int i = 0; i < n; i++)
    arguments[i] = tp__hlo_body_arg(generic, i);
  TP_TRY(tp__hlo_body(hlo, op, 0, yield, n, arguments));
  if (mlirOperationGetNumOperands(yield) != 1)
    return tp__error(op, TP_INVALID_ARGUMENT, "region 0 must return one value");
  return tp__hlo_replace_all(hlo, op, generic);
}

const tp_hlo_row tp__hlo_reduce_rows[] = {
    {"stablehlo.map", TP_HLO_ANY, 1, 1, map, NULL, "linalg.generic"},
    {"stablehlo.reduce", TP_HLO_ANY, TP_HLO_ANY, 1, reduce, NULL,
     "linalg.generic with reduction loops"},
    {NULL},
};
