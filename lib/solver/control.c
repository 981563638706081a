/* Implements the stop conditions: time limit, interrupt and gap. */
#include "solver/control.h"

#include <time.h>

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void tp__control_start(tp__control *c, const tp_solver_options *options) {
  *c = (tp__control){.options = options, .start = now()};
  atomic_init(&c->stop, false);
  atomic_init(&c->early, false);
}

double tp__control_seconds(const tp__control *c) { return now() - c->start; }

bool tp__control_poll(tp__control *c, int64_t work) {
  if (atomic_load_explicit(&c->stop, memory_order_relaxed))
    return true;
  const tp_solver_options *o = c->options;
  if (o->time_limit <= 0 && !o->interrupted)
    return false;
  c->progress.work = work;
  c->progress.seconds = tp__control_seconds(c);
  bool stop = o->time_limit > 0 && c->progress.seconds >= o->time_limit;
  stop |= o->interrupted && o->interrupted(&c->progress, o->data);
  if (stop) {
    atomic_store_explicit(&c->early, true, memory_order_relaxed);
    atomic_store_explicit(&c->stop, true, memory_order_relaxed);
  }
  return stop;
}

void tp__control_update(tp__control *c, tp_cost bound, tp_cost cost) {
  unsigned __int128 low = tp__decode_bound(c->code, bound);
  if (c->code->form == TP__FORM_AVOID && low > c->code->avoided_bound)
    low = c->code->avoided_bound;
  double least = tp_exact_cost_value(c->progress.lower_bound);
  if ((double)low > least) {
    c->progress.lower_bound = tp__exact(low);
    least = (double)low;
  }
  double high = cost < TP_COST_FORBIDDEN
                    ? tp_exact_cost_value(tp__exact(tp__decode_bound(c->code, cost)))
                    : 0;
  if (cost < TP_COST_FORBIDDEN &&
      (!c->progress.found || high < tp_exact_cost_value(c->progress.cost))) {
    c->progress.found = true;
    c->progress.cost = tp__exact(tp__decode_bound(c->code, cost));
  }
  if (c->options->gap > 0 && c->progress.found &&
      tp_exact_cost_value(c->progress.cost) - least <= c->options->gap * least)
    atomic_store_explicit(&c->stop, true, memory_order_relaxed);
}

tp_exact_cost tp__exact(unsigned __int128 cost) {
  return (tp_exact_cost){(uint64_t)(cost >> 64), (uint64_t)cost};
}
