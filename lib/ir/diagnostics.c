/* Formats diagnostics and counts errors per thread. */
#include "ir/diagnostics.h"

#include "ir/ir.h"
#include "ir/location.h"
#include "ir/source_names.h"
#include "support/support.h"

#include <stdarg.h>
#include <stdio.h>

enum { MESSAGE_SIZE = 2048 };

static _Thread_local struct {
  int n;
  tp_status last;
} errors;

/* The run of a pass on this thread. */
static _Thread_local struct {
  bool is_open, is_out_of_memory; /* the latter: and the error is emitted */
  int errors_before;
} run;

static _Thread_local bool is_discarded; /* the last diagnostic */

int tp__error_count(void) { return errors.n; }

tp_status tp__error_status(void) { return errors.last; }

static bool has_failed_allocation(void) { return run.is_open && tp__alloc_failed(); }

/* The location of the op. Frameworks give the ops of their own functions names alone; then the
 * function around it has the place where the user calls it. */
static MlirLocation place_of(MlirOperation op) {
  MlirLocation own = mlirOperationGetLocation(op), file;
  if (tp__location_file(own, &file))
    return own;
  bool is_known = !mlirLocationEqual(own, mlirLocationUnknownGet(mlirLocationGetContext(own)));
  for (MlirOperation at = mlirOperationGetParentOperation(op); !mlirOperationIsNull(at);
       at = mlirOperationGetParentOperation(at)) {
    MlirLocation around = mlirOperationGetLocation(at);
    if (tp__op_is(at, "func.func") && tp__location_file(around, &file))
      return is_known ? mlirLocationCallSiteGet(own, around) : around;
  }
  return own;
}

static void emit(MlirOperation op, tp_severity severity, const char *format, va_list args) {
  char text[MESSAGE_SIZE], message[MESSAGE_SIZE];
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  int n = 0;
  if (!tp__op_is(op, "builtin.module")) /* users do not write it */
    n = snprintf(text, sizeof text, "'%.*s': ", (int)name.length, name.data);
  vsnprintf(message, sizeof message, format, args);
  MlirLocation place = place_of(op), argument;
  if (tp__op_is(op, "func.func")) {
    tp__name_boundary(op, message, sizeof text - (size_t)n, text + n);
    if (tp__argument_place(op, message, &argument))
      place = argument;
  } else {
    snprintf(text + n, sizeof text - (size_t)n, "%s", message);
  }
  tp__emit(place, severity, text, NULL);
}

static void emit_error(MlirOperation op, tp_status status, const char *format, va_list args) {
  is_discarded = false;
  emit(op, TP_ERROR, format, args);
  if (is_discarded)
    return;
  errors.n++;
  errors.last = status;
  run.is_out_of_memory |= status == TP_NO_MEMORY;
}

MlirLogicalResult tp__discard_diagnostic(MlirDiagnostic diagnostic, void *data) {
  (void)diagnostic;
  (void)data;
  is_discarded = true;
  return mlirLogicalResultSuccess();
}

tp_status tp__error(MlirOperation op, tp_status status, const char *format, ...) {
  if (has_failed_allocation())
    return tp__out_of_memory(op);
  va_list args;
  va_start(args, format);
  emit_error(op, status, format, args);
  va_end(args);
  return status;
}

static tp_status emit_no_memory(MlirOperation op, const char *format, ...) {
  va_list args;
  va_start(args, format);
  emit_error(op, TP_NO_MEMORY, format, args);
  va_end(args);
  return TP_NO_MEMORY;
}

tp_status tp__out_of_memory(MlirOperation op) {
  if (run.is_open && run.is_out_of_memory)
    return TP_NO_MEMORY;
  for (MlirOperation at = op; !mlirOperationIsNull(at); at = mlirOperationGetParentOperation(at)) {
    MlirAttribute symbol = tp__inherent(at, "sym_name");
    if (mlirAttributeIsNull(symbol) || !mlirAttributeIsAString(symbol))
      continue;
    MlirStringRef name = mlirStringAttrGetValue(symbol);
    return emit_no_memory(op, "out of memory in @%.*s", (int)name.length, name.data);
  }
  return emit_no_memory(op, "out of memory");
}

void tp__run_begin(void) {
  tp__alloc_forget_failure();
  run.is_open = true;
  run.is_out_of_memory = false;
  run.errors_before = errors.n;
}

tp_status tp__run_end(MlirOperation module, const char *pass, tp_status status) {
  bool is_told = errors.n > run.errors_before;
  if (is_told)
    status = errors.last;
  else if (tp__alloc_failed())
    status = tp__out_of_memory(module);
  else if (status != TP_OK)
    tp__error(module, status,
              "%s: failed without a diagnostic (%s); this is a defect of tpshard, please report it "
              "with the input",
              pass, tp_status_name(status));
  run.is_open = false;
  return status;
}

void tp__warning(MlirOperation op, const char *format, ...) {
  if (has_failed_allocation())
    return;
  va_list args;
  va_start(args, format);
  emit(op, TP_WARNING, format, args);
  va_end(args);
}

void tp__remark(MlirOperation op, const char *format, ...) {
  if (has_failed_allocation())
    return;
  va_list args;
  va_start(args, format);
  emit(op, TP_REMARK, format, args);
  va_end(args);
}
