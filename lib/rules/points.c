#include "rules/points.h"

#include <mlir-c/AffineMap.h>

enum { MAX_INPUTS = 64 };

tp_points tp__points_begin(MlirOperation where, int n, const MlirValue *inputs, MlirValue init) {
  MlirContext context = mlirOperationGetContext(where);
  MlirLocation location = mlirOperationGetLocation(where), locations[MAX_INPUTS + 1];
  MlirType type = mlirValueGetType(init), elements[MAX_INPUTS + 1];
  MlirValue operands[MAX_INPUTS + 1];
  MlirAttribute maps[MAX_INPUTS + 1], iterators[TP_MAX_RANK];
  int rank = (int)mlirShapedTypeGetRank(type);
  for (int i = 0; i <= n; i++) {
    operands[i] = i < n ? inputs[i] : init;
    elements[i] = tp__element_type(mlirValueGetType(operands[i]));
    locations[i] = location;
    maps[i] = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, rank));
  }
  for (int d = 0; d < rank; d++)
    iterators[d] = tp__parse_attr(context, "#linalg.iterator_type<parallel>");
  MlirNamedAttribute attributes[] = {
      tp__named(context, "indexing_maps", mlirArrayAttrGet(context, n + 1, maps)),
      tp__named(context, "iterator_types", mlirArrayAttrGet(context, rank, iterators)),
      tp__named(context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 2, (int32_t[]){n, 1})),
  };
  MlirOperation op = tp__create(&(tp_build){.name = "linalg.generic",
                                            .location = location,
                                            .n_operands = n + 1,
                                            .operands = operands,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = TP_LEN(attributes),
                                            .attributes = attributes,
                                            .n_regions = 1});
  MlirBlock block = mlirBlockCreate(n + 1, elements, locations);
  MlirOperation yield = tp__create(&(tp_build){.name = "linalg.yield", .location = location});
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, 0), block);
  mlirBlockAppendOwnedOperation(block, yield);
  tp__insert_before(where, op);
  return (tp_points){op, yield};
}

MlirValue tp__points_value(const tp_points *points, int i) {
  return mlirBlockGetArgument(mlirOperationGetBlock(points->yield), i);
}

static MlirValue insert(const tp_points *points, const tp_build *build) {
  MlirOperation op = tp__create(build);
  tp__insert_before(points->yield, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__points_index(const tp_points *points, int d) {
  MlirContext context = mlirOperationGetContext(points->op);
  MlirType type = mlirIndexTypeGet(context);
  MlirNamedAttribute dim = tp__named(context, "dim", tp__attr_i64(context, d));
  return insert(points, &(tp_build){.name = "linalg.index",
                                    .location = mlirOperationGetLocation(points->op),
                                    .n_results = 1,
                                    .results = &type,
                                    .n_attributes = 1,
                                    .attributes = &dim});
}

MlirValue tp__points_read(const tp_points *points, MlirValue tensor, int n, const MlirValue *indices) {
  MlirType type = tp__element_type(mlirValueGetType(tensor));
  MlirValue operands[TP_MAX_RANK + 1] = {tensor};
  for (int d = 0; d < n; d++)
    operands[d + 1] = indices[d];
  return insert(points, &(tp_build){.name = "tensor.extract",
                                    .location = mlirOperationGetLocation(points->op),
                                    .n_operands = n + 1,
                                    .operands = operands,
                                    .n_results = 1,
                                    .results = &type});
}

MlirValue tp__points_end(const tp_points *points, MlirValue value) {
  mlirOperationSetOperands(points->yield, 1, &value);
  return mlirOperationGetResult(points->op, 0);
}
