/* Constants: which ones a compiled program stores, the memory that they take, and their data. */
#include "ir/diagnostics.h"
#include "ir/ir.h"
#include "ir/work.h"
#include "support/support.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>

bool tp__is_stored_constant(MlirOperation op) {
  if (!tp__op_is(op, "arith.constant") ||
      !tp__is_tensor(mlirValueGetType(mlirOperationGetResult(op, 0))))
    return false;
  MlirAttribute value = tp__inherent(op, "value");
  return !mlirAttributeIsADenseElements(value) || !mlirDenseElementsAttrIsSplat(value);
}

tp_status tp__constants_add(MlirOperation op, void *constants) {
  tp__constants *c = constants;
  if (!tp__is_stored_constant(op))
    return TP_OK;
  if (tp__grow((void **)&c->items, &c->capacity, c->n + 1, sizeof *c->items) != TP_OK)
    return tp__out_of_memory(op);
  c->items[c->n++] = tp__inherent(op, "value");
  return TP_OK;
}

static int by_address(const void *a, const void *b) {
  const char *x = ((const MlirAttribute *)a)->ptr, *y = ((const MlirAttribute *)b)->ptr;
  return (x > y) - (x < y);
}

int64_t tp__constants_end(tp__constants *c) {
  int64_t bytes = 0;
  if (c->n > 0)
    qsort(c->items, c->n, sizeof *c->items, by_address);
  for (size_t i = 0; i < c->n; i++) {
    MlirType type = mlirAttributeGetType(c->items[i]);
    if (i == 0 || !mlirAttributeEqual(c->items[i], c->items[i - 1]))
      bytes += tp__n_elements(type) * tp__element_size(tp__element_type(type));
  }
  tp__free(c->items);
  *c = (tp__constants){0};
  return bytes;
}

tp_status tp__constant_bytes(MlirOperation func, int64_t *bytes) {
  tp__constants c = {0};
  tp_status status = tp__walk(func, tp__constants_add, &c);
  *bytes = tp__constants_end(&c);
  return status;
}

/* ---- data ---- */

static void copy_booleans(MlirAttribute value, bool is_splat, size_t n, unsigned char *bytes) {
  for (size_t i = 0; i < n; i++)
    bytes[i] = is_splat ? mlirDenseElementsAttrGetBoolSplatValue(value) != 0
                        : mlirDenseElementsAttrGetBoolValue(value, (intptr_t)i);
}

static bool copy_dense(MlirAttribute value, size_t n, void *bytes) {
  MlirType type = mlirAttributeGetType(value), element = tp__element_type(type);
  size_t size = (size_t)tp__element_size(element), count = (size_t)tp__n_elements(type);
  bool is_splat = mlirDenseElementsAttrIsSplat(value);
  if (n == 0 || count * size != n)
    return count * size == n;
  if (tp__is_bool(element)) {
    copy_booleans(value, is_splat, count, bytes); /* MLIR packs them */
    return true;
  }
  const char *raw = mlirDenseElementsAttrGetRawData(value);
  for (size_t i = 0; i < count && is_splat; i++)
    memcpy((char *)bytes + i * size, raw, size);
  if (!is_splat)
    memcpy(bytes, raw, n);
  return true;
}

bool tp__constant_data(MlirAttribute value, size_t n, void *bytes) {
  if (mlirAttributeIsADenseResourceElements(value))
    return tp__resource_bytes(value, n, bytes);
  return mlirAttributeIsADenseElements(value) && copy_dense(value, n, bytes);
}
