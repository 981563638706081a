/* A pull parser for JSON, of the few forms that problem files have: objects, arrays, strings and
 * whole numbers. It reads a stream through a small buffer, so a file may be one line of any length,
 * compressed or not.
 *
 * The first error is kept, with its position; afterwards every call returns false. */
#ifndef SHARD_SOLVE_PULL_H
#define SHARD_SOLVE_PULL_H

#include <stdbool.h>
#include <stdint.h>

#include <zlib.h>

typedef struct pull_position {
  int64_t line, column; /* from 1; the column counts bytes */
} pull_position;

typedef struct pull {
  gzFile file;
  const char *path;
  unsigned char *buffer;
  unsigned at, n; /* next and end of what is in the buffer */
  int64_t before; /* bytes of the text before the buffer */
  int64_t line, line_start;
  bool failed;
  char message[512];
} pull;

/* The file may be compressed by gzip. */
bool pull_open(pull *j, const char *path);
void pull_close(pull *j);

/* Next character after white space, not taken; -1 at the end. */
int pull_peek(pull *j);
pull_position pull_here(pull *j);

/* Notes the error "PATH:LINE:COLUMN: ...", and returns false. */
bool pull_fail(pull *j, pull_position where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same without a position, for what the file as a whole lacks. */
bool pull_fail_file(pull *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes `c`, or fails saying that `what` was expected. */
bool pull_take(pull *j, char c, const char *what);
/* Inside an array or object: true if one more element follows, and takes what separates them.
 * `first` is true before the first. At the closing character, which it takes, and on errors it
 * returns false. */
bool pull_more(pull *j, char closing, bool *first);
/* A string of less than `size` bytes; longer ones are cut, escapes are kept as written. */
bool pull_string(pull *j, char *text, int size);
/* A whole number in [0, 2^63). */
bool pull_whole(pull *j, int64_t *value);
/* Nothing but white space is left. */
bool pull_finish(pull *j);

#endif
