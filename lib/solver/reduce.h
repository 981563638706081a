/* Reductions that preserve an optimal assignment among those of cost < limit. */
#ifndef TP_LIB_SOLVER_REDUCE_H
#define TP_LIB_SOLVER_REDUCE_H

#include "solver/control.h"
#include "solver/wcsp.h"

/* Reduces `g` to a fixed point. Removes strategies that cannot be in an assignment of cost < limit,
 * dominated strategies, nodes with one strategy, nodes with at most two neighbors (with tables of
 * up to `table_budget` entries), and nodes tied by equality. Adds the entries read to *work. If
 * `control` (may be NULL) stops the search, it skips dominance, and nodes with two neighbors whose
 * tables are expensive. TP_INFEASIBLE if no assignment costs < limit; `g` is then unusable. */
tp_status tp__wcsp_reduce(tp__wcsp *g, tp_cost limit, int64_t table_budget, tp__control *control,
                          int64_t *work);

/* Only drops strategies and forbids entries that cannot be in an assignment of cost < limit, by
 * bounds on the costs as they are, whether or not these include prices. TP_INFEASIBLE as above. */
tp_status tp__wcsp_prune(tp__wcsp *g, tp_cost limit, int64_t *work);

#endif
