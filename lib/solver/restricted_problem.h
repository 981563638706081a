/* Cores: a part of the search of constrained.h that searches graphs of the few most promising
 * strategies first. */
#ifndef TP_LIB_SOLVER_RESTRICTED_PROBLEM_H
#define TP_LIB_SOLVER_RESTRICTED_PROBLEM_H

#include "solver/constrained.h"
#include "solver/price_ascent.h"

/* Searches graphs of those strategies of c->g that are cheapest according to messages and prices,
 * always including the best assignment found so far (Balas and Zemel 1980 call such a part of a
 * knapsack its core). The result becomes c->answer, and prices that are good for a core are copied
 * to c->g. At the end, prunes c->g by c->bound, which only messages over all of c->g can raise.
 * `at` has the labels of an assignment to all alive nodes that need not fit, or is NULL.
 * TP_INFEASIBLE: no assignment costs less than c->limit. */
tp_status tp__restricted_problems(tp__price_ascent *c, const int *at);

#endif
