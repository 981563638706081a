/* Ctrl-C: asks an activity that can end early to do so, else ends the process. */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t is_soft, is_asked;
static void (*volatile last)(void);

static void end(int number) {
  char said[64];
  size_t n = (size_t)(stpcpy(stpcpy(said, cli_program.name), ": interrupted\n") - said);
  cli_leftovers_end();
  if (last)
    last();
  cli_silence();
  (void)cli_write(said, n);
  _exit(128 + number);
}

static void handle(int number) {
  int error = errno;
  if (!is_soft || is_asked)
    end(number);
  is_asked = 1;
  errno = error;
}

void cli_interrupt_catch(int number, void (*at_end)(void)) {
  struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
  sigemptyset(&action.sa_mask);
  last = at_end;
  sigaction(number, &action, NULL);
}

void cli_interrupt_end_by(int number) {
  struct sigaction action = {.sa_handler = end, .sa_flags = SA_RESTART}, before;
  sigemptyset(&action.sa_mask);
  if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
    sigaction(number, &action, NULL);
}

void cli_interrupt_soft(bool soft) {
  if (soft != (bool)is_soft)
    is_asked = 0;
  is_soft = soft;
}

bool cli_interrupt_asked(void) { return is_asked; }
