/* Exact solution by bucket elimination (Bertele and Brioschi 1972; Dechter 1999) along a given order. */
#ifndef TP_LIB_SOLVER_ELIMINATE_H
#define TP_LIB_SOLVER_ELIMINATE_H

#include "solver/order.h"

/* The least cost of `g`, constant included, and the labels of a best choice for the alive nodes. When every choice is
 * forbidden the cost is TP_COST_FORBIDDEN and `choices` is not touched. */
tp_status tp__wcsp_eliminate(const tp__wcsp *g, const tp__order *order, tp_cost *cost, int *choices);

#endif
