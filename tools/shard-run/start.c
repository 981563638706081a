/* shard-run -n N -- PROGRAM: starts a program N times, as ranks of one world. Their rendezvous is a
 * store in an inherited memory file. If one fails, the others get some time to notice and are then
 * ended. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A rank that a signal killed has said nothing that the others could add to. */
static const double grace_seconds = 10, grace_after_signal = 0.8, grace_after_sigterm = 0.8;

/* The signal that ends the ranks. is_sent: the terminal has sent it to them, too. */
static volatile sig_atomic_t stopped_by, n_signals, is_sent;

static void note_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  stopped_by = number;
  is_sent = info->si_code == SI_KERNEL;
  n_signals++;
}

/* Creates the environment of rank `rank`, with its variables; `texts` is the buffer for them. */
static char **make_environment(int n, int rank, int store, char texts[4][48]) {
  static const char *const names[] = {
      "TPRT_RANK=", "TPRT_SIZE=", "TPRT_STORE=", "TPRT_SEGMENT_FD="};
  size_t n_old = 0, n_new = 0;
  while (environ[n_old])
    n_old++;
  char **all = calloc(n_old + 4, sizeof *all);
  if (!all)
    return NULL;
  snprintf(texts[0], sizeof texts[0], "TPRT_RANK=%d", rank);
  snprintf(texts[1], sizeof texts[1], "TPRT_SIZE=%d", n);
  snprintf(texts[2], sizeof texts[2], "TPRT_STORE=fd:%d", store);
  for (size_t i = 0; i < 3; i++)
    all[n_new++] = texts[i];
  for (size_t i = 0; i < n_old; i++) {
    bool ours = false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
      ours |= strncmp(environ[i], names[k], strlen(names[k])) == 0;
    if (!ours)
      all[n_new++] = environ[i];
  }
  return all;
}

/* Becomes the program. The rank is killed if the launcher ends, since nobody else would end it.
 * Returns the reason why it could not start. */
static int become(char **command, char **environment, pid_t launcher) {
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0)
    return errno;
  if (getppid() != launcher) /* it has ended already */
    _exit(EXIT_FAILED);
  environ = environment;
  execvp(command[0], command);
  return errno;
}

/* Starts the program. Returns the reason why it could not start, which comes through a pipe; 0: it
 * started. */
static int start_process(char **command, char **environment, pid_t *pid) {
  int ends[2], code = 0;
  pid_t launcher = getpid();
  if (pipe2(ends, O_CLOEXEC) != 0)
    return errno;
  *pid = fork();
  if (*pid == 0) {
    code = become(command, environment, launcher);
    (void)!write(ends[1], &code, sizeof code);
    _exit(EXIT_FAILED);
  }
  if (*pid < 0)
    code = errno;
  close(ends[1]);
  if (*pid > 0 && read(ends[0], &code, sizeof code) > 0) {
    waitpid(*pid, NULL, 0);
    *pid = 0;
  }
  close(ends[0]);
  return code;
}

static bool start_one(char **command, int n, int rank, int store, pid_t *pid) {
  char texts[4][48];
  char **all = make_environment(n, rank, store, texts);
  int code = all ? start_process(command, all, pid) : ENOMEM;
  if ((code == ENOENT || code == EACCES) && access(command[0], F_OK) == 0 &&
      access(command[0], X_OK) != 0)
    complain("'%s' is no program; if it is a model, write shard-run -n %d -- shard-run %s",
             command[0], n, command[0]);
  else if (code)
    complain("rank %d of %d, '%s', could not be started: %s", rank, n, command[0], strerror(code));
  free(all);
  return code == 0;
}

static void signal_all(const pid_t *pids, int n, int number) {
  for (int i = 0; i < n; i++)
    if (pids[i] > 0)
      kill(pids[i], number);
}

/* Returns the exit code that a shell would report. */
static int code_of(int state) {
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

static void report_end(int rank, int state) {
  char text[SIGNAL_TEXT];
  if (WIFSIGNALED(state))
    complain("rank %d was terminated by %s", rank, signal_text(WTERMSIG(state), text, sizeof text));
  else if (WEXITSTATUS(state))
    complain("rank %d exited with code %d", rank, WEXITSTATUS(state));
}

/* Waits for all processes. The first failure determines the exit code, and starts the timeout for
 * the others. */
static int await_all(pid_t *pids, int n) {
  static const struct timespec pause = {.tv_nsec = 5000000};
  int left = n, code = 0, number = SIGTERM;
  bool is_stopped = false;
  double until = 0;
  for (int i = 0; i < n; i++)
    left -= pids[i] <= 0;
  while (left > 0) {
    int state;
    pid_t pid = waitpid(-1, &state, WNOHANG);
    for (int i = 0; i < n && pid > 0; i++) {
      if (pids[i] != pid)
        continue;
      pids[i] = 0;
      left--;
      if (!code)
        report_end(i, state);
      if (!code && (code = code_of(state)))
        until = cli_seconds() + (WIFSIGNALED(state) ? grace_after_signal : grace_seconds);
    }
    if (stopped_by && !is_stopped) {
      is_stopped = true;
      code = 128 + stopped_by;
      if (!is_sent)
        signal_all(pids, n, stopped_by);
      until = cli_seconds() + grace_seconds;
    }
    if (n_signals > 1)
      signal_all(pids, n, SIGKILL);
    if (code && cli_seconds() >= until) { /* SIGTERM first, then SIGKILL */
      signal_all(pids, n, number);
      number = SIGKILL;
      until = cli_seconds() + grace_after_sigterm;
    }
    if (pid <= 0)
      nanosleep(&pause, NULL);
  }
  return code;
}

int start_program(int n, char **command) {
  struct sigaction note = {.sa_sigaction = note_signal, .sa_flags = SA_SIGINFO};
  pid_t *pids = calloc((size_t)n, sizeof *pids);
  int file = memfd_create("shard-run store", MFD_CLOEXEC);
  int store = file < 0 ? -1 : fcntl(file, F_DUPFD, 10); /* inherited */
  int code = EXIT_FAILED;
  if (!pids || store < 0)
    complain("%d ranks could not be started: %s", n, strerror(errno));
  bool ok = pids && store >= 0;
  for (int r = 0; r < n && ok; r++)
    ok = start_one(command, n, r, store, &pids[r]);
  /* before this, a signal ends the launcher, and its end those of the ranks that are started */
  sigaction(SIGINT, &note, NULL);
  sigaction(SIGTERM, &note, NULL);
  if (pids && !ok)
    signal_all(pids, n, SIGKILL);
  if (pids) {
    int ended = await_all(pids, n);
    code = ok ? ended : EXIT_FAILED;
  }
  if (file >= 0)
    close(file);
  if (store >= 0)
    close(store);
  free(pids);
  return code;
}
