/* Diagnostics of the compiler as FILE:LINE:COLUMN: error: message. */
#include "run.h"

#include <mlir-c/Diagnostics.h>
#include <string.h>

static void append(MlirStringRef part, void *data) {
  char *text = data;
  size_t n = strlen(text);
  snprintf(text + n, 1024 - n, "%.*s", (int)part.length, part.data);
}

static void print_message(MlirStringRef part, void *data) {
  (void)data;
  fwrite(part.data, 1, part.length, stderr);
}

/* loc("file":1:2) without what surrounds the three; the module itself stands at 0:0, which says nothing. */
static void print_location(MlirLocation location) {
  char text[1024] = "";
  mlirLocationPrint(location, append, text);
  size_t n = strlen(text);
  char *end = strncmp(text, "loc(\"", 5) == 0 && text[n - 1] == ')' ? strstr(text + 5, "\":") : NULL;
  if (end && strcmp(end, "\":0:0)") == 0)
    fprintf(stderr, "%.*s: ", (int)(end - text - 5), text + 5);
  else if (end)
    fprintf(stderr, "%.*s%.*s: ", (int)(end - text - 5), text + 5, (int)(text + n - 1 - (end + 1)), end + 1);
  else if (!mlirLocationEqual(location, mlirLocationUnknownGet(mlirLocationGetContext(location))))
    fprintf(stderr, "%s: ", text);
}

static void print_diagnostic(MlirDiagnostic diagnostic) {
  static const char *const severities[] = {[MlirDiagnosticError] = "error",
                                           [MlirDiagnosticWarning] = "warning",
                                           [MlirDiagnosticNote] = "note",
                                           [MlirDiagnosticRemark] = "remark"};
  print_location(mlirDiagnosticGetLocation(diagnostic));
  fprintf(stderr, "%s: ", severities[mlirDiagnosticGetSeverity(diagnostic)]);
  mlirDiagnosticPrint(diagnostic, print_message, NULL);
  fputc('\n', stderr);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++)
    print_diagnostic(mlirDiagnosticGetNote(diagnostic, i));
}

static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *data) {
  (void)data;
  progress(NULL);
  print_diagnostic(diagnostic);
  return mlirLogicalResultSuccess();
}

void diagnostics_attach(MlirContext context) { (void)mlirContextAttachDiagnosticHandler(context, handle, NULL, NULL); }
