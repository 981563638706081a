/* Sorts and the largest elements: calls with tp.sort (ir/sort_call.h). The comparator is a private
 * function. */
#include "passes/import/stablehlo/hlo_elementwise.h"

#include "ir/sort_call.h"

/* ---- comparators ---- */

typedef struct capture {
  MlirOperation sort, func;
} capture;

/* A function sees no values of the function around the sort. */
static tp_status refuse_capture(MlirOperation op, void *data) {
  const capture *c = data;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (tp__is_captured(c->func, mlirOperationGetOperand(op, i)))
      return tp__error(c->sort, TP_UNSUPPORTED,
                       "its comparator uses a value from outside that is not a constant; sort that "
                       "value along as one more operand");
  return TP_OK;
}

static tp_status convert_comparator(tp_hlo *hlo, MlirOperation op, int n,
                                    const tp_comparator *less) {
  TP_TRY(tp__hlo_body(hlo, op, 0, less->end, 2 * n, less->arguments));
  bool ok = mlirOperationGetNumOperands(less->end) == 1 &&
            mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(less->end, 0)),
                          mlirIntegerTypeGet(hlo->context, 1));
  if (!ok)
    return tp__error(op, TP_INVALID_ARGUMENT, "region 0 must return one tensor<i1>");
  return tp__walk(less->func, refuse_capture, &(capture){op, less->func});
}

/* ---- sort ---- */

static tp_status check_sort(MlirOperation op, int n, int64_t dim) {
  MlirType first = tp__hlo_operand_type(op, 0);
  int rank = tp__hlo_shape(first).rank;
  if (dim < 0 || dim >= rank)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "dimension %lld is not one of operand 0, whose rank is %d", (long long)dim,
                     rank);
  for (int i = 0; i < n; i++)
    if (!tp__hlo_same_shape(tp__hlo_operand_type(op, i), first) ||
        !mlirTypeEqual(tp__hlo_operand_type(op, i),
                       mlirValueGetType(mlirOperationGetResult(op, i))))
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "operand %d and result %d must have one type, of the shape of operand 0", i,
                       i);
  return TP_OK;
}

static tp_status sort(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int n = (int)mlirOperationGetNumOperands(op);
  int64_t dim;
  MlirType elements[TP_MAX_SORTED];
  MlirValue operands[TP_MAX_SORTED];
  if (n < 1 || n > TP_MAX_SORTED || mlirOperationGetNumResults(op) != n)
    return tp__error(op, TP_UNSUPPORTED,
                     "has %d operands and %d results; as many results as operands, and 1 to %d, "
                     "are supported",
                     n, (int)mlirOperationGetNumResults(op), TP_MAX_SORTED);
  tp_hlo_shape shape = tp__hlo_shape(tp__hlo_operand_type(op, 0));
  TP_TRY(tp__hlo_int(op, "dimension", -1, &dim));
  dim += dim < 0 ? shape.rank : 0;
  TP_TRY(check_sort(op, n, dim));
  for (int i = 0; i < n; i++) {
    operands[i] = tp__hlo_operand(hlo, op, i);
    elements[i] = tp__element_type(mlirValueGetType(operands[i]));
  }
  tp_comparator less = tp__comparator_build(hlo->module, hlo->location, n, elements);
  TP_TRY(convert_comparator(hlo, op, n, &less));
  MlirOperation now = tp__sort_build(hlo->where, hlo->location, hlo->module, n, operands, (int)dim,
                                     shape.sizes[dim], less.symbol);
  return tp__hlo_replace_all(hlo, op, now);
}

/* ---- top_k ---- */

/* a precedes b if it is larger: floats in their total order, in which NaN is the largest. */
static MlirAttribute build_larger(tp_hlo *hlo, tp_hlo_kind kind, const MlirType *elements) {
  tp_comparator larger = tp__comparator_build(hlo->module, hlo->location, 2, elements);
  MlirOperation outer = hlo->where;
  hlo->where = larger.end;
  MlirValue a = larger.arguments[0], b = larger.arguments[1];
  if (kind == TP_HLO_FLOAT) {
    a = tp__hlo_total_order(hlo, a);
    b = tp__hlo_total_order(hlo, b);
  }
  bool is_signed = kind == TP_HLO_FLOAT || kind == TP_HLO_SIGNED;
  MlirValue result = tp__hlo_compare(hlo, is_signed ? "sgt" : "ugt", a, b);
  mlirOperationSetOperands(larger.end, 1, &result);
  hlo->where = outer;
  return larger.symbol;
}

static tp_status top_k(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int64_t k;
  MlirType from = tp__hlo_operand_type(op, 0);
  MlirType values = mlirValueGetType(mlirOperationGetResult(op, 0)),
           indices = mlirValueGetType(mlirOperationGetResult(op, 1));
  tp_hlo_shape shape = tp__hlo_shape(from), wanted = shape;
  tp_hlo_kind kind = tp__hlo_kind(tp__element_type(from));
  int last = shape.rank - 1;
  TP_TRY(tp__hlo_int(op, "k", -1, &k));
  if (last < 0 || k < 0 || k > shape.sizes[last])
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "k is %lld, but the rows of operand 0 have %lld elements", (long long)k,
                     last < 0 ? 0 : (long long)shape.sizes[last]);
  wanted.sizes[last] = k;
  MlirType first = tp__tensor_like(from, shape.rank, wanted.sizes);
  if (kind == TP_HLO_COMPLEX || !mlirTypeEqual(values, first) ||
      !tp__hlo_same_shape(indices, first) ||
      tp__hlo_kind(tp__element_type(indices)) != TP_HLO_SIGNED)
    return tp__error(
        op, TP_INVALID_ARGUMENT,
        "operand 0 must have real numbers, result 0 k of its elements in each row, and "
        "result 1 as many signed integers");
  MlirType places = tp__tensor_like(indices, shape.rank, shape.sizes);
  MlirValue operands[] = {tp__hlo_operand(hlo, op, 0), tp__hlo_iota(hlo, places, last)};
  MlirType elements[] = {tp__element_type(mlirValueGetType(operands[0])), tp__element_type(places)};
  return tp__hlo_replace_all(hlo, op,
                             tp__sort_build(hlo->where, hlo->location, hlo->module, 2, operands,
                                            last, k, build_larger(hlo, kind, elements)));
}

/* Values of rank 0 cannot be sorted, so these ops do not occur in bodies. */
const tp_hlo_row tp__hlo_sort_rows[] = {
    {"stablehlo.sort", TP_HLO_ANY, TP_HLO_ANY, 1, sort, NULL,
     "func.call with tp.sort, and a private function that compares"},
    {"chlo.top_k", 1, 2, 0, top_k, NULL,
     "func.call with tp.sort, of the operand and of positions: larger elements first"},
    {NULL},
};
