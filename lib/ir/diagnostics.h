/* Diagnostics with a location. Each error is emitted exactly once, where it is detected. */
#ifndef TP_IR_DIAGNOSTICS_H
#define TP_IR_DIAGNOSTICS_H

#include "tp/status.h"
#include "tp/text.h"

#include <mlir-c/Diagnostics.h>
#include <mlir-c/IR.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Emits an error, a warning or a remark at `location`. `note` may be NULL. Implemented in
 * shim.cpp. */
void tp__emit(MlirLocation location, tp_severity severity, const char *message, const char *note);

/* Bracket the run of a pass. Within it a failed allocation is the only error, is emitted once, and
 * fails the pass even if its caller goes on: other errors and the result may be consequences of it.
 * Warnings and remarks after it are dropped. The second function gets the status of the run, emits
 * a missing error, and returns the final status. */
void tp__run_begin(void);
tp_status tp__run_end(MlirOperation module, const char *pass, tp_status status);

/* Returns the number of errors that this thread has emitted through tp__error. */
int tp__error_count(void);
/* Returns the status of the last of these errors; TP_OK if there was none. */
tp_status tp__error_status(void);

/* Emits the error `'op name': formatted text` at the op and returns `status`, so that a caller can
 * write `return tp__error(...)`. */
tp_status tp__error(MlirOperation op, tp_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A diagnostic handler for trials, whose diagnostics were reported before or do not concern the
 * input: it discards them. Discarded errors do not count. */
MlirLogicalResult tp__discard_diagnostic(MlirDiagnostic diagnostic, void *data);

/* Emits that memory ran out at the op, which names the function or module around it. Returns
 * TP_NO_MEMORY. */
tp_status tp__out_of_memory(MlirOperation op);
void tp__warning(MlirOperation op, const char *format, ...) __attribute__((format(printf, 2, 3)));
void tp__remark(MlirOperation op, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __cplusplus
}
#endif
#endif
