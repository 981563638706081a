/* The whole search on one graph: reduce, split, eliminate exactly where that fits, else bound by
 * messages, look for good choices, and branch. */
#ifndef TP_LIB_SOLVER_SEARCH_H
#define TP_LIB_SOLVER_SEARCH_H

#include "solver/control.h"

/* Prices of memory, by time of the problem. */
typedef struct tp__worth {
  int n;
  int64_t *time;
  double *price;
} tp__worth;

typedef struct tp__search {
  int64_t table_budget; /* entries of the largest table of the exact elimination */
  int64_t work;         /* spent so far, in table entries looked at */
  /* of the part of the problem at hand; reductions and affordable eliminations run regardless */
  int64_t work_limit;
  tp_cost step; /* every choice costs a multiple of it */
  int width;    /* largest scope eliminated exactly, -1 for none */
  bool passed_messages, branched;
  bool multiplied;      /* prices of memory were sought */
  int threads;          /* that may be used; 0 and 1: no others */
  tp__control *control; /* NULL: only work counts */
  bool is_worker;       /* another thread watches the clock */
  int nested;           /* > 0: the graph at hand is a part of the whole */
  tp__worth worth;      /* the last that were found for the whole; owned by tp_solve */
} tp__search;

/* True if somebody asked that the search end. */
static inline bool tp__search_stopped(const tp__search *s) {
  return s->control && atomic_load_explicit(&s->control->stop, memory_order_relaxed);
}

/* True if somebody asked that the search end, and what is done now should be the least that gives
 * an answer. */
static inline bool tp__search_hurries(const tp__search *s) {
  return tp__control_hurries(s->control);
}

/* True if the search is to end: the work is spent, or somebody asked. */
static inline bool tp__search_spent(const tp__search *s) {
  if (s->work >= s->work_limit)
    return true;
  if (!s->control)
    return false;
  return s->is_worker ? tp__search_stopped(s) : tp__control_poll(s->control, s->work);
}

/* What the parts of the search on this thread may ask whether the search is to end. */
static inline tp__control *tp__search_control(const tp__search *s) {
  return s->is_worker ? NULL : s->control;
}

/* Tells the caller of tp_solve how far the whole is. */
static inline void tp__search_update(const tp__search *s, tp_cost bound, tp_cost cost) {
  if (s->nested == 0 && s->control)
    tp__control_update(s->control, bound, cost);
}

typedef struct tp__answer {
  tp_cost bound; /* no choice costs less, unless the limit is less */
  tp_cost cost;  /* of `choices`; TP_COST_FORBIDDEN if none below the limit was found */
  /* by node of the graph, labels; owned by the caller of tp__wcsp_search, who provides the room */
  int *choices;
  /* without a cost: `choices` are those that exceed the memory least of all that were tried */
  bool nearest;
} tp__answer;

/* Costs of different choices of one graph differ by multiples of the step: what is below this
 * improves on `cost`. */
static inline tp_cost tp__limit_below(const tp__search *s, tp_cost cost) {
  return cost - s->step + 1;
}

/* Looks for a choice of cost < limit. answer->bound <= limit; bound == limit says there is none.
 * Uses up `g`. */
tp_status tp__wcsp_search(tp__search *s, tp__wcsp *g, tp_cost limit, int depth, tp__answer *answer);

#endif
