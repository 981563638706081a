/* Lower bounds by sequential message passing (TRW-S: Kolmogorov 2006, in the reparametrizing form
 * of SRMP, 2013).
 *
 * A reparametrization moves cost between nodes and edges without changing the cost of any
 * assignment. The dual uses integers only and keeps every node cost and every table entry >= 0. The
 * constant that it has collected is therefore a certified lower bound at any time, regardless of
 * rounding. */
#ifndef TP_LIB_SOLVER_DUAL_H
#define TP_LIB_SOLVER_DUAL_H

#include "solver/control.h"
#include "solver/wcsp.h"

typedef struct tp__dual {
  tp__wcsp *g;
  tp__pool pool;
  tp_cost **cost; /* by node: current costs, >= 0 */
  /* by edge and endpoint: the cost moved from the table to the strategies of that endpoint */
  tp_cost *(*taken)[2];
  tp_cost *scratch, *far; /* scratch, one entry per strategy of the largest node each */
  tp_cost bound;          /* certified lower bound, including the graph's constant */
  bool exhausted;         /* a cost is so large that sums may overflow: no further passes */
  bool passed;            /* at least one pass was made */
  bool is_view;           /* the costs are the arrays of the graph */
} tp__dual;

/* `g` must be reduced: no node cost is forbidden, and every strategy has an allowed partner in each
 * edge. */
tp_status tp__dual_create(tp__wcsp *g, tp__dual *dual);
/* Creates a dual for decoding only, without messages: it uses the costs of the graph and has no
 * arrays of its own. */
tp_status tp__dual_view(tp__wcsp *g, tp__dual *dual);
void tp__dual_clear(tp__dual *dual);

/* Makes one forward and one backward sweep, or only a part of them if `control` (may be NULL) stops
 * the search. */
void tp__dual_pass(tp__dual *dual, tp__control *control, int64_t *work);
/* The same over some alive nodes only, which are in ascending order. */
void tp__dual_pass_over(tp__dual *dual, const int *nodes, int n, tp__control *control,
                        int64_t *work);

/* Chooses nodes in order, by their current costs and by the edges to nodes chosen before. Avoids
 * strategies that have no allowed partner left. `at` receives a strategy for every alive node; the
 * assignment may still be forbidden. */
tp_status tp__dual_decode(const tp__dual *dual, int *at, int64_t *work);

/* Sets tight[v] if, under current costs, neither node v at `at` nor any of its edges costs
 * anything, so that no other strategy of v is better. */
void tp__dual_tight(const tp__dual *dual, const int *at, bool *tight);

/* Sets more[x] to a lower bound on the cost, beyond the dual's bound, of an assignment with
 * strategy x at `node`. */
void tp__dual_reduced_costs(const tp__dual *dual, int node, tp_cost *more);

/* Adds by[x] to the cost of each strategy x of `node`. First collects the spare cost of its edges,
 * so that the bound is certified for the new costs. False if a cost is so large that sums may
 * overflow; the dual is then unusable. */
bool tp__dual_shift(tp__dual *dual, int node, const tp_cost *by);

/* Creates a dual of the same graph with the current state of `from`. */
tp_status tp__dual_clone(const tp__dual *from, tp__dual *dual);

/* Returns a graph of the strategies x of nodes v with kept[v][x], at least one per node, with their
 * labels and current costs, and with the bound as its constant. NULL if memory runs out. */
tp__wcsp *tp__dual_extract(const tp__dual *dual, bool *const *kept);

/* Writes the reparametrization into the graph: every assignment keeps its cost, and constant ==
 * bound. The graph loses its shelf, unless no pass was made. TP_NO_MEMORY. */
tp_status tp__dual_apply(tp__dual *dual);

#endif
