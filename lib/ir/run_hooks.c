/* Keeps the hooks of each thread. */
#include "ir/run_hooks.h"

#include <stddef.h>

static _Thread_local tp_run_hooks *current;

tp_run_hooks *tp__run_hooks(void) { return current; }

void tp__run_hooks_set(tp_run_hooks *hooks) { current = hooks; }

bool tp__run_hooks_cancel(const char *pass) {
  return current && current->progress && current->progress(current->data, pass) != 0;
}
