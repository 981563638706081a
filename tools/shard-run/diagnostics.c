/* Prints diagnostics of the compiler as FILE:LINE:COLUMN: error: message, with the line of the
 * source and a caret, as shard-opt does. */
#include "run.h"

#include <mlir-c/Diagnostics.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_DEPTH = 64, MAX_LINE = 200 /* columns of a source line without a terminal */ };

/* ---- places ---- */

static bool find_place(MlirLocation location, int depth, MlirLocation *place);

static bool find_in_fused(MlirLocation location, int depth, MlirLocation *place) {
  unsigned n = mlirLocationFusedGetNumLocations(location);
  MlirLocation *parts = calloc(n + 1, sizeof *parts);
  bool found = false;
  if (parts)
    mlirLocationFusedGetLocations(location, parts);
  for (unsigned i = 0; parts && i < n && !found; i++)
    found = find_place(parts[i], depth, place);
  free(parts);
  return found;
}

/* Finds the innermost place in a file. */
static bool find_place(MlirLocation location, int depth, MlirLocation *place) {
  *place = location;
  if (mlirLocationIsAFileLineColRange(location))
    return mlirLocationFileLineColRangeGetStartLine(location) > 0;
  if (depth == 0)
    return false;
  if (mlirLocationIsAName(location))
    return find_place(mlirLocationNameGetChildLoc(location), depth - 1, place);
  if (mlirLocationIsACallSite(location))
    return find_place(mlirLocationCallSiteGetCallee(location), depth - 1, place) ||
           find_place(mlirLocationCallSiteGetCaller(location), depth - 1, place);
  return mlirLocationIsAFused(location) && find_in_fused(location, depth - 1, place);
}

/* ---- source lines ---- */

/* Reads line `row` of a regular file; NULL: there is none. The caller frees it. */
static char *read_line(const char *path, int row) {
  struct stat state;
  FILE *file = stat(path, &state) == 0 && S_ISREG(state.st_mode) ? fopen(path, "r") : NULL;
  char *line = NULL;
  size_t size = 0;
  bool ok = file != NULL;
  for (int i = 0; i < row && ok; i++)
    ok = getline(&line, &size, file) >= 0;
  if (file)
    fclose(file);
  if (!ok) {
    free(line);
    return NULL;
  }
  line[strcspn(line, "\r\n")] = 0;
  return line;
}

/* Prints the part of the line around a column that fits, and a caret below the column. */
static void add_caret(const char *line, size_t column, FILE *out) {
  const size_t most = (size_t)cli_columns(STDERR_FILENO, MAX_LINE), n = strlen(line);
  size_t begin = 0, end = n, at = column < n ? column : n;
  if (n > most) {
    begin = at > most / 2 ? at - most / 2 : 0;
    end = begin + most - 8 < n ? begin + most - 8 : n;
  }
  fprintf(out, "%s%.*s%s\n%*s", begin > 0 ? "... " : "", (int)(end - begin), line + begin,
          end < n ? " ..." : "", begin > 0 ? 4 : 0, "");
  for (size_t i = begin; i < at; i++)
    fputc(line[i] == '\t' ? '\t' : ' ', out);
  fprintf(out, "%s^%s\n", cli_color(STDERR_FILENO, CLI_GREEN), cli_color(STDERR_FILENO, CLI_PLAIN));
}

static void add_source(MlirLocation location, FILE *out) {
  MlirLocation place;
  char path[4096];
  if (!find_place(location, MAX_DEPTH, &place))
    return;
  MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(place));
  int row = mlirLocationFileLineColRangeGetStartLine(place),
      column = mlirLocationFileLineColRangeGetStartColumn(place);
  snprintf(path, sizeof path, "%.*s", (int)file.length, file.data);
  char *line = read_line(path, row);
  if (line)
    add_caret(line, column > 0 ? (size_t)column - 1 : 0, out);
  free(line);
}

/* ---- messages ---- */

