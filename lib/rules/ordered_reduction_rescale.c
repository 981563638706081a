/* Builds the initial values for the parts of a rescaling reduction. */
#include "rules/ordered_reduction_rescale.h"

#include "ir/collectives.h"
#include "rules/mask.h"
#include "rules/ordered_reduction_parts.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

#include <math.h>

static MlirAttribute map_attr(MlirOperation op, int operand) {
  return mlirArrayAttrGetElement(mlirLinalgGetIndexingMapsAttribute(op), operand);
}

static bool has_loop(MlirAttribute map_of, int loop) {
  MlirAffineMap map = mlirAffineMapAttrGetValue(map_of);
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    if (mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == loop)
      return true;
  }
  return false;
}

bool tp__max_has_loops(MlirOperation op, const tp_rescale *r) {
  MlirAttribute in = map_attr(op, r->x), out = map_attr(op, r->body.n_inputs + r->m);
  int n_loops = (int)mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(out));
  for (int l = 0; l < n_loops; l++)
    if (!has_loop(in, l) && !has_loop(out, l))
      return false;
  return true;
}

/* Builds the maximum of this device's part before the op. */
static MlirValue max_of_part(const tp_local *local, const tp_rescale *r) {
  MlirOperation op = local->rule->op;
  MlirLocation location = mlirOperationGetLocation(op);
  int out = r->body.n_inputs + r->m;
  MlirAttribute maps[] = {map_attr(op, r->x), map_attr(op, out)};
  MlirValue operands[] = {mlirOperationGetOperand(op, r->x), mlirOperationGetOperand(op, out)};
  MlirOperation max = tp__build_generic(&(tp_generic){.where = op,
                                                      .location = location,
                                                      .n_inputs = 1,
                                                      .n_inits = 1,
                                                      .operands = operands,
                                                      .maps = maps});
  MlirOperation yield = tp__build_generic_body(max);
  MlirBlock block = mlirOperationGetBlock(yield);
  MlirValue value =
      tp__rescale_max(r, yield, mlirBlockGetArgument(block, 1), mlirBlockGetArgument(block, 0));
  mlirOperationSetOperands(yield, 1, &value);
  return mlirOperationGetResult(max, 0);
}

/* Builds the maximum of the initial value and of the parts before this device's part. */
static MlirValue max_before(const tp_local *local, const tp_rescale *r) {
  MlirOperation where = local->rule->op;
  MlirContext context = mlirOperationGetContext(where);
  int axes[TP_MAX_AXES], n = tp__ordered_axes_of(local->rule, local->mesh, local->strategy, axes);
  MlirValue init = mlirOperationGetOperand(where, r->body.n_inputs + r->m),
            max = max_of_part(local, r);
  MlirValue parts = tp__gather_parts(local, where, r->m, max, mlirValueGetType(init));
  MlirValue own = tp__build_group_index(where, local->mesh, n, axes);
  MlirOperation op = tp__parts_op(where, 1, &parts, &init);
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation yield = mlirBlockGetTerminator(block);
  MlirType index_type = mlirIndexTypeGet(context);
  MlirNamedAttribute dim = tp__named(context, "dim", tp__attr_i64(context, 0));
  MlirOperation index = tp__create(&(tp_build){.name = "linalg.index",
                                               .location = mlirOperationGetLocation(where),
                                               .n_results = 1,
                                               .results = &index_type,
                                               .n_attributes = 1,
                                               .attributes = &dim});
  tp__insert_before(yield, index);
  MlirValue held = mlirBlockGetArgument(block, 1);
  MlirValue is_before = tp__compare(yield, TP_SLT, mlirOperationGetResult(index, 0), own);
  MlirValue greater = tp__rescale_max(r, yield, held, mlirBlockGetArgument(block, 0));
  MlirValue value = tp__select(yield, is_before, greater, held);
  mlirOperationSetOperands(yield, 1, &value);
  return mlirOperationGetResult(op, 0);
}

void tp__start_rescaled(const tp_local *local, const tp_rescale *r, uint32_t uneven) {
  MlirOperation op = local->rule->op;
  MlirContext context = mlirOperationGetContext(op);
  MlirType element = tp__element_type(mlirValueGetType(mlirOperationGetOperand(op, r->x)));
  if (uneven)
    tp__mask_operand(local, r->x, uneven, mlirFloatAttrDoubleGet(context, element, -INFINITY));
  mlirOperationSetOperand(op, r->body.n_inputs + r->m, max_before(local, r));
  for (int k = 0; k < r->n; k++) {
    int i = r->body.n_inputs + k;
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    MlirAttribute zero = mlirFloatAttrDoubleGet(context, tp__element_type(type), 0);
    if (k != r->m)
      mlirOperationSetOperand(op, i,
                              tp__constant(op, type, mlirDenseElementsAttrSplatGet(type, zero)));
  }
}
