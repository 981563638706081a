/* Sorts, running reductions and scatters of torch-mlir's dialect tm_tensor, which its lowering to
 * linalg leaves: each becomes the op of StableHLO that means the same, with the body that it has,
 * in arith and math, and is converted as one. */
#include "passes/import/stablehlo/hlo.h"

#include <stdio.h>

/* ---- bodies ---- */

/* Ends the body, one block, like those of StableHLO. Returns its terminator. */
static tp_status end_body(MlirOperation op, int n_arguments, MlirOperation *end) {
  MlirBlock block =
      mlirOperationGetNumRegions(op) == 1 ? tp__region_block(op, 0) : (MlirBlock){NULL};
  MlirOperation yield = {NULL};
  for (MlirOperation inner = mlirBlockIsNull(block) ? yield : mlirBlockGetFirstOperation(block);
       !mlirOperationIsNull(inner); inner = mlirOperationGetNextInBlock(inner))
    yield = inner;
  if (mlirOperationIsNull(yield) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block)) ||
      !tp__op_is(yield, "tm_tensor.yield") || mlirOperationGetNumOperands(yield) != 1 ||
      mlirBlockGetNumArguments(block) != n_arguments)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "its region must be one block of %d arguments that ends in a tm_tensor.yield "
                     "of one value",
                     n_arguments);
  MlirValue value = mlirOperationGetOperand(yield, 0);
  *end = tp__create(&(tp_build){.name = "stablehlo.return",
                                .location = mlirOperationGetLocation(yield),
                                .n_operands = 1,
                                .operands = &value});
  tp__insert_before(yield, *end);
  mlirOperationDestroy(yield);
  return TP_OK;
}

/* Replaces `op` by an op with its body. Results that the new op lacks must have no uses. */
static tp_status replace(MlirOperation op, const tp_build *build) {
  tp_build whole = *build;
  whole.location = mlirOperationGetLocation(op);
  whole.n_regions = 1;
  MlirOperation now = tp__create(&whole);
  tp__insert_before(op, now);
  mlirRegionTakeBody(mlirOperationGetRegion(now, 0), mlirOperationGetRegion(op, 0));
  for (int i = 0; i < build->n_results; i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), mlirOperationGetResult(now, i));
  mlirOperationDestroy(op);
  return TP_OK;
}

/* ---- sort ---- */

/* torch-mlir compares by "at most" or "at least". "Less" and "greater" in their place keep equal
 * elements in their order. */
static void make_strict(MlirOperation compare) {
  static const struct {
    const char *name;
    int64_t predicates[4]; /* the strict order is the predicate with the number before */
  } rows[] = {{"arith.cmpf", {3 /* oge */, 5 /* ole */, 10 /* uge */, 12 /* ule */}},
              {"arith.cmpi", {3 /* sle */, 5 /* sge */, 7 /* ule */, 9 /* uge */}}};
  if (mlirOperationIsNull(compare))
    return;
  for (int i = 0; i < TP_LEN(rows); i++) {
    MlirAttribute attr = tp__op_is(compare, rows[i].name) ? tp__inherent(compare, "predicate")
                                                          : (MlirAttribute){NULL};
    if (mlirAttributeIsNull(attr))
      continue;
    int64_t predicate = mlirIntegerAttrGetValueInt(attr);
    for (int k = 0; k < TP_LEN(rows[i].predicates); k++)
      if (predicate == rows[i].predicates[k])
        mlirOperationSetInherentAttributeByName(
            compare, tp__ref("predicate"),
            mlirIntegerAttrGet(mlirAttributeGetType(attr), predicate - 1));
  }
}

/* Sorts NaN as the largest number, which PyTorch does. The comparison of torch-mlir finds NaN equal
 * to every number, and such a comparison orders nothing. */
static void order_nan(MlirOperation end, MlirOperation compare) {
  if (!tp__op_is(compare, "arith.cmpf"))
    return;
  int64_t predicate = mlirIntegerAttrGetValueInt(tp__inherent(compare, "predicate"));
  bool is_less = predicate == TP_FLOAT_OLT || predicate == TP_FLOAT_ULT;
  if (!is_less && predicate != TP_FLOAT_OGT && predicate != TP_FLOAT_UGT)
    return;
  MlirValue a = mlirOperationGetOperand(compare, 0), b = mlirOperationGetOperand(compare, 1);
  MlirValue small = is_less ? a : b, large = is_less ? b : a;
  MlirValue is_nan = tp__compare_floats(end, TP_FLOAT_UNO, large, large);
  MlirValue of_nan =
      tp__binary(end, "arith.andi", is_nan, tp__compare_floats(end, TP_FLOAT_ORD, small, small));
  mlirOperationSetInherentAttributeByName(
      compare, tp__ref("predicate"),
      tp__attr_i64(mlirOperationGetContext(end), is_less ? TP_FLOAT_OLT : TP_FLOAT_OGT));
  mlirOperationSetOperand(end, 0,
                          tp__binary(end, "arith.ori", mlirOperationGetResult(compare, 0), of_nan));
}

