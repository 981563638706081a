/* Reads a JSON file as a stream, plain or compressed by gzip. */
#include "stream.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 1 << 18 };

/* ---- errors ---- */

static void note(stream *s, const char *place, const char *format, va_list args) {
  if (s->failed)
    return;
  s->failed = true;
  int n = snprintf(s->message, sizeof s->message, "%.300s%s: ", s->path, place);
  vsnprintf(s->message + n, sizeof s->message - (size_t)n, format, args);
}

bool stream_fail(stream *s, position where, const char *path, const char *format, ...) {
  char place[160];
  snprintf(place, sizeof place, ":%lld:%lld%s%s", (long long)where.line, (long long)where.column,
           *path ? ": " : "", path);
  va_list args;
  va_start(args, format);
  note(s, place, format, args);
  va_end(args);
  return false;
}

bool stream_fail_file(stream *s, const char *format, ...) {
  va_list args;
  va_start(args, format);
  note(s, "", format, args);
  va_end(args);
  return false;
}

/* Counts lines lazily: a token contains no line end, so only the ends before it count. */
position stream_here(stream *s, size_t length) {
  size_t end = yajl_get_bytes_consumed(s->parser);
  const unsigned char *at;
  while (s->counted < end &&
         (at = memchr(s->buffer + s->counted, '\n', end - s->counted)) != NULL) {
    s->counted = (size_t)(at - s->buffer) + 1;
    s->line++;
    s->line_start = s->before + (int64_t)s->counted;
  }
  s->counted = end > s->counted ? end : s->counted;
  int64_t column = s->before + (int64_t)end - (int64_t)length - s->line_start + 1;
  return (position){s->line, column > 1 ? column : 1};
}

/* ---- reading ---- */

/* Removes the path that zlib puts before its messages. */
static const char *without_path(const stream *s, const char *message) {
  size_t n = strlen(s->path);
  return strncmp(message, s->path, n) == 0 && strncmp(message + n, ": ", 2) == 0 ? message + n + 2
                                                                                 : message;
}

/* Fills the buffer; n == 0 at the end of the file. */
static bool refill(stream *s) {
  stream_here(s, 0); /* counts the rest of the lines */
  s->before += (int64_t)s->n;
  s->n = s->counted = 0;
  int n = gzread(s->file, s->buffer, BUFFER_BYTES), code;
  const char *why = gzerror(s->file, &code);
  if (n < 0 || (n == 0 && code != Z_OK && code != Z_STREAM_END))
    return stream_fail_file(s, "cannot be read: %s",
                            code == Z_ERRNO ? strerror(errno) : without_path(s, why));
  s->n = (size_t)n;
  return true;
}

static bool open_file(stream *s, const yajl_callbacks *callbacks, void *context) {
  s->buffer = malloc(BUFFER_BYTES);
  s->parser = yajl_alloc(callbacks, NULL, context);
  if (!s->buffer || !s->parser)
    return stream_fail_file(s, "out of memory");
  errno = 0;
  s->file = gzopen(s->path, "rb");
  if (!s->file)
    return stream_fail_file(s, "cannot be opened: %s", errno ? strerror(errno) : "out of memory");
  gzbuffer(s->file, BUFFER_BYTES);
  return true;
}

/* Records an error of the parser itself, whose text is a line of the form "parse error: ...". The
 * parser stops behind the token or byte that it refuses, but in front of a byte in a string. At the
 * end of the file it has taken a blank that is not in the file. */
static bool invalid(stream *s, const char *path) {
  unsigned char *text = yajl_get_error(s->parser, 0, s->buffer, s->n);
  if (!text)
    return stream_fail_file(s, "out of memory");
  text[strcspn((char *)text, "\n")] = 0;
  bool in_string = strstr((char *)text, "string") != NULL;
  position at = {s->line, s->before - s->line_start + 1};
  size_t length = strlen((char *)text);
  if (length > 0 && text[length - 1] == '.')
    text[length - 1] = 0;
  at = s->n > 0 ? stream_here(s, in_string ? 0 : 1) : at;
  bool is_begin = at.line == 1 && at.column == 1;
  if (s->n == 0 && s->before == 0)
    stream_fail_file(s, "is empty; give a planning problem in JSON");
  else
    stream_fail(s, at, path, "this is not JSON: %s%s", (char *)text,
                is_begin ? "; shard-solve reads planning problems, and shard-opt plans programs"
                         : "");
  yajl_free_error(s->parser, text);
  return false;
}

bool stream_parse(stream *s, const char *path, const yajl_callbacks *callbacks, void *context,
                  stream_path where) {
  *s = (stream){.path = path, .line = 1};
  yajl_status status = yajl_status_ok;
  if (!open_file(s, callbacks, context))
    return false;
  do {
    if (!refill(s))
      return false;
    status = s->n > 0 ? yajl_parse(s->parser, s->buffer, s->n) : yajl_complete_parse(s->parser);
  } while (status == yajl_status_ok && s->n > 0);
  char at[96];
  if (status == yajl_status_error) {
    where(context, at, sizeof at);
    return invalid(s, at);
  }
  return !s->failed;
}

void stream_close(stream *s) {
  if (s->file)
    gzclose(s->file);
  if (s->parser)
    yajl_free(s->parser);
  free(s->buffer);
  s->file = NULL;
  s->parser = NULL;
  s->buffer = NULL;
}
