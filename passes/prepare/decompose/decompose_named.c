/* Turns named linalg ops into linalg.generic where uneven shards require changes to the body. These
 * are reductions other than contractions and ops that may trap. */
#include "passes/prepare/decompose/decompose.h"

#include "rules/body.h"
#include "rules/mask.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

enum { MAX_LOOPS = 32 };

/* Returns the loops that do not index the result, as bits. */
static uint32_t reductions_of(MlirAttribute maps) {
  MlirAffineMap map = tp__map_at(maps, mlirArrayAttrGetNumElements(maps) - 1);
  uint32_t reductions = 0;
  for (intptr_t f = 0; f < mlirAffineMapGetNumDims(map); f++) {
    bool found = false;
    for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
      found |= mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, d), f);
    reductions |= found ? 0 : UINT32_C(1) << f;
  }
  return reductions;
}

bool tp__hides_body(MlirOperation op) {
  static const char *const written[] = {"linalg.generic", "linalg.map", "linalg.reduce"};
  tp_body body;
  if (!tp__op_has_dialect(op, "linalg") || mlirOperationGetNumResults(op) != 1 ||
      mlirOperationGetNumRegions(op) != 1)
    return false;
  for (int i = 0; i < TP_LEN(written); i++)
    if (tp__op_is(op, written[i]))
      return false;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirAttributeIsNull(maps) ||
      !tp__body_of(op, (int)mlirOperationGetNumOperands(op) - 1, &body) ||
      mlirAffineMapGetNumDims(tp__map_at(maps, 0)) > MAX_LOOPS)
    return false;
  return tp__body_has_traps(&body) || (reductions_of(maps) && !tp__body_is_contraction(&body));
}

tp_status tp__decompose_named(MlirOperation op) {
  enum { MAX_OPERANDS = 8 };
  MlirAttribute all_maps = mlirLinalgGetIndexingMapsAttribute(op), maps[MAX_OPERANDS];
  MlirValue operands[MAX_OPERANDS];
  intptr_t n = mlirOperationGetNumOperands(op);
  if (n > MAX_OPERANDS)
    return tp__error(op, TP_UNSUPPORTED, "has %d operands; at most %d are expected", (int)n,
                     MAX_OPERANDS);
  for (intptr_t i = 0; i < n; i++) {
    operands[i] = mlirOperationGetOperand(op, i);
    maps[i] = mlirArrayAttrGetElement(all_maps, i);
  }
  MlirOperation generic = tp__build_generic(&(tp_generic){.where = op,
                                                          .location = mlirOperationGetLocation(op),
                                                          .n_inputs = (int)n - 1,
                                                          .n_inits = 1,
                                                          .operands = operands,
                                                          .maps = maps});
  mlirRegionTakeBody(mlirOperationGetRegion(generic, 0), mlirOperationGetRegion(op, 0));
  MlirAttribute sharding = tp__get(op, "tp.sharding");
  if (!mlirAttributeIsNull(sharding))
    tp__set(generic, "tp.sharding", sharding);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetResult(generic, 0));
  mlirOperationDestroy(op);
  return TP_OK;
}
