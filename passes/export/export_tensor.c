/* Constants and ops of the tensor dialect. */
#include "passes/export/export.h"

static MlirType result_type(MlirOperation op) { return tp__export_type(tp__result_type(op)); }

/* The elements of a tensor of indices, as integers. */
static tp_status index_elements(MlirOperation op, MlirType type, MlirAttribute *value) {
  int64_t n = mlirElementsAttrGetNumElements(*value);
  int64_t *elements = tp__calloc((size_t)n + 1, sizeof *elements);
  if (!elements)
    return tp__out_of_memory(op);
  bool is_read = tp__constant_data(*value, (size_t)n * sizeof *elements, elements);
  if (is_read)
    *value = mlirDenseElementsAttrInt64Get(type, n, elements);
  tp__free(elements);
  return is_read ? TP_OK : tp__error(op, TP_UNSUPPORTED, "is a tensor of indices without elements");
}

static tp_status constant(tp_export *x, MlirOperation op) {
  MlirAttribute value = tp__inherent(op, "value");
  MlirType type = result_type(op);
  if (!mlirAttributeIsAElements(value)) {
    MlirType element = tp__element_type(type);
    if (mlirTypeIsAIndex(tp__result_type(op)))
      value = mlirIntegerAttrGet(element, mlirIntegerAttrGetValueInt(value));
    value = mlirDenseElementsAttrSplatGet(type, value);
  } else if (!mlirTypeEqual(mlirAttributeGetType(value), type)) {
    TP_TRY(index_elements(op, type, &value));
  }
  MlirNamedAttribute attr = tp__named(x->context, "value", value);
  return tp__export_replace(x, op,
                            tp__export_build(x, "stablehlo.constant", type, 0, NULL, 1, &attr));
}

/* Its value is the list of its parts. */
static tp_status complex_constant(tp_export *x, MlirOperation op) {
  MlirType type = result_type(op);
  MlirType part = tp__export_tensor(mlirComplexTypeGetElementType(tp__element_type(type)), 0, NULL);
  MlirValue parts[2];
  for (int i = 0; i < 2; i++)
    parts[i] = tp__export_splat(x, part, mlirArrayAttrGetElement(tp__inherent(op, "value"), i));
  return tp__export_replace(x, op,
                            tp__export_build(x, "stablehlo.complex", type, 2, parts, 0, NULL));
}

/* Its elements are never read. */
static tp_status empty(tp_export *x, MlirOperation op) {
  MlirType type = result_type(op), element = tp__element_type(type);
  MlirAttribute zero = tp__export_identity(element, TP_SUM);
  return tp__export_replace(x, op, tp__export_splat(x, type, zero));
}

static tp_status splat(tp_export *x, MlirOperation op) {
  return tp__export_replace(
      x, op, tp__export_broadcast(x, tp__export_operand(x, op, 0), result_type(op), NULL));
}

static tp_status reshape(tp_export *x, MlirOperation op) {
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  (void)tp__static_tensor(result_type(op), &rank, sizes);
  return tp__export_replace(x, op,
                            tp__export_reshape(x, tp__export_operand(x, op, 0), rank, sizes));
}

static tp_status cast(tp_export *x, MlirOperation op) {
  return tp__export_replace(x, op, tp__export_operand(x, op, 0));
}

/* Barriers that follow each other become one op. An importer has divided an op of many values, each
 * of which waits for all others: XLA then does not begin before all of them are there. */
static tp_status barrier(tp_export *x, MlirOperation op) {
  MlirOperation first = op;
  int n = 0;
  MlirValue result = mlirOperationGetResult(op, 0);
  if (!mlirValueEqual(tp__export_value(x, result), result))
    return TP_OK; /* part of an op before */
  if (!tp__is_barrier(op))
    return tp__error(op, TP_UNSUPPORTED, "is not a copy of a tensor");
  MlirValue operands[TP_EXPORT_MAX_VALUES];
  MlirType types[TP_EXPORT_MAX_VALUES];
  for (; !mlirOperationIsNull(op) && tp__is_barrier(op) && n < TP_EXPORT_MAX_VALUES;
       op = mlirOperationGetNextInBlock(op)) {
    MlirOperation maker = tp__defining_op(mlirOperationGetOperand(op, 0));
    if (n > 0 && !mlirOperationIsNull(maker) && tp__is_barrier(maker))
      break;
    operands[n] = tp__export_operand(x, op, 0);
    types[n] = mlirValueGetType(operands[n]);
    n++;
  }
  MlirOperation now = tp__export_build_op(x, &(tp_build){.name = "stablehlo.optimization_barrier",
                                                         .n_operands = n,
                                                         .operands = operands,
                                                         .n_results = n,
                                                         .results = types});
  op = first;
  for (int i = 0; i < n; i++, op = mlirOperationGetNextInBlock(op))
    TP_TRY(tp__export_replace(x, op, mlirOperationGetResult(now, i)));
  return TP_OK;
}

