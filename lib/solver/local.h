/* Local search: improves a given assignment. */
#ifndef TP_LIB_SOLVER_LOCAL_H
#define TP_LIB_SOLVER_LOCAL_H

#include "solver/search.h"

/* Improves `at` (a strategy for every alive node) by changing one node, or both endpoints of an
 * edge, until neither helps or *work passes `work_limit`. Fewer forbidden entries always count more
 * than lower cost, so a forbidden start is repaired where such changes can. `tight` (by node):
 * changes of such a node, or of two of them, are known not to help. If `control` (may be NULL)
 * stops the search, continues only until a forbidden assignment is allowed. */
tp_status tp__wcsp_improve(const tp__wcsp *g, const bool *tight, int64_t work_limit,
                           tp__control *control, int64_t *work, int *at);

/* Improves an allowed `at` by deciding most nodes again at once. A set of nodes keeps its
 * strategies such that exact elimination of all others fits into small tables, which grow once that
 * stops helping. *cost is the cost of `at`, before and after. Stops at the cost g->constant, or if
 * the search must stop. */
tp_status tp__wcsp_improve_lns(tp__search *s, const tp__wcsp *g, int64_t table_budget, int *at,
                               tp_cost *cost);

#endif
