/* Builds linalg.generic ops whose body is written point by point. */
#include "rules/pointwise_builder.h"

#include <mlir-c/AffineMap.h>

tp_pointwise tp__pointwise_begin(MlirOperation where, int n, const MlirValue *inputs,
                                 MlirValue init) {
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
  return (tp_pointwise){op, tp__build_generic_body(op)};
}

MlirValue tp__pointwise_value(const tp_pointwise *points, int i) {
  return mlirBlockGetArgument(mlirOperationGetBlock(points->yield), i);
}

static MlirValue insert(const tp_pointwise *points, const tp_build *build) {
  MlirOperation op = tp__create(build);
  tp__insert_before(points->yield, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__pointwise_index(const tp_pointwise *points, int d) {
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

MlirValue tp__pointwise_read(const tp_pointwise *points, MlirValue tensor, int n,
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

MlirValue tp__pointwise_end(const tp_pointwise *points, MlirValue value) {
  mlirOperationSetOperands(points->yield, 1, &value);
  return mlirOperationGetResult(points->op, 0);
}
