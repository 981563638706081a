/* Implements time-limit=SECONDS, the only option that makes plans depend on the machine and its
 * load. It is off by default, and a remark marks every plan that the clock cut short. */
#include "passes/propagate/model/time_limit.h"

#include "ir/run_hooks.h"
#include "passes/propagate/model/planner.h"

#include <time.h>

static double seconds_of(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double now(void) { return seconds_of(CLOCK_MONOTONIC); }

void tp__clock_start(double seconds, tp_clock *clock) {
  *clock = (tp_clock){.is_limited = seconds >= 0};
  clock->end = clock->deadline = now() + seconds;
}

double tp__clock_share(tp_clock *clock, double end, double share) {
  double from = now();
  clock->grace = 0;
  return clock->deadline = end > from ? from + share * (end - from) : end;
}

void tp__clock_extend(tp_clock *clock, double seconds) {
  clock->grace = seconds_of(CLOCK_THREAD_CPUTIME_ID) + seconds;
}

bool tp__clock_is_over(const tp_clock *clock) {
  if (tp__run_is_cancelled())
    return true;
  return clock->is_limited && now() >= clock->deadline &&
         seconds_of(CLOCK_THREAD_CPUTIME_ID) >= clock->grace;
}

bool tp__clock_gives_up(tp_planner *p) {
  p->is_given_up |= p->heeds_clock && tp__clock_is_over(p->limits.clock);
  return p->is_given_up;
}

static bool interrupted(const tp_solver_progress *progress, void *clock) {
  (void)progress;
  return tp__clock_is_over(clock);
}

void tp__clock_limit_solver(tp_clock *clock, tp_solver_options *options) {
  options->interrupted = clock->is_limited || tp__run_may_be_cancelled() ? interrupted : NULL;
  options->data = clock;
}

tp_status tp__plan_cancelled(const tp_planner *p) { return tp__heed_cancel(p->problem.graph.func); }

void tp__clock_remark(const tp_planner *p) {
  double gap = p->result.bound > 0
                   ? (double)(p->result.cost - p->result.bound) / (double)p->result.bound
                   : 0;
  tp__remark(p->problem.graph.func,
             "time-limit: the time limit ended the search; this plan is proven to cost at most "
             "%.3g %% more than the cheapest, and another run may find a different one",
             100 * gap);
}

tp_status tp__clock_exceeded(const tp_planner *p) {
  TP_TRY(tp__plan_cancelled(p));
  return tp__error(p->problem.graph.func, TP_INFEASIBLE,
                   "time-limit: no plan was found in this time, and it is not proven that none "
                   "exists; increase the limit");
}
