/* Builders of the conversion: ops in front of hlo->where, at the location of the converted op. */
#include "passes/import/stablehlo/hlo.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

MlirOperation tp__hlo_build_op(tp_hlo *hlo, const tp_build *build) {
  tp_build located = *build;
  located.location = hlo->location;
  MlirOperation op = tp__create(&located);
  tp__insert_before(hlo->where, op);
  return op;
}

MlirValue tp__hlo_build(tp_hlo *hlo, const char *name, MlirType type, int n,
                        const MlirValue *operands) {
  MlirOperation op = tp__hlo_build_op(
      hlo,
      &(tp_build){
          .name = name, .n_operands = n, .operands = operands, .n_results = 1, .results = &type});
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__hlo_unary(tp_hlo *hlo, const char *name, MlirValue a) {
  return tp__hlo_build(hlo, name, mlirValueGetType(a), 1, &a);
}

MlirValue tp__hlo_binary(tp_hlo *hlo, const char *name, MlirValue a, MlirValue b) {
  return tp__hlo_build(hlo, name, mlirValueGetType(a), 2, (MlirValue[]){a, b});
}

MlirValue tp__hlo_convert_to(tp_hlo *hlo, const char *name, MlirType type, MlirValue a) {
  return tp__hlo_build(hlo, name, type, 1, &a);
}

MlirValue tp__hlo_select(tp_hlo *hlo, MlirValue condition, MlirValue yes, MlirValue no) {
  return tp__hlo_build(hlo, "arith.select", mlirValueGetType(yes), 3,
                       (MlirValue[]){condition, yes, no});
}

MlirType tp__hlo_with_element(MlirType like, MlirType element) {
  const int64_t *sizes;
  int rank = tp__tensor_sizes(like, &sizes);
  return rank < 0 ? element : mlirRankedTensorTypeGet(rank, sizes, element, (MlirAttribute){NULL});
}

MlirValue tp__hlo_compare(tp_hlo *hlo, const char *predicate, MlirValue a, MlirValue b) {
  static const char *const ints[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                     "sge", "ult", "ule", "ugt", "uge"};
  static const char *const floats[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                       "ueq",   "ugt", "uge", "ult", "ule", "une", "uno"};
  MlirType type = mlirValueGetType(a), bit = mlirIntegerTypeGet(hlo->context, 1);
  bool is_float = mlirTypeIsAFloat(tp__number_type(type));
  const char *const *names = is_float ? floats : ints;
  int n = is_float ? TP_LEN(floats) : TP_LEN(ints), number = 0;
  while (number < n - 1 && strcmp(names[number], predicate) != 0)
    number++;
  MlirNamedAttribute attr =
      tp__named(hlo->context, "predicate", tp__attr_i64(hlo->context, number));
  MlirType result = tp__hlo_with_element(type, bit);
  MlirOperation op =
      tp__hlo_build_op(hlo, &(tp_build){.name = is_float ? "arith.cmpf" : "arith.cmpi",
                                        .n_operands = 2,
                                        .operands = (MlirValue[]){a, b},
                                        .n_results = 1,
                                        .results = &result,
                                        .n_attributes = 1,
                                        .attributes = &attr});
  return mlirOperationGetResult(op, 0);
}

/* ---- constants ---- */

MlirValue tp__hlo_constant(tp_hlo *hlo, MlirType type, MlirAttribute element) {
  MlirAttribute value =
      tp__is_tensor(type) ? mlirDenseElementsAttrSplatGet(type, element) : element;
  MlirNamedAttribute attr = tp__named(hlo->context, "value", value);
  bool is_complex = mlirTypeIsAComplex(type);
  MlirOperation op =
      tp__hlo_build_op(hlo, &(tp_build){.name = is_complex ? "complex.constant" : "arith.constant",
                                        .n_results = 1,
                                        .results = &type,
                                        .n_attributes = 1,
                                        .attributes = &attr});
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__hlo_int_constant(tp_hlo *hlo, MlirType type, int64_t value) {
  return tp__hlo_constant(hlo, type, mlirIntegerAttrGet(tp__number_type(type), value));
}

MlirValue tp__hlo_float_constant(tp_hlo *hlo, MlirType type, double value) {
  return tp__hlo_constant(hlo, type,
                          mlirFloatAttrDoubleGet(hlo->context, tp__number_type(type), value));
}

MlirValue tp__hlo_zero(tp_hlo *hlo, MlirType element) {
  tp_hlo_kind kind = tp__hlo_kind(element);
  if (kind == TP_HLO_FLOAT)
    return tp__hlo_float_constant(hlo, element, 0);
  if (kind != TP_HLO_COMPLEX)
    return tp__hlo_int_constant(hlo, element, 0);
  MlirType part = mlirComplexTypeGetElementType(element);
  MlirAttribute zero = mlirFloatAttrDoubleGet(hlo->context, part, 0);
  return tp__hlo_constant(hlo, element,
                          mlirArrayAttrGet(hlo->context, 2, (MlirAttribute[]){zero, zero}));
}

MlirAttribute tp__hlo_splat_of(MlirValue value) {
  MlirOperation op = tp__defined_by(value, "arith.constant");
  if (mlirOperationIsNull(op))
    return (MlirAttribute){NULL};
  MlirAttribute attr = tp__inherent(op, "value");
  if (!mlirAttributeIsADenseElements(attr))
    return mlirAttributeIsAElements(attr) ? (MlirAttribute){NULL} : attr;
  bool is_complex = mlirTypeIsAComplex(mlirShapedTypeGetElementType(mlirAttributeGetType(attr)));
  return mlirDenseElementsAttrIsSplat(attr) && !is_complex
             ? mlirDenseElementsAttrGetSplatValue(attr)
             : (MlirAttribute){NULL};
}

MlirValue tp__hlo_number(tp_hlo *hlo, MlirValue value) {
  MlirType type = mlirValueGetType(value);
  MlirAttribute splat = tp__hlo_splat_of(value);
  if (!tp__is_tensor(type))
    return value;
  return mlirAttributeIsNull(splat)
             ? tp__hlo_build(hlo, "tensor.extract", tp__element_type(type), 1, &value)
             : tp__hlo_constant(hlo, tp__element_type(type), splat);
}

MlirValue tp__hlo_index(tp_hlo *hlo, MlirValue value, bool is_unsigned) {
  MlirType index = mlirIndexTypeGet(hlo->context);
  return tp__hlo_convert_to(hlo, is_unsigned ? "arith.index_castui" : "arith.index_cast", index,
                            tp__hlo_number(hlo, value));
}

/* ---- structured ops ---- */

MlirAttribute tp__hlo_map_of(tp_hlo *hlo, int n_loops, int n, const MlirAffineExpr *results) {
  return mlirAffineMapAttrGet(
      mlirAffineMapGet(hlo->context, n_loops, 0, n, (MlirAffineExpr *)results));
}

MlirAttribute tp__hlo_loop_map(tp_hlo *hlo, int n_loops, int n, const int *loops) {
  MlirAffineExpr results[TP_MAX_RANK];
  for (int i = 0; i < n; i++)
    results[i] = loops[i] < 0 ? mlirAffineConstantExprGet(hlo->context, 0)
                              : mlirAffineDimExprGet(hlo->context, loops[i]);
  return tp__hlo_map_of(hlo, n_loops, n, results);
}

MlirOperation tp__hlo_generic(tp_hlo *hlo, int n_inputs, int n_inits, const MlirValue *operands,
                              const MlirAttribute *maps, MlirOperation *yield) {
  MlirOperation op = tp__build_generic(&(tp_generic){.where = hlo->where,
                                                     .location = hlo->location,
                                                     .n_inputs = n_inputs,
                                                     .n_inits = n_inits,
                                                     .operands = operands,
                                                     .maps = maps});
  *yield = tp__build_generic_body(op);
  return op;
}

MlirValue tp__hlo_body_arg(MlirOperation generic, int i) {
  return mlirBlockGetArgument(tp__region_block(generic, 0), i);
}

MlirValue tp__hlo_loop_index(tp_hlo *hlo, int loop) {
  MlirNamedAttribute attr = tp__named(hlo->context, "dim", tp__attr_i64(hlo->context, loop));
  MlirType index = mlirIndexTypeGet(hlo->context);
  MlirOperation op = tp__hlo_build_op(hlo, &(tp_build){.name = "linalg.index",
                                                       .n_results = 1,
                                                       .results = &index,
                                                       .n_attributes = 1,
                                                       .attributes = &attr});
  return mlirOperationGetResult(op, 0);
}

static MlirValue empty(tp_hlo *hlo, MlirType type) {
  return tp__hlo_build(hlo, "tensor.empty", type, 0, NULL);
}

MlirValue tp__hlo_fill(tp_hlo *hlo, MlirType type, MlirValue number) {
  MlirValue value = tp__hlo_number(hlo, number);
  MlirOperation op = tp__create_fill(hlo->location, value, empty(hlo, type));
  tp__insert_before(hlo->where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__hlo_broadcast(tp_hlo *hlo, MlirValue value, MlirType type, const int64_t *dims) {
  tp_hlo_shape from = tp__hlo_shape(mlirValueGetType(value)), to = tp__hlo_shape(type);
  MlirAttribute splat = tp__hlo_splat_of(value);
  int loops[TP_MAX_RANK], all[TP_MAX_RANK];
  bool same = from.rank == to.rank;
  if (!mlirAttributeIsNull(splat))
    return tp__hlo_constant(hlo, type, splat);
  if (from.rank == 0 && tp__hlo_elements(&to) == 1) /* a reshape may stay a partial sum */
    return tp__hlo_reshape(hlo, value, &to);
  if (from.rank == 0)
    return tp__hlo_fill(hlo, type, value);
  for (int d = 0; d < from.rank; d++) {
    loops[d] = from.sizes[d] == to.sizes[dims[d]] ? (int)dims[d] : -1;
    same &= loops[d] == d;
  }
  if (same)
    return value;
  for (int d = 0; d < to.rank; d++)
    all[d] = d;
  MlirValue operands[] = {value, empty(hlo, type)};
  MlirAttribute maps[] = {tp__hlo_loop_map(hlo, to.rank, from.rank, loops),
                          tp__hlo_loop_map(hlo, to.rank, to.rank, all)};
  MlirOperation yield, op = tp__hlo_generic(hlo, 1, 1, operands, maps, &yield);
  mlirOperationSetOperands(yield, 1, (MlirValue[]){tp__hlo_body_arg(op, 0)});
  return mlirOperationGetResult(op, 0);
}

/* ---- shapes ---- */

/* Splits two shapes of as many elements into groups of neighboring dimensions whose products are
 * equal, as small as they can be. Dimensions of size 1 join the group before them. */
typedef struct groups {
  int n, from[TP_MAX_RANK], to[TP_MAX_RANK];
  int64_t sizes[TP_MAX_RANK];
} groups;

static groups group_dims(const tp_hlo_shape *from, const tp_hlo_shape *to) {
  groups g = {0};
  int a = 0, b = 0;
  while (a < from->rank && b < to->rank && g.n < TP_MAX_RANK) {
    int first_a = a, first_b = b;
    int64_t x = from->sizes[a++], y = to->sizes[b++];
    while (x != y) {
      if (x < y && a < from->rank)
        x *= from->sizes[a++];
      else if (b < to->rank)
        y *= to->sizes[b++];
      else
        break;
    }
    g.from[g.n] = a - first_a;
    g.to[g.n] = b - first_b;
    g.sizes[g.n++] = x;
  }
  if (g.n > 0) {
    g.from[g.n - 1] += from->rank - a;
    g.to[g.n - 1] += to->rank - b;
  }
  return g;
}

MlirValue tp__hlo_reshape(tp_hlo *hlo, MlirValue value, const tp_hlo_shape *to) {
  tp_hlo_shape from = tp__hlo_shape(mlirValueGetType(value));
  groups g = group_dims(&from, to);
  MlirType type = tp__tensor_like(mlirValueGetType(value), to->rank, to->sizes);
  MlirAttribute splat = tp__hlo_splat_of(value);
  if (!mlirAttributeIsNull(splat))
    return tp__hlo_constant(hlo, type, splat);
  if (tp__hlo_elements(&from) == 0)
    return empty(hlo, type);
  if (g.n == 0) /* one of them has rank 0, or both have */
    return tp__regroup(hlo->where, hlo->location, value, to->rank, to->sizes, 0, NULL);
  value = tp__regroup(hlo->where, hlo->location, value, g.n, g.sizes, g.n, g.from);
  return tp__regroup(hlo->where, hlo->location, value, to->rank, to->sizes, g.n, g.to);
}

MlirValue tp__hlo_slice(tp_hlo *hlo, MlirValue value, const int64_t *offsets, const int64_t *sizes,
                        const int64_t *strides) {
  MlirType type = mlirValueGetType(value);
  tp_hlo_shape from = tp__hlo_shape(type);
  MlirType part = tp__tensor_like(type, from.rank, sizes);
  MlirAttribute splat = tp__hlo_splat_of(value);
  if (mlirTypeEqual(type, part))
    return value;
  if (!mlirAttributeIsNull(splat))
    return tp__hlo_constant(hlo, part, splat);
  for (int d = 0; d < from.rank; d++)
    if (sizes[d] == 0)
      return empty(hlo, part);
  MlirNamedAttribute attrs[] = {
      tp__named(hlo->context, "static_offsets", tp__attr_i64s(hlo->context, from.rank, offsets)),
      tp__named(hlo->context, "static_sizes", tp__attr_i64s(hlo->context, from.rank, sizes)),
      tp__named(hlo->context, "static_strides", tp__attr_i64s(hlo->context, from.rank, strides)),
      tp__named(hlo->context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(hlo->context, 4, (int32_t[]){1, 0, 0, 0})),
  };
  MlirOperation op = tp__hlo_build_op(hlo, &(tp_build){.name = "tensor.extract_slice",
                                                       .n_operands = 1,
                                                       .operands = &value,
                                                       .n_results = 1,
                                                       .results = &part,
                                                       .n_attributes = TP_LEN(attrs),
                                                       .attributes = attrs});
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__hlo_insert(tp_hlo *hlo, MlirValue part, MlirValue into, const int64_t *offsets,
                         const int64_t *strides) {
  MlirType type = mlirValueGetType(into);
  tp_hlo_shape sizes = tp__hlo_shape(mlirValueGetType(part));
  if (mlirTypeEqual(mlirValueGetType(part), type))
    return part;
  MlirNamedAttribute attrs[] = {
      tp__named(hlo->context, "static_offsets", tp__attr_i64s(hlo->context, sizes.rank, offsets)),
      tp__named(hlo->context, "static_sizes", tp__attr_i64s(hlo->context, sizes.rank, sizes.sizes)),
      tp__named(hlo->context, "static_strides", tp__attr_i64s(hlo->context, sizes.rank, strides)),
      tp__named(hlo->context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(hlo->context, 5, (int32_t[]){1, 1, 0, 0, 0})),
  };
  MlirOperation op = tp__hlo_build_op(hlo, &(tp_build){.name = "tensor.insert_slice",
                                                       .n_operands = 2,
                                                       .operands = (MlirValue[]){part, into},
                                                       .n_results = 1,
                                                       .results = &type,
                                                       .n_attributes = TP_LEN(attrs),
                                                       .attributes = attrs});
  return mlirOperationGetResult(op, 0);
}
