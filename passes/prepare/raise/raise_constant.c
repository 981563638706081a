/* Recognizes integer constants with consecutive elements, such as the position tables of exported
 * models. */
#include "passes/prepare/raise/raise.h"

#include "support/support.h"

#include <string.h>

enum { MAX_ELEMENTS = 1 << 20 };

/* Returns the size of an element in bytes, or 0 if the type is not one of index tensors. */
static int width_of(MlirType type) {
  if (mlirTypeIsAIndex(type))
    return 8;
  unsigned width = mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 0;
  return width == 64 ? 8 : width == 32 ? 4 : 0;
}

static bool dense_counts_up(MlirAttribute dense, int width, int64_t n, int64_t *first) {
  if (mlirDenseElementsAttrIsSplat(dense))
    return false;
  for (int64_t i = 0; i < n; i++) {
    int64_t value = width == 8 ? mlirDenseElementsAttrGetInt64Value(dense, i)
                               : mlirDenseElementsAttrGetInt32Value(dense, i);
    if (i == 0)
      *first = value;
    if ((uint64_t)value - (uint64_t)*first != (uint64_t)i)
      return false;
  }
  return true;
}

static bool resource_counts_up(MlirAttribute resource, int width, int64_t n, int64_t *first) {
  size_t size = (size_t)width * (size_t)n;
  unsigned char *bytes = tp__malloc(size);
  bool counts = bytes && tp__resource_bytes(resource, size, bytes);
  for (int64_t i = 0; i < n && counts; i++) {
    int64_t value;
    int32_t narrow;
    if (width == 4) {
      memcpy(&narrow, bytes + i * width, sizeof narrow);
      value = narrow;
    } else {
      memcpy(&value, bytes + i * width, sizeof value);
    }
    if (i == 0)
      *first = value;
    counts = (uint64_t)value - (uint64_t)*first == (uint64_t)i;
  }
  tp__free(bytes);
  return counts;
}

bool tp__counts_up(MlirAttribute elements, MlirType type, int64_t n, int64_t *first) {
  int width = width_of(type);
  if (mlirAttributeIsNull(elements) || width == 0 || n < 2 || n > MAX_ELEMENTS)
    return false;
  if (mlirAttributeIsADenseIntElements(elements))
    return dense_counts_up(elements, width, n, first);
  return mlirAttributeIsADenseResourceElements(elements) &&
         resource_counts_up(elements, width, n, first);
}
