/* Output to stderr. Ranks are threads or processes that share it and may write at once. So each
 * text is one write of whole lines: text that is written in parts, or through stdio, mixes with the
 * lines of other ranks. */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char wipe[] = "\r\033[K";
static volatile sig_atomic_t has_line; /* a progress line is shown */

static bool write_all(const char *text, size_t n) {
  while (n > 0) {
    ssize_t written = write(STDERR_FILENO, text, n);
    if (written < 0 && errno != EINTR)
      return false; /* stderr failed, so there is no place to report it */
    text += written > 0 ? written : 0;
    n -= written > 0 ? (size_t)written : 0;
  }
  return true;
}

/* Returns the length of the first part of a text: as many lines as a pipe takes at once, but at
 * least one. */
static size_t part_of(const char *text, size_t n) {
  if (n <= PIPE_BUF)
    return n;
  const char *end = memrchr(text, '\n', PIPE_BUF);
  end = end ? end : memchr(text, '\n', n);
  return end ? (size_t)(end - text) + 1 : n;
}

bool cli_write(const char *text, size_t n) {
  int error = errno;
  bool ok = !has_line || write_all(wipe, sizeof wipe - 1);
  has_line = 0;
  for (size_t part; n > 0 && ok; text += part, n -= part) {
    part = part_of(text, n);
    ok = write_all(text, part);
  }
  errno = error;
  return ok;
}

void cli_print(const char *format, ...) {
  char *text;
  va_list args;
  va_start(args, format);
  if (vasprintf(&text, format, args) < 0)
    text = NULL;
  va_end(args);
  if (!text)
    text = (char *)format; /* out of memory: print the format itself */
  (void)cli_write(text, strlen(text));
  if (text != format)
    free(text);
}

void cli_show(const char *what) {
  char line[256];
  if (!isatty(STDERR_FILENO))
    return;
  int n = snprintf(line, sizeof line, "%s%s", has_line ? wipe : "", what ? what : "");
  (void)write_all(line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
  has_line = what != NULL;
}