static tp_status concat(tp_export *x, MlirOperation op) {
  int n = (int)mlirOperationGetNumOperands(op);
  MlirValue *values = tp__calloc((size_t)n + 1, sizeof *values);
  if (!values)
    return tp__out_of_memory(op);
  for (int i = 0; i < n; i++)
    values[i] = tp__export_operand(x, op, i);
  MlirValue now =
      tp__export_concat(x, n, values, mlirIntegerAttrGetValueInt(tp__inherent(op, "dim")));
  tp__free(values);
  return tp__export_replace(x, op, now);
}

/* ---- slices ---- */

typedef struct slice {
  int rank, n_dynamic;
  int64_t offsets[TP_MAX_RANK], sizes[TP_MAX_RANK], strides[TP_MAX_RANK];
  MlirValue starts[TP_MAX_RANK]; /* as numbers; set if any offset is dynamic */
} slice;

/* Reads offsets, sizes and strides; dynamic offsets are operands from `first` on. */
static tp_status read_slice(tp_export *x, MlirOperation op, int first, slice *s) {
  int dynamic = first;
  s->rank = tp__int_list(tp__inherent(op, "static_offsets"), TP_MAX_RANK, s->offsets);
  (void)tp__int_list(tp__inherent(op, "static_sizes"), TP_MAX_RANK, s->sizes);
  (void)tp__int_list(tp__inherent(op, "static_strides"), TP_MAX_RANK, s->strides);
  int64_t unknown = mlirShapedTypeGetDynamicStrideOrOffset();
  MlirType number = tp__export_tensor(mlirIntegerTypeGet(x->context, 64), 0, NULL);
  s->n_dynamic = 0;
  for (int d = 0; d < s->rank; d++) {
    if (s->sizes[d] < 0 || s->strides[d] == unknown)
      return tp__error(op, TP_UNSUPPORTED, "has sizes or strides that are known only at run time");
    s->n_dynamic += s->offsets[d] == unknown;
  }
  for (int d = 0; s->n_dynamic > 0 && d < s->rank; d++)
    s->starts[d] = s->offsets[d] == unknown ? tp__export_operand(x, op, dynamic++)
                                            : tp__export_int(x, number, s->offsets[d]);
  return TP_OK;
}

static tp_status extract_slice(tp_export *x, MlirOperation op) {
  slice s;
  int rank = 0;
  int64_t sizes[TP_MAX_RANK], zeros[TP_MAX_RANK] = {0}, extents[TP_MAX_RANK];
  TP_TRY(read_slice(x, op, 1, &s));
  MlirValue value = tp__export_operand(x, op, 0);
  if (s.n_dynamic > 0) {
    MlirValue operands[1 + TP_MAX_RANK] = {value};
    for (int d = 0; d < s.rank; d++) {
      operands[1 + d] = s.starts[d];
      extents[d] = s.sizes[d] > 0 ? (s.sizes[d] - 1) * s.strides[d] + 1 : 0;
    }
    MlirNamedAttribute attr = tp__export_list(x, "slice_sizes", s.rank, extents);
    value = tp__export_build(x, "stablehlo.dynamic_slice",
                             tp__tensor_like(mlirValueGetType(value), s.rank, extents), 1 + s.rank,
                             operands, 1, &attr);
    memcpy(s.offsets, zeros, sizeof zeros);
  }
  value = tp__export_slice(x, value, s.offsets, s.sizes, s.strides);
  (void)tp__static_tensor(result_type(op), &rank, sizes);
  return tp__export_replace(x, op, tp__export_reshape(x, value, rank, sizes));
}

