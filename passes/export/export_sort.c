/* Exports sorts: stablehlo.sort, and a slice where not all elements are kept. */
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
