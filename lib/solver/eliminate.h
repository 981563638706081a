/* Exact solution by bucket elimination (Bertele and Brioschi 1972; Dechter 1999) along a given
 * order. */
#ifndef TP_LIB_SOLVER_ELIMINATE_H
#define TP_LIB_SOLVER_ELIMINATE_H

#include "solver/control.h"
#include "solver/order.h"

/* Computes the minimum cost of `g`, including its constant, and the labels of an optimal assignment
 * to the alive nodes. If every assignment is forbidden, the cost is TP_COST_FORBIDDEN and `choices`
 * is unchanged. If `control` (may be NULL) stops the search, the result is unknown: *cost is the
 * constant of `g`, a valid lower bound, and *done is false. `work` is the work spent before, for
 * progress reports. */
tp_status tp__wcsp_eliminate(const tp__wcsp *g, const tp__order *order, tp__control *control,
                             int64_t work, tp_cost *cost, int *choices, bool *done);

#endif
