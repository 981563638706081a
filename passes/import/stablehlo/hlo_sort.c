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

/* ---- ApproxTopK ---- */

/* What the call that JAX makes of lax.approx_max_k says of itself. */
typedef struct approximate {
  int n, dim;
  int64_t k;
  MlirOperation comparator;
} approximate;

static bool read_number(MlirAttribute config, const char *name, int64_t *value) {
  MlirAttribute attr = mlirDictionaryAttrGetElementByName(config, tp__ref(name));
  bool ok = !mlirAttributeIsNull(attr) && mlirAttributeIsAInteger(attr);
  if (ok)
    *value = mlirIntegerAttrGetValueInt(attr);
  return ok;
}

static tp_status read_approximate(tp_hlo *hlo, MlirOperation op, approximate *a) {
  MlirAttribute config = tp__get(op, "mhlo.backend_config"),
                called = tp__property(op, "called_computations");
  int64_t dim = 0;
  a->n = (int)mlirOperationGetNumResults(op);
  bool ok = !mlirAttributeIsNull(config) && mlirAttributeIsADictionary(config) &&
            read_number(config, "top_k", &a->k) && read_number(config, "reduction_dim", &dim) &&
            !mlirAttributeIsNull(called) && mlirAttributeIsAArray(called) &&
            mlirArrayAttrGetNumElements(called) == 1 &&
            mlirAttributeIsAFlatSymbolRef(mlirArrayAttrGetElement(called, 0)) && a->n >= 1 &&
            a->n <= TP_MAX_SORTED && mlirOperationGetNumOperands(op) == 2 * a->n;
  if (ok)
    a->comparator = tp__func_of_symbol(
        hlo->module, mlirFlatSymbolRefAttrGetValue(mlirArrayAttrGetElement(called, 0)));
  if (!ok || mlirOperationIsNull(a->comparator) || !tp__ends_as_body(a->comparator))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "calls 'ApproxTopK', but is not written as JAX writes lax.approx_max_k: with "
                     "top_k and reduction_dim in mhlo.backend_config, a comparator, and 1 to %d "
                     "operands with their initial values",
                     TP_MAX_SORTED);
  a->dim = (int)dim;
  return TP_OK;
}

static tp_status check_approximate(MlirOperation op, const approximate *a) {
  MlirType first = tp__hlo_operand_type(op, 0);
  tp_hlo_shape shape = tp__hlo_shape(first), wanted = shape;
  if (a->dim < 0 || a->dim >= shape.rank || a->k < 0 || a->k > shape.sizes[a->dim])
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "takes %lld elements of dimension %d, but operand 0 has %s", (long long)a->k,
                     a->dim, a->dim < 0 || a->dim >= shape.rank ? "no such dimension" : "fewer");
  wanted.sizes[a->dim] = a->k;
  for (int i = 0; i < a->n; i++) {
    MlirType type = tp__hlo_operand_type(op, i);
    MlirType result = tp__tensor_like(type, shape.rank, wanted.sizes);
    if (!tp__hlo_same_shape(type, first) ||
        !mlirTypeEqual(result, mlirValueGetType(mlirOperationGetResult(op, i))))
      return tp__error(op, TP_UNSUPPORTED,
                       "result %d must have the type of operand %d with %lld elements in dimension "
                       "%d; approximate top-k without aggregate_to_topk is not supported",
                       i, i, (long long)a->k, a->dim);
  }
  return TP_OK;
}

/* Makes an op with a copy of a function's body. The op is destroyed at the end of the import. */
static tp_status take_body(tp_hlo *hlo, MlirOperation func, MlirOperation *taken) {
  MlirOperation copy = mlirOperationClone(func);
  *taken = tp__create(&(tp_build){
      .name = "stablehlo.sort", .location = mlirOperationGetLocation(func), .n_regions = 1});
  mlirRegionTakeBody(mlirOperationGetRegion(*taken, 0), mlirOperationGetRegion(copy, 0));
  mlirOperationDestroy(copy);
  TP_TRY(tp__op_list_add(&hlo->done, *taken));
  return tp__op_list_add(&hlo->comparators, func);
}

/* Exactly the elements that precede the others: what an approximation may leave out is a gain on
 * TPUs alone. */
tp_status tp__hlo_approximate_top_k(tp_hlo *hlo, MlirOperation op) {
  approximate a = {0};
  MlirOperation body;
  MlirType elements[TP_MAX_SORTED];
  MlirValue operands[TP_MAX_SORTED];
  TP_TRY(read_approximate(hlo, op, &a));
  TP_TRY(check_approximate(op, &a));
  for (int i = 0; i < a.n; i++) {
    operands[i] = tp__hlo_operand(hlo, op, i);
    elements[i] = tp__element_type(mlirValueGetType(operands[i]));
  }
  TP_TRY(take_body(hlo, a.comparator, &body));
  tp_comparator less = tp__comparator_build(hlo->module, hlo->location, a.n, elements);
  TP_TRY(convert_comparator(hlo, body, a.n, &less));
  return tp__hlo_replace_all(hlo, op,
                             tp__sort_build(hlo->where, hlo->location, hlo->module, a.n, operands,
                                            a.dim, a.k, less.symbol));
}

/* Values of rank 0 cannot be sorted, so these ops do not occur in bodies. */
const tp_hlo_row tp__hlo_sort_rows[] = {
    {"stablehlo.sort", TP_HLO_ANY, TP_HLO_ANY, 1, sort, NULL,
     "func.call with tp.sort, and a private function that compares"},
    {"chlo.top_k", 1, 2, 0, top_k, NULL,
     "func.call with tp.sort, of the operand and of positions: larger elements first"},
    {NULL},
};
