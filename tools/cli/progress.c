/* The progress line: what the tool does, for how long, and how long that will take. A thread draws
 * it, because most activities are single calls that take long. */
#include "progress.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Shorter activities are not shown. */
#define FIRST_AFTER 1.0
#define BETWEEN_NS 200000000

static struct {
  char what[128], detail[128]; /* what: "" if nothing is shown */
  double start, hidden_until;
  /* left: seconds at the time `left_at`; negative: unknown. is_most: the activity may take less */
  double left, left_at;
  bool is_most, has_thread, is_over;
} line; /* of the owner of stderr */

/* "12 s", "3 min 5 s", "2 h 4 min". */
static const char *duration(double seconds, char *text, size_t size) {
  long s = (long)(seconds + 0.5);
  if (s < 60)
    snprintf(text, size, "%ld s", s);
  else if (s < 3600)
    snprintf(text, size, "%ld min %02ld s", s / 60, s % 60);
  else
    snprintf(text, size, "%ld h %ld min", s / 3600, s / 60 % 60);
  return text;
}

static void draw(void) {
  char text[512], left[64] = "", past[32], future[32];
  double now = cli_seconds(), rest = line.left - (now - line.left_at);
  int columns = cli_columns(STDERR_FILENO, 80);
  if (!line.what[0] || line.is_over || now - line.start < FIRST_AFTER || now < line.hidden_until)
    return;
  if (line.left >= 0 && rest > -1) /* else the estimate was too low */
    snprintf(left, sizeof left, " (%s%s left)", line.is_most ? "at most " : "",
             duration(rest > 1 ? rest : 1, future, sizeof future));
  int n = snprintf(text, sizeof text, "%s: %s, %s%s%s%s", cli_program.name, line.what,
                   duration(now - line.start, past, sizeof past), left, line.detail[0] ? ": " : "",
                   line.detail);
  n = n < (int)sizeof text ? n : (int)sizeof text - 1;
  text[n < columns ? n : columns - 1] = 0; /* a full line would wrap */
  cli_line_draw(text);
}

static void *draw_repeatedly(void *unused) {
  static const struct timespec between = {.tv_nsec = BETWEEN_NS};
  bool goes_on = true;
  while (goes_on) {
    nanosleep(&between, NULL);
    if (!cli_stderr_take())
      continue;
    draw();
    goes_on = line.what[0] && !line.is_over;
    line.has_thread = goes_on;
    cli_stderr_give();
  }
  return unused;
}

/* The thread takes no signals: handlers expect those of the main thread. */
static void start_thread(void) {
  pthread_t thread;
  sigset_t all, usual;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &usual);
  line.has_thread = pthread_create(&thread, NULL, draw_repeatedly, NULL) == 0;
  if (line.has_thread)
    pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &usual, NULL);
}

bool cli_shows_progress(void) {
  const char *kind = getenv("TERM");
  return isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

void progress(const char *what) {
  if (!cli_shows_progress() || !cli_stderr_take())
    return;
  cli_line_clear();
  line.what[0] = line.detail[0] = 0;
  line.left = -1;
  line.start = cli_seconds();
  snprintf(line.what, sizeof line.what, "%s", what ? what : "");
  if (what && !line.has_thread)
    start_thread();
  cli_stderr_give();
}

void progress_detail(const char *detail, double left, bool is_most) {
  if (!cli_shows_progress() || !cli_stderr_take())
    return;
  snprintf(line.detail, sizeof line.detail, "%s", detail);
  line.left = left;
  line.left_at = cli_seconds();
  line.is_most = is_most;
  cli_stderr_give();
}

void progress_steps(int done, int all) {
  char text[64];
  double passed = cli_seconds() - line.start;
  snprintf(text, sizeof text, "%d of %d", done, all);
  progress_detail(text, done > 0 ? passed / done * (all - done) : -1, false);
}

void progress_hide(void) {
  if (!cli_shows_progress() || !cli_stderr_take())
    return;
  cli_line_clear();
  line.hidden_until = cli_seconds() + 0.5;
  cli_stderr_give();
}

void cli_silence(void) {
  bool is_alone = cli_stderr_take();
  cli_line_clear();
  line.is_over = true;
  if (is_alone)
    cli_stderr_give();
}
