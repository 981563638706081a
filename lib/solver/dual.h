/* Lower bounds by sequential message passing (TRW-S: Kolmogorov 2006, in the reparametrising form
 * of SRMP, 2013).
 *
 * A reparametrisation moves cost between nodes and edges without changing the cost of any choice.
 * The dual keeps all of it in integers and keeps every node cost and every table entry >= 0, so the
 * constant it has collected is a certified lower bound at any time, whatever was rounded on the
 * way. */
#ifndef TP_LIB_SOLVER_DUAL_H
#define TP_LIB_SOLVER_DUAL_H

#include "solver/control.h"
#include "solver/wcsp.h"

typedef struct tp__dual {
  tp__wcsp *g;
  tp__pool pool;
  tp_cost **cost; /* by node: current node costs, >= 0 */
  /* by edge and end: what was moved from the table to that end's strategies */
  tp_cost *(*taken)[2];
  tp_cost *scratch, *far; /* room for the strategies of one node each */
  tp_cost bound;          /* certified, the graph's constant included */
  bool exhausted;         /* numbers left the safe range: no further passes */
  bool passed;            /* there was a pass */
  bool is_view;           /* costs are those of the graph */
} tp__dual;

/* `g` must be reduced: no forbidden node cost, and every strategy has an allowed partner in each
 * edge. */
tp_status tp__dual_create(tp__wcsp *g, tp__dual *dual);
/* Of costs as the graph has them, with no messages, to decode and not to pass any: without arrays
 * of its own. */
tp_status tp__dual_view(tp__wcsp *g, tp__dual *dual);
void tp__dual_clear(tp__dual *dual);

/* One sweep forward and one backward, or a part of that when `control`, which may be NULL, says
 * that the search is to end. */
void tp__dual_pass(tp__dual *dual, tp__control *control, int64_t *work);

/* Chooses nodes in order by current costs and by the edges to nodes chosen before, keeping clear of
 * strategies that have no allowed partner left. `at` receives a strategy for every alive node; the
 * result may still be forbidden. */
tp_status tp__dual_decode(const tp__dual *dual, int *at, int64_t *work);

/* tight[v]: by current costs neither node v at `at` nor any of its edges costs anything, so no
 * other strategy of v is better. */
void tp__dual_tight(const tp__dual *dual, const int *at, bool *tight);

/* more[x] = what a choice with strategy x at `node` costs beyond the bound, at least. */
void tp__dual_regret(const tp__dual *dual, int node, tp_cost *more);

/* Adds by[x] to the cost of each strategy x of `node`, and collects there what its edges can spare,
 * so that the bound is certified for the new costs. False if numbers left the safe range: the dual
 * is then spent. */
bool tp__dual_shift(tp__dual *dual, int node, const tp_cost *by);

/* A dual of the same graph that starts where `from` is. */
tp_status tp__dual_clone(const tp__dual *from, tp__dual *dual);

/* A graph of the strategies x of nodes v with kept[v][x], one at least of each node, with their
 * labels, at current costs and with the bound as its constant. NULL when memory runs out. */
tp__wcsp *tp__dual_extract(const tp__dual *dual, bool *const *kept);

/* Writes the reparametrisation into the graph: same cost for every choice, constant == bound. The
 * graph has no shelf afterwards, unless there was no pass. TP_NO_MEMORY. */
tp_status tp__dual_apply(tp__dual *dual);

#endif