/* An insertion with strides: the elements are put apart, and a mask says which are theirs. */
static MlirValue insert_apart(tp_export *x, const slice *s, MlirValue part, MlirValue into) {
  MlirType type = mlirValueGetType(into), element = tp__element_type(type);
  MlirType bit = mlirIntegerTypeGet(x->context, 1);
  int64_t between[TP_MAX_RANK], high[TP_MAX_RANK], sizes[TP_MAX_RANK];
  int rank = 0;
  (void)tp__static_tensor(type, &rank, sizes);
  for (int d = 0; d < rank; d++) {
    between[d] = s->strides[d] - 1;
    high[d] = sizes[d] - s->offsets[d] - (s->sizes[d] - 1) * s->strides[d] - 1;
  }
  MlirNamedAttribute attrs[] = {tp__export_list(x, "edge_padding_low", rank, s->offsets),
                                tp__export_list(x, "edge_padding_high", rank, high),
                                tp__export_list(x, "interior_padding", rank, between)};
  MlirType number = tp__export_tensor(element, 0, NULL), truth = tp__export_tensor(bit, 0, NULL);
  MlirAttribute filled = tp__export_splat_of(into);
  if (!mlirAttributeIsNull(filled)) {
    MlirValue between_splats[] = {part, tp__export_splat(x, number, filled)};
    return tp__export_build(x, "stablehlo.pad", type, 2, between_splats, TP_LEN(attrs), attrs);
  }
  MlirValue mask = tp__export_int(x, tp__export_tensor(bit, rank, s->sizes), 1);
  MlirValue padded[] = {part, tp__export_splat(x, number, tp__export_identity(element, TP_SUM))};
  MlirValue masks[] = {mask, tp__export_int(x, truth, 0)};
  MlirValue spread = tp__export_build(x, "stablehlo.pad", type, 2, padded, TP_LEN(attrs), attrs);
  mask = tp__export_build(x, "stablehlo.pad", tp__export_tensor(bit, rank, sizes), 2, masks,
                          TP_LEN(attrs), attrs);
  return tp__export_build(x, "stablehlo.select", type, 3, (MlirValue[]){mask, spread, into}, 0,
                          NULL);
}

static tp_status insert_slice(tp_export *x, MlirOperation op) {
  slice s;
  bool has_strides = false;
  TP_TRY(read_slice(x, op, 2, &s));
  MlirValue into = tp__export_operand(x, op, 1);
  MlirValue part = tp__export_reshape(x, tp__export_operand(x, op, 0), s.rank, s.sizes);
  MlirType number = tp__export_tensor(mlirIntegerTypeGet(x->context, 64), 0, NULL);
  for (int d = 0; d < s.rank; d++)
    has_strides |= s.strides[d] != 1 && s.sizes[d] > 1;
  if (has_strides && s.n_dynamic > 0)
    return tp__error(op, TP_UNSUPPORTED,
                     "has both strides and offsets that are known only at run time");
  if (has_strides)
    return tp__export_replace(x, op, insert_apart(x, &s, part, into));
  MlirValue operands[2 + TP_MAX_RANK] = {into, part};
  for (int d = 0; d < s.rank; d++)
    operands[2 + d] = s.n_dynamic > 0 ? s.starts[d] : tp__export_int(x, number, s.offsets[d]);
  return tp__export_replace(x, op,
                            tp__export_build(x, "stablehlo.dynamic_update_slice",
                                             mlirValueGetType(into), 2 + s.rank, operands, 0,
                                             NULL));
}

/* ---- elements ---- */

static tp_status extract(tp_export *x, MlirOperation op) {
  int rank = (int)mlirOperationGetNumOperands(op) - 1;
  int64_t ones[TP_MAX_RANK];
  MlirValue operands[1 + TP_MAX_RANK];
  for (int d = 0; d <= rank; d++)
    operands[d] = tp__export_operand(x, op, d);
  for (int d = 0; d < rank; d++)
    ones[d] = 1;
  if (rank == 0)
    return tp__export_replace(x, op, operands[0]);
  MlirNamedAttribute attr = tp__export_list(x, "slice_sizes", rank, ones);
  MlirValue value = tp__export_build(x, "stablehlo.dynamic_slice",
                                     tp__tensor_like(mlirValueGetType(operands[0]), rank, ones),
                                     1 + rank, operands, 1, &attr);
  return tp__export_replace(x, op, tp__export_reshape(x, value, 0, NULL));
}

