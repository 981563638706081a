/* Formats diagnostics and counts errors per thread. */
#include "ir/diagnostics.h"

#include "ir/ir.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_SIZE = 2048 };

static _Thread_local int error_count;
static _Thread_local tp_status error_status;

int tp__error_count(void) { return error_count; }

tp_status tp__error_status(void) { return error_status; }

static tp_status count(tp_status status) {
  error_count++;
  error_status = status;
  return status;
}

static int op_prefix(MlirOperation op, char *text, size_t size) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return snprintf(text, size, "'%.*s': ", (int)name.length, name.data);
}

static void emit(MlirOperation op, tp_severity severity, const char *format, va_list args) {
  char text[MESSAGE_SIZE];
  int n = op_prefix(op, text, sizeof text);
  vsnprintf(text + n, sizeof text - (size_t)n, format, args);
  tp__emit(mlirOperationGetLocation(op), severity, text, NULL);
}

tp_status tp__error(MlirOperation op, tp_status status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  emit(op, TP_ERROR, format, args);
  va_end(args);
  return count(status);
}

tp_status tp__error_at(MlirLocation location, tp_status status, const char *format, ...) {
  char text[MESSAGE_SIZE];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  tp__emit(location, TP_ERROR, text, NULL);
  return count(status);
}

tp_status tp__out_of_memory(MlirOperation op) {
  MlirStringRef name = {"", 0};
  for (MlirOperation at = op; !name.length && !mlirOperationIsNull(at);
       at = mlirOperationGetParentOperation(at)) {
    MlirAttribute symbol = tp__inherent(at, "sym_name");
    if (!mlirAttributeIsNull(symbol) && mlirAttributeIsAString(symbol))
      name = mlirStringAttrGetValue(symbol);
  }
  return tp__error(op, TP_NO_MEMORY, name.length ? "out of memory in @%.*s" : "out of memory%.*s",
                   (int)name.length, name.data);
}

void tp__warning(MlirOperation op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  emit(op, TP_WARNING, format, args);
  va_end(args);
}

void tp__remark(MlirOperation op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  emit(op, TP_REMARK, format, args);
  va_end(args);
}
