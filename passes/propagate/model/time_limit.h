/* The time limit of tp-propagate: one clock for all functions of a module, and for the report of
 * their plans. */
#ifndef TP_PASSES_PROPAGATE_CLOCK_H
#define TP_PASSES_PROPAGATE_CLOCK_H

#include "passes/registry.h"

#include "tp/solver.h"

/* Times are seconds of the wall clock, but for `grace`. */
typedef struct tp_clock {
  bool is_limited;
  double end;      /* of the time that the pass has */
  double deadline; /* of what is done now ... */
  /* ... which goes on in any case until the thread has used so much processor time */
  double grace;
} tp_clock;

/* Reads time-limit= and starts. */
tp_status tp__clock_start(const tp_pass *pass, tp_clock *clock);
/* What is done now may take this share, from 0 to 1, of the time that is left until `end`. Returns
 * the new deadline. */
double tp__clock_share(tp_clock *clock, double end, double share);
/* What is done now may use `seconds` of processor time from now, at least: what a busy machine
 * takes away does not count. */
void tp__clock_extend(tp_clock *clock, double seconds);
/* Is the time over for what is done now? Never without a limit. */
bool tp__clock_is_over(const tp_clock *clock);

/* What makes a solver heed the clock; zeros without a limit. The clock has to outlive their use. */
void tp__clock_heed(tp_clock *clock, tp_solver_options *options);

#endif
