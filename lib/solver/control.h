/* Decides when the search stops, and tracks its overall progress. All threads of a tp_solve share
 * one control. */
#ifndef TP_LIB_SOLVER_CONTROL_H
#define TP_LIB_SOLVER_CONTROL_H

#include "solver/encode.h"

#include <stdatomic.h>

typedef struct tp__control {
  const tp_solver_options *options;
  const tp__code *code; /* of the graph that is searched */
  double start;         /* start time */
  atomic_bool stop;     /* the search must stop ... */
  /* ... because of the time limit or an interrupt, rather than a small enough gap */
  atomic_bool early;
  tp_solver_progress progress;
} tp__control;

void tp__control_start(tp__control *c, const tp_solver_options *options);
double tp__control_seconds(const tp__control *c);

/* True if the search must stop. Only from the calling thread, because it invokes the caller's
 * callback. */
bool tp__control_poll(tp__control *c, int64_t work);

/* True after the time limit or an interrupt: the search then does only the minimum work that still
 * gives an answer. Never true if only the work budget and the gap limit the search. `control` may
 * be NULL. */
static inline bool tp__control_must_finish(const tp__control *c) {
  return c && atomic_load_explicit(&c->early, memory_order_relaxed);
}
/* The same, after polling. Only from the calling thread. `control` may be NULL. */
static inline bool tp__control_poll_must_finish(tp__control *c, int64_t work) {
  return c && (tp__control_poll(c, work), tp__control_must_finish(c));
}

/* Reports improved bounds and costs of the whole graph. Stops the search if the gap is small
 * enough. */
void tp__control_update(tp__control *c, tp_cost bound, tp_cost cost);

tp_exact_cost tp__exact(unsigned __int128 cost);

#endif
