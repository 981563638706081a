/* Constants, iota, and ops that move elements: broadcast, reshape, transpose, reverse, slice,
 * concatenate and pad. */
#include "passes/import/stablehlo/hlo.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

static tp_status wrong_type(MlirOperation op, const tp_hlo_shape *wanted) {
  char text[64], has[64];
  tp__type_text(tp__tensor_like(tp__result_type(op), wanted->rank, wanted->sizes), sizeof text,
                text);
  tp__type_text(tp__result_type(op), sizeof has, has);
  return tp__error(op, TP_INVALID_ARGUMENT, "the result is %s, but its operands give %s", has,
                   text);
}

/* Checks the shape of the result, and that its elements are those of operand 0. */
static tp_status check_result(MlirOperation op, const tp_hlo_shape *wanted) {
  tp_hlo_shape has = tp__hlo_shape(tp__result_type(op));
  bool same = has.rank == wanted->rank &&
              memcmp(has.sizes, wanted->sizes, (size_t)has.rank * sizeof *has.sizes) == 0;
  if (!same)
    return wrong_type(op, wanted);
  return mlirTypeEqual(tp__hlo_operand_element(op, 0), tp__hlo_result_element(op, 0))
             ? TP_OK
             : tp__error(op, TP_INVALID_ARGUMENT,
                         "operand 0 and the result must have equal element types");
}

/* ---- constant, iota ---- */

/* The same elements as integers without sign. */
static MlirAttribute without_sign(MlirAttribute value, MlirType type) {
  int64_t n = mlirDenseElementsAttrIsSplat(value) ? 1 : mlirElementsAttrGetNumElements(value);
  return mlirDenseElementsAttrRawBufferGet(type,
                                           (size_t)(n * tp__element_size(tp__element_type(type))),
                                           mlirDenseElementsAttrGetRawData(value));
}

static tp_status constant(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  MlirAttribute value = tp__property(op, "value");
  MlirType old = tp__result_type(op);
  tp_hlo whole = *hlo;
  whole.scalar = false;
  MlirType type = tp__hlo_type(&whole, old);
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAElements(value) ||
      !mlirTypeEqual(mlirAttributeGetType(value), old))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "attribute 'value' is not a constant of the type of the result");
  if (!mlirTypeEqual(type, old)) {
    if (!mlirAttributeIsADenseElements(value))
      return tp__error(
          op, TP_UNSUPPORTED,
          "its value is a resource of unsigned integers; write it as a dense constant");
    value = without_sign(value, type);
  }
  bool is_number = hlo->scalar;
  if (is_number) {
    if (!mlirAttributeIsADenseElements(value) || mlirTypeIsAComplex(tp__element_type(type)))
      return tp__error(op, TP_UNSUPPORTED, "is not supported in the body of another op");
    return tp__hlo_replace(
        hlo, op,
        tp__hlo_constant(hlo, tp__element_type(type), mlirDenseElementsAttrGetSplatValue(value)));
  }
  MlirNamedAttribute attr = tp__named(hlo->context, "value", value);
  MlirOperation now = tp__hlo_build_op(hlo, &(tp_build){.name = "arith.constant",
                                                        .n_results = 1,
                                                        .results = &type,
                                                        .n_attributes = 1,
                                                        .attributes = &attr});
  return tp__hlo_replace(hlo, op, mlirOperationGetResult(now, 0));
}

static MlirValue number_of_index(tp_hlo *hlo, MlirValue index, tp_hlo_kind kind, MlirType element) {
  if (kind == TP_HLO_SIGNED || kind == TP_HLO_UNSIGNED)
    return tp__hlo_convert_to(hlo, "arith.index_cast", element, index);
  MlirType part = kind == TP_HLO_COMPLEX ? mlirComplexTypeGetElementType(element) : element;
  MlirValue wide =
      tp__hlo_convert_to(hlo, "arith.index_cast", mlirIntegerTypeGet(hlo->context, 64), index);
  MlirValue number = tp__hlo_convert_to(hlo, "arith.sitofp", part, wide);
  if (kind == TP_HLO_FLOAT)
    return number;
  MlirValue parts[] = {number, tp__hlo_float_constant(hlo, part, 0)};
  return tp__hlo_build(hlo, "complex.create", element, 2, parts);
}

