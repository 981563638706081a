/* When to stop, and how far the search as a whole is. One control serves all threads of a
 * tp_solve. */
#ifndef TP_LIB_SOLVER_CONTROL_H
#define TP_LIB_SOLVER_CONTROL_H

#include "solver/encode.h"

#include <stdatomic.h>

typedef struct tp__control {
  const tp_solver_options *options;
  const tp__code *code; /* of the graph being searched */
  double start;         /* of the clock */
  atomic_bool stop;     /* nothing more is to be done ... */
  /* ... because of the time limit or an interrupt, not because the gap is small enough */
  atomic_bool early;
  tp_solver_progress progress;
} tp__control;

void tp__control_start(tp__control *c, const tp_solver_options *options);
double tp__control_seconds(const tp__control *c);

/* True if the search is to end. From the calling thread only (it asks the caller). */
bool tp__control_poll(tp__control *c, int64_t work);

/* True if somebody asked that the search end: what is done from then on is the least that gives an
 * answer. Never where work and the gap alone count. `control` may be NULL. */
static inline bool tp__control_hurries(const tp__control *c) {
  return c && atomic_load_explicit(&c->early, memory_order_relaxed);
}
/* The same, after asking; from the calling thread only. `control` may be NULL. */
static inline bool tp__control_ask(tp__control *c, int64_t work) {
  return c && (tp__control_poll(c, work), tp__control_hurries(c));
}

/* Bounds and costs of the graph as a whole got better; ends the search when the gap is small
 * enough. */
void tp__control_update(tp__control *c, tp_cost bound, tp_cost cost);

tp_exact_cost tp__exact(unsigned __int128 cost);

#endif
