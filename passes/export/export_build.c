/* Builders of StableHLO ops: in front of x->where, at x->location. */
#include "passes/export/export.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- values and types ---- */

static MlirType element_of(MlirType element) {
  return mlirTypeIsAIndex(element) ? mlirIntegerTypeGet(mlirTypeGetContext(element), 64) : element;
}

MlirType tp__export_tensor(MlirType element, int rank, const int64_t *sizes) {
  return mlirRankedTensorTypeGet(rank, sizes, element_of(element), (MlirAttribute){NULL});
}

MlirType tp__export_type(MlirType old) {
  const int64_t *sizes;
  int rank = tp__tensor_sizes(old, &sizes);
  return rank < 0 ? tp__export_tensor(old, 0, NULL)
                  : tp__export_tensor(tp__element_type(old), rank, sizes);
}

MlirType tp__export_unsigned(MlirType element) {
  return mlirIntegerTypeUnsignedGet(mlirTypeGetContext(element), mlirIntegerTypeGetWidth(element));
}

MlirValue tp__export_value(tp_export *x, MlirValue old) {
  int64_t *now = tp__value_find(&x->map, old);
  return now ? (MlirValue){(const void *)(uintptr_t)*now} : old;
}

MlirValue tp__export_operand(tp_export *x, MlirOperation op, int i) {
  return tp__export_value(x, mlirOperationGetOperand(op, i));
}

tp_status tp__export_map(tp_export *x, MlirOperation op, MlirValue old, MlirValue now) {
  int64_t *entry = tp__value_add(&x->map, old, 0);
  if (!entry)
    return tp__out_of_memory(op);
  *entry = (int64_t)(uintptr_t)now.ptr;
  return TP_OK;
}

tp_status tp__export_replace(tp_export *x, MlirOperation op, MlirValue now) {
  return tp__export_map(x, op, mlirOperationGetResult(op, 0), now);
}

tp_status tp__export_replace_all(tp_export *x, MlirOperation op, MlirOperation now) {
  for (intptr_t i = 0; i < mlirOperationGetNumResults(op); i++)
    TP_TRY(tp__export_map(x, op, mlirOperationGetResult(op, i), mlirOperationGetResult(now, i)));
  return TP_OK;
}

/* ---- ops ---- */

MlirAttribute tp__export_attr(tp_export *x, const char *format, ...) {
  char text[4096];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return tp__parse_attr(x->context, text);
}

MlirNamedAttribute tp__export_list(tp_export *x, const char *name, int n, const int64_t *values) {
  return tp__named(x->context, name, tp__attr_i64s(x->context, n, values));
}

/* No algorithm is known of single contractions; HIGHEST is at least as precise as any. */
MlirNamedAttribute tp__export_precision(tp_export *x, MlirType sum) {
  MlirAttribute asked = tp__get(x->module, "tp.precision");
  const char *name = !mlirTypeIsAF32(sum) || mlirAttributeIsNull(asked)  ? "DEFAULT"
                     : tp__ref_is(mlirStringAttrGetValue(asked), "HIGH") ? "HIGH"
                                                                         : "HIGHEST";
  MlirAttribute precision = tp__export_attr(x, "#stablehlo<precision %s>", name);
  return tp__named(x->context, "precision_config",
                   mlirArrayAttrGet(x->context, 2, (MlirAttribute[]){precision, precision}));
}

MlirOperation tp__export_build_op(tp_export *x, const tp_build *build) {
  tp_build located = *build;
  located.location = x->location;
  MlirOperation op = tp__create(&located);
  tp__insert_before(x->where, op);
  return op;
}

