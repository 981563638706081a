/* Local search under a memory limit. */
#ifndef TP_LIB_SOLVER_REPAIR_H
#define TP_LIB_SOLVER_REPAIR_H

#include "solver/search.h"

/* Changes `at` (a strategy for every alive node) by single nodes and pairs, first so that it fits,
 * then so that it costs less. *excess is the final usage beyond the capacity, summed over the
 * times; 0 if it fits. `used` has one element per time and receives the usage of `at`. */
tp_status tp__repair(tp__search *search, const tp__wcsp *g, int *at, tp__int128 *used,
                     tp__int128 *excess);

/* Computes `used` for `at`. */
void tp__usage_of(const tp__wcsp *g, const int *at, tp__int128 *used);
tp__int128 tp__excess_of(const tp__wcsp *g, const tp__int128 *used);

#endif
