/* Reductions that keep an optimal choice among those of cost < limit. */
#ifndef TP_LIB_SOLVER_REDUCE_H
#define TP_LIB_SOLVER_REDUCE_H

#include "solver/control.h"
#include "solver/wcsp.h"

/* Reduces `g` until nothing changes: strategies that cannot be in a choice of cost < limit,
 * dominated strategies, nodes with one strategy, nodes with at most two neighbours (tables up to
 * `table_budget` entries), nodes tied by equality. Adds the entries looked at to *work. When
 * `control`, which may be NULL, says that the search is to end, dominated strategies stay, and
 * nodes of two neighbours where their table takes long. TP_INFEASIBLE when it is proven that no
 * choice costs < limit; `g` is then spent. */
tp_status tp__wcsp_reduce(tp__wcsp *g, tp_cost limit, int64_t table_budget, tp__control *control,
                          int64_t *work);

/* Only drops strategies and forbids entries that cannot be in a choice of cost < limit, by bounds
 * alone: of the costs as they are, whatever they stand for. TP_INFEASIBLE as above. */
tp_status tp__wcsp_prune(tp__wcsp *g, tp_cost limit, int64_t *work);

#endif
