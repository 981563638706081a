/* Names of values in the source: reads the text at the location of the value. */
#include "ir/source_names.h"

#include "ir/ir.h"
#include "ir/location.h"
#include "support/support.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { LINE_SIZE = 512 };

/* ---- lines ---- */

static _Thread_local struct {
  const char *bytes;
  size_t size;
} source_text;

void tp__source_text_set(const char *text, size_t size) {
  source_text.bytes = text;
  source_text.size = size;
}

/* Only regular files: a pipe has been read, and a device may block. MLIR calls a text "-". */
static FILE *open_source(const char *path) {
  struct stat state;
  if (strcmp(path, "-") == 0 && source_text.bytes)
    return fmemopen((void *)(uintptr_t)source_text.bytes, source_text.size, "r");
  return stat(path, &state) == 0 && S_ISREG(state.st_mode) ? fopen(path, "r") : NULL;
}

void tp__source_close(tp_source *source) {
  if (source->file)
    fclose(source->file);
  tp__free(source->path);
  tp__free(source->starts);
  *source = (tp_source){0};
}

static bool add_start(tp_source *source, long at) {
  if (tp__grow((void **)&source->starts, &source->capacity, source->n_starts + 1,
               sizeof *source->starts) != TP_OK)
    return false;
  source->starts[source->n_starts++] = at;
  return true;
}

static bool turn_to(tp_source *source, MlirStringRef path) {
  if (source->path && tp__ref_is(path, source->path))
    return source->n_starts > 0; /* none if memory ran out, or there is no such file */
  tp__source_close(source);
  source->path = tp__calloc(1, path.length + 1);
  if (!source->path)
    return false;
  memcpy(source->path, path.data, path.length);
  source->file = open_source(source->path);
  return source->file && add_start(source, 0);
}

/* Extends the list of the starts of lines. */
static bool find_line(tp_source *source, size_t line) {
  if (line < source->n_starts)
    return true;
  long at = source->starts[source->n_starts - 1];
  char part[4096];
  if (fseek(source->file, at, SEEK_SET) != 0)
    return false;
  for (size_t n; line >= source->n_starts && (n = fread(part, 1, sizeof part, source->file)) > 0;
       at += (long)n)
    for (const char *p = part, *end = part + n; (p = memchr(p, '\n', (size_t)(end - p))); p++)
      if (!add_start(source, at + (p - part) + 1))
        return false;
  return line < source->n_starts;
}

/* Reads the line of a location, and sets *at to the place in it. */
static bool read_line(tp_source *source, MlirLocation location, char line[LINE_SIZE], char **at) {
  if (!mlirLocationIsAFileLineColRange(location))
    return false;
  int number = mlirLocationFileLineColRangeGetStartLine(location),
      column = mlirLocationFileLineColRangeGetStartColumn(location);
  if (number < 1 || column < 1 ||
      !turn_to(source, mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location))) ||
      !find_line(source, (size_t)number - 1))
    return false;
  /* a line may have any length: what is read ends behind the place */
  long skip = column > LINE_SIZE / 2 ? column - LINE_SIZE / 2 : 0;
  size_t n = 0;
  if (fseek(source->file, source->starts[number - 1] + skip, SEEK_SET) == 0)
    n = fread(line, 1, LINE_SIZE - 1, source->file);
  line[n] = 0;
  line[strcspn(line, "\n")] = 0;
  *at = line + column - 1 - skip;
  return (size_t)(column - 1 - skip) < strlen(line);
}

/* ---- names ---- */

static size_t name_length(const char *text) {
  return *text == '%' ? 1 + strspn(text + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                             "0123456789$._-")
                      : 0;
}

static bool take(const char *text, size_t n, size_t size, char *name) {
  if (n < 2 || n >= size || (text[1] >= '0' && text[1] <= '9'))
    return false;
  memcpy(name, text, n);
  name[n] = 0;
  return true;
}

/* "%w2: tensor<...>", or "%v = %init" of a loop */
static bool argument_name(const char *at, size_t size, char *name) {
  size_t n = name_length(at), blanks = strspn(at + n, " \t");
  return (at[n + blanks] == ':' || at[n + blanks] == '=') && take(at, n, size, name);
}

/* Reads what is written before '=' for one name of results: "%a", or "%a:2" for %a#0 and %a#1.
 * Returns the text behind it and the blanks, and the number of results; NULL: no such name. */
