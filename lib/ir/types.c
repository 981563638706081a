#include "ir/ir.h"

bool tp__is_tensor(MlirType type) { return mlirTypeIsARankedTensor(type) || mlirTypeIsAUnrankedTensor(type); }

bool tp__static_tensor(MlirType type, int *rank, int64_t *shape) {
  if (!mlirTypeIsARankedTensor(type))
    return false;
  int64_t n = mlirShapedTypeGetRank(type);
  if (n > TP_MAX_RANK)
    return false;
  for (int64_t d = 0; d < n; d++) {
    if (mlirShapedTypeIsDynamicDim(type, d))
      return false;
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  }
  *rank = (int)n;
  return true;
}

MlirType tp__element_type(MlirType shaped) { return mlirShapedTypeGetElementType(shaped); }

MlirType tp__tensor_like(MlirType type, int rank, const int64_t *shape) {
  return mlirRankedTensorTypeGet(rank, shape, tp__element_type(type), mlirRankedTensorTypeGetEncoding(type));
}

int64_t tp__element_size(MlirType element) {
  if (mlirTypeIsAInteger(element))
    return (mlirIntegerTypeGetWidth(element) + 7) / 8;
  if (mlirTypeIsAFloat(element))
    return (mlirFloatTypeGetWidth(element) + 7) / 8;
  if (mlirTypeIsAIndex(element))
    return 8;
  if (mlirTypeIsAComplex(element))
    return 2 * tp__element_size(mlirComplexTypeGetElementType(element));
  return 0;
}