/* kind: of the elements before they lost their sign. */
static MlirValue build_iota(tp_hlo *hlo, MlirType type, int dim, tp_hlo_kind kind) {
  int loops[TP_MAX_RANK], rank = tp__hlo_shape(type).rank;
  for (int d = 0; d < rank; d++)
    loops[d] = d;
  MlirAttribute map = tp__hlo_loop_map(hlo, rank, rank, loops);
  MlirValue init = tp__hlo_build(hlo, "tensor.empty", type, 0, NULL);
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, 0, 1, &init, &map, &yield);
  hlo->where = yield;
  MlirValue number =
      number_of_index(hlo, tp__hlo_loop_index(hlo, dim), kind, tp__element_type(type));
  mlirOperationSetOperands(yield, 1, &number);
  hlo->where = outer;
  return mlirOperationGetResult(generic, 0);
}

MlirValue tp__hlo_iota(tp_hlo *hlo, MlirType type, int dim) {
  return build_iota(hlo, type, dim, tp__hlo_kind(tp__element_type(type)));
}

static tp_status iota(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int64_t dim;
  MlirType type = tp__hlo_result_type(hlo, op, 0);
  int rank = tp__hlo_shape(type).rank;
  tp_hlo_kind kind = tp__hlo_kind(tp__hlo_result_element(op, 0));
  TP_TRY(tp__hlo_int(op, "iota_dimension", -1, &dim));
  if (dim < 0 || dim >= rank || kind == TP_HLO_BOOL)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "iota_dimension %lld must be a dimension of the result, whose elements are "
                     "numbers",
                     (long long)dim);
  return tp__hlo_replace(hlo, op, build_iota(hlo, type, (int)dim, kind));
}

/* ---- broadcast, reshape, transpose, reverse ---- */

static tp_status broadcast_in_dim(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int64_t dims[TP_MAX_RANK];
  int n;
  tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, 0)),
               to = tp__hlo_shape(tp__result_type(op));
  TP_TRY(tp__hlo_dims(op, "broadcast_dimensions", to.rank, &n, dims));
  if (n != from.rank)
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "broadcast_dimensions has %d dimensions, but operand 0 has %d", n, from.rank);
  tp_hlo_shape wanted = to;
  for (int d = 0; d < n; d++)
    if (from.sizes[d] != 1)
      wanted.sizes[dims[d]] = from.sizes[d];
  TP_TRY(check_result(op, &wanted));
  MlirValue value = tp__hlo_operand(hlo, op, 0);
  return tp__hlo_replace(
      hlo, op,
      hlo->scalar ? value : tp__hlo_broadcast(hlo, value, tp__hlo_result_type(hlo, op, 0), dims));
}

static tp_status reshape(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, 0)),
               to = tp__hlo_shape(tp__result_type(op));
  if (tp__hlo_elements(&from) != tp__hlo_elements(&to))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "operand 0 has %lld elements, but the result has %lld",
                     (long long)tp__hlo_elements(&from), (long long)tp__hlo_elements(&to));
  TP_TRY(check_result(op, &to));
  MlirValue value = tp__hlo_operand(hlo, op, 0);
  return tp__hlo_replace(hlo, op, hlo->scalar ? value : tp__hlo_reshape(hlo, value, &to));
}

/* An op whose result's element at a point is the operand's element that the map gives. */
static MlirValue permuted(tp_hlo *hlo, MlirValue value, MlirType type, MlirAttribute map) {
  int loops[TP_MAX_RANK], rank = tp__hlo_shape(type).rank;
  for (int d = 0; d < rank; d++)
    loops[d] = d;
  MlirValue operands[] = {value, tp__hlo_build(hlo, "tensor.empty", type, 0, NULL)};
  MlirAttribute maps[] = {map, tp__hlo_loop_map(hlo, rank, rank, loops)};
  MlirOperation yield, generic = tp__hlo_generic(hlo, 1, 1, operands, maps, &yield);
  mlirOperationSetOperands(yield, 1, (MlirValue[]){tp__hlo_body_arg(generic, 0)});
  return mlirOperationGetResult(generic, 0);
}

