/* Diagnostics of a context, and the verdict on a refusal. */
#define _GNU_SOURCE 1
#include "errors.h"

#include <mlir-c/Diagnostics.h>
#include <mlir-c/IR.h>
#include <stdio.h>
#include <string.h>

static void append(MlirStringRef part, void *data) {
  report *r = data;
  size_t n = strlen(r->message), room = sizeof r->message - n;
  snprintf(r->message + n, room, "%.*s", (int)part.length, part.data);
}

static void find_fused(MlirStringRef part, void *data) {
  report *r = data;
  r->n_fused += memmem(part.data, part.length, "is fused with", 13) != NULL;
}

static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *data) {
  report *r = data;
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticRemark)
    mlirDiagnosticPrint(diagnostic, find_fused, r);
  if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError && r->n_errors++ == 0) {
    r->message[0] = 0;
    mlirDiagnosticPrint(diagnostic, append, r);
  }
  return mlirLogicalResultSuccess();
}

void watch_errors(report *r, void *context) {
  (void)mlirContextAttachDiagnosticHandler((MlirContext){context}, handle, r, NULL);
}

/* Returns true for errors of MLIR's verifier, which have the form `'op name' op text`; those of
 * tpshard are `'op name': text`. */
static bool is_verifier(const char *message) {
  const char *end = message[0] == '\'' ? strchr(message + 1, '\'') : NULL;
  return end && strncmp(end, "' op ", 5) == 0;
}

verdict judge_refusal(const report *r, verdict proper) {
  if (r->n_errors != 1 || strstr(r->message, "without a diagnostic"))
    return SILENT;
  return is_verifier(r->message) ? BROKEN_IR : proper;
}
