/* Reads the data of a dense_resource from its printed form. The C API's accessors assume that the
 * data exist and have the size that the type says. An input may violate both
 * (`dense_resource<__elided__>`). */
#include "ir/ir.h"

#include "support/support.h"

#include <string.h>

enum { HEADER = 8 /* hex digits before the data, which hold its alignment */ };

/* Prints an arith.constant together with its resource section. */
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
  mlirOperationPrintWithFlags(op, flags, tp__append_part, text);
  mlirOpPrintingFlagsDestroy(flags);
  mlirOperationDestroy(op);
}

static int digit(char c) {
  return c >= '0' && c <= '9'   ? c - '0'
         : c >= 'A' && c <= 'F' ? c - 'A' + 10
         : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                : -1;
}

static bool read_bytes(const char *text, size_t n, unsigned char *bytes) {
  const char *section = strstr(text, "dialect_resources"), *hex = NULL;
  for (const char *at = section; at && (at = strstr(at, "\"0x")) != NULL; at += 3)
    hex = at + 3; /* the value is the last match: a key may also begin with 0x */
  if (!hex || strcspn(hex, "\"") != HEADER + 2 * n)
    return false;
  for (size_t i = 0; i < n; i++) {
    int high = digit(hex[HEADER + 2 * i]), low = digit(hex[HEADER + 2 * i + 1]);
    if (high < 0 || low < 0)
      return false;
    bytes[i] = (unsigned char)(high << 4 | low);
  }
  return true;
}

bool tp__resource_bytes(MlirAttribute resource, size_t n, void *bytes) {
  tp__string text = {0};
  print(resource, &text);
  bool found = !text.failed && read_bytes(tp__string_text(&text), n, bytes);
  tp__string_destroy(&text);
  return found;
}