static tp_status insert(tp_export *x, MlirOperation op) {
  int rank = (int)mlirOperationGetNumOperands(op) - 2;
  int64_t ones[TP_MAX_RANK];
  MlirValue operands[2 + TP_MAX_RANK] = {tp__export_operand(x, op, 1)};
  for (int d = 0; d < rank; d++) {
    ones[d] = 1;
    operands[2 + d] = tp__export_operand(x, op, 2 + d);
  }
  operands[1] = tp__export_reshape(x, tp__export_operand(x, op, 0), rank, ones);
  return tp__export_replace(x, op,
                            tp__export_build(x, "stablehlo.dynamic_update_slice",
                                             mlirValueGetType(operands[0]), 2 + rank, operands, 0,
                                             NULL));
}

static tp_status from_elements(tp_export *x, MlirOperation op) {
  int n = (int)mlirOperationGetNumOperands(op), rank = 0;
  int64_t one = 1, sizes[TP_MAX_RANK];
  if (n == 0)
    return empty(x, op);
  MlirValue *values = tp__calloc((size_t)n + 1, sizeof *values);
  if (!values)
    return tp__out_of_memory(op);
  for (int i = 0; i < n; i++)
    values[i] = tp__export_reshape(x, tp__export_operand(x, op, i), 1, &one);
  (void)tp__static_tensor(result_type(op), &rank, sizes);
  MlirValue now = tp__export_reshape(x, tp__export_concat(x, n, values, 0), rank, sizes);
  tp__free(values);
  return tp__export_replace(x, op, now);
}

/* ---- pad ---- */

static tp_status pad(tp_export *x, MlirOperation op) {
  int64_t low[TP_MAX_RANK], high[TP_MAX_RANK], zeros[TP_MAX_RANK] = {0};
  int rank = tp__int_list(tp__inherent(op, "static_low"), TP_MAX_RANK, low);
  (void)tp__int_list(tp__inherent(op, "static_high"), TP_MAX_RANK, high);
  MlirBlock block = tp__region_block(op, 0);
  MlirOperation yield = mlirBlockGetTerminator(block);
  MlirValue number = mlirOperationGetOperand(yield, 0);
  MlirOperation maker = tp__defining_op(number);
  bool is_inside = mlirBlockEqual(tp__block_of(number), block);
  if (is_inside && (mlirOperationIsNull(maker) || !tp__op_is(maker, "arith.constant")))
    return tp__error(op, TP_UNSUPPORTED, "pads with values that differ");
  int64_t unknown = mlirShapedTypeGetDynamicSize();
  for (int d = 0; d < rank; d++)
    if (low[d] == unknown || high[d] == unknown)
      return tp__error(op, TP_UNSUPPORTED, "pads by a width that is known only at run time");
  if (is_inside)
    TP_TRY(tp__export_op(x, maker));
  MlirValue operands[] = {tp__export_operand(x, op, 0), tp__export_value(x, number)};
  MlirNamedAttribute attrs[] = {tp__export_list(x, "edge_padding_low", rank, low),
                                tp__export_list(x, "edge_padding_high", rank, high),
                                tp__export_list(x, "interior_padding", rank, zeros)};
  return tp__export_replace(
      x, op,
      tp__export_build(x, "stablehlo.pad", result_type(op), 2, operands, TP_LEN(attrs), attrs));
}

const tp_export_row tp__export_tensor_rows[] = {
    {"arith.constant", constant},
    {"bufferization.alloc_tensor", barrier},
    {"complex.constant", complex_constant},
    {"tensor.cast", cast},
    {"tensor.collapse_shape", reshape},
    {"tensor.concat", concat},
    {"tensor.empty", empty},
    {"tensor.expand_shape", reshape},
    {"tensor.extract", extract},
    {"tensor.extract_slice", extract_slice},
    {"tensor.from_elements", from_elements},
    {"tensor.insert", insert},
    {"tensor.insert_slice", insert_slice},
    {"tensor.pad", pad},
    {"tensor.splat", splat},
    {NULL, NULL},
};
