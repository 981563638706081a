/* Builds linalg.generic ops whose body is written point by point. */
#include "rules/points.h"

#include <mlir-c/AffineMap.h>

tp_points tp__points_begin(MlirOperation where, int n, const MlirValue *inputs, MlirValue init) {
  MlirContext context = mlirOperationGetContext(where);
  MlirValue operands[TP_MAX_GENERIC_OPERANDS];
  MlirAttribute maps[TP_MAX_GENERIC_OPERANDS];
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(init));
  for (int i = 0; i <= n; i++) {
    operands[i] = i < n ? inputs[i] : init;
    maps[i] = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, rank));
  }
  MlirOperation op = tp__build_generic(&(tp_generic){.where = where,
                                                     .location = mlirOperationGetLocation(where),
                                                     .n_inputs = n,
                                                     .n_inits = 1,
                                                     .operands = operands,
                                                     .maps = maps});
  return (tp_points){op, tp__build_generic_body(op)};
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

MlirValue tp__points_read(const tp_points *points, MlirValue tensor, int n,
                          const MlirValue *indices) {
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
