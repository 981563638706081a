/* Coarse memory prices: prices at a few times only, found by solving the whole problem at each
 * candidate price.
 *
 * A deep program reaches its memory peak at one time, between its forward and its backward pass. A
 * price at that time captures most of the cost of the limit. At a fixed price, the problem has no
 * memory limit and equal layers stay equal, so it is solved quickly (solver/lift.h). The minimum
 * priced cost, minus the price of the whole capacity, is a lower bound on the cost of all
 * assignments that fit, for any price (Geoffrion 1974).
 *
 * Each assignment gives a line over the price. The next price is where the line of an assignment
 * that exceeds the capacity crosses that of one that does not. This repeats until no new assignment
 * appears (cutting planes for a concave function of one variable). Then a second time gets a price,
 * and so on. */
#ifndef TP_LIB_SOLVER_FEW_PRICE_SEARCH_H
#define TP_LIB_SOLVER_FEW_PRICE_SEARCH_H

#include "solver/search.h"

enum { TP__COARSE_TIMES = 3 };

typedef struct tp__coarse_prices {
  int n; /* number of priced times */
  int64_t time[TP__COARSE_TIMES];
  double price[TP__COARSE_TIMES]; /* of a unit of memory, in units of cost of the graph */
  /* certified lower bound for all assignments that fit; INT64_MIN: none was found */
  tp_cost bound;
  /* of the cheapest assignment found that fits; TP_COST_FORBIDDEN: none */
  tp_cost cost;
  int *choices; /* that assignment, by node of the problem; the caller provides the array */
} tp__coarse_prices;

/* `relaxed` is the answer without the limit, which exceeds it. Costs are those of the graph of
 * `code`. Only for plain costs. */
tp_status tp__find_coarse_prices(tp__search *s, const tp_problem *problem, const tp__code *code,
                                 int64_t work, const tp__answer *relaxed,
                                 tp__coarse_prices *coarse);

#endif
