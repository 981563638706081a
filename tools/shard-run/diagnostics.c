/* Prints diagnostics of the compiler as FILE:LINE:COLUMN: error: message. */
#include "run.h"

#include <mlir-c/Diagnostics.h>
#include <stdlib.h>
#include <string.h>

/* Appends to a growing text. */
static void add(MlirStringRef part, void *data) { fwrite(part.data, 1, part.length, data); }

/* Prints loc("file":1:2) as file:1:2. The module itself is at 0:0, which is omitted because it says
 * nothing. */
static void add_location(MlirLocation location, FILE *out) {
  char *text = NULL;
  size_t n;
  FILE *stream = open_memstream(&text, &n);
  if (!stream)
    return;
  mlirLocationPrint(location, add, stream);
  if (fclose(stream) != 0)
    n = 0;
  char *end = n > 5 && strncmp(text, "loc(\"", 5) == 0 && text[n - 1] == ')'
                  ? strstr(text + 5, "\":")
                  : NULL;
  if (end && strcmp(end, "\":0:0)") == 0)
    fprintf(out, "%.*s: ", (int)(end - text - 5), text + 5);
  else if (end)
    fprintf(out, "%.*s%.*s: ", (int)(end - text - 5), text + 5, (int)(text + n - 1 - (end + 1)),
            end + 1);
  else if (n &&
           !mlirLocationEqual(location, mlirLocationUnknownGet(mlirLocationGetContext(location))))
    fprintf(out, "%s: ", text);
  free(text);
}

static void add_diagnostic(MlirDiagnostic diagnostic, FILE *out) {
  static const char *const severities[] = {[MlirDiagnosticError] = "error",
                                           [MlirDiagnosticWarning] = "warning",
                                           [MlirDiagnosticNote] = "note",
                                           [MlirDiagnosticRemark] = "remark"};
  add_location(mlirDiagnosticGetLocation(diagnostic), out);
  fprintf(out, "%s: ", severities[mlirDiagnosticGetSeverity(diagnostic)]);
  mlirDiagnosticPrint(diagnostic, add, out);
  fputc('\n', out);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++)
    add_diagnostic(mlirDiagnosticGetNote(diagnostic, i), out);
}

/* Prints a diagnostic and its notes as one text in one write, because ranks share stderr. */
static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *data) {
  (void)data;
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (!out) {
    complain("memory ran out for a diagnostic");
    return mlirLogicalResultSuccess();
  }
  add_diagnostic(diagnostic, out);
  if (fclose(out) == 0)
    (void)cli_write(text, n);
  free(text);
  return mlirLogicalResultSuccess();
}

void diagnostics_attach(MlirContext context) {
  (void)mlirContextAttachDiagnosticHandler(context, handle, NULL, NULL);
}