MlirValue tp__export_build(tp_export *x, const char *name, MlirType type, int n,
                           const MlirValue *operands, int n_attributes,
                           const MlirNamedAttribute *attributes) {
  MlirOperation op = tp__export_build_op(x, &(tp_build){.name = name,
                                                        .n_operands = n,
                                                        .operands = operands,
                                                        .n_results = 1,
                                                        .results = &type,
                                                        .n_attributes = n_attributes,
                                                        .attributes = attributes});
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__export_splat(tp_export *x, MlirType type, MlirAttribute element) {
  MlirNamedAttribute value =
      tp__named(x->context, "value", mlirDenseElementsAttrSplatGet(type, element));
  return tp__export_build(x, "stablehlo.constant", type, 0, NULL, 1, &value);
}

MlirAttribute tp__export_splat_of(MlirValue value) {
  MlirOperation spread = tp__defined_by(value, "stablehlo.broadcast_in_dim");
  MlirOperation constant =
      tp__defined_by(mlirOperationIsNull(spread) ? value : mlirOperationGetOperand(spread, 0),
                     "stablehlo.constant");
  MlirAttribute attr =
      mlirOperationIsNull(constant) ? (MlirAttribute){NULL} : tp__get(constant, "value");
  return !mlirAttributeIsNull(attr) && mlirDenseElementsAttrIsSplat(attr)
             ? mlirDenseElementsAttrGetSplatValue(attr)
             : (MlirAttribute){NULL};
}

MlirValue tp__export_int(tp_export *x, MlirType type, int64_t value) {
  return tp__export_splat(x, type, mlirIntegerAttrGet(tp__element_type(type), value));
}

static int shape_of(MlirValue value, int64_t *sizes) {
  int rank = 0;
  (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
  return rank;
}

MlirValue tp__export_broadcast(tp_export *x, MlirValue value, MlirType type, const int64_t *dims) {
  int64_t sizes[TP_MAX_RANK];
  int rank = shape_of(value, sizes);
  bool same = mlirTypeEqual(mlirValueGetType(value), type);
  for (int d = 0; d < rank; d++)
    same &= dims[d] == d; /* else it may be a transpose */
  MlirNamedAttribute attr = tp__export_list(x, "broadcast_dimensions", rank, dims);
  return same ? value
              : tp__export_build(x, "stablehlo.broadcast_in_dim", type, 1, &value, 1, &attr);
}

MlirValue tp__export_reshape(tp_export *x, MlirValue value, int rank, const int64_t *sizes) {
  MlirType type = tp__tensor_like(mlirValueGetType(value), rank, sizes);
  MlirOperation reshaped = tp__defined_by(value, "stablehlo.reshape");
  if (!mlirOperationIsNull(reshaped))
    value = mlirOperationGetOperand(reshaped, 0);
  return mlirTypeEqual(mlirValueGetType(value), type)
             ? value
             : tp__export_build(x, "stablehlo.reshape", type, 1, &value, 0, NULL);
}

MlirValue tp__export_transpose(tp_export *x, MlirValue value, const int64_t *permutation) {
  int64_t sizes[TP_MAX_RANK], to[TP_MAX_RANK];
  int rank = shape_of(value, sizes);
  bool same = true;
  for (int d = 0; d < rank; d++) {
    to[d] = sizes[permutation[d]];
    same &= permutation[d] == d;
  }
  MlirNamedAttribute attr = tp__export_list(x, "permutation", rank, permutation);
  return same ? value
              : tp__export_build(x, "stablehlo.transpose",
                                 tp__tensor_like(mlirValueGetType(value), rank, to), 1, &value, 1,
                                 &attr);
}

MlirValue tp__export_slice(tp_export *x, MlirValue value, const int64_t *offsets,
                           const int64_t *sizes, const int64_t *strides) {
  int64_t from[TP_MAX_RANK], limits[TP_MAX_RANK];
  int rank = shape_of(value, from);
  MlirType type = tp__tensor_like(mlirValueGetType(value), rank, sizes);
  for (int d = 0; d < rank; d++)
    limits[d] = sizes[d] > 0 ? offsets[d] + (sizes[d] - 1) * strides[d] + 1 : offsets[d];
  MlirNamedAttribute attrs[] = {tp__export_list(x, "start_indices", rank, offsets),
                                tp__export_list(x, "limit_indices", rank, limits),
                                tp__export_list(x, "strides", rank, strides)};
  return mlirTypeEqual(mlirValueGetType(value), type)
             ? value
             : tp__export_build(x, "stablehlo.slice", type, 1, &value, TP_LEN(attrs), attrs);
}

MlirValue tp__export_reverse(tp_export *x, MlirValue value, int64_t dim) {
  MlirNamedAttribute attr = tp__export_list(x, "dimensions", 1, &dim);
  return tp__export_build(x, "stablehlo.reverse", mlirValueGetType(value), 1, &value, 1, &attr);
}

MlirValue tp__export_concat(tp_export *x, int n, const MlirValue *values, int64_t dim) {
  int64_t sizes[TP_MAX_RANK], other[TP_MAX_RANK];
  int rank = shape_of(values[0], sizes);
  for (int i = 1; i < n; i++) {
    shape_of(values[i], other);
    sizes[dim] += other[dim];
  }
  MlirNamedAttribute attr = tp__named(x->context, "dimension", tp__attr_i64(x->context, dim));
  return n == 1 ? values[0]
                : tp__export_build(x, "stablehlo.concatenate",
                                   tp__tensor_like(mlirValueGetType(values[0]), rank, sizes), n,
                                   values, 1, &attr);
}

static void append_list(tp__string *text, const char *name, int n, const int64_t *values) {
  tp__string_printf(text, "%s = [", name);
  for (int i = 0; i < n; i++)
    tp__string_printf(text, "%s%lld", i ? ", " : "", (long long)values[i]);
  tp__string_append(text, "], ");
}

MlirAttribute tp__export_gather_dims(tp_export *x, const tp_export_gather *g) {
  tp__string text = {0};
  tp__string_append(&text, "#stablehlo.gather<");
  append_list(&text, "offset_dims", g->n_slices, g->slices);
  append_list(&text, "collapsed_slice_dims", g->n_indexed, g->indexed);
  append_list(&text, "operand_batching_dims", g->n_batches, g->batch_dims);
  append_list(&text, "start_indices_batching_dims", g->n_batches, g->batches);
  append_list(&text, "start_index_map", g->n_indexed, g->indexed);
  tp__string_printf(&text, "index_vector_dim = %d>", g->index_dim);
  MlirAttribute attr = tp__parse_attr(x->context, text.failed ? "unit" : text.text);
  tp__string_destroy(&text);
  return attr;
}

MlirValue tp__export_bitcast(tp_export *x, MlirValue value, MlirType element) {
  int64_t sizes[TP_MAX_RANK];
  int rank = shape_of(value, sizes);
  MlirType type = tp__export_tensor(element, rank, sizes);
  MlirOperation cast = tp__defined_by(value, "stablehlo.bitcast_convert");
  if (!mlirOperationIsNull(cast) &&
      mlirTypeEqual(mlirValueGetType(mlirOperationGetOperand(cast, 0)), type))
    return mlirOperationGetOperand(cast, 0); /* there and back */
  return mlirTypeEqual(mlirValueGetType(value), type)
             ? value
             : tp__export_build(x, "stablehlo.bitcast_convert", type, 1, &value, 0, NULL);
}

MlirValue tp__export_convert(tp_export *x, MlirValue value, MlirType element) {
  int64_t sizes[TP_MAX_RANK];
  int rank = shape_of(value, sizes);
  return tp__export_build(x, "stablehlo.convert", tp__export_tensor(element, rank, sizes), 1,
                          &value, 0, NULL);
}

MlirValue tp__export_binary(tp_export *x, const char *name, MlirValue a, MlirValue b) {
  return tp__export_build(x, name, mlirValueGetType(a), 2, (MlirValue[]){a, b}, 0, NULL);
}

static MlirValue build_compare(tp_export *x, const char *direction, const char *type, MlirValue a,
                               MlirValue b) {
  int64_t sizes[TP_MAX_RANK];
  int rank = shape_of(a, sizes);
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "comparison_direction",
                tp__export_attr(x, "#stablehlo<comparison_direction %s>", direction)),
      tp__named(x->context, "compare_type",
                tp__export_attr(x, "#stablehlo<comparison_type %s>", type)),
  };
  int n = mlirTypeIsAComplex(tp__element_type(mlirValueGetType(a))) ? 1 : 2;
  return tp__export_build(x, "stablehlo.compare",
                          tp__export_tensor(mlirIntegerTypeGet(x->context, 1), rank, sizes), 2,
                          (MlirValue[]){a, b}, n, attrs);
}

