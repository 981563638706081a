/* Runs work in a forked child with a time limit. */
#include "sandbox.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

const char *const outcome_names[N_OUTCOMES] = {"verified",
                                               "refused",
                                               "not lowered",
                                               "invalid",
                                               "WRONG",
                                               "MISMATCH",
                                               "run failed",
                                               "no or several diagnostics",
                                               "invalid IR after a pass",
                                               "CRASH",
                                               "HANG",
                                               "MEMORY LIMIT NOT KEPT",
                                               "memory limit refused that can be kept"};

static void child(sandboxed work, void *data, int seconds, report *r, int output) {
  const struct rlimit no_core = {0, 0};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  alarm((unsigned)seconds);
  work(data, r);
  _exit(0); /* without flushing or destroying state of the parent */
}

void *sandbox_memory(size_t size) {
  void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("shard-fuzz: no memory for a child");
    exit(2);
  }
  return memory;
}

void sandbox_run(sandboxed work, void *data, int seconds, report *r, text *captured) {
  report *shared = sandbox_memory(sizeof *shared);
  int output = memfd_create("fuzz output", MFD_CLOEXEC), state = 0;
  if (output < 0) {
    perror("shard-fuzz: no file for the output of a child");
    exit(2);
  }
  *shared = *r;
  fflush(NULL);
  pid_t pid = fork();
  if (pid == 0)
    child(work, data, seconds, shared, output);
  while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
    ;
  *r = *shared;
  if (WIFSIGNALED(state)) {
    r->outcome = r->parsing                                ? INVALID
                 : WTERMSIG(state) == SIGALRM              ? HANG
                 : WTERMSIG(state) == SIGFPE && r->running ? RUN_FAILED
                                                           : CRASH;
    snprintf(r->message, sizeof r->message, "ended by signal %d (%s)", WTERMSIG(state),
             strsignal(WTERMSIG(state)));
  } else if (WEXITSTATUS(state) != 0) {
    r->outcome = CRASH;
    snprintf(r->message, sizeof r->message, "the child left with code %d", WEXITSTATUS(state));
  }
  char part[4096];
  lseek(output, 0, SEEK_SET);
  for (ssize_t n; captured && (n = read(output, part, sizeof part)) > 0;)
    text_bytes(captured, part, (size_t)n);
  close(output);
  munmap(shared, sizeof *shared);
}
