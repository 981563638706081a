/* Creates linalg.generic and linalg.fill ops. */
#include "ir/ir.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

bool tp__map_has_loop(MlirAffineMap map, intptr_t loop) {
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
    if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, d), loop))
      return true;
  return false;
}

static MlirAttribute iterators_of(MlirContext context, MlirAttribute out) {
  MlirAttribute iterators[TP_MAX_GENERIC_LOOPS];
  MlirAffineMap map = mlirAffineMapAttrGetValue(out);
  intptr_t n = mlirAffineMapGetNumDims(map);
  for (intptr_t l = 0; l < n; l++)
    iterators[l] =
        tp__parse_attr(context, tp__map_has_loop(map, l) ? "#linalg.iterator_type<parallel>"
                                                         : "#linalg.iterator_type<reduction>");
  return mlirArrayAttrGet(context, n, iterators);
}

MlirOperation tp__build_generic(const tp_generic *g) {
  MlirContext context = mlirLocationGetContext(g->location);
  int n = g->n_inputs + g->n_inits;
  MlirType results[TP_MAX_GENERIC_OPERANDS];
  int n_results = 0;
  for (int k = 0; k < g->n_inits; k++)
    if (tp__is_tensor(mlirValueGetType(g->operands[g->n_inputs + k])))
      results[n_results++] = mlirValueGetType(g->operands[g->n_inputs + k]);
  MlirNamedAttribute attributes[] = {
      tp__named(context, "indexing_maps", mlirArrayAttrGet(context, n, g->maps)),
      tp__named(context, "iterator_types",
                mlirAttributeIsNull(g->iterators) ? iterators_of(context, g->maps[g->n_inputs])
                                                  : g->iterators),
      tp__named(context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(context, 2, (int32_t[]){g->n_inputs, g->n_inits})),
  };
  MlirOperation op = tp__create(&(tp_build){.name = "linalg.generic",
                                            .location = g->location,
                                            .n_operands = n,
                                            .operands = g->operands,
                                            .n_results = n_results,
                                            .results = results,
                                            .n_attributes = TP_LEN(attributes),
                                            .attributes = attributes,
                                            .n_regions = 1});
  if (!mlirOperationIsNull(g->where))
    tp__insert_before(g->where, op);
  return op;
}

MlirOperation tp__build_generic_body(MlirOperation op) {
  MlirLocation location = mlirOperationGetLocation(op), locations[TP_MAX_GENERIC_OPERANDS];
  MlirType elements[TP_MAX_GENERIC_OPERANDS];
  intptr_t n = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < n; i++) {
    elements[i] = tp__element_type(mlirValueGetType(mlirOperationGetOperand(op, i)));
    locations[i] = location;
  }
  MlirBlock block = mlirBlockCreate(n, elements, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, 0), block);
  MlirOperation yield = tp__create(&(tp_build){.name = "linalg.yield", .location = location});
  mlirBlockAppendOwnedOperation(block, yield);
  return yield;
}

MlirOperation tp__create_fill(MlirLocation location, MlirValue number, MlirValue init) {
  MlirContext context = mlirLocationGetContext(location);
  MlirType type = mlirValueGetType(init);
  MlirValue operands[] = {number, init};
  MlirNamedAttribute segments = tp__named(
      context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 2, (const int32_t[]){1, 1}));
  MlirOperation op = tp__create(&(tp_build){.name = "linalg.fill",
                                            .location = location,
                                            .n_operands = 2,
                                            .operands = operands,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = 1,
                                            .attributes = &segments,
                                            .n_regions = 1});
  mlirLinalgFillBuiltinNamedOpRegion(op);
  return op;
}

MlirOperation tp__build_fill(MlirOperation where, MlirValue number, MlirType type) {
  MlirOperation op =
      tp__create_fill(mlirOperationGetLocation(where), number, tp__empty(where, type));
  tp__insert_before(where, op);
  return op;
}
