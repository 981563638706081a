/* Cores: the few strategies that matter, searched first. */
#ifndef TP_LIB_SOLVER_CORE_H
#define TP_LIB_SOLVER_CORE_H

#include "solver/climb.h"

/* Searches graphs of those strategies of c->g that cost least by messages and prices, each with the
 * best choice found so far (Balas and Zemel 1980 call such a part of a knapsack its core). What is
 * found becomes c->answer; prices that are good for a core are taken over to c->g. In the end c->g
 * is pruned by c->bound, which only c->g as a whole can raise. `at` has labels of a choice for all
 * alive nodes that need not fit, or NULL. TP_INFEASIBLE: nothing costs less than c->limit. */
tp_status tp__cores(tp__climber *c, const int *at);

#endif
