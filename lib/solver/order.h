/* A min-weight elimination order, and the cost of exact elimination in that order. */
#ifndef TP_LIB_SOLVER_ORDER_H
#define TP_LIB_SOLVER_ORDER_H

#include "solver/control.h"
#include "solver/wcsp.h"

typedef struct tp__order {
  int n;         /* alive nodes */
  int *node;     /* in order of elimination */
  int *position; /* by node of the graph; -1 if not alive */
  /* n + 1 entries: the scope of node[i] is scope[scope_at[i] .. scope_at[i + 1]) */
  size_t *scope_at;
  int *scope;      /* the neighbors of a node at its elimination, latest eliminated first */
  int width;       /* size of the largest scope */
  int64_t largest; /* entries of the largest table */
  int64_t work;    /* entries computed, each over all strategies of its node */
  int64_t peak;    /* maximum number of table entries alive at once */
  int64_t argmins; /* entries of all tables; each stores one choice */
  /* false: a table would exceed the budget, or the search was stopped; then only `complete` is
   * valid */
  bool complete;
} tp__order;

/* Computes an order. Ties go to the lower node number. Stops as soon as a table needs more than
 * `budget` entries, or if `control` (may be NULL) stops the search. `work` is the work spent
 * before, for progress reports. */
tp_status tp__wcsp_order(const tp__wcsp *g, int64_t budget, tp__control *control, int64_t work,
                         tp__order *order);
/* Marks nodes in `cut` such that the others can be eliminated with tables of at most `budget`
 * entries once the marked ones are fixed. Prefers nodes with a small `burden` and increments that
 * of each marked node, so that repeated calls mark different nodes. Both arrays have one element
 * per node of the graph. */
tp_status tp__wcsp_cut(const tp__wcsp *g, int64_t budget, int *burden, bool *cut);
void tp__order_clear(tp__order *order);

#endif
