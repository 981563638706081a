/* The time limit of tp-propagate: one clock for all functions of a module and for the report of
 * their plans. */
#ifndef TP_PASSES_PROPAGATE_CLOCK_H
#define TP_PASSES_PROPAGATE_CLOCK_H

#include "tp/cost.h"
#include "tp/solver.h"

/* Times are wall-clock seconds, except `grace`. */
typedef struct tp_clock {
  bool is_limited;
  double end;      /* of the time that the pass has */
  double deadline; /* of the current step */
  /* the current step continues past its deadline until the thread has used this much processor
   * time */
  double grace;
  /* the costs that the solver reports are those of plans of the function; and its bounds, too */
  bool shows_plans, shows_bounds;
  bool has_ended; /* a search was told that its time is over, so it left something out */
} tp_clock;

/* Starts the clock, for so many seconds; negative: without a limit. */
void tp__clock_start(double seconds, tp_clock *clock);
/* Gives the current step this share, from 0 to 1, of the time left until `end`. Returns the new
 * deadline. */
double tp__clock_share(tp_clock *clock, double end, double share);
/* Grants the current step at least `seconds` of processor time from now. Time that other processes
 * take on a busy machine does not count. */
void tp__clock_extend(tp_clock *clock, double seconds);
/* True if the run is cancelled, whereupon plan_func fails; if there is a time limit and the time of
 * the current step is over; or if the watch of the process ends the search (tp/watch.h). */
bool tp__clock_is_over(tp_clock *clock);
/* What ended a search that was cut short: "time-limit" or "interrupt". */
const char *tp__clock_ender(void);
/* True if the watch of the process ended the search. */
bool tp__clock_is_interrupted(void);
/* Tell the watch what the pass does, static text; and about a plan and a bound. */
void tp__clock_phase(const char *phase);
void tp__clock_show(tp_cost cost, tp_cost bound);

/* Makes a solver stop when the clock is over. The clock must outlive the
 * use of the options. */
void tp__clock_limit_solver(tp_clock *clock, tp_solver_options *options);

#endif
