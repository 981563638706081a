/* Recognizes integer constants that count along a dimension, such as the position tables of
 * exported models. */
#include "passes/prepare/raise/raise.h"

#include "support/support.h"

#include <string.h>

enum { MAX_ELEMENTS = 1 << 20 };

/* The elements of a constant: of a dense attribute, or the bytes of a resource. */
typedef struct elements {
  MlirAttribute dense;
  unsigned char *bytes; /* NULL: dense */
  int width;            /* of an element, in bytes */
} elements;

/* Returns the size of an element in bytes, or 0 if the type is not one of index tensors. */
static int width_of(MlirType type) {
  if (mlirTypeIsAIndex(type))
    return 8;
  unsigned width = mlirTypeIsAInteger(type) ? mlirIntegerTypeGetWidth(type) : 0;
  return width == 64 ? 8 : width == 32 ? 4 : 0;
}

static int64_t element_at(const elements *e, int64_t i) {
  int64_t value;
  int32_t narrow;
  if (!e->bytes)
    return e->width == 8 ? mlirDenseElementsAttrGetInt64Value(e->dense, i)
                         : mlirDenseElementsAttrGetInt32Value(e->dense, i);
  if (e->width == 8) {
    memcpy(&value, e->bytes + i * e->width, sizeof value);
    return value;
  }
  memcpy(&narrow, e->bytes + i * e->width, sizeof narrow);
  return narrow;
}

/* Returns the dimension along which the element behind the first one is larger by 1; -1: none is
 * larger. False if more than one is, or one differs otherwise. */
static bool find_dim(const elements *e, int rank, const int64_t *shape, int *dim) {
  int64_t stride = 1;
  *dim = -1;
  for (int d = rank - 1; d >= 0; stride *= shape[d], d--) {
    if (shape[d] == 1)
      continue;
    uint64_t step = (uint64_t)element_at(e, stride) - (uint64_t)element_at(e, 0);
    if (step > 1 || (step == 1 && *dim >= 0))
      return false;
    *dim = step == 1 ? d : *dim;
  }
  return true;
}

static bool counts_along(const elements *e, int rank, const int64_t *shape, int64_t n, int *dim,
                         int64_t *first) {
  if (!find_dim(e, rank, shape, dim))
    return false;
  int64_t stride = 1;
  for (int d = rank - 1; d > *dim; d--)
    stride *= shape[d];
  *first = element_at(e, 0);
  for (int64_t i = 0; i < n; i++) {
    int64_t at = *dim < 0 ? 0 : i / stride % shape[*dim];
    if ((uint64_t)element_at(e, i) - (uint64_t)*first != (uint64_t)at)
      return false;
  }
  return true;
}

bool tp__counts_along(MlirAttribute value, MlirType type, int *dim, int64_t *first) {
  int rank, width = width_of(tp__element_type(type));
  int64_t shape[TP_MAX_RANK];
  if (mlirAttributeIsNull(value) || !mlirAttributeIsAElements(value) || width == 0 ||
      !tp__static_tensor(type, &rank, shape))
    return false;
  int64_t n = mlirElementsAttrGetNumElements(value);
  bool is_dense = mlirAttributeIsADenseIntElements(value);
  if (n < 2 || n > MAX_ELEMENTS || (is_dense && mlirDenseElementsAttrIsSplat(value)) ||
      (!is_dense && !mlirAttributeIsADenseResourceElements(value)))
    return false;
  size_t size = (size_t)width * (size_t)n;
  elements e = {value, is_dense ? NULL : tp__malloc(size), width};
  bool counts = (is_dense || (e.bytes && tp__resource_bytes(value, size, e.bytes))) &&
                counts_along(&e, rank, shape, n, dim, first);
  tp__free(e.bytes);
  return counts;
}
