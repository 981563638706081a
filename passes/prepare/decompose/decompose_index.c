/* Rewrites casts of an index to a narrow integer as a cast to i64 and arith.trunci. Upstream's
 * canonicalization removes an index_cast to a narrow integer and back, although the first cast
 * truncates. It has no such pattern for arith.trunci. */
#include "passes/prepare/decompose/decompose.h"

#include <mlir-c/Dialect/Linalg.h>

enum { INDEX_WIDTH = 64 };

/* Returns the size of the loop whose index a linalg.index reads: the size of a dimension that this
 * loop alone indexes. -1: no operand has such a dimension. */
static int64_t loop_size(MlirOperation index) {
  int64_t loop = mlirIntegerAttrGetValueInt(tp__inherent(index, "dim"));
  MlirOperation op = mlirOperationGetParentOperation(index);
  while (!mlirOperationIsNull(op) && !tp__op_has_dialect(op, "linalg"))
    op = mlirOperationGetParentOperation(op);
  MlirAttribute maps =
      mlirOperationIsNull(op) ? (MlirAttribute){NULL} : mlirLinalgGetIndexingMapsAttribute(op);
  for (int i = 0; !mlirAttributeIsNull(maps) && i < (int)mlirArrayAttrGetNumElements(maps); i++) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    for (int d = 0; d < (int)mlirAffineMapGetNumResults(map); d++) {
      MlirAffineExpr e = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(e) && mlirAffineDimExprGetPosition(e) == loop)
        return tp__value_size(mlirOperationGetOperand(op, i), d);
    }
  }
  return -1;
}

/* Gives the range of linalg.index and of the index of an scf.for. */
static bool loop_range(void *data, MlirValue value, tp__range *range) {
  (void)data;
  MlirOperation op = tp__defining_op(value);
  if (!mlirOperationIsNull(op)) {
    if (!tp__op_is(op, "linalg.index"))
      return false;
    int64_t size = loop_size(op);
    *range = (tp__range){0, size > 0 ? size - 1 : 0};
    return size >= 0;
  }
  MlirOperation loop = mlirBlockGetParentOperation(mlirBlockArgumentGetOwner(value));
  tp__range low, high;
  if (!tp__op_is(loop, "scf.for") || mlirBlockArgumentGetArgNumber(value) != 0 ||
      !tp__index_range(mlirOperationGetOperand(loop, 0), &low) ||
      !tp__index_range(mlirOperationGetOperand(loop, 1), &high))
    return false;
  *range = (tp__range){low.low, high.high > low.low ? high.high - 1 : low.low};
  return true;
}

bool tp__index_range(MlirValue value, tp__range *range) {
  return tp__value_range(value, NULL, loop_range, NULL, range);
}

bool tp__loses_index(MlirOperation op) {
  MlirType to = tp__number_type(mlirValueGetType(mlirOperationGetResult(op, 0)));
  if (!mlirTypeIsAInteger(to) || mlirIntegerTypeGetWidth(to) >= INDEX_WIDTH)
    return false;
  bool is_signed = tp__op_is(op, "arith.index_cast");
  int64_t end = INT64_C(1) << (mlirIntegerTypeGetWidth(to) - is_signed);
  tp__range range;
  return !tp__index_range(mlirOperationGetOperand(op, 0), &range) || range.high >= end ||
         range.low < (is_signed ? -end : 0);
}

/* $a: operand type, $b: result type, $c: the same of i64. */
tp_status tp__decompose_index_cast(MlirOperation op) {
  MlirValue x = mlirOperationGetOperand(op, 0);
  MlirType type = mlirValueGetType(x),
           wide = mlirIntegerTypeGet(mlirTypeGetContext(type), INDEX_WIDTH);
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (tp__static_tensor(type, &rank, shape))
    wide = mlirRankedTensorTypeGet(rank, shape, wide, (MlirAttribute){NULL});
  tp__parts parts = {0};
  tp__part_type(&parts, type);
  tp__part_type(&parts, mlirValueGetType(mlirOperationGetResult(op, 0)));
  tp__part_type(&parts, wide);
  return tp__decompose_by(op,
                          "func.func private @narrow(%x: $a) -> $b {\n"
                          "  %w = arith.index_cast %x : $a to $c\n"
                          "  %r = arith.trunci %w : $c to $b\n"
                          "  return %r : $b\n"
                          "}\n",
                          &parts, 1, &x);
}
