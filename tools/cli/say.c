/* Output to stderr. Ranks are threads or processes that share it and may write at once. So each
 * text is one write of whole lines: text that is written in parts, or through stdio, mixes with the
 * lines of other ranks. */
#include "progress.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char wipe[] = "\r\033[K";

/* A flag instead of a mutex, because signal handlers write to stderr too. */
static atomic_flag is_taken = ATOMIC_FLAG_INIT;
static volatile sig_atomic_t has_line; /* the progress line is shown */

bool cli_stderr_take(void) {
  enum { TRIES = 100000 };
  for (int i = 0; i < TRIES; i++) {
    if (!atomic_flag_test_and_set(&is_taken))
      return true;
    sched_yield();
  }
  return false;
}

void cli_stderr_give(void) { atomic_flag_clear(&is_taken); }

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

void cli_line_clear(void) {
  if (has_line)
    (void)write_all(wipe, sizeof wipe - 1);
  has_line = 0;
}

void cli_line_draw(const char *text) {
  char line[600];
  (void)write_all(line, (size_t)(stpcpy(stpcpy(line, wipe), text) - line));
  has_line = 1;
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
  bool is_alone = cli_stderr_take(), ok = true;
  cli_line_clear();
  for (size_t part; n > 0 && ok; text += part, n -= part) {
    part = part_of(text, n);
    ok = write_all(text, part);
  }
  if (is_alone)
    cli_stderr_give();
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
