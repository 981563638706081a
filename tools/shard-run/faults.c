/* Reports signals that the compiled program caused. Behavior that MLIR leaves undefined (an integer
 * division by 0, an index out of bounds) may end in a signal. The message says that the program
 * caused it, and on which rank. A fault in shard-run itself ends it as usual. */
#include "run.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const char *meaning_of(int number) {
  return number == SIGFPE ? "divided an integer by 0, or the smallest integer by -1"
                          : "accessed memory out of bounds: an index exceeds its tensor";
}

/* Signal handler, so it calls only async-signal-safe functions. The message is one write, because
 * other ranks may print theirs. */
static void end(int number, siginfo_t *info, void *context) {
  (void)context;
  static atomic_flag said = ATOMIC_FLAG_INIT;
  int rank = launch_rank_in_program();
  bool is_sent = info->si_code <= 0;
  if (rank < 0 || (is_sent && info->si_pid != getpid())) {
    /* A fault of shard-run recurs when this returns, without this handler; what was sent, mostly by
     * another process, does not. */
    signal(number, SIG_DFL);
    if (is_sent)
      raise(number);
    return;
  }
  while (atomic_flag_test_and_set(&said)) /* another rank is about to end the process */
    pause();
  char digits[12] = "", *first = digits + sizeof digits - 1;
  do
    *--first = (char)('0' + rank % 10);
  while (rank /= 10);
  char line[160], *at = stpcpy(line, "shard-run: error: the program, on rank ");
  at = stpcpy(stpcpy(stpcpy(stpcpy(at, first), ", "), meaning_of(number)), "\n");
  (void)cli_write(line, (size_t)(at - line));
  _exit(EXIT_FAILED);
}

void faults_catch(void) {
#ifdef __SANITIZE_ADDRESS__
  const bool is_sanitized = true; /* the sanitizer's report is more detailed */
#else
  const bool is_sanitized = false;
#endif
  struct sigaction action = {.sa_sigaction = end, .sa_flags = SA_SIGINFO};
  static const int numbers[] = {SIGFPE, SIGSEGV, SIGBUS};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !is_sanitized; i++)
    sigaction(numbers[i], &action, NULL);
}
