/* Reads an op on tensors as a nest of plain loops. */
#include "rules/nest.h"

#include "rules/mask.h"
#include "rules/rule.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

static MlirAffineMap map_of(const tp_nest *nest, int operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(nest->maps, operand));
}

static bool is_tensor(MlirValue value) { return mlirTypeIsARankedTensor(mlirValueGetType(value)); }

/* True if each result of the map is a single loop or the constant 0, and no loop occurs twice. Adds
 * the loops to `used`. */
static bool read_map(MlirAffineMap map, uint32_t *used) {
  uint32_t seen = 0;
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    if (mlirAffineExprIsADim(expr)) {
      uint32_t bit = UINT32_C(1) << mlirAffineDimExprGetPosition(expr);
      if (seen & bit)
        return false;
      seen |= bit;
    } else if (!mlirAffineExprIsAConstant(expr) || mlirAffineConstantExprGetValue(expr) != 0) {
      return false;
    }
  }
  *used |= seen;
  return true;
}

/* True if the op writes each element of its result. */
static bool fills_result(const tp_nest *nest, int result) {
  MlirAffineMap map = map_of(nest, result);
  MlirType type = mlirValueGetType(mlirOperationGetOperand(nest->op, result));
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
    if (mlirAffineExprIsAConstant(mlirAffineMapGetResult(map, d)) &&
        mlirShapedTypeGetDimSize(type, d) != 1)
      return false;
  return true;
}

static bool read_structured(tp_nest *nest) {
  MlirAttribute maps = nest->maps = mlirLinalgGetIndexingMapsAttribute(nest->op);
  MlirValue captured;
  int n = (int)mlirOperationGetNumOperands(nest->op);
  if (mlirOperationGetNumRegions(nest->op) != 1 || mlirAttributeIsNull(maps) ||
      mlirArrayAttrGetNumElements(maps) != n || n == 0 ||
      !tp__body_of(nest->op, n - 1, &nest->body) || nest->body.n_args != n ||
      tp__captured_tensors(nest->op, 1, &captured) > 0)
    return false;
  nest->is_written = true;
  nest->n_inputs = n - 1;
  nest->n_loops = (int)mlirAffineMapGetNumDims(map_of(nest, 0));
  if (nest->n_loops > TP_MAX_NEST_LOOPS)
    return false;
  uint32_t used = 0, in_result = 0;
  for (int i = 0; i < n; i++)
    if (!read_map(map_of(nest, i), i == n - 1 ? &in_result : &used))
      return false;
  if (!fills_result(nest, n - 1))
    return false;
  nest->reduced = ((UINT32_C(1) << nest->n_loops) - 1) & ~in_result;
  return (nest->reduced & ~used) == 0; /* an operand determines the size of every reduced loop */
}

static bool read_elementwise(tp_nest *nest) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(nest->op, 0));
  if (!(tp__op_has_dialect(nest->op, "arith") || tp__op_has_dialect(nest->op, "math")) ||
      mlirOperationGetNumRegions(nest->op) > 0 || mlirOperationGetNumOperands(nest->op) == 0)
    return false;
  nest->n_inputs = (int)mlirOperationGetNumOperands(nest->op);
  nest->n_loops = (int)mlirShapedTypeGetRank(type);
  return true;
}

bool tp__nest_of(MlirOperation op, tp_nest *nest) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  *nest = (tp_nest){.op = op};
  if (mlirOperationIsNull(op) || mlirOperationGetNumResults(op) != 1 ||
      !tp__static_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)), &rank, shape))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (is_tensor(mlirOperationGetOperand(op, i)) &&
        !tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, i)), &rank, shape))
      return false;
  return tp__op_has_dialect(op, "linalg") ? read_structured(nest) : read_elementwise(nest);
}

int tp__nest_loop(const tp_nest *nest, int operand, int dim) {
  if (!nest->is_written)
    return dim;
  MlirAffineExpr expr = mlirAffineMapGetResult(map_of(nest, operand), dim);
  return mlirAffineExprIsADim(expr) ? (int)mlirAffineDimExprGetPosition(expr) : TP_WHOLE_DIM;
}

MlirOperation tp__nest_scalar(const tp_nest *nest) {
  return nest->is_written ? tp__defining_op(mlirOperationGetOperand(nest->body.yield, 0))
                          : nest->op;
}

int tp__nest_input(const tp_nest *nest, MlirOperation scalar, int i) {
  if (!nest->is_written)
    return i;
  MlirValue value = mlirOperationGetOperand(scalar, i);
  if (!mlirValueIsABlockArgument(value) ||
      !mlirBlockEqual(mlirBlockArgumentGetOwner(value), nest->body.block))
    return -1;
  intptr_t number = mlirBlockArgumentGetArgNumber(value);
  return number < nest->n_inputs ? (int)number : -1;
}

bool tp__nest_is_elementwise(const tp_nest *nest) {
  if (!nest->is_written)
    return true;
  if (nest->reduced || tp__body_reads(&nest->body, nest->n_inputs) ||
      tp__body_has_traps(&nest->body))
    return false;
  for (MlirOperation op = mlirBlockGetFirstOperation(nest->body.block); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    bool known = tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "math") ||
                 tp__op_has_dialect(op, "complex") || tp__op_is(op, "linalg.index") ||
                 tp__op_is(op, "linalg.yield");
    if (!known || mlirOperationGetNumRegions(op) > 0)
      return false;
  }
  return true;
}

bool tp__nest_copies(const tp_nest *nest) {
  if (!nest->is_written || nest->n_inputs != 1)
    return false;
  return mlirValueEqual(mlirOperationGetOperand(nest->body.yield, 0),
                        mlirBlockGetArgument(nest->body.block, 0));
}
