/* Exports sorts: stablehlo.sort, and a slice where not all elements are kept; or chlo.top_k, for
 * which compilers have kernels, and a gather of what is sorted along. */
#include "passes/export/export.h"

#include "ir/sort_call.h"

/* The region is that of the comparator. A copy of it is exported, since several sorts may have one
 * comparator. */
static tp_status build_region(tp_export *x, MlirOperation sort, int n, const MlirType *elements,
                              MlirOperation less) {
  MlirType types[2 * TP_MAX_SORTED];
  for (int i = 0; i < 2 * n; i++)
    types[i] = tp__export_tensor(elements[i / 2], 0, NULL);
  MlirBlock block = tp__export_region_block(x, sort, 0, 2 * n, types);
  MlirOperation copy = mlirOperationClone(less);
  MlirBlock body = tp__region_block(copy, 0);
  MlirOperation holder = tp__create(
      &(tp_build){.name = "scf.execute_region", .location = x->location, .n_regions = 1});
  mlirBlockDetach(body);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(holder, 0), body);
  mlirOperationDestroy(copy);
  TP_TRY(tp__op_list_add(&x->done, holder));
  return tp__export_region(x, holder, 0, block, 0);
}

static bool attribute_is(tp_export *x, MlirOperation op, const char *name, const char *text) {
  return mlirAttributeEqual(tp__get(op, name), tp__export_attr(x, "%s", text));
}

/* The end of a block. mlirBlockGetTerminator only knows registered ops. */
static MlirOperation last_op(MlirBlock block) {
  MlirOperation op = mlirBlockGetFirstOperation(block);
  for (MlirOperation next = op; !mlirOperationIsNull(next); next = mlirOperationGetNextInBlock(op))
    op = next;
  return op;
}

/* True if the region of the sort puts the larger element of operand 0 first, a float by its total
 * order. */
static bool puts_larger_first(tp_export *x, MlirOperation sort) {
  MlirBlock block = tp__region_block(sort, 0);
  MlirOperation compare =
      tp__defined_by(mlirOperationGetOperand(last_op(block), 0), "stablehlo.compare");
  if (mlirOperationIsNull(compare))
    return false;
  bool is_float =
      mlirTypeIsAFloat(tp__element_type(mlirValueGetType(mlirBlockGetArgument(block, 0))));
  for (int i = 0; i < 2; i++)
    if (!mlirValueEqual(mlirOperationGetOperand(compare, i), mlirBlockGetArgument(block, i)))
      return false;
  return attribute_is(x, compare, "comparison_direction", "#stablehlo<comparison_direction GT>") &&
         attribute_is(x, compare, "compare_type",
                      is_float ? "#stablehlo<comparison_type TOTALORDER>"
                               : "#stablehlo<comparison_type SIGNED>");
}

/* True if each element of the tensor is its index along `dim`, an i32. */
static bool is_index(tp_export *x, MlirValue value, int dim) {
  MlirOperation convert = tp__defined_by(value, "stablehlo.convert");
  MlirOperation iota = tp__defined_by(
      mlirOperationIsNull(convert) ? value : mlirOperationGetOperand(convert, 0), "stablehlo.iota");
  return !mlirOperationIsNull(iota) &&
         mlirAttributeEqual(tp__get(iota, "iota_dimension"), tp__attr_i64(x->context, dim)) &&
         mlirTypeEqual(tp__element_type(mlirValueGetType(value)),
                       mlirIntegerTypeGet(x->context, 32));
}

/* True if `sort` only keeps the largest elements of the last dimension. Sorts are stable, so equal
 * elements come in the order of their positions, as those of chlo.top_k do. */
static bool is_top_k(tp_export *x, MlirOperation sort, const tp_sort *read) {
  return read->dim == read->rank - 1 && read->kept < read->size && puts_larger_first(x, sort);
}

