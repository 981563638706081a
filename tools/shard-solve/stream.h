/* Feeds a file, compressed by gzip or not, to the streaming JSON parser yajl, and keeps the first
 * error with its position. The file may be one line of any length. */
#ifndef SHARD_SOLVE_STREAM_H
#define SHARD_SOLVE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <yajl/yajl_parse.h>
#include <zlib.h>

typedef struct position {
  int64_t line, column; /* from 1; the column counts bytes */
} position;

typedef struct stream {
  gzFile file;
  const char *path;
  unsigned char *buffer;
  yajl_handle parser;
  int64_t before;           /* bytes of the text before the buffer */
  int64_t line, line_start; /* of the last counted byte */
  size_t n, counted;        /* bytes in the buffer; those whose line ends are counted */
  bool failed;
  char message[768];
} stream;

/* Writes the JSON path of the current value. */
typedef void (*stream_path)(const void *context, char *text, size_t size);

/* Parses the file with `callbacks`, which get `context` and return 0 after stream_fail. False if
 * any error was recorded. */
bool stream_parse(stream *s, const char *path, const yajl_callbacks *callbacks, void *context,
                  stream_path where);
void stream_close(stream *s);

/* In a callback: the position of the current token, which is `length` bytes long. */
position stream_here(stream *s, size_t length);

/* Records the error "FILE:LINE:COLUMN: PATH: ..." and returns false. */
bool stream_fail(stream *s, position where, const char *path, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Records "FILE: ..." for errors of the file as a whole, and returns false. */
bool stream_fail_file(stream *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
