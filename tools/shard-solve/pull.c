/* Pull parser for the JSON of problem files, plain or compressed by gzip. */
#include "pull.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 18 };

bool pull_open(pull *j, const char *path) {
  *j = (pull){.path = path, .line = 1};
  j->buffer = malloc(BUFFER_BYTES);
  if (!j->buffer)
    return pull_fail_file(j, "out of memory");
  errno = 0;
  j->file = gzopen(path, "rb");
  if (!j->file)
    return pull_fail_file(j, "cannot be opened: %s", errno ? strerror(errno) : "out of memory");
  gzbuffer(j->file, BUFFER_BYTES);
  return true;
}

void pull_close(pull *j) {
  if (j->file)
    gzclose(j->file);
  free(j->buffer);
  j->file = NULL;
  j->buffer = NULL;
}

static void note(pull *j, const char *position, const char *format, va_list args) {
  if (j->failed)
    return;
  j->failed = true;
  int n = snprintf(j->message, sizeof j->message, "%.300s%s: ", j->path, position);
  vsnprintf(j->message + n, sizeof j->message - (size_t)n, format, args);
}

bool pull_fail(pull *j, pull_position where, const char *format, ...) {
  char position[48];
  snprintf(position, sizeof position, ":%lld:%lld", (long long)where.line, (long long)where.column);
  va_list args;
  va_start(args, format);
  note(j, position, format, args);
  va_end(args);
  return false;
}

bool pull_fail_file(pull *j, const char *format, ...) {
  va_list args;
  va_start(args, format);
  note(j, "", format, args);
  va_end(args);
  return false;
}

/* Removes the path that zlib puts before its messages. */
static const char *without_path(const pull *j, const char *message) {
  size_t n = strlen(j->path);
  return strncmp(message, j->path, n) == 0 && strncmp(message + n, ": ", 2) == 0 ? message + n + 2
                                                                                 : message;
}

static bool refill(pull *j) {
  if (j->failed)
    return false;
  j->before += j->n;
  j->at = j->n = 0;
  int n = gzread(j->file, j->buffer, BUFFER_BYTES);
  int code;
  const char *why = gzerror(j->file, &code);
  if (n < 0 || (n == 0 && code != Z_OK && code != Z_STREAM_END))
    return pull_fail_file(j, "cannot be read: %s",
                          code == Z_ERRNO ? strerror(errno) : without_path(j, why));
  j->n = (unsigned)n;
  return n > 0;
}

static inline int peek_byte(pull *j) {
  if (j->at == j->n && !refill(j))
    return -1;
  return j->buffer[j->at];
}

pull_position pull_here(pull *j) {
  peek_byte(j);
  return (pull_position){j->line, j->before + j->at - j->line_start + 1};
}

int pull_peek(pull *j) {
  for (int c; (c = peek_byte(j)) >= 0; j->at++) {
    if (c == '\n') {
      j->line++;
      j->line_start = j->before + j->at + 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return c;
    }
  }
  return -1;
}

static bool unexpected(pull *j, const char *what) {
  int c = pull_peek(j);
  if (c < 0)
    return pull_fail(j, pull_here(j), "the file ends where %s was expected", what);
  if (c < ' ' || c > '~')
    return pull_fail(j, pull_here(j), "%s was expected, not the byte 0x%02x", what, (unsigned)c);
  return pull_fail(j, pull_here(j), "%s was expected, not '%c'", what, c);
}

bool pull_take(pull *j, char c, const char *what) {
  if (j->failed || pull_peek(j) != c)
    return unexpected(j, what);
  j->at++;
  return true;
}

bool pull_more(pull *j, char closing, bool *first) {
  if (j->failed)
    return false;
  int c = pull_peek(j);
  bool is_first = *first;
  *first = false;
  if (c == closing) {
    j->at++;
    return false;
  }
  if (is_first && c >= 0)
    return true;
  if (!is_first && c == ',') {
    j->at++;
    return true;
  }
  return unexpected(j, is_first         ? (closing == ']' ? "an element or ']'" : "a key or '}'")
                       : closing == ']' ? "',' or ']'"
                                        : "',' or '}'");
}

bool pull_string(pull *j, char *text, int size) {
  if (!pull_take(j, '"', "a string"))
    return false;
  int n = 0;
  bool escaped = false;
  for (int c; (c = peek_byte(j)) >= 0; j->at++) {
    if (c == '"' && !escaped) {
      j->at++;
      text[n] = 0;
      return true;
    }
    if (c < ' ')
      return pull_fail(j, pull_here(j), "a string with the control character 0x%02x", (unsigned)c);
    escaped = c == '\\' && !escaped;
    if (n < size - 1)
      text[n++] = (char)c;
  }
  return pull_fail(j, pull_here(j), "the file ends in a string");
}

bool pull_whole(pull *j, int64_t *value) {
  int c = j->failed ? -1 : pull_peek(j);
  pull_position start = pull_here(j);
  if (c == '-')
    return pull_fail(j, start, "a negative number; costs, usages, times and node numbers are >= 0");
  if (c < '0' || c > '9')
    return unexpected(j, "a whole number");
  uint64_t sum = 0;
  for (; c >= '0' && c <= '9'; c = peek_byte(j)) {
    unsigned digit = (unsigned)c - '0';
    if (sum > ((uint64_t)INT64_MAX - digit) / 10)
      return pull_fail(j, start, "a number above 9223372036854775807");
    sum = sum * 10 + digit;
    j->at++;
  }
  if (c == '.' || c == 'e' || c == 'E')
    return pull_fail(j, start,
                     "a number with a fraction or an exponent; write whole numbers in full");
  *value = (int64_t)sum;
  return !j->failed;
}

bool pull_finish(pull *j) {
  if (j->failed)
    return false;
  return pull_peek(j) < 0 ? !j->failed : unexpected(j, "the end of the file");
}