/* The elements of `from` at these positions of the last dimension, row by row. */
static MlirValue take(tp_export *x, MlirValue from, MlirValue positions) {
  int rank = tp__value_rank(from);
  int64_t sizes[TP_MAX_RANK], batch[TP_MAX_RANK], ones[TP_MAX_RANK];
  (void)tp__static_tensor(mlirValueGetType(positions), &rank, sizes);
  for (int d = 0; d < rank; d++) {
    batch[d] = d;
    ones[d] = 1;
  }
  const int64_t last = rank - 1;
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "dimension_numbers",
                tp__export_gather_dims(x, &(tp_export_gather){.n_indexed = 1,
                                                              .indexed = &last,
                                                              .n_batches = rank - 1,
                                                              .batch_dims = batch,
                                                              .batches = batch,
                                                              .index_dim = rank})),
      tp__export_list(x, "slice_sizes", rank, ones),
      tp__named(x->context, "indices_are_sorted", mlirBoolAttrGet(x->context, false)),
  };
  MlirType type = tp__tensor_like(mlirValueGetType(from), rank, sizes);
  return tp__export_build(x, "stablehlo.gather", type, 2, (MlirValue[]){from, positions},
                          TP_LEN(attrs), attrs);
}

/* chlo.top_k of operand 0. What is sorted along is taken at the positions that it returns. */
static tp_status export_top_k(tp_export *x, MlirOperation op, const tp_sort *read) {
  int rank;
  int64_t sizes[TP_MAX_RANK];
  (void)tp__static_tensor(tp__result_type(op), &rank, sizes);
  MlirValue largest = tp__export_operand(x, op, 0);
  MlirType results[] = {
      tp__tensor_like(mlirValueGetType(largest), rank, sizes),
      tp__export_tensor(mlirIntegerTypeGet(x->context, 32), rank, sizes),
  };
  MlirNamedAttribute k = tp__named(x->context, "k", tp__attr_i64(x->context, read->kept));
  MlirOperation top = tp__export_build_op(x, &(tp_build){.name = "chlo.top_k",
                                                         .n_operands = 1,
                                                         .operands = &largest,
                                                         .n_results = 2,
                                                         .results = results,
                                                         .n_attributes = 1,
                                                         .attributes = &k});
  MlirValue positions = mlirOperationGetResult(top, 1);
  TP_TRY(tp__export_map(x, op, mlirOperationGetResult(op, 0), mlirOperationGetResult(top, 0)));
  for (int i = 1; i < read->n; i++) {
    MlirValue along = tp__export_operand(x, op, i);
    TP_TRY(tp__export_map(x, op, mlirOperationGetResult(op, i),
                          is_index(x, along, read->dim) ? positions : take(x, along, positions)));
  }
  return TP_OK;
}

tp_status tp__export_sort(tp_export *x, MlirOperation op) {
  tp_sort read;
  TP_TRY(tp__sort_read(op, &read));
  int n = read.n, rank;
  int64_t sizes[TP_MAX_RANK], offsets[TP_MAX_RANK] = {0}, ones[TP_MAX_RANK];
  MlirValue operands[TP_MAX_SORTED];
  MlirType types[TP_MAX_SORTED], elements[TP_MAX_SORTED];
  for (int i = 0; i < n; i++) {
    operands[i] = tp__export_operand(x, op, i);
    types[i] = mlirValueGetType(operands[i]);
    elements[i] = tp__element_type(types[i]);
  }
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "dimension", tp__attr_i64(x->context, read.dim)),
      tp__named(x->context, "is_stable", mlirBoolAttrGet(x->context, true))};
  MlirOperation sort = tp__export_build_op(x, &(tp_build){.name = "stablehlo.sort",
                                                          .n_operands = n,
                                                          .operands = operands,
                                                          .n_results = n,
                                                          .results = types,
                                                          .n_attributes = TP_LEN(attrs),
                                                          .attributes = attrs,
                                                          .n_regions = 1});
  TP_TRY(build_region(x, sort, n, elements, read.less));
  if (is_top_k(x, sort, &read)) {
    mlirOperationDestroy(sort);
    return export_top_k(x, op, &read);
  }
  (void)tp__static_tensor(tp__result_type(op), &rank, sizes);
  for (int d = 0; d < rank; d++)
    ones[d] = 1;
  for (int i = 0; i < n; i++) {
    MlirValue result = mlirOperationGetResult(sort, i);
    if (read.kept < read.size)
      result = tp__export_slice(x, result, offsets, sizes, ones);
    TP_TRY(tp__export_map(x, op, mlirOperationGetResult(op, i), result));
  }
  return TP_OK;
}
