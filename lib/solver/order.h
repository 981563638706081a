/* A min-weight elimination order, and what exact elimination in that order would cost. */
#ifndef TP_LIB_SOLVER_ORDER_H
#define TP_LIB_SOLVER_ORDER_H

#include "solver/control.h"
#include "solver/wcsp.h"

typedef struct tp__order {
  int n;            /* alive nodes */
  int *node;        /* in order of elimination */
  int *position;    /* by node of the graph; -1 if not alive */
  size_t *scope_at; /* n + 1 entries: scope of node[i] is scope[scope_at[i] .. scope_at[i + 1]) */
  int *scope;       /* its neighbours when it is eliminated, latest eliminated first */
  int width;        /* largest scope */
  int64_t largest;  /* entries of the largest table */
  int64_t work;     /* entries computed, each over all strategies of its node */
  int64_t peak;     /* most table entries alive at once */
  int64_t argmins;  /* entries of all tables: one stored choice each */
  /* false: a table would exceed the budget, or there is no time; only `complete` is valid then */
  bool complete;
} tp__order;

/* Ties go to the lower node number. Stops as soon as a table needs more than `budget` entries, or
 * `control`, which may be NULL, says that the search is to end. `work`: what was spent before, for
 * those who are asked. */
tp_status tp__wcsp_order(const tp__wcsp *g, int64_t budget, tp__control *control, int64_t work,
                         tp__order *order);
/* Marks nodes in `cut` such that the others can be eliminated with tables of at most `budget`
 * entries once the marked ones are fixed. Takes nodes of little `burden` first and adds one to that
 * of each it takes, so that repeated calls mark different nodes. Both arrays have an element per
 * node of the graph. */
tp_status tp__wcsp_cut(const tp__wcsp *g, int64_t budget, int *burden, bool *cut);
void tp__order_clear(tp__order *order);

#endif
