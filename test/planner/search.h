/* The cheapest plan of a space, by trying all of them. */
#ifndef PLANNER_SEARCH_H
#define PLANNER_SEARCH_H

#include "space.h"

typedef struct search_result {
  bool done;     /* false: there were more plans than `steps` */
  tp_cost least; /* the limit when no plan costs less */
} search_result;

typedef struct search_options {
  unsigned beyond; /* the bits that a plan may have */
  tp_cost limit;
  int64_t steps;
  /* bytes that arguments and results may hold, as far as they are decided; 0: any */
  int64_t memory;
  /* says of each cheaper plan whether it counts; NULL: all do */
  bool (*accept)(void *data, const int *plan, tp_cost cost);
  void *data;
  int most_accepts; /* calls of `accept`; then the search is not done */
} search_options;

/* Looks for plans that cost less than `limit`. A plan costs what its ops cost
 * and what its values cost: each is changed from the layout in which it is made
 * to one of any kind (where it has several uses), and from there to what each
 * use wants. `plan` (may be NULL) receives the choice of each decision, when
 * there is one. */
search_result search_plans(const space *s, tp_reshard_cache *reshards,
                           const search_options *options, int *plan);

#endif
