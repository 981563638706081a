#include "ir/work.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

int64_t tp__n_elements(MlirType type) {
  int rank;
  int64_t shape[TP_MAX_RANK], n = 1;
  if (!tp__static_tensor(type, &rank, shape))
    return 0;
  for (int d = 0; d < rank; d++)
    n *= shape[d];
  return n;
}

/* Conversions and constants are free. */
static bool is_arithmetic(MlirOperation op) {
  static const char *const free_ops[] = {"arith.constant",   "arith.extf",         "arith.truncf",
                                         "arith.extsi",      "arith.extui",        "arith.trunci",
                                         "arith.index_cast", "arith.index_castui", "arith.bitcast"};
  if (!tp__op_has_dialect(op, "arith") && !tp__op_has_dialect(op, "math") && !tp__op_has_dialect(op, "complex"))
    return false;
  for (int i = 0; i < TP_LEN(free_ops); i++)
    if (tp__op_is(op, free_ops[i]))
      return false;
  return true;
}

typedef struct body_count {
  double ops;
  bool multiplies, adds;
} body_count;

static tp_status count_op(MlirOperation op, void *data) {
  body_count *count = data;
  count->ops += is_arithmetic(op) ? 1 : 0;
  count->multiplies |= tp__op_is(op, "arith.mulf");
  count->adds |= tp__op_is(op, "arith.addf");
  return TP_OK;
}

/* Number of iterations of a structured op: the product of its loops, each read off a plain dimension of some operand. */
static double n_iterations(MlirOperation op) {
  enum { MAX_LOOPS = 32 };
  int64_t sizes[MAX_LOOPS] = {0};
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirAttributeIsNull(maps) || mlirArrayAttrGetNumElements(maps) == 0)
    return 0;
  intptr_t n = mlirAffineMapGetNumDims(mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 0)));
  for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(maps) && i < mlirOperationGetNumOperands(op); i++) {
    MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    for (intptr_t d = 0; mlirTypeIsARankedTensor(type) && d < mlirAffineMapGetNumResults(map); d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) < MAX_LOOPS && !mlirShapedTypeIsDynamicDim(type, d))
        sizes[mlirAffineDimExprGetPosition(expr)] = mlirShapedTypeGetDimSize(type, d);
    }
  }
  double product = 1;
  for (intptr_t i = 0; i < n && i < MAX_LOOPS; i++)
    product *= (double)sizes[i];
  return product;
}

static double tensor_bytes(MlirType type) {
  return mlirTypeIsARankedTensor(type) ? (double)tp__n_elements(type) * (double)tp__element_size(tp__element_type(type)) : 0;
}

bool tp__op_work(MlirOperation op, tp__work *work) {
  bool structured = tp__op_has_dialect(op, "linalg") && mlirOperationGetNumRegions(op) == 1;
  bool tensors = mlirOperationGetNumResults(op) > 0 && mlirTypeIsARankedTensor(mlirValueGetType(mlirOperationGetResult(op, 0)));
  *work = (tp__work){0};
  if (structured) {
    body_count count = {0};
    (void)tp__walk(op, count_op, &count);
    double flops = count.ops * n_iterations(op);
    bool contracts = count.ops == 2 && count.multiplies && count.adds;
    work->contraction = contracts ? flops : 0;
    work->scalar = contracts ? 0 : flops;
  } else if (tensors && is_arithmetic(op)) {
    work->scalar = (double)tp__n_elements(mlirValueGetType(mlirOperationGetResult(op, 0)));
  } else {
    return false;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    work->bytes += tensor_bytes(mlirValueGetType(mlirOperationGetOperand(op, i)));
  return true;
}