static tp_status sort(MlirOperation op) {
  int n = (int)mlirOperationGetNumResults(op);
  MlirContext context = mlirOperationGetContext(op);
  MlirOperation end;
  int64_t dim;
  MlirValue operands[TP_HLO_MAX_VALUES];
  MlirType types[TP_HLO_MAX_VALUES];
  if (n > TP_HLO_MAX_VALUES || mlirOperationGetNumOperands(op) != n)
    return tp__error(op, TP_UNSUPPORTED, "has inputs that are no results; only outputs are sorted");
  TP_TRY(tp__hlo_int(op, "dimension", 0, &dim));
  TP_TRY(end_body(op, 2 * n, &end));
  MlirValue less = mlirOperationGetOperand(end, 0);
  if (mlirValueIsAOpResult(less)) {
    make_strict(mlirOpResultGetOwner(less));
    order_nan(end, mlirOpResultGetOwner(less));
  }
  for (int i = 0; i < n; i++) {
    operands[i] = mlirOperationGetOperand(op, i);
    types[i] = mlirValueGetType(operands[i]);
  }
  MlirNamedAttribute attrs[] = {
      tp__named(context, "dimension", tp__attr_i64(context, dim)),
      tp__named(context, "is_stable", mlirBoolAttrGet(context, true)),
  };
  return replace(op, &(tp_build){.name = "stablehlo.sort",
                                 .n_operands = n,
                                 .operands = operands,
                                 .n_results = n,
                                 .results = types,
                                 .n_attributes = TP_LEN(attrs),
                                 .attributes = attrs});
}

/* ---- scan ---- */

/* The number that a running sum or product begins with, as a tensor of rank 0; null for other
 * bodies. */
static MlirAttribute first_number(MlirOperation end, MlirType element) {
  static const struct {
    const char *name;
    int number;
  } rows[] = {{"arith.addf", 0}, {"arith.addi", 0}, {"arith.mulf", 1}, {"arith.muli", 1}};
  MlirValue value = mlirOperationGetOperand(end, 0);
  MlirType type = mlirRankedTensorTypeGet(0, NULL, element, (MlirAttribute){NULL});
  for (int i = 0; i < TP_LEN(rows); i++)
    if (!mlirOperationIsNull(tp__defined_by(value, rows[i].name)))
      return mlirDenseElementsAttrSplatGet(
          type, mlirTypeIsAFloat(element)
                    ? mlirFloatAttrDoubleGet(mlirTypeGetContext(element), element, rows[i].number)
                    : mlirIntegerAttrGet(element, rows[i].number));
  return (MlirAttribute){NULL};
}

static tp_status scan(MlirOperation op) {
  MlirContext context = mlirOperationGetContext(op);
  MlirAttribute inclusive = tp__property(op, "inclusive");
  int64_t dim, windows[TP_MAX_RANK], padding[2 * TP_MAX_RANK] = {0};
  MlirOperation end;
  if (mlirOperationGetNumOperands(op) != 3 || mlirOperationGetNumResults(op) != 2)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has %d operands and %d results; it takes an input, an output and an "
                     "accumulator, and gives two results",
                     (int)mlirOperationGetNumOperands(op), (int)mlirOperationGetNumResults(op));
  if (!mlirOpOperandIsNull(mlirValueGetFirstUse(mlirOperationGetResult(op, 1))))
    return tp__error(op, TP_UNSUPPORTED,
                     "its accumulator, result 1, is used; take the last element of result 0");
  if (mlirAttributeIsNull(inclusive) || !mlirAttributeIsABool(inclusive) ||
      !mlirBoolAttrGetValue(inclusive))
    return tp__error(op, TP_UNSUPPORTED,
                     "is exclusive; write it with inclusive = true, and shift its result");
  MlirValue input = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(input);
  tp_hlo_shape shape = tp__hlo_shape(type);
  TP_TRY(tp__hlo_int(op, "dimension", -1, &dim));
  if (dim < 0 || dim >= shape.rank)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "dimension %lld is not one of operand 0, whose rank is %d", (long long)dim,
                     shape.rank);
  TP_TRY(end_body(op, 2, &end));
  MlirAttribute first = first_number(end, tp__element_type(type));
  if (mlirAttributeIsNull(first))
    return tp__error(op, TP_UNSUPPORTED, "is neither a running sum nor a running product");
  for (int d = 0; d < shape.rank; d++)
    windows[d] = d == dim && shape.sizes[d] > 0 ? shape.sizes[d] : 1;
  padding[2 * dim] = windows[dim] - 1;
  MlirNamedAttribute value = tp__named(context, "value", first);
  MlirType number = mlirAttributeGetType(first);
  MlirOperation constant = tp__create(&(tp_build){.name = "arith.constant",
                                                  .location = mlirOperationGetLocation(op),
                                                  .n_results = 1,
                                                  .results = &number,
                                                  .n_attributes = 1,
                                                  .attributes = &value});
  tp__insert_before(op, constant);
  MlirNamedAttribute attrs[] = {
      tp__named(context, "window_dimensions", tp__attr_i64s(context, shape.rank, windows)),
      tp__named(context, "padding", tp__attr_i64s(context, 2 * shape.rank, padding)),
  };
  return replace(op,
                 &(tp_build){.name = "stablehlo.reduce_window",
                             .n_operands = 2,
                             .operands = (MlirValue[]){input, mlirOperationGetResult(constant, 0)},
                             .n_results = 1,
                             .results = &type,
                             .n_attributes = TP_LEN(attrs),
                             .attributes = attrs});
}