/* Appends to a growing text. */
static void add(MlirStringRef part, void *data) { fwrite(part.data, 1, part.length, data); }

/* Prints the innermost place as FILE:LINE:COLUMN, else the names that the location has. A module
 * itself is at 0:0, which is omitted because it says nothing. */
static void add_location(MlirLocation location, FILE *out) {
  MlirLocation place;
  bool has_line = find_place(location, MAX_DEPTH, &place);
  if (has_line || mlirLocationIsAFileLineColRange(location)) {
    MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(place));
    fprintf(out, "%.*s", (int)file.length, file.data);
    if (has_line)
      fprintf(out, ":%d:%d", mlirLocationFileLineColRangeGetStartLine(place),
              mlirLocationFileLineColRangeGetStartColumn(place));
    fputs(": ", out);
  } else if (!mlirLocationEqual(location,
                                mlirLocationUnknownGet(mlirLocationGetContext(location)))) {
    mlirLocationPrint(location, add, out);
    fputs(": ", out);
  }
}

static void add_message(MlirDiagnostic diagnostic, FILE *out) {
  char *text = NULL;
  size_t n;
  FILE *stream = open_memstream(&text, &n);
  if (!stream)
    return;
  mlirDiagnosticPrint(diagnostic, add, stream);
  if (fclose(stream) == 0)
    cli_respell(text, out);
  free(text);
}

/* The source of a note is shown if it is not that of the message above. */
static void add_diagnostic(MlirDiagnostic diagnostic, bool shows_source, FILE *out) {
  static const struct {
    const char *name;
    cli_style style;
  } severities[] = {[MlirDiagnosticError] = {"error", CLI_RED},
                    [MlirDiagnosticWarning] = {"warning", CLI_MAGENTA},
                    [MlirDiagnosticNote] = {"note", CLI_CYAN},
                    [MlirDiagnosticRemark] = {"remark", CLI_CYAN}};
  MlirLocation location = mlirDiagnosticGetLocation(diagnostic);
  int severity = (int)mlirDiagnosticGetSeverity(diagnostic);
  const char *plain = cli_color(STDERR_FILENO, CLI_PLAIN);
  fprintf(out, "%s", cli_color(STDERR_FILENO, CLI_BOLD));
  add_location(location, out);
  fprintf(out, "%s%s: %s", cli_color(STDERR_FILENO, severities[severity].style),
          severities[severity].name, plain);
  add_message(diagnostic, out);
  fputc('\n', out);
  if (shows_source)
    add_source(location, out);
  for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++) {
    MlirDiagnostic note = mlirDiagnosticGetNote(diagnostic, i);
    add_diagnostic(note, !mlirLocationEqual(mlirDiagnosticGetLocation(note), location), out);
  }
}

/* Prints a diagnostic and its notes as one text in one write, because ranks share stderr. A remark
 * that follows another one about the same place, as of a search that says how far it is, does not
 * show the source again. */
static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *data) {
  MlirLocation *last_remark = data, location = mlirDiagnosticGetLocation(diagnostic);
  bool is_remark = mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticRemark;
  bool is_shown = is_remark && last_remark->ptr == location.ptr;
  last_remark->ptr = is_remark ? location.ptr : NULL;
  char *text = NULL;
  size_t n = 0;
  FILE *out = open_memstream(&text, &n);
  if (!out) {
    complain("memory ran out for a diagnostic");
    return mlirLogicalResultSuccess();
  }
  add_diagnostic(diagnostic, !is_shown, out);
  if (fclose(out) == 0)
    (void)cli_write(text, n);
  free(text);
  return mlirLogicalResultSuccess();
}

static void forget_remark(void *data) { free(data); }

void diagnostics_attach(MlirContext context) {
  MlirLocation *last_remark = calloc(1, sizeof *last_remark);
  if (last_remark)
    (void)mlirContextAttachDiagnosticHandler(context, handle, last_remark, forget_remark);
}
