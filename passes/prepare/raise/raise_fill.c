/* Raises numbers that are copied to every element, as exporters broadcast constants: they become a
 * linalg.fill. Each user of a fill gets its own, in the layout that it wants. */
#include "passes/prepare/raise/raise.h"

#include "support/support.h"

#include <mlir-c/Dialect/Linalg.h>

/* The number that a constant is everywhere; null if there is none. */
static MlirAttribute number_of(MlirValue constant) {
  MlirOperation op = tp__defined_by(constant, "arith.constant");
  MlirAttribute value =
      mlirOperationIsNull(op) ? mlirAttributeGetNull() : tp__inherent(op, "value");
  if (!mlirAttributeIsNull(value) && mlirAttributeIsADenseElements(value) &&
      mlirDenseElementsAttrIsSplat(value))
    value = mlirDenseElementsAttrGetSplatValue(value);
  bool is_number = !mlirAttributeIsNull(value) &&
                   (mlirAttributeIsAFloat(value) || mlirAttributeIsAInteger(value));
  return is_number ? value : mlirAttributeGetNull();
}

/* True if the block has no ops but constants and its terminator: no assert is lost. */
static bool only_yields(MlirBlock body) {
  MlirOperation op = mlirBlockGetFirstOperation(body);
  while (tp__op_is(op, "arith.constant"))
    op = mlirOperationGetNextInBlock(op);
  return mlirOperationEqual(op, mlirBlockGetTerminator(body));
}

bool tp__raise_fill(tp__raise *raise, MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirOperationGetNumResults(op) != 1 || n == 0 || mlirBlockIsNull(body) ||
      tp__op_is(op, "linalg.fill"))
    return false;
  MlirOperation yield = mlirBlockGetTerminator(body);
  MlirValue yielded = mlirOperationGetOperand(yield, 0);
  bool is_argument = mlirValueIsABlockArgument(yielded) &&
                     mlirBlockEqual(mlirBlockArgumentGetOwner(yielded), body);
  intptr_t at = is_argument ? mlirBlockArgumentGetArgNumber(yielded) : -1;
  MlirValue source = is_argument ? mlirOperationGetOperand(op, at) : yielded;
  MlirAttribute number = at < n - 1 ? number_of(source) : mlirAttributeGetNull();
  if (mlirAttributeIsNull(number) || !only_yields(body))
    return false;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (mlirAttributeIsNull(maps) || mlirArrayAttrGetNumElements(maps) != n || !tp__is_tensor(type) ||
      !tp__writes_all(op, maps, (int)n - 1))
    return false;
  MlirOperation fill = tp__build_fill(op, tp__constant(op, tp__element_type(type), number), type);
  tp__copy_discardable(op, fill);
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetResult(fill, 0));
  tp__destroy(raise, op);
  raise->statistics[TP_RAISED_FILL]++;
  return true;
}