/* ---- scatter ---- */

/* The body takes the update first; that of StableHLO takes the element first. */
static void swap_arguments(MlirBlock block, MlirLocation location) {
  for (int i = 1; i >= 0; i--) {
    MlirValue old = mlirBlockGetArgument(block, i);
    MlirValue now = mlirBlockAddArgument(block, mlirValueGetType(old), location);
    mlirValueReplaceAllUsesOfWith(old, now);
  }
  mlirBlockEraseArgument(block, 0);
  mlirBlockEraseArgument(block, 0);
}

static void append_numbers(tp__string *text, const char *name, int from, int to) {
  tp__string_printf(text, "%s = [", name);
  for (int i = from; i < to; i++)
    tp__string_printf(text, "%s%d", i > from ? ", " : "", i);
  tp__string_append(text, "], ");
}

/* Row i of the indices is where window i of the updates begins, along the dimensions of
 * dimension_map. A window has the last dimensions of the result, and size 1 along the others. */
static tp_status scatter(MlirOperation op) {
  MlirContext context = mlirOperationGetContext(op);
  int64_t map[TP_MAX_RANK];
  int n_map;
  MlirOperation end;
  tp__string text = {0};
  if (mlirOperationGetNumOperands(op) != 3 || mlirOperationGetNumResults(op) != 1)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "has %d operands and %d results; it takes updates, indices and a tensor, and "
                     "gives one",
                     (int)mlirOperationGetNumOperands(op), (int)mlirOperationGetNumResults(op));
  MlirValue updates = mlirOperationGetOperand(op, 0), into = mlirOperationGetOperand(op, 2);
  MlirType type = mlirValueGetType(into);
  int rank = tp__hlo_shape(type).rank,
      n_windows = tp__hlo_shape(mlirValueGetType(updates)).rank - 1;
  TP_TRY(tp__hlo_int_list(op, "dimension_map", TP_MAX_RANK, &n_map, map));
  if (n_windows < 0 || n_windows > rank)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "its updates have rank %d; the windows in them have at most the rank %d of "
                     "the result",
                     n_windows + 1, rank);
  TP_TRY(end_body(op, 2, &end));
  swap_arguments(tp__region_block(op, 0), mlirOperationGetLocation(end));
  tp__string_append(&text, "scatter<");
  append_numbers(&text, "update_window_dims", 1, n_windows + 1);
  append_numbers(&text, "inserted_window_dims", 0, rank - n_windows);
  tp__string_append(&text, "scatter_dims_to_operand_dims = [");
  for (int i = 0; i < n_map; i++)
    tp__string_printf(&text, "%s%lld", i > 0 ? ", " : "", (long long)map[i]);
  tp__string_append(&text, "], index_vector_dim = 1>");
  if (text.failed) {
    tp__string_destroy(&text);
    return tp__out_of_memory(op);
  }
  MlirNamedAttribute attr =
      tp__named(context, "scatter_dimension_numbers",
                mlirOpaqueAttrGet(context, tp__ref("stablehlo"), (intptr_t)strlen(text.text),
                                  text.text, mlirNoneTypeGet(context)));
  tp__string_destroy(&text);
  MlirValue operands[] = {into, mlirOperationGetOperand(op, 1), updates};
  return replace(op, &(tp_build){.name = "stablehlo.scatter",
                                 .n_operands = 3,
                                 .operands = operands,
                                 .n_results = 1,
                                 .results = &type,
                                 .n_attributes = 1,
                                 .attributes = &attr});
}

/* ---- the ops ---- */

static const struct {
  const char *name;
  tp_status (*rewrite)(MlirOperation op);
} rows[] = {{"tm_tensor.sort", sort}, {"tm_tensor.scan", scan}, {"tm_tensor.scatter", scatter}};

bool tp__hlo_is_tm_tensor(MlirOperation op) {
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].name))
      return true;
  return false;
}

tp_status tp__hlo_from_tm_tensor(MlirOperation op) {
  TP_TRY(tp__hlo_check_values(op));
  for (int i = 0; i < TP_LEN(rows); i++)
    if (tp__op_is(op, rows[i].name))
      return rows[i].rewrite(op);
  return TP_OK;
}
