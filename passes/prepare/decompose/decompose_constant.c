/* Turns dense_resource constants into dense constants where LLVM cannot read the element type as a
 * number (i1 and complex), and where MLIR crashes: lowering a global of rank 0 asks the resource
 * for its elements, and translating one without elements divides by their number. */
#include "passes/prepare/decompose/decompose.h"

#include "ir/work.h"

static bool is_boolean(MlirType element) { return tp__is_bool(element); }

bool tp__is_odd_resource(MlirOperation op) {
  MlirAttribute value = tp__inherent(op, "value");
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  if (mlirAttributeIsNull(value) || !mlirAttributeIsADenseResourceElements(value) ||
      !tp__is_tensor(type))
    return false;
  MlirType element = tp__element_type(type);
  int rank;
  int64_t shape[TP_MAX_RANK];
  return mlirTypeIsAComplex(element) || is_boolean(element) ||
         (tp__static_tensor(type, &rank, shape) && (rank == 0 || tp__n_elements(type) == 0));
}

/* Builds a dense i1 constant. A resource holds one byte per i1. */
static MlirAttribute dense_booleans(MlirType type, size_t n, const unsigned char *bytes) {
  int *values = tp__calloc(n, sizeof *values);
  for (size_t i = 0; i < n && values; i++)
    values[i] = bytes[i] != 0;
  MlirAttribute dense =
      values ? mlirDenseElementsAttrBoolGet(type, (intptr_t)n, values) : (MlirAttribute){NULL};
  tp__free(values);
  return dense;
}

tp_status tp__decompose_resource(MlirOperation op) {
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0)), element = tp__element_type(type);
  size_t n = (size_t)tp__n_elements(type), size = (size_t)tp__element_size(element);
  unsigned char *bytes = tp__malloc(n * size);
  if (!bytes)
    return tp__out_of_memory(op);
  tp_status status = TP_OK;
  if (!tp__resource_bytes(tp__inherent(op, "value"), n * size, bytes))
    status = tp__error(
        op, TP_INVALID_ARGUMENT,
        "the resource does not exist or does not have the %zu bytes that its type needs", n * size);
  if (status == TP_OK) {
    MlirAttribute dense = is_boolean(element)
                              ? dense_booleans(type, n, bytes)
                              : mlirDenseElementsAttrRawBufferGet(type, n * size, bytes);
    if (mlirAttributeIsNull(dense))
      status = tp__out_of_memory(op);
    else
      mlirOperationSetInherentAttributeByName(op, tp__ref("value"), dense);
  }
  tp__free(bytes);
  return status;
}
