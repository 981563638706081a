/* Constants that count: the position tables of exported models. */
#include "passes/raise.h"

#include "support/support.h"

#include <string.h>

enum { MAX_ELEMENTS = 1 << 20, RESOURCE_HEADER = 8 /* hex digits in front of the data: its alignment */ };

/* Bytes of an element; 0: not a type of index tensors. */
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
    int64_t value = width == 8 ? mlirDenseElementsAttrGetInt64Value(dense, i) : mlirDenseElementsAttrGetInt32Value(dense, i);
    if (i == 0)
      *first = value;
    if ((uint64_t)value - (uint64_t)*first != (uint64_t)i)
      return false;
  }
  return true;
}

/* ---- resources ---- */

static void append(MlirStringRef part, void *data) { tp__string_append_bytes(data, part.data, part.length); }

/* The text of a constant with its resource behind it. The C API's accessors of resources trust that the data is there and as long as the
 * type says, neither of which an input has to fulfil (`dense_resource<__elided__>`); the text shows what there is. */
static void print(MlirAttribute resource, tp__string *text) {
  MlirContext context = mlirAttributeGetContext(resource);
  MlirType type = mlirAttributeGetType(resource);
  MlirNamedAttribute attr = tp__named(context, "value", resource);
  MlirOperation op = tp__create(&(tp_build){.name = "arith.constant",
                                            .location = mlirLocationUnknownGet(context),
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = 1,
                                            .attributes = &attr});
  MlirOpPrintingFlags flags = mlirOpPrintingFlagsCreate();
  mlirOpPrintingFlagsElideLargeResourceString(flags, INT32_MAX);
  mlirOperationPrintWithFlags(op, flags, append, text);
  mlirOpPrintingFlagsDestroy(flags);
  mlirOperationDestroy(op);
}

static int digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The little-endian integer of `width` bytes at `hex`. */
static bool parse(const char *hex, int width, int64_t *value) {
  uint64_t bits = 0;
  for (const char *byte = hex + (ptrdiff_t)2 * (width - 1); byte >= hex; byte -= 2) {
    int high = digit(byte[0]), low = digit(byte[1]);
    if (high < 0 || low < 0)
      return false;
    bits = bits << 8 | (uint64_t)(high << 4 | low);
  }
  *value = width == 4 ? (int64_t)(int32_t)(uint32_t)bits : (int64_t)bits;
  return true;
}

static bool text_counts_up(const char *text, int width, int64_t n, int64_t *first) {
  const char *section = strstr(text, "dialect_resources"), *hex = NULL;
  for (const char *at = section; at && (at = strstr(at, "\"0x")) != NULL; at += 3)
    hex = at + 3; /* the last: a key may look like that too */
  if (!hex || strcspn(hex, "\"") != RESOURCE_HEADER + 2 * (size_t)width * (size_t)n)
    return false;
  for (int64_t i = 0; i < n; i++) {
    int64_t value;
    if (!parse(hex + RESOURCE_HEADER + i * 2 * width, width, &value))
      return false;
    if (i == 0)
      *first = value;
    if ((uint64_t)value - (uint64_t)*first != (uint64_t)i)
      return false;
  }
  return true;
}

bool tp__counts_up(MlirAttribute elements, MlirType type, int64_t n, int64_t *first) {
  int width = width_of(type);
  if (mlirAttributeIsNull(elements) || width == 0 || n < 2 || n > MAX_ELEMENTS)
    return false;
  if (mlirAttributeIsADenseIntElements(elements))
    return dense_counts_up(elements, width, n, first);
  if (!mlirAttributeIsADenseResourceElements(elements))
    return false;
  tp__string text = {0};
  print(elements, &text);
  bool counts = !text.failed && text_counts_up(tp__string_text(&text), width, n, first);
  tp__string_destroy(&text);
  return counts;
}
