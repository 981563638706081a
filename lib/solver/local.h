/* Local search: better choices near a given one. */
#ifndef TP_LIB_SOLVER_LOCAL_H
#define TP_LIB_SOLVER_LOCAL_H

#include "solver/search.h"

/* Improves `at` (a strategy for every alive node) by changing one node, or the two nodes of an
 * edge, until neither helps or *work passes `work_limit`. Fewer forbidden entries always win over
 * lower cost, so a forbidden start is repaired where single and double changes can. `tight` (by
 * node): changes there, or of two such nodes, are known not to help. When `control`, which may be
 * NULL, says that the search is to end, only a forbidden choice is improved, until it is
 * allowed. */
tp_status tp__wcsp_improve(const tp__wcsp *g, const bool *tight, int64_t work_limit,
                           tp__control *control, int64_t *work, int *at);

/* Improves an allowed `at` by re-deciding most nodes at once: a set of nodes keeps its strategies
 * such that exact elimination of all others fits into small tables, which grow as that stops
 * helping. *cost is that of `at`, before and after. Stops at the cost g->constant or when the
 * search is to end. */
tp_status tp__wcsp_improve_widely(tp__search *s, const tp__wcsp *g, int64_t table_budget, int *at,
                                  tp_cost *cost);

#endif
