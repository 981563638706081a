/* Runs measuring programs, each in its own process group, so that the whole group can be ended at
 * any time. */
#include "bench.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stop_asked;
static sigset_t usual_mask;

static void ask_to_stop(int signal_number) {
  (void)signal_number;
  stop_asked = 1;
}

/* Catches the signals and blocks them, except while the parent waits for output. So no signal is
 * missed between a check of stop_asked and the wait. */
void pass_catch_signals(void) {
  struct sigaction action = {.sa_handler = ask_to_stop};
  sigset_t blocked;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGINT);
  sigaddset(&blocked, SIGTERM);
  sigprocmask(SIG_BLOCK, &blocked, &usual_mask);
}

static void become_child(const int pipe_ends[2]) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  sigprocmask(SIG_SETMASK, &usual_mask, NULL);
  dup2(pipe_ends[1], STDOUT_FILENO);
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

/* Waits up to `tries` times 10 ms, or until a signal arrives; 0 tries: until a signal arrives. True
 * if the child has ended. */
static bool wait_for(pid_t child, int tries, bool heed_signals, int *status) {
  for (int i = 0; tries == 0 || i < tries; i++) {
    struct timespec pause = {.tv_nsec = i < 100 ? 1000000 : 10000000};
    if (waitpid(child, status, WNOHANG) != 0)
      return true;
    if (heed_signals && stop_asked)
      return false;
    ppoll(NULL, 0, &pause, &usual_mask);
  }
  return false;
}

/* Ends the process group of `child`. A child that has not finished gets SIGTERM first (mpirun then
 * ends its ranks), and SIGKILL after two seconds. */
static pass_status end_group(pid_t child, bool finished) {
  int status = 0;
  bool ended = finished && wait_for(child, 0, true, &status);
  if (!ended) {
    kill(-child, SIGTERM);
    if (!wait_for(child, 200, false, &status)) {
      kill(-child, SIGKILL);
      waitpid(child, &status, 0);
    }
  }
  kill(-child, SIGKILL); /* any remaining processes of the group */
  if (!ended)
    return PASS_INTERRUPTED;
  if (WIFSIGNALED(status))
    complain("the process that measures was terminated by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PASS_OK : PASS_FAILED;
}

/* Passes each line that arrives to `take`. False if a signal arrived first. */
static bool read_lines(int fd, void (*take)(void *data, const char *line), void *data) {
  char buffer[4096];
  size_t length = 0;
  for (;;) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    if (stop_asked || (ppoll(&poll_fd, 1, NULL, &usual_mask) < 0 && errno == EINTR))
      return false;
    ssize_t n = read(fd, buffer + length, sizeof buffer - 1 - length);
    if (n <= 0)
      return true;
    length += (size_t)n;
    buffer[length] = 0;
    char *line = buffer;
    for (char *end; (end = strchr(line, '\n')); line = end + 1) {
      *end = 0;
      take(data, line);
    }
    length -= (size_t)(line - buffer);
    memmove(buffer, line, length);
    length = length == sizeof buffer - 1 ? 0 : length; /* overlong line: not one of shard-bench */
  }
}

static pass_status run_child(int (*start)(void *), void *data, void (*take)(void *, const char *),
                             void *sink) {
  int ends[2];
  fflush(NULL);
  if (pipe(ends) != 0) {
    complain("cannot make a pipe: %s", strerror(errno));
    return PASS_FAILED;
  }
  pid_t child = fork();
  if (child == 0) {
    become_child(ends);
    exit(start(data));
  }
  close(ends[1]);
  if (child < 0) {
    complain("cannot start a process: %s", strerror(errno));
    close(ends[0]);
    return PASS_FAILED;
  }
  /* also in the parent: a signal may have to be sent before the child gets here */
  setpgid(child, child);
  bool finished = read_lines(ends[0], take, sink);
  close(ends[0]);
  return end_group(child, finished);
}

/* ---- Measurements per size ---- */

typedef struct size_lines {
  int n_sizes, n_seen;
  pass_result *result;
} size_lines;

static void take_size(void *data, const char *line) {
  size_lines *lines = data;
  int index;
  double median, minimum;
  if (sscanf(line, "%d %lf %lf", &index, &median, &minimum) != 3 || index != lines->n_seen ||
      index >= lines->n_sizes)
    return; /* other output, such as that of a launcher */
  lines->result->median_us[index] = median;
  lines->result->minimum_us[index] = minimum;
  lines->n_seen++;
}

pass_status pass_run(int (*start)(void *data), void *data, int n_sizes, pass_result *result) {
  size_lines lines = {.n_sizes = n_sizes, .result = result};
  pass_status status = run_child(start, data, take_size, &lines);
  return status == PASS_OK && lines.n_seen != n_sizes ? PASS_FAILED : status;
}

/* ---- Other measurements ---- */

typedef struct number_lines {
  int n_values, n_seen;
  double *values;
} number_lines;

static void take_number(void *data, const char *line) {
  number_lines *lines = data;
  if (lines->n_seen < lines->n_values && sscanf(line, "%lf", &lines->values[lines->n_seen]) == 1)
    lines->n_seen++;
}

pass_status pass_numbers(int (*start)(void *data), void *data, int n_values, double *values) {
  number_lines lines = {.n_values = n_values, .values = values};
  pass_status status = run_child(start, data, take_number, &lines);
  return status == PASS_OK && lines.n_seen != n_values ? PASS_FAILED : status;
}