/* Dimensions of size 1 can be moved without moving an element: then it is a reshape. */
static bool keeps_order(const tp_hlo_shape *from, int n, const int64_t *permutation) {
  int64_t last = -1;
  for (int d = 0; d < n; d++)
    if (from->sizes[permutation[d]] != 1) {
      if (permutation[d] < last)
        return false;
      last = permutation[d];
    }
  return true;
}

static tp_status transpose(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int64_t dims[TP_MAX_RANK];
  int n, loops[TP_MAX_RANK];
  tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, 0)), to = {.rank = from.rank};
  TP_TRY(tp__hlo_dims(op, "permutation", from.rank, &n, dims));
  if (n != from.rank)
    return tp__error(op, TP_INVALID_ARGUMENT, "permutation has %d dimensions, but operand 0 has %d",
                     n, from.rank);
  for (int d = 0; d < n; d++) {
    to.sizes[d] = from.sizes[dims[d]];
    loops[dims[d]] = d;
  }
  TP_TRY(check_result(op, &to));
  MlirValue value = tp__hlo_operand(hlo, op, 0);
  if (hlo->scalar || keeps_order(&from, n, dims))
    return tp__hlo_replace(hlo, op, hlo->scalar ? value : tp__hlo_reshape(hlo, value, &to));
  return tp__hlo_replace(
      hlo, op,
      permuted(hlo, value, tp__hlo_result_type(hlo, op, 0), tp__hlo_loop_map(hlo, n, n, loops)));
}

MlirValue tp__hlo_reverse(tp_hlo *hlo, MlirValue value, int n, const int64_t *dims) {
  tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(value));
  MlirAffineExpr at[TP_MAX_RANK];
  for (int d = 0; d < shape.rank; d++)
    at[d] = mlirAffineDimExprGet(hlo->context, d);
  for (int i = 0; i < n; i++) {
    MlirAffineExpr last = mlirAffineConstantExprGet(hlo->context, shape.sizes[dims[i]] - 1);
    MlirAffineExpr minus = mlirAffineConstantExprGet(hlo->context, -1);
    at[dims[i]] = mlirAffineAddExprGet(mlirAffineMulExprGet(at[dims[i]], minus), last);
  }
  return n == 0 ? value
                : permuted(hlo, value, mlirValueGetType(value),
                           tp__hlo_map_of(hlo, shape.rank, shape.rank, at));
}

static tp_status reverse(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int64_t dims[TP_MAX_RANK];
  int n, kept = 0;
  tp_hlo_shape shape = tp__hlo_shape(tp__hlo_operand_type(op, 0));
  TP_TRY(tp__hlo_dims(op, "dimensions", shape.rank, &n, dims));
  TP_TRY(check_result(op, &shape));
  for (int i = 0; i < n; i++)
    if (shape.sizes[dims[i]] > 1)
      dims[kept++] = dims[i];
  return tp__hlo_replace(hlo, op, tp__hlo_reverse(hlo, tp__hlo_operand(hlo, op, 0), kept, dims));
}

/* ---- slice, concatenate ---- */

