/* shard-run -n N [--spares K] -- PROGRAM: starts a program N times, as ranks of one world. Their
 * rendezvous is a store in an inherited memory file. If one fails, the others get some time to
 * notice and are then ended.
 *
 * With spares there is a second store, which is open. If a signal kills a rank, the program is
 * started once more, as a spare that waits there until the other ranks let it take the place. They
 * can do so once they were connected, which each says in that store. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* A rank that a signal killed has said nothing that the others could add to. Neither do those whose
 * spares wait for what a rank has to say that has ended. */
static const double grace_seconds = 10, grace_after_signal = 0.8, grace_after_sigterm = 0.8;

/* The signal that ends the ranks. is_sent: the terminal has sent it to them, too. */
static volatile sig_atomic_t stopped_by, n_signals, is_sent;

static void note_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  stopped_by = number;
  is_sent = info->si_code == SI_KERNEL;
  n_signals++;
}

/* The process that is a rank, or waits to become it. */
typedef struct place {
  pid_t pid;     /* 0: it has ended */
  bool is_spare; /* it was started in place of another process */
  bool is_member;
  bool is_done; /* it ended with code 0 */
} place;

/* An end of a process, as waitpid says it. */
typedef struct end_of_rank {
  int rank, state;
} end_of_rank;

typedef struct job {
  char **command;
  int n, n_spares, n_spares_left;
  int store, spares;   /* inherited descriptors; spares -1: none */
  tprt_store *members; /* in `spares` */
  place *places;
  end_of_rank *ends; /* those that one look found; room for n */
  bool is_ending;    /* the ranks got a signal that ends them */
  int code;          /* of the job: the first failure; 0: none yet */
  double until;      /* with a failure: when the ranks are ended */
  int next_signal;   /* which ends them */
  int lost_code;     /* of the last rank that a spare replaces */
} job;

enum { N_VARIABLES = 5, VARIABLE_BYTES = 48 };

