/* Builds memrefs from addresses. */
#include "passes/gpu/kernels/map.h"

#include "passes/support/lower.h"

#include <mlir-c/Dialect/LLVM.h>

enum { ALLOCATED, ALIGNED, OFFSET, SIZES, STRIDES }; /* fields of LLVM's memref descriptor */

/* Inserts a value into the descriptor. `at` is the field and, with depth 2, the index in it. */
static MlirValue insert_field(MlirOperation where, MlirValue record, MlirValue field, int depth,
                              const int64_t *at) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType type = mlirValueGetType(record);
  MlirNamedAttribute position = tp__named(context, "position", tp__attr_i64s(context, depth, at));
  MlirValue operands[] = {record, field};
  return mlirOperationGetResult(
      tp__build(where, "llvm.insertvalue", 2, operands, 1, &type, 1, &position), 0);
}

int tp__map_open_strides(MlirType type, int *dims) {
  int64_t strides[TP_MAX_RANK], offset;
  int n = 0;
  if (!mlirTypeIsAMemRef(type) || mlirShapedTypeGetRank(type) > TP_MAX_RANK ||
      mlirLogicalResultIsFailure(mlirMemRefTypeGetStridesAndOffset(type, strides, &offset)))
    return 0;
  for (int d = 0; d < mlirShapedTypeGetRank(type); d++)
    if (mlirShapedTypeIsDynamicStrideOrOffset(strides[d]))
      dims[n++] = d;
  return n;
}

MlirValue tp__map_memref(MlirOperation where, MlirValue pointer, MlirType type,
                         const MlirValue *strides) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirType fields[5] = {mlirValueGetType(pointer), mlirValueGetType(pointer), i64};
  int rank = (int)mlirShapedTypeGetRank(type);
  fields[3] = fields[4] = mlirLLVMArrayTypeGet(i64, (unsigned)rank);
  MlirType record = mlirLLVMStructTypeLiteralGet(context, rank ? 5 : 3, fields, false);
  MlirValue value =
      /* static sizes and strides come from the type, not from the descriptor */
      tp__build_one(where, "llvm.mlir.poison", 0, NULL, record);
  int dims[TP_MAX_RANK], n = tp__map_open_strides(type, dims);
  value = insert_field(where, value, pointer, 1, (const int64_t[]){ALLOCATED});
  value = insert_field(where, value, pointer, 1, (const int64_t[]){ALIGNED});
  value = insert_field(where, value, tp__build_int(where, i64, 0), 1, (const int64_t[]){OFFSET});
  for (int i = 0; i < n; i++)
    value = insert_field(where, value, strides[i], 2, (const int64_t[]){STRIDES, dims[i]});
  return tp__build_one(where, "builtin.unrealized_conversion_cast", 1, &value, type);
}

MlirValue tp__map_shared(MlirOperation func, MlirOperation where, const char *name, int64_t n,
                         MlirType element) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType i32 = mlirIntegerTypeGet(context, 32),
           pointer = mlirLLVMPointerTypeGet(context, TP_MAP_SHARED_SPACE);
  MlirType stored = tp__map_stored(element);
  MlirNamedAttribute attrs[] = {
      tp__named(context, "sym_name", tp__attr_string(context, name)),
      tp__named(context, "global_type", mlirTypeAttrGet(mlirLLVMArrayTypeGet(stored, (unsigned)n))),
      tp__named(context, "linkage", tp__parse_attr(context, "#llvm.linkage<internal>")),
      tp__named(context, "addr_space", mlirIntegerAttrGet(i32, TP_MAP_SHARED_SPACE)),
  };
  tp__insert_before(func, tp__create(&(tp_build){.name = "llvm.mlir.global",
                                                 .location = mlirOperationGetLocation(func),
                                                 .n_attributes = TP_LEN(attrs),
                                                 .attributes = attrs,
                                                 .n_regions = 1}));
  MlirNamedAttribute global =
      tp__named(context, "global_name", mlirFlatSymbolRefAttrGet(context, tp__ref(name)));
  MlirValue address = mlirOperationGetResult(
      tp__build(where, "llvm.mlir.addressof", 0, NULL, 1, &pointer, 1, &global), 0);
  MlirAttribute space = mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), TP_MAP_SHARED_SPACE);
  return tp__map_memref(where, address, mlirMemRefTypeContiguousGet(element, 1, &n, space), NULL);
}
