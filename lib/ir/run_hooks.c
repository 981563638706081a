/* Keeps the hooks of each thread. */
#include "ir/run_hooks.h"

#include "ir/diagnostics.h"

#include <stddef.h>
#include <time.h>

static const int64_t ns_between_questions = 50 * 1000 * 1000;

static _Thread_local tp_run_hooks *current;

tp_run_hooks *tp__run_hooks(void) { return current; }

void tp__run_hooks_set(tp_run_hooks *hooks) { current = hooks; }

bool tp__run_hooks_cancel(const char *pass) {
  if (!current)
    return false;
  current->is_cancelled |= (current->progress && current->progress(current->data, pass) != 0) ||
                           (current->cancelled && current->cancelled(current->data) != 0);
  return current->is_cancelled;
}

bool tp__run_may_be_cancelled(void) { return current && current->cancelled; }

int64_t tp__run_now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

bool tp__run_is_cancelled(void) {
  if (!tp__run_may_be_cancelled() || current->is_cancelled)
    return current && current->is_cancelled;
  int64_t time = tp__run_now_ns();
  if (time < current->next)
    return false;
  current->next = time + ns_between_questions;
  return current->is_cancelled = current->cancelled(current->data) != 0;
}

tp_status tp__heed_cancel(MlirOperation op) {
  return tp__run_is_cancelled() ? tp__error(op, TP_CANCELLED, "cancelled by the caller") : TP_OK;
}
