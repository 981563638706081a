/* Copies the data of a dense_resource. */
#include "ir/ir.h"

bool tp__resource_bytes(MlirAttribute resource, size_t n, void *bytes) {
  const void *data;
  size_t size;
  bool fits = tp__resource_data(resource, &data, &size) && size == n;
  if (fits && n > 0)
    memcpy(bytes, data, n);
  return fits;
}
