/* Coarse prices of memory: at a few times only, found by solving the whole problem at each price.
 *
 * A deep program is tightest at one moment, between its forward and its backward pass, and one
 * price there says most of what the limit costs. With it the problem is one without memory, in
 * which equal layers are still equal: so it is solved as quickly (solver/lift.h). The cheapest
 * priced choice, less what all room is worth, is a bound on what fits at any price (Geoffrion
 * 1974). The next price is where the lines of a choice that exceeds the room and of one that does
 * not cross, until no new choice appears (the cutting planes of a concave function of one
 * variable); then a second moment gets a price, and so on. */
#ifndef TP_LIB_SOLVER_COARSE_H
#define TP_LIB_SOLVER_COARSE_H

#include "solver/search.h"

enum { TP__COARSE_TIMES = 3 };

typedef struct tp__coarse {
  int n; /* priced times */
  int64_t time[TP__COARSE_TIMES];
  double price[TP__COARSE_TIMES]; /* of a unit of memory, in units of cost of the graph */
  /* certified: what fits costs no less; INT64_MIN: nothing was learnt */
  tp_cost bound;
  /* of the cheapest choice found that fits; TP_COST_FORBIDDEN: none */
  tp_cost cost;
  int *choices; /* which, by node of the problem; room provided by the caller */
} tp__coarse;

/* `relaxed` is the answer without the limit, which it exceeds. Costs are those of the graph of
 * `code`. Only for plain costs. */
tp_status tp__coarse_prices(tp__search *s, const tp_problem *problem, const tp__code *code,
                            int64_t work, const tp__answer *relaxed, tp__coarse *coarse);

#endif