/* Creates the environment of a rank, with its variables; `texts` is the buffer for them. */
static char **make_environment(const job *j, int rank, bool is_spare,
                               char texts[N_VARIABLES][VARIABLE_BYTES]) {
  static const char *const names[] = {
      "TPRT_RANK=", "TPRT_SIZE=", "TPRT_STORE=", "TPRT_SPARES=", "TPRT_SPARE=", "TPRT_SEGMENT_FD="};
  size_t n_old = 0, n_new = 0;
  while (environ[n_old])
    n_old++;
  char **all = calloc(n_old + N_VARIABLES + 1, sizeof *all);
  if (!all)
    return NULL;
  snprintf(texts[0], VARIABLE_BYTES, "TPRT_RANK=%d", rank);
  snprintf(texts[1], VARIABLE_BYTES, "TPRT_SIZE=%d", j->n);
  snprintf(texts[2], VARIABLE_BYTES, "TPRT_STORE=fd:%d", j->store);
  snprintf(texts[3], VARIABLE_BYTES, "TPRT_SPARES=fd:%d", j->spares);
  snprintf(texts[4], VARIABLE_BYTES, "TPRT_SPARE=%d", is_spare);
  for (size_t i = 0; i < (j->spares < 0 ? 3 : N_VARIABLES); i++)
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
  signal(SIGINT, SIG_DFL); /* a shell in the background ignores it, but the launcher does not */
  signal(SIGXFSZ, SIG_DFL);
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

/* Why a program may be missing that can be executed here: without a '/' it is looked for in PATH,
 * else the system looks for what its first line names. "" if that is not so. */
static const char *why_missing(int code, const char *path) {
  struct stat info;
  if (code != ENOENT || stat(path, &info) != 0 || !S_ISREG(info.st_mode) || access(path, X_OK) != 0)
    return "";
  return strchr(path, '/') ? "; its first line names an interpreter that is missing"
                           : "; write ./ before it: it is in this folder, and not in PATH";
}

static bool start_one(job *j, int rank, bool is_spare) {
  char texts[N_VARIABLES][VARIABLE_BYTES], **command = j->command;
  char **all = make_environment(j, rank, is_spare, texts);
  place *p = &j->places[rank];
  *p = (place){.is_spare = is_spare};
  int code = all ? start_process(command, all, &p->pid) : ENOMEM;
  if ((code == ENOENT || code == EACCES) && access(command[0], F_OK) == 0 &&
      access(command[0], X_OK) != 0)
    complain("'%s' is no program; if it is a model, write shard-run -n %d -- shard-run %s",
             command[0], j->n, command[0]);
  else if (code)
    complain("rank %d of %d, '%s', could not be started: %s%s", rank, j->n, command[0],
             strerror(code), why_missing(code, command[0]));
  free(all);
  return code == 0;
}

static void signal_all(job *j, int number) {
  j->is_ending = true;
  for (int i = 0; i < j->n; i++)
    if (j->places[i].pid > 0)
      kill(j->places[i].pid, number);
}

/* Returns the exit code that a shell would report. */
static int code_of(int state) {
  return WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
}

/* ---- Spares ---- */

/* Looks who has become a rank. Returns how many of them run. */
static int count_members(job *j) {
  char key[TPRT_STORE_KEY_BYTES];
  int n = 0;
  for (int i = 0; i < j->n && j->members; i++) {
    place *p = &j->places[i];
    if (p->pid > 0 && !p->is_member) {
      snprintf(key, sizeof key, TPRT_MEMBER_KEY, (int)p->pid);
      p->is_member = tprt_store_wait(j->members, key, 1) == TPRT_OK;
    }
    n += p->pid > 0 && p->is_member;
  }
  return n;
}

static bool is_any_done(const job *j) {
  bool any = false;
  for (int i = 0; i < j->n; i++)
    any |= j->places[i].is_done;
  return any;
}

/* Starts a spare for a rank that a signal has killed. Returns NULL, or why it cannot. */
static const char *replace(job *j, int rank) {
  if (!j->n_spares_left)
    return "no spare is left";
  if (is_any_done(j))
    return "other ranks have done their work, so a spare could not join all of them";
  if (!count_members(j))
    return "there is no other rank that a spare could join";
  j->n_spares_left--;
  return start_one(j, rank, true) ? NULL : "its spare could not be started";
}

/* ---- Ends ---- */

static void fail(job *j, int code, double grace) {
  j->code = code;
  j->until = cli_seconds() + grace;
}

/* Deals with a process that has ended. The first failure determines the exit code, and starts the
 * timeout for the others. */
static void note_end(job *j, int rank, int state) {
  char text[SIGNAL_TEXT];
  j->places[rank].pid = 0;
  j->places[rank].is_done = !code_of(state);
  if (!code_of(state))
    return;
  if (j->code) { /* others often end because of the first, but no signal comes of that */
    if (WIFSIGNALED(state) && !j->is_ending)
      complain("rank %d was terminated by %s", rank,
               signal_text(WTERMSIG(state), text, sizeof text));
    return;
  }
  if (!WIFSIGNALED(state)) {
    complain("rank %d exited with code %d", rank, code_of(state));
    fail(j, code_of(state), j->n_spares ? grace_after_signal : grace_seconds);
    return;
  }
  const char *why_not = j->n_spares && !stopped_by ? replace(j, rank) : "";
  j->lost_code = code_of(state);
  signal_text(WTERMSIG(state), text, sizeof text);
  if (!why_not)
    cli_print("shard-run: a spare takes the place of rank %d, %d of %d left; the rank was "
              "terminated by %s\n",
              rank, j->n_spares_left, j->n_spares, text);
  else if (*why_not)
    complain("rank %d cannot be replaced, since %s; it was terminated by %s", rank, why_not, text);
  else
    complain("rank %d was terminated by %s", rank, text);
  if (why_not)
    fail(j, code_of(state), grace_after_signal);
}

/* Ends spares that nobody can give their place: all others have ended, or one has done its work
 * without them. */
static void end_lost_spares(job *j) {
  int n = 0, n_members = j->code ? 0 : count_members(j);
  for (int i = 0; i < j->n; i++)
    n += j->places[i].pid > 0 && j->places[i].is_spare && !j->places[i].is_member;
  if (n == 0 || j->code || (n_members > 0 && !is_any_done(j)))
    return;
  complain("the spares cannot take their places: other ranks have ended");
  fail(j, j->lost_code, grace_after_signal);
}

/* Deals with all processes that have ended since the last look. Ranks that miss one which a signal
 * killed may have ended in the meantime, so that one is the first. Returns how many it found. */
static int note_ends(job *j) {
  int n = 0, state;
  for (pid_t pid; n < j->n && (pid = waitpid(-1, &state, WNOHANG)) > 0;)
    for (int i = 0; i < j->n; i++)
      if (j->places[i].pid == pid)
        j->ends[n++] = (end_of_rank){i, state};
  for (int i = 0; i < n; i++)
    if (WIFSIGNALED(j->ends[i].state))
      note_end(j, j->ends[i].rank, j->ends[i].state);
  for (int i = 0; i < n; i++)
    if (!WIFSIGNALED(j->ends[i].state))
      note_end(j, j->ends[i].rank, j->ends[i].state);
  return n;
}

/* Waits for all processes. */
static void await_all(job *j) {
  static const struct timespec pause = {.tv_nsec = 5000000};
  bool is_stopped = false;
  for (;;) {
    int n_left = 0, n_ended = note_ends(j);
    for (int i = 0; i < j->n; i++)
      n_left += j->places[i].pid > 0;
    if (!n_left)
      break;
    end_lost_spares(j);
    if (stopped_by && !is_stopped) {
      is_stopped = true;
      fail(j, 128 + stopped_by, grace_seconds);
      j->is_ending = true;
      if (!is_sent)
        signal_all(j, stopped_by);
    }
    if (n_signals > 1)
      signal_all(j, SIGKILL);
    if (j->code && cli_seconds() >= j->until) { /* SIGTERM first, then SIGKILL */
      signal_all(j, j->next_signal);
      j->next_signal = SIGKILL;
      j->until = cli_seconds() + grace_after_sigterm;
    }
    if (!n_ended)
      nanosleep(&pause, NULL);
  }
}

/* ---- The job ---- */

/* Creates a memory file that the ranks inherit. Returns its descriptor; -1 on failure. */
static int make_store(const char *name) {
  int file = memfd_create(name, MFD_CLOEXEC), inherited = file < 0 ? -1 : fcntl(file, F_DUPFD, 10);
  if (file >= 0)
    close(file);
  return inherited;
}

static bool open_members(job *j) {
  const tprt_store_config config = {.size = sizeof config, .rank = 1};
  char address[32];
  snprintf(address, sizeof address, "fd:%d", j->spares);
  if (tprt_store_open(address, &config, &j->members) == TPRT_OK)
    return true;
  complain("the store of the spares cannot be opened: %s", tprt_last_error());
  return false;
}

static void run_job(job *j) {
  struct sigaction note = {.sa_sigaction = note_signal, .sa_flags = SA_SIGINFO};
  bool ok = j->n_spares == 0 || open_members(j);
  for (int r = 0; r < j->n && ok; r++)
    ok = start_one(j, r, false);
  /* before this, a signal ends the launcher, and its end those of the ranks that are started */
  sigaction(SIGINT, &note, NULL);
  sigaction(SIGTERM, &note, NULL);
  if (!ok) {
    signal_all(j, SIGKILL);
    fail(j, EXIT_FAILED, grace_seconds);
  }
  await_all(j);
}

int start_program(int n, int n_spares, char **command) {
  job j = {.command = command,
           .n = n,
           .n_spares = n_spares,
           .n_spares_left = n_spares,
           .store = make_store("shard-run store"),
           .spares = n_spares ? make_store("shard-run spares") : -1,
           .places = calloc((size_t)n, sizeof *j.places),
           .ends = calloc((size_t)n, sizeof *j.ends),
           .next_signal = SIGTERM};
  if (!j.places || !j.ends || j.store < 0 || (n_spares && j.spares < 0)) {
    complain("%d ranks could not be started: %s", n, strerror(errno));
    j.code = EXIT_FAILED;
  } else {
    run_job(&j);
  }
  tprt_store_destroy(j.members);
  if (j.spares >= 0)
    close(j.spares);
  if (j.store >= 0)
    close(j.store);
  free(j.places);
  free(j.ends);
  return j.code;
}
