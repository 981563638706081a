/* Reads from the text of a program what it calls a value: MLIR keeps the place of a name, but not
 * the name. */
#include "passes/propagate/report/source_text.h"

#include "ir/location.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 1 << 28 };

/* Reads a regular file; others, such as pipes, may never end. */
static char *read_file(const char *path, size_t *size) {
  struct stat state;
  char *text = NULL;
  if (stat(path, &state) != 0 || !S_ISREG(state.st_mode) || state.st_size > MOST_BYTES)
    return NULL;
  FILE *file = fopen(path, "rb");
  if (file && (text = tp__malloc((size_t)state.st_size + 1))) {
    *size = fread(text, 1, (size_t)state.st_size, file);
    text[*size] = 0;
  }
  if (file)
    fclose(file);
  return text;
}

/* Reads another file, and finds its lines. */
static void open_file(tp_source_text *t, const char *path) {
  tp__source_text_close(t);
  t->path = tp__malloc(strlen(path) + 1);
  if (!t->path)
    return;
  strcpy(t->path, path);
  t->text = read_file(path, &t->size);
  for (size_t at = 0; t->text && at < t->size; at++) {
    if (at > 0 && t->text[at - 1] != '\n')
      continue;
    if (tp__grow((void **)&t->lines, &t->capacity, t->n_lines + 1, sizeof *t->lines) != TP_OK)
      return;
    t->lines[t->n_lines++] = at;
  }
}

void tp__source_text_close(tp_source_text *t) {
  tp__free(t->path);
  tp__free(t->text);
  tp__free(t->lines);
  *t = (tp_source_text){0};
}

/* Returns the text at a place, and the beginning of its line; NULL: there is none. */
static const char *find_place(tp_source_text *t, MlirLocation location, const char **line) {
  MlirLocation place;
  char path[4096];
  if (!tp__location_file(location, &place))
    return NULL;
  MlirStringRef file = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(place));
  int row = mlirLocationFileLineColRangeGetStartLine(place),
      column = mlirLocationFileLineColRangeGetStartColumn(place);
  if (file.length >= sizeof path || row < 1 || column < 1)
    return NULL;
  memcpy(path, file.data, file.length);
  path[file.length] = 0;
  if (!t->path || strcmp(t->path, path) != 0)
    open_file(t, path);
  if ((size_t)row > t->n_lines)
    return NULL;
  size_t begin = t->lines[row - 1], at = begin + (size_t)column - 1;
  *line = t->text + begin;
  return at < t->size && !memchr(*line, '\n', at - begin) ? t->text + at : NULL;
}

static size_t length_of_name(const char *text) {
  size_t n = 0;
  while (isalnum((unsigned char)text[n]) || (text[n] && strchr("_$.-", text[n])))
    n++;
  return n;
}

/* Numbers and argN are names that MLIR makes up when it prints: another program has others. */
static bool is_given(const char *name, size_t n) {
  size_t skip = n > 3 && strncmp(name, "arg", 3) == 0 ? 3 : 0;
  return n > 0 && strspn(name + skip, "0123456789") < n - skip;
}

/* Finds the name of a result in "%a, %b:2 = OP", where `end` is the place of OP. */
static const char *name_of_result(const char *line, const char *end, int result, size_t *length) {
  int first = 0;
  for (const char *at = line + strspn(line, " \t"); at < end && *at == '%';) {
    size_t n = length_of_name(at + 1);
    const char *after = at + 1 + n;
    int count = *after == ':' ? atoi(after + 1) : 1;
    if (result < first + count) {
      *length = n;
      return at + 1;
    }
    first += count;
    at = after + strspn(after, ":0123456789");
    at += strspn(at, " ,");
  }
  return NULL;
}

const char *tp__source_name(tp_source_text *t, MlirValue value, size_t *length) {
  const char *line, *at = find_place(t, mlirValueGetLocation(value), &line), *name = NULL;
  if (!at)
    return NULL;
  if (mlirValueIsABlockArgument(value) && *at == '%') {
    name = at + 1;
    *length = length_of_name(name);
  } else if (mlirValueIsAOpResult(value)) {
    name = name_of_result(line, at, (int)mlirOpResultGetResultNumber(value), length);
  }
  return name && is_given(name, *length) ? name : NULL;
}
