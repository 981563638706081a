/* The cheapest plan of a space, by trying all of them. */
#ifndef PLANNER_SEARCH_H
#define PLANNER_SEARCH_H

#include "space.h"

typedef struct search_result {
  bool done;     /* false: there were more plans than `steps` */
  tp_cost least; /* the limit when no plan costs less */
} search_result;

/* Looks for plans that cost less than `limit`. A plan costs what its ops cost and what its values cost: each is changed from the layout in
 * which it is made to one of any kind (where it has several uses), and from there to what each use wants. `beyond`: the bits that a
 * plan may have. `plan` (may be NULL) receives the choice of each decision, when there is one. */
search_result search_plans(const space *s, tp_reshard_cache *reshards, unsigned beyond, tp_cost limit, int64_t steps,
                           int *plan);

#endif
