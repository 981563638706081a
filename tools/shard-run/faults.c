/* What a program does that MLIR leaves undefined (an integer divided by 0, an index out of bounds)
 * may end in a signal. It is said then that the program did it, and which rank; what is wrong with
 * shard-run itself ends it as it would. */
#include "run.h"

#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

static const char *meaning_of(int number) {
  return number == SIGFPE ? "divided an integer by 0, or the least integer by -1"
                          : "reached memory out of bounds: an index beyond its tensor";
}

/* Only what may be called in a handler. The message is one write: other ranks may say theirs. */
static void end(int number) {
  static atomic_flag said = ATOMIC_FLAG_INIT;
  int rank = launch_rank_in_program();
  if (rank < 0) { /* happens again, without this handler */
    signal(number, SIG_DFL);
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
  const bool is_sanitized = true; /* the sanitizer says more */
#else
  const bool is_sanitized = false;
#endif
  struct sigaction action = {.sa_handler = end};
  static const int numbers[] = {SIGFPE, SIGSEGV, SIGBUS};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !is_sanitized; i++)
    sigaction(numbers[i], &action, NULL);
}
