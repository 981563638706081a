/* Finds the cheapest plan of a space by trying all of them. */
#ifndef PLANNER_SEARCH_H
#define PLANNER_SEARCH_H

#include "space.h"

typedef struct search_result {
  bool done;     /* false: there were more plans than `steps` */
  tp_cost least; /* the limit if no plan costs less */
} search_result;

typedef struct search_options {
  unsigned beyond; /* the reasons that a plan may have */
  tp_cost limit;
  int64_t steps;
  /* max bytes of decided arguments and results; 0: no limit */
  int64_t memory;
  /* decides for each cheaper plan whether it counts; NULL: all do */
  bool (*accept)(void *data, const int *plan, tp_cost cost);
  void *data;
  int most_accepts; /* max calls of `accept`; beyond, the search is not done */
} search_options;

/* Searches for plans that cost less than `limit`. The cost of a plan is that of its ops and of its
 * values. A value is resharded from the sharding in which it is produced to an intermediate one (if
 * it has several uses), and from there to the sharding of each use. `plan` (may be NULL) receives
 * the choice of each decision, if there is a plan. */
search_result search_plans(const space *s, tp_reshard_cache *reshards,
                           const search_options *options, int *plan);

#endif