static tp_status slice(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, 0)), to = from;
  int64_t first[TP_MAX_RANK], limit[TP_MAX_RANK], step[TP_MAX_RANK];
  TP_TRY(tp__hlo_ints(op, "start_indices", from.rank, -1, first));
  TP_TRY(tp__hlo_ints(op, "limit_indices", from.rank, -1, limit));
  TP_TRY(tp__hlo_ints(op, "strides", from.rank, 1, step));
  for (int d = 0; d < from.rank; d++) {
    if (first[d] < 0 || limit[d] < first[d] || limit[d] > from.sizes[d] || step[d] < 1)
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "takes elements %lld to %lld in steps of %lld of dimension %d, which has "
                       "%lld",
                       (long long)first[d], (long long)limit[d], (long long)step[d], d,
                       (long long)from.sizes[d]);
    to.sizes[d] = (limit[d] - first[d] + step[d] - 1) / step[d];
    step[d] = to.sizes[d] > 1 ? step[d] : 1;
  }
  TP_TRY(check_result(op, &to));
  return tp__hlo_replace(hlo, op,
                         tp__hlo_slice(hlo, tp__hlo_operand(hlo, op, 0), first, to.sizes, step));
}

static tp_status concatenate(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int n = (int)mlirOperationGetNumOperands(op), kept = 0;
  int64_t dim;
  TP_TRY(tp__hlo_int(op, "dimension", -1, &dim));
  tp_hlo_shape to = n > 0 ? tp__hlo_shape(tp__hlo_operand_type(op, 0)) : (tp_hlo_shape){0};
  if (dim < 0 || dim >= to.rank)
    return tp__error(op, TP_INVALID_ARGUMENT, "dimension %lld is not one of its operands",
                     (long long)dim);
  to.sizes[dim] = 0;
  for (int i = 0; i < n; i++) {
    tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, i));
    bool fits = from.rank == to.rank &&
                mlirTypeEqual(tp__hlo_operand_element(op, i), tp__hlo_operand_element(op, 0));
    for (int d = 0; fits && d < to.rank; d++)
      fits = d == dim || from.sizes[d] == to.sizes[d];
    if (!fits)
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "operand %d does not have the shape and elements of operand 0 outside of "
                       "dimension %lld",
                       i, (long long)dim);
    to.sizes[dim] += from.sizes[dim];
  }
  TP_TRY(check_result(op, &to));
  MlirType type = tp__hlo_result_type(hlo, op, 0);
  MlirValue *operands = tp__calloc((size_t)n, sizeof *operands);
  if (!operands)
    return tp__out_of_memory(op);
  for (int i = 0; i < n; i++)
    if (tp__hlo_shape(tp__hlo_operand_type(op, i)).sizes[dim] > 0)
      operands[kept++] = tp__hlo_operand(hlo, op, i);
  MlirNamedAttribute attr = tp__named(hlo->context, "dim", tp__attr_i64(hlo->context, dim));
  MlirValue now =
      kept == 1 ? operands[0]
      : kept == 0
          ? tp__hlo_build(hlo, "tensor.empty", type, 0, NULL)
          : mlirOperationGetResult(tp__hlo_build_op(hlo, &(tp_build){.name = "tensor.concat",
                                                                     .n_operands = kept,
                                                                     .operands = operands,
                                                                     .n_results = 1,
                                                                     .results = &type,
                                                                     .n_attributes = 1,
                                                                     .attributes = &attr}),
                                   0);
  tp__free(operands);
  return tp__hlo_replace(hlo, op, now);
}

/* ---- pad ---- */

static MlirValue pad_edges(tp_hlo *hlo, MlirValue value, MlirValue with, const int64_t *low,
                           const int64_t *high) {
  tp_hlo_shape shape = tp__hlo_shape(mlirValueGetType(value));
  MlirType type = mlirValueGetType(value), index = mlirIndexTypeGet(hlo->context);
  MlirType indices[TP_MAX_RANK];
  MlirLocation locations[TP_MAX_RANK];
  bool any = false;
  for (int d = 0; d < shape.rank; d++) {
    any |= low[d] != 0 || high[d] != 0;
    shape.sizes[d] += low[d] + high[d];
    indices[d] = index;
    locations[d] = hlo->location;
  }
  if (!any)
    return value;
  MlirType padded = tp__tensor_like(type, shape.rank, shape.sizes);
  MlirValue number = tp__hlo_number(hlo, with);
  MlirNamedAttribute attrs[] = {
      tp__named(hlo->context, "static_low", tp__attr_i64s(hlo->context, shape.rank, low)),
      tp__named(hlo->context, "static_high", tp__attr_i64s(hlo->context, shape.rank, high)),
      tp__named(hlo->context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(hlo->context, 3, (int32_t[]){1, 0, 0})),
  };
  MlirOperation op = tp__hlo_build_op(hlo, &(tp_build){.name = "tensor.pad",
                                                       .n_operands = 1,
                                                       .operands = &value,
                                                       .n_results = 1,
                                                       .results = &padded,
                                                       .n_attributes = TP_LEN(attrs),
                                                       .attributes = attrs,
                                                       .n_regions = 1});
  MlirBlock block = mlirBlockCreate(shape.rank, indices, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, 0), block);
  mlirBlockAppendOwnedOperation(block, tp__create(&(tp_build){.name = "tensor.yield",
                                                              .location = hlo->location,
                                                              .n_operands = 1,
                                                              .operands = &number}));
  return mlirOperationGetResult(op, 0);
}

