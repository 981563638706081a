/* Implements time-limit=SECONDS, the only option that makes plans depend on the machine and its
 * load. It is off by default, and a remark marks every plan that the clock cut short. The watch of
 * the process (Ctrl-C) ends a search as a limit does that is over. */
#include "passes/propagate/model/time_limit.h"

#include "ir/run_hooks.h"
#include "ir/run_watch.h"
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

bool tp__clock_is_over(tp_clock *clock) {
  if (tp__run_is_cancelled())
    return true;
  bool is_over = (tp__watch_ends() || (clock->is_limited && now() >= clock->deadline)) &&
                 seconds_of(CLOCK_THREAD_CPUTIME_ID) >= clock->grace;
  clock->has_ended |= is_over;
  return is_over;
}

bool tp__clock_is_interrupted(void) { return tp__watch_ends(); }

void tp__clock_phase(const char *phase) { tp__watch_phase(phase); }

const char *tp__clock_ender(void) { return tp__watch_ends() ? "interrupt" : "time-limit"; }

void tp__clock_show(tp_cost cost, tp_cost bound) {
  tp__watch_plan(cost < TP_COST_FORBIDDEN ? tp_cost_seconds(cost) : -1,
                 bound > 0 && bound < TP_COST_FORBIDDEN ? tp_cost_seconds(bound) : -1);
}

bool tp__clock_gives_up(tp_planner *p) {
  p->is_given_up |= p->heeds_clock && tp__clock_is_over(p->limits.clock);
  return p->is_given_up;
}

/* Returns a cost of the solver, which is in picoseconds, as a cost of the planner. */
static tp_cost cost_of(tp_exact_cost cost) {
  return cost.high == 0 && cost.low < (uint64_t)TP_COST_FORBIDDEN ? (tp_cost)cost.low
                                                                  : TP_COST_FORBIDDEN;
}

static bool interrupted(const tp_solver_progress *progress, void *data) {
  tp_clock *clock = data;
  if (clock->shows_plans || clock->shows_bounds) {
    double left = progress->work > 0 && progress->work_limit > progress->work
                      ? progress->seconds * (double)(progress->work_limit - progress->work) /
                            (double)progress->work
                      : -1;
    double rest = clock->is_limited ? clock->deadline - now() : -1;
    tp__clock_show(progress->found ? cost_of(progress->cost) : TP_COST_FORBIDDEN,
                   clock->shows_bounds ? cost_of(progress->lower_bound) : 0);
    tp__watch_left(rest >= 0 && (left < 0 || rest < left) ? rest : left);
  }
  return tp__clock_is_over(clock);
}

void tp__clock_limit_solver(tp_clock *clock, tp_solver_options *options) {
  options->interrupted =
      clock->is_limited || tp__run_may_be_cancelled() || tp__is_watched() ? interrupted : NULL;
  options->data = clock;
}

tp_status tp__plan_cancelled(const tp_planner *p) { return tp__heed_cancel(p->problem.graph.func); }

void tp__clock_remark(const tp_planner *p) {
  double gap = p->result.bound > 0
                   ? (double)(p->result.cost - p->result.bound) / (double)p->result.bound
                   : 0;
  bool is_interrupted = tp__watch_ends();
  tp__remark(p->problem.graph.func,
             "%s ended the search; this plan is proven to cost at most %.3g %% more than the "
             "cheapest, and another run may find a different one",
             is_interrupted ? "an interrupt" : "time-limit: the time limit", 100 * gap);
}

tp_status tp__clock_exceeded(const tp_planner *p) {
  TP_TRY(tp__plan_cancelled(p));
  if (tp__watch_ends())
    return tp__error(p->problem.graph.func, TP_CANCELLED,
                     "interrupted before a plan was found; time-limit=SECONDS plans in the time "
                     "that there is");
  return tp__error(p->problem.graph.func, TP_INFEASIBLE,
                   "time-limit: no plan was found in this time, and it is not proven that none "
                   "exists; increase the limit");
}
