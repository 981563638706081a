/* A pull parser for the subset of JSON in problem files: objects, arrays, strings and whole
 * numbers. It reads a stream through a small buffer, so a file may be one line of any length,
 * compressed or not.
 *
 * The first error is kept with its position; every later call returns false. */
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
  unsigned at, n; /* next byte and end of the buffered data */
  int64_t before; /* bytes of the text before the buffered data */
  int64_t line, line_start;
  bool failed;
  char message[512];
} pull;

/* Opens a file, which may be compressed by gzip. */
bool pull_open(pull *j, const char *path);
void pull_close(pull *j);

/* Returns the next character after white space without consuming it; -1 at the end. */
int pull_peek(pull *j);
pull_position pull_here(pull *j);

/* Records the error "PATH:LINE:COLUMN: ..." and returns false. */
bool pull_fail(pull *j, pull_position where, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Like pull_fail without a position, for errors of the file as a whole. */
bool pull_fail_file(pull *j, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Consumes `c`, or fails with a message that `what` was expected. */
bool pull_take(pull *j, char c, const char *what);
/* Inside an array or object: returns true if another element follows, and consumes the separator.
 * Set *first to true before the first call. Returns false at the closing character, which it
 * consumes, and on errors. */
bool pull_more(pull *j, char closing, bool *first);
/* Reads a string of less than `size` bytes; longer ones are truncated, escapes are kept as
 * written. */
bool pull_string(pull *j, char *text, int size);
/* Reads a whole number in [0, 2^63). */
bool pull_whole(pull *j, int64_t *value);
/* Checks that only white space is left. */
bool pull_finish(pull *j);

#endif