/* Puts the elements of `value` `between` + 1 apart, into a tensor filled with `with`. */
static MlirValue spread(tp_hlo *hlo, MlirValue value, MlirValue with, const int64_t *between) {
  tp_hlo_shape from = tp__hlo_shape(mlirValueGetType(value)), to = from;
  int64_t steps[TP_MAX_RANK], zeros[TP_MAX_RANK] = {0};
  bool any = false;
  for (int d = 0; d < from.rank; d++) {
    any |= between[d] > 0 && from.sizes[d] > 1;
    to.sizes[d] = from.sizes[d] > 0 ? (from.sizes[d] - 1) * (between[d] + 1) + 1 : 0;
    steps[d] = from.sizes[d] > 1 ? between[d] + 1 : 1;
  }
  if (!any)
    return value;
  MlirType type = tp__tensor_like(mlirValueGetType(value), to.rank, to.sizes);
  return tp__hlo_insert(hlo, value, tp__hlo_fill(hlo, type, with), zeros, steps);
}

MlirValue tp__hlo_pad(tp_hlo *hlo, MlirValue value, MlirValue with, const int64_t *low,
                      const int64_t *high, const int64_t *between) {
  tp_hlo_shape shape;
  int64_t first[TP_MAX_RANK], ones[TP_MAX_RANK], more_low[TP_MAX_RANK], more_high[TP_MAX_RANK];
  MlirValue now = spread(hlo, value, with, between);
  tp_hlo_shape from = tp__hlo_shape(mlirValueGetType(value));
  if (tp__hlo_elements(&from) == 0) { /* all that remains is padding */
    for (int d = 0; d < from.rank; d++)
      from.sizes[d] = mlirShapedTypeGetDimSize(mlirValueGetType(now), d) + low[d] + high[d];
    return tp__hlo_fill(hlo, tp__tensor_like(mlirValueGetType(value), from.rank, from.sizes), with);
  }
  shape = tp__hlo_shape(mlirValueGetType(now));
  for (int d = 0; d < shape.rank; d++) { /* negative padding cuts off */
    first[d] = low[d] < 0 ? -low[d] : 0;
    more_low[d] = low[d] > 0 ? low[d] : 0;
    more_high[d] = high[d] > 0 ? high[d] : 0;
    shape.sizes[d] -= first[d] + (high[d] < 0 ? -high[d] : 0);
    ones[d] = 1;
  }
  now = tp__hlo_slice(hlo, now, first, shape.sizes, ones);
  return pad_edges(hlo, now, with, more_low, more_high);
}