MlirValue tp__export_compare(tp_export *x, const char *direction, MlirValue a, MlirValue b) {
  MlirType element = tp__element_type(mlirValueGetType(a));
  bool is_unsigned =
      mlirTypeIsAInteger(element) && (mlirIntegerTypeIsUnsigned(element) || tp__is_bool(element));
  const char *type = !mlirTypeIsAInteger(element) ? "FLOAT" : is_unsigned ? "UNSIGNED" : "SIGNED";
  return build_compare(x, direction, type, a, b);
}

MlirValue tp__export_compare_total(tp_export *x, const char *direction, MlirValue a, MlirValue b) {
  return build_compare(x, direction, "TOTALORDER", a, b);
}

MlirBlock tp__export_region_block(tp_export *x, MlirOperation op, int region, int n,
                                  const MlirType *types) {
  MlirLocation *locations = tp__calloc((size_t)n + 1, sizeof *locations);
  for (int i = 0; locations && i < n; i++)
    locations[i] = x->location;
  MlirBlock block = mlirBlockCreate(locations ? n : 0, types, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, region), block);
  tp__free(locations);
  return block;
}

MlirOperation tp__export_reduce(tp_export *x, int n, const MlirValue *values,
                                const MlirValue *initial, int n_dims, const int64_t *dims,
                                MlirBlock *block) {
  enum { MAX = 32 };
  MlirValue operands[2 * MAX];
  MlirType types[MAX], numbers[2 * MAX];
  int64_t sizes[TP_MAX_RANK], kept[TP_MAX_RANK];
  for (int i = 0; i < n && i < MAX; i++) {
    int rank = shape_of(values[i], sizes), n_kept = 0;
    for (int d = 0; d < rank; d++) {
      bool is_reduced = false;
      for (int k = 0; k < n_dims; k++)
        is_reduced |= dims[k] == d;
      if (!is_reduced)
        kept[n_kept++] = sizes[d];
    }
    types[i] = tp__tensor_like(mlirValueGetType(values[i]), n_kept, kept);
    numbers[i] = numbers[n + i] = mlirValueGetType(initial[i]);
    operands[i] = values[i];
    operands[n + i] = initial[i];
  }
  MlirNamedAttribute attr = tp__export_list(x, "dimensions", n_dims, dims);
  MlirOperation op = tp__export_build_op(x, &(tp_build){.name = "stablehlo.reduce",
                                                        .n_operands = 2 * n,
                                                        .operands = operands,
                                                        .n_results = n,
                                                        .results = types,
                                                        .n_attributes = 1,
                                                        .attributes = &attr,
                                                        .n_regions = 1});
  *block = tp__export_region_block(x, op, 0, 2 * n, numbers);
  return op;
}
