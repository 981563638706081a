/* Exact solution by bucket elimination (Bertele and Brioschi 1972; Dechter 1999) along a given
 * order. */
#ifndef TP_LIB_SOLVER_ELIMINATE_H
#define TP_LIB_SOLVER_ELIMINATE_H

#include "solver/control.h"
#include "solver/order.h"

/* The least cost of `g`, constant included, and the labels of a best choice for the alive nodes.
 * When every choice is forbidden the cost is TP_COST_FORBIDDEN and `choices` is not touched. When
 * `control`, which may be NULL, says that the search is to end, nothing is known: the cost is the
 * constant of `g`, no choice costs less, and *done is false. `work`: what was spent before, for
 * those who are asked. */
tp_status tp__wcsp_eliminate(const tp__wcsp *g, const tp__order *order, tp__control *control,
                             int64_t work, tp_cost *cost, int *choices, bool *done);

#endif
