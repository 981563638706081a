/* Local search under a memory limit. */
#ifndef TP_LIB_SOLVER_REPAIR_H
#define TP_LIB_SOLVER_REPAIR_H

#include "solver/search.h"

/* Changes `at` (a strategy for every alive node) node by node and pair by pair so that it fits, and
 * then so that it costs less. *excess is what it needs beyond the room in the end, summed over the
 * times: 0 if it fits. `used` has an element per time and is that of `at` afterwards. */
tp_status tp__repair(tp__search *search, const tp__wcsp *g, int *at, tp__wide *used,
                     tp__wide *excess);

/* Fills `used`. */
void tp__usage_of(const tp__wcsp *g, const int *at, tp__wide *used);
tp__wide tp__excess_of(const tp__wcsp *g, const tp__wide *used);

#endif