static tp_status pad(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, 0)), to = from;
  int64_t low[TP_MAX_RANK], high[TP_MAX_RANK], between[TP_MAX_RANK];
  TP_TRY(tp__hlo_ints(op, "edge_padding_low", from.rank, 0, low));
  TP_TRY(tp__hlo_ints(op, "edge_padding_high", from.rank, 0, high));
  TP_TRY(tp__hlo_ints(op, "interior_padding", from.rank, 0, between));
  for (int d = 0; d < from.rank; d++) {
    int64_t inner = 0, cut = (low[d] < 0 ? low[d] : 0) + (high[d] < 0 ? high[d] : 0);
    bool ok = between[d] >= 0 && !__builtin_mul_overflow(from.sizes[d], between[d] + 1, &inner);
    inner = from.sizes[d] > 0 ? inner - between[d] : 0;
    if (!ok || inner + cut < 0 || low[d] > TP_MAX_ELEMENTS || high[d] > TP_MAX_ELEMENTS)
      return tp__error(
          op, TP_UNSUPPORTED,
          "pads dimension %d of size %lld by %lld before, %lld behind and %lld between "
          "elements; the part that negative padding leaves must be inside of it",
          d, (long long)from.sizes[d], (long long)low[d], (long long)high[d],
          (long long)between[d]);
    to.sizes[d] = inner + low[d] + high[d];
  }
  TP_TRY(check_result(op, &to));
  if (tp__hlo_shape(tp__hlo_operand_type(op, 1)).rank != 0 ||
      !mlirTypeEqual(tp__hlo_operand_element(op, 0), tp__hlo_operand_element(op, 1)))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "operand 1 must be a tensor of rank 0 with elements as those of operand 0");
  return tp__hlo_replace(hlo, op,
                         tp__hlo_pad(hlo, tp__hlo_operand(hlo, op, 0), tp__hlo_operand(hlo, op, 1),
                                     low, high, between));
}

/* ---- dimensions of a static shape ---- */

static tp_status dimension_size(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  int64_t dim;
  tp_hlo_shape shape = tp__hlo_shape(tp__hlo_operand_type(op, 0));
  TP_TRY(tp__hlo_int(op, "dimension", -1, &dim));
  if (dim < 0 || dim >= shape.rank || tp__hlo_kind(tp__hlo_result_element(op, 0)) != TP_HLO_SIGNED)
    return tp__error(op, TP_INVALID_ARGUMENT, "dimension %lld is not one of operand 0",
                     (long long)dim);
  return tp__hlo_replace(
      hlo, op, tp__hlo_int_constant(hlo, tp__hlo_result_type(hlo, op, 0), shape.sizes[dim]));
}

const tp_hlo_row tp__hlo_shape_rows[] = {
    {"stablehlo.broadcast_in_dim", 1, 1, 0, broadcast_in_dim, NULL,
     "linalg.generic, linalg.fill or a constant"},
    {"stablehlo.concatenate", TP_HLO_ANY, 1, 0, concatenate, NULL, "tensor.concat"},
    {"stablehlo.constant", 0, 1, 0, constant, NULL, "arith.constant"},
    {"chlo.constant", 0, 1, 0, constant, NULL, "arith.constant"},
    {"stablehlo.dynamic_broadcast_in_dim", 2, 1, 0, broadcast_in_dim, NULL,
     "linalg.generic, linalg.fill or a constant, of the shape of its type"},
    {"stablehlo.dynamic_iota", 1, 1, 0, iota, NULL,
     "linalg.generic with linalg.index, of the shape of its type"},
    {"stablehlo.dynamic_reshape", 2, 1, 0, reshape, NULL,
     "tensor.collapse_shape and expand_shape, of the shape of its type"},
    {"stablehlo.get_dimension_size", 1, 1, 0, dimension_size, NULL, "arith.constant"},
    {"stablehlo.iota", 0, 1, 0, iota, NULL, "linalg.generic with linalg.index"},
    {"stablehlo.pad", 2, 1, 0, pad, NULL, "tensor.pad, insert_slice and extract_slice"},
    {"stablehlo.reshape", 1, 1, 0, reshape, NULL, "tensor.collapse_shape and expand_shape"},
    {"stablehlo.reverse", 1, 1, 0, reverse, NULL, "linalg.generic"},
    {"stablehlo.slice", 1, 1, 0, slice, NULL, "tensor.extract_slice"},
    {"stablehlo.transpose", 1, 1, 0, transpose, NULL, "linalg.generic or a reshape"},
    {NULL},
};