static const char *read_results(const char *text, size_t *length, long *n_results) {
  *length = name_length(text);
  *n_results = 1;
  text += *length;
  if (*length > 0 && *text == ':') {
    char *end;
    *n_results = strtol(text + 1, &end, 10);
    text = end;
  }
  text += strspn(text, " \t");
  return *length > 0 && *n_results > 0 && (*text == ',' || *text == '=') ? text : NULL;
}

/* Appends the number of a result, "#1". */
static bool add_number(intptr_t k, size_t length, size_t size, char *name) {
  return (size_t)snprintf(name + length, size - length, "#%ld", (long)k) < size - length;
}

/* "%a:2, %b = scf.for ...", whose place is that of the op. Other ops at the same place were made of
 * it by passes. */
static bool result_name(MlirOperation op, intptr_t k, const char *line, const char *at, size_t size,
                        char *name) {
  MlirStringRef op_name = tp__op_name(op);
  const char *from = line;
  at -= at > line && at[-1] == '"'; /* generic form */
  if (strncmp(at + (*at == '"'), op_name.data, op_name.length) != 0)
    return false;
  for (long n; from < at; from++, k -= n) {
    size_t length;
    from += strspn(from, " \t");
    const char *end = read_results(from, &length, &n);
    if (!end || end > at)
      return false;
    if (k < n)
      return take(from, length, size, name) && (n == 1 || add_number(k, length, size, name));
    if (*end == '=')
      return false;
    from = end;
  }
  return false;
}

bool tp__source_name(tp_source *source, MlirValue value, size_t size, char *name) {
  char line[LINE_SIZE], *at;
  if (!read_line(source, mlirValueGetLocation(value), line, &at))
    return false;
  if (mlirValueIsABlockArgument(value))
    return argument_name(at, size, name);
  return result_name(mlirOpResultGetOwner(value), mlirOpResultGetResultNumber(value), line, at,
                     size, name);
}

/* ---- similar names ---- */

/* Writes the name of the source that is most like `name`, with at most `distance` edits. Lines may
 * be cut anywhere: names at the ends are left out. */
static void find_similar(FILE *file, const char *name, int distance, size_t size, char *closest) {
  char line[LINE_SIZE], other[LINE_SIZE];
  while (fgets(line, sizeof line, file))
    for (const char *at = line; (at = strchr(at, '%')); at++) {
      size_t n = name_length(at);
      if (at[n] == 0 || !take(at, n, size, other))
        continue;
      int edits = tp__word_distance(other, name);
      if (edits == 0 || edits > distance)
        continue;
      distance = edits - 1;
      snprintf(closest, size, "%s", other);
    }
}

bool tp__source_similar_value(MlirLocation place, size_t size, char *name, char *closest) {
  char line[LINE_SIZE], *at;
  tp_source source = {0};
  bool ok = read_line(&source, place, line, &at) && take(at, name_length(at), size, name);
  closest[0] = 0;
  if (ok && fseek(source.file, 0, SEEK_SET) == 0)
    find_similar(source.file, name, (int)strlen(name) / 3, size, closest);
  tp__source_close(&source);
  return ok;
}

void tp__source_text(MlirLocation place, size_t size, char *text) {
  char line[LINE_SIZE], *at;
  tp_source source = {0};
  snprintf(text, size, "%s", read_line(&source, place, line, &at) ? at : "");
  tp__source_close(&source);
}

bool tp__source_operand(MlirLocation place, int i, size_t size, char *name) {
  char text[LINE_SIZE], *at = text;
  tp__source_text(place, sizeof text, text);
  at += strcspn(at, "%");
  for (; i > 0 && *at; i--)
    at += 1 + strcspn(at + 1, "%");
  size_t n = name_length(at);
  if (n < 2 || n >= size)
    return false;
  snprintf(name, size, "%.*s", (int)n, at);
  return true;
}

/* The length of a type, which ends before a comma or bracket that it does not open. */
static size_t type_length(const char *text) {
  int depth = 0;
  size_t n = 0;
  for (; text[n] && (depth > 0 || !strchr(",)", text[n])); n++)
    depth += strchr("<(", text[n]) ? 1 : strchr(">)", text[n]) ? -1 : 0;
  return n;
}

/* Writes the names and types of "%x, %w : T, U)". Returns the end, or NULL if that is not there. */
static const char *write_types(const char *names, size_t size, size_t *length, char *text) {
  const char *type = strstr(names, " : ");
  for (type = type ? type + 3 : NULL; type; names++, type++) {
    size_t n = name_length(names), m = type_length(type);
    if (n < 2 || m == 0 || names[n] == '#')
      return NULL;
    tp__text_printf(text, size, length, "%s%.*s is %.*s", *length ? ", " : "", (int)n, names,
                    (int)m, type);
    names += n;
    type += m;
    if (*type != ',')
      return *type == ')' && strncmp(names, " : ", 3) == 0 ? type : NULL;
    names += *names == ',';
    type += type[1] == ' ';
  }
  return NULL;
}

