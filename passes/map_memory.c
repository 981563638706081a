/* Addresses as buffers. */
#include "passes/map.h"

#include "passes/lower.h"

#include <mlir-c/Dialect/LLVM.h>

static MlirValue insert_field(MlirOperation where, MlirValue record, MlirValue field, int64_t at) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType type = mlirValueGetType(record);
  MlirNamedAttribute position = tp__named(context, "position", tp__attr_i64s(context, 1, &at));
  MlirValue operands[] = {record, field};
  return mlirOperationGetResult(tp__build(where, "llvm.insertvalue", 2, operands, 1, &type, 1, &position), 0);
}

MlirValue tp__map_memref(MlirOperation where, MlirValue pointer, MlirType type) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType i64 = mlirIntegerTypeGet(context, 64);
  MlirType fields[5] = {mlirValueGetType(pointer), mlirValueGetType(pointer), i64};
  int rank = (int)mlirShapedTypeGetRank(type);
  fields[3] = fields[4] = mlirLLVMArrayTypeGet(i64, (unsigned)rank);
  MlirType record = mlirLLVMStructTypeLiteralGet(context, rank ? 5 : 3, fields, false);
  MlirValue value = tp__build_one(where, "llvm.mlir.poison", 0, NULL, record); /* sizes and strides are those of the type */
  value = insert_field(where, value, pointer, 0);
  value = insert_field(where, value, pointer, 1);
  value = insert_field(where, value, tp__build_int(where, i64, 0), 2);
  return tp__build_one(where, "builtin.unrealized_conversion_cast", 1, &value, type);
}

MlirValue tp__map_shared(MlirOperation func, MlirOperation where, const char *name, int64_t n, MlirType element) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType i32 = mlirIntegerTypeGet(context, 32), pointer = mlirLLVMPointerTypeGet(context, TP_MAP_SHARED_SPACE);
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
  MlirNamedAttribute global = tp__named(context, "global_name", mlirFlatSymbolRefAttrGet(context, tp__ref(name)));
  MlirValue address = mlirOperationGetResult(tp__build(where, "llvm.mlir.addressof", 0, NULL, 1, &pointer, 1, &global), 0);
  MlirAttribute space = mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), TP_MAP_SHARED_SPACE);
  return tp__map_memref(where, address, mlirMemRefTypeContiguousGet(element, 1, &n, space));
}
