/* Watches pipelines while they run: what tools show on a terminal, and how Ctrl-C ends a search. */
#ifndef TP_WATCH_H
#define TP_WATCH_H

#include "tp/status.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How far the pass is that runs now. */
typedef struct tp_progress {
  size_t size;      /* sizeof(tp_progress) of the library */
  const char *pass; /* the pass of this library; "" when it has ended */
  /* what it does: only tp-propagate says so; "" in others, and when a pass begins */
  const char *phase;
  /* Of the function that is planned, in seconds by the model: the cost of the best plan so far, and
   * a certified lower bound on that of any plan. Negative: unknown. */
  double cost, bound;
  double left;       /* seconds until the search ends at the latest; negative: unknown */
  int is_diagnostic; /* 1: a diagnostic is about to be emitted, so what is shown should go */
} tp_progress;

/* Called on the thread of the pipeline, by one thread at a time: before and after each pass of this
 * library, before its diagnostics, and about 20 times per second while tp-propagate plans. If it
 * returns another value than 0 while tp-propagate plans, the search ends: the best plan so far is
 * taken, with a remark that says how far it may be from the cheapest. As long as it returns 0,
 * plans do not depend on it. */
typedef int tp_watch(void *data, const tp_progress *progress);

/* Sets the watch of all pipelines of the process; NULL: none. Must not be called while one runs. */
TP_API void tp_watch_set(tp_watch *watch, void *data);

/* Removes the files that tp_opt_main has opened and not finished. Async-signal-safe: for handlers
 * that end the process. */
TP_API void tp_opt_abandon(void);

#ifdef __cplusplus
}
#endif
#endif