bool tp__source_operand_types(MlirLocation place, size_t size, char *text) {
  static const char *const begins[] = {" ins(", " outs("};
  char line[LINE_SIZE];
  const char *at = line;
  size_t length = 0;
  tp__source_text(place, sizeof line, line);
  for (int i = 0; i < TP_LEN(begins) && at; i++) {
    at = strstr(at, begins[i]);
    at = at ? write_types(at + strlen(begins[i]), size, &length, text) : NULL;
  }
  return at && length + 1 < size;
}

/* ---- arguments and results of functions ---- */

static bool source_name_of_argument(tp_source *source, MlirOperation func, int i, size_t size,
                                    char *name) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  return !mlirBlockIsNull(entry) && i < mlirBlockGetNumArguments(entry) &&
         tp__source_name(source, mlirBlockGetArgument(entry, i), size, name);
}

/* Copies tp.name of an argument or result. False if it has none. */
static bool given_name(MlirOperation func, bool is_argument, int i, size_t size, char *name) {
  MlirAttribute given = (is_argument ? tp__arg_attr : tp__result_attr)(func, i, "tp.name");
  if (mlirAttributeIsNull(given) || !mlirAttributeIsAString(given))
    return false;
  MlirStringRef text = mlirStringAttrGetValue(given);
  snprintf(name, size, "%.*s", (int)text.length, text.data);
  return true;
}

void tp__argument_name(tp_source *source, MlirOperation func, int i, size_t size, char *name) {
  if (given_name(func, true, i, size, name))
    return;
  if (source_name_of_argument(source, func, i, size, name))
    memmove(name, name + 1, strlen(name));
  else
    name[0] = 0;
}

const char *tp__boundary_text(tp_source *source, MlirOperation func, bool is_argument, int i,
                              char text[TP_BOUNDARY_TEXT]) {
  char name[TP_BOUNDARY_TEXT - 32];
  if (!given_name(func, is_argument, i, sizeof name, name) &&
      !(is_argument && source_name_of_argument(source, func, i, sizeof name, name)))
    name[0] = 0;
  snprintf(text, TP_BOUNDARY_TEXT, "%s %d%s%s%s", is_argument ? "argument" : "result", i,
           *name ? " (" : "", name, *name ? ")" : "");
  return text;
}

/* Reads "argument 3" or "result 3" at the begin of a text. Returns its length; 0: another text. */
static size_t read_boundary(const char *text, bool *is_argument, int *i) {
  static const char *const words[] = {"result ", "argument "};
  for (int k = 0; k < TP_LEN(words); k++) {
    size_t n = strlen(words[k]),
           digits = strspn(text + n * (strncmp(text, words[k], n) == 0), "0123456789");
    if (strncmp(text, words[k], n) != 0 || digits == 0 || digits > 6)
      continue;
    *is_argument = k == 1;
    *i = (int)strtol(text + n, NULL, 10);
    return n + digits;
  }
  return 0;
}

bool tp__argument_place(MlirOperation func, const char *message, MlirLocation *place) {
  bool is_argument;
  int i;
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  if (read_boundary(message, &is_argument, &i) == 0 || !is_argument || mlirBlockIsNull(entry) ||
      i >= mlirBlockGetNumArguments(entry))
    return false;
  *place = mlirValueGetLocation(mlirBlockGetArgument(entry, i));
  MlirLocation file;
  return tp__location_file(*place, &file);
}

void tp__name_boundary(MlirOperation func, const char *message, size_t size, char *text) {
  MlirType type = tp__func_type(func);
  tp_source source = {0};
  size_t used = 0;
  while (*message && used + 1 < size) {
    char what[TP_BOUNDARY_TEXT];
    bool is_argument, is_whole = false;
    int i;
    size_t n = read_boundary(message, &is_argument, &i);
    if (n > 0)
      is_whole = i < (is_argument ? mlirFunctionTypeGetNumInputs(type)
                                  : mlirFunctionTypeGetNumResults(type)) &&
                 strncmp(message + n, " (", 2) != 0;
    if (is_whole)
      used += (size_t)snprintf(text + used, size - used, "%s",
                               tp__boundary_text(&source, func, is_argument, i, what));
    else
      text[used++] = *message;
    message += is_whole ? n : 1;
  }
  text[used < size ? used : size - 1] = 0;
  tp__source_close(&source);
}
