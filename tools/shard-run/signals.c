/* What the end of a rank by a signal means, and what to do about it. */
#include "run.h"

#include <signal.h>
#include <string.h>

static const char ran_out[] = "if nobody sent it, memory ran out: the kernel's log says so "
                              "(journalctl -k, dmesg); use fewer ranks or smaller inputs";
static const char crashed[] =
    "it crashed: `ulimit -c unlimited` keeps a core file for gdb; what it "
    "printed is above";

static const struct {
  int number;
  const char *hint;
} rows[] = {
    {SIGKILL, ran_out}, {SIGSEGV, crashed}, {SIGBUS, crashed},
    {SIGABRT, crashed}, {SIGILL, crashed},  {SIGFPE, crashed},
};

const char *signal_text(int number, char *text, size_t size) {
  const char *hint = NULL;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (rows[i].number == number)
      hint = rows[i].hint;
  snprintf(text, size, "signal %d (%s)%s%s", number, strsignal(number), hint ? "; " : "",
           hint ? hint : "");
  return text;
}
