/* The whole search on one graph: reduce, split, eliminate exactly where that fits, else bound by messages, look for
 * good choices, and branch. */
#ifndef TP_LIB_SOLVER_SEARCH_H
#define TP_LIB_SOLVER_SEARCH_H

#include "solver/wcsp.h"

typedef struct tp__search {
  int64_t table_budget; /* entries of the largest table of the exact elimination */
  int64_t work;         /* spent so far, in table entries looked at */
  int64_t work_limit;   /* of the part of the problem at hand; reductions and affordable eliminations run regardless */
  tp_cost step;         /* every choice costs a multiple of it */
  int width;            /* largest scope eliminated exactly, -1 for none */
  bool passed_messages, branched;
} tp__search;

typedef struct tp__answer {
  tp_cost bound; /* no choice costs less, unless the limit is less */
  tp_cost cost;  /* of `choices`; TP_COST_FORBIDDEN if none below the limit was found */
  int *choices;  /* by node of the graph, labels; owned by the caller of tp__wcsp_search, who provides the room */
} tp__answer;

/* Looks for a choice of cost < limit. answer->bound <= limit; bound == limit says there is none. Uses up `g`. */
tp_status tp__wcsp_search(tp__search *s, tp__wcsp *g, tp_cost limit, int depth, tp__answer *answer);

#endif
