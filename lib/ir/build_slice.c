/* Builds slices with unit strides and static sizes. Upstream's verifier rejects every offset in a
 * dimension of size 0, even 0. A slice without elements is therefore a tensor.empty, and its
 * insertion is a no-op. */
#include "ir/ir.h"

static MlirOperation slice(MlirOperation where, const char *name, int n_operands,
                           const MlirValue *operands, MlirType type, int dynamic,
                           const int64_t *offsets, const int64_t *sizes) {
  MlirContext context = mlirOperationGetContext(where);
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(operands[0]));
  bool inserts = tp__ref_is(tp__ref(name), "tensor.insert_slice");
  int64_t ones[TP_MAX_RANK];
  for (int d = 0; d < rank; d++)
    ones[d] = 1;
  const int32_t segments[] = {1, 1, dynamic, 0, 0};
  int skip = inserts ? 0 : 1;
  MlirNamedAttribute attrs[] = {
      tp__named(context, "static_offsets", tp__attr_i64s(context, rank, offsets)),
      tp__named(context, "static_sizes", tp__attr_i64s(context, rank, sizes)),
      tp__named(context, "static_strides", tp__attr_i64s(context, rank, ones)),
      tp__named(context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(context, 5 - skip, segments + skip)),
  };
  MlirOperation op = tp__create(&(tp_build){.name = name,
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = n_operands,
                                            .operands = operands,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = TP_LEN(attrs),
                                            .attributes = attrs});
  tp__insert_before(where, op);
  return op;
}

static bool is_empty(int rank, const int64_t *sizes) {
  for (int d = 0; d < rank; d++)
    if (sizes[d] == 0)
      return true;
  return false;
}

MlirValue tp__extract_slice(MlirOperation where, MlirValue value, const int64_t *offsets,
                            const int64_t *sizes) {
  MlirType type = mlirValueGetType(value);
  int rank = (int)mlirShapedTypeGetRank(type);
  MlirType part = tp__tensor_like(type, rank, sizes);
  return mlirTypeEqual(type, part) ? value
         : is_empty(rank, sizes)
             ? tp__empty(where, part)
             : mlirOperationGetResult(
                   slice(where, "tensor.extract_slice", 1, &value, part, 0, offsets, sizes), 0);
}

MlirValue tp__extract_slice_at(MlirOperation where, MlirValue value, int dim, MlirValue offset,
                               const int64_t *sizes) {
  MlirType type = mlirValueGetType(value);
  int rank = (int)mlirShapedTypeGetRank(type);
  int64_t offsets[TP_MAX_RANK] = {0};
  if (is_empty(rank, sizes))
    return tp__empty(where, tp__tensor_like(type, rank, sizes));
  offsets[dim] = mlirShapedTypeGetDynamicStrideOrOffset();
  MlirValue operands[] = {value, offset};
  return mlirOperationGetResult(slice(where, "tensor.extract_slice", 2, operands,
                                      tp__tensor_like(type, rank, sizes), 1, offsets, sizes),
                                0);
}

MlirValue tp__insert_slice(MlirOperation where, MlirValue part, MlirValue into,
                           const int64_t *offsets) {
  MlirType type = mlirValueGetType(into);
  int rank;
  int64_t sizes[TP_MAX_RANK];
  MlirValue operands[] = {part, into};
  if (mlirTypeEqual(mlirValueGetType(part), type) ||
      !tp__static_tensor(mlirValueGetType(part), &rank, sizes))
    return part;
  if (is_empty(rank, sizes))
    return into;
  return mlirOperationGetResult(
      slice(where, "tensor.insert_slice", 2, operands, type, 0, offsets, sizes), 0);
}

MlirValue tp__insert_slice_at(MlirOperation where, MlirValue part, MlirValue into, int dim,
                              MlirValue offset) {
  int rank;
  int64_t sizes[TP_MAX_RANK], offsets[TP_MAX_RANK] = {0};
  MlirValue operands[] = {part, into, offset};
  if (!tp__static_tensor(mlirValueGetType(part), &rank, sizes))
    return part;
  if (is_empty(rank, sizes))
    return into;
  offsets[dim] = mlirShapedTypeGetDynamicStrideOrOffset();
  return mlirOperationGetResult(
      slice(where, "tensor.insert_slice", 3, operands, mlirValueGetType(into), 1, offsets, sizes),
      0);
}
