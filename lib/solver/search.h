/* The complete search on one graph: reduce, split into components, eliminate exactly where that
 * fits; otherwise bound by messages, improve assignments, and branch. */
#ifndef TP_LIB_SOLVER_SEARCH_H
#define TP_LIB_SOLVER_SEARCH_H

#include "solver/control.h"

/* Memory prices, by time of the problem. */
typedef struct tp__time_prices {
  int n;
  int64_t *time;
  double *price;
} tp__time_prices;

typedef struct tp__search {
  int64_t table_budget; /* maximum entries of a table in exact elimination */
  int64_t work;         /* spent so far, in table entries read */
  /* limit for the current part of the problem; reductions and affordable eliminations ignore it */
  int64_t work_limit;
  int64_t elimination_limit; /* most work of one exact elimination; 0: no limit */
  tp_cost step;              /* every cost of an assignment is a multiple of this */
  int width;                 /* size of the largest scope eliminated exactly; -1: none */
  bool passed_messages, branched;
  bool multiplied;             /* memory prices were computed */
  int threads;                 /* number of threads allowed; 0 and 1: only this one */
  tp__control *control;        /* NULL: only work limits the search */
  bool is_worker;              /* another thread checks the clock */
  int nested;                  /* > 0: the current graph is a part of the whole */
  tp__time_prices time_prices; /* see tp__search_keep_prices; owned by tp_solve */
} tp__search;

/* An exact elimination mostly ends the search, so it may take four times the whole budget of work;
 * without a budget, any that fits into memory is made. */
static inline int64_t tp__elimination_limit(int64_t work_budget) {
  return work_budget > 0 && work_budget < INT64_MAX / 4 ? 4 * work_budget : 0;
}

/* True if a stop was requested. */
static inline bool tp__search_stopped(const tp__search *s) {
  return s->control && atomic_load_explicit(&s->control->stop, memory_order_relaxed);
}

/* True if the caller waits after a stop request, so that only the minimum work for an answer should
 * be done. */
static inline bool tp__search_must_finish(const tp__search *s) {
  return tp__control_must_finish(s->control);
}

/* True if the search must stop: the work is spent, or a stop was requested. */
static inline bool tp__search_spent(const tp__search *s) {
  if (s->work >= s->work_limit)
    return true;
  if (!s->control)
    return false;
  return s->is_worker ? tp__search_stopped(s) : tp__control_poll(s->control, s->work);
}

/* Returns the control that this thread may poll. */
static inline tp__control *tp__search_control(const tp__search *s) {
  return s->is_worker ? NULL : s->control;
}

/* Reports the progress of the whole to the caller of tp_solve. */
static inline void tp__search_update(const tp__search *s, tp_cost bound, tp_cost cost) {
  if (s->nested == 0 && s->control)
    tp__control_update(s->control, bound, cost);
}

/* Keeps the prices at the times of the whole graph, unless there are some already: the first ones
 * are of the most times, because strategies that are pruned later leave less times at which memory
 * may be short. */
tp_status tp__search_keep_prices(tp__search *s, const tp__wmemory *memory, const double *price);

typedef struct tp__answer {
  tp_cost bound; /* no assignment costs less than min(bound, limit) */
  tp_cost cost;  /* of `choices`; TP_COST_FORBIDDEN if none below the limit was found */
  /* labels by node of the graph; the caller of tp__wcsp_search owns and provides the array */
  int *choices;
  /* without a cost: `choices` is the assignment with the least excess of memory among those
   * tried */
  bool nearest;
} tp__answer;

/* Returns the limit below which a cost improves on `cost`. Costs of different assignments of one
 * graph differ by multiples of the step. */
static inline tp_cost tp__limit_below(const tp__search *s, tp_cost cost) {
  return cost - s->step + 1;
}

/* Looks for an assignment of cost < limit. answer->bound <= limit; bound == limit means that there
 * is none. Uses up `g`. */
tp_status tp__wcsp_search(tp__search *s, tp__wcsp *g, tp_cost limit, int depth, tp__answer *answer);

#endif
