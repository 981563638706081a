/* Compares the strategies of a node over all choices of its neighbors. */
#ifndef TP_LIB_SOLVER_DOMINANCE_H
#define TP_LIB_SOLVER_DOMINANCE_H

#include "solver/reducer.h"

/* Edges of the node with one table. */
typedef struct tp__neighbors {
  tp__wview view;
  int n_far, count;
  const tp_cost *columns; /* [k * n + x]: the table with the node's strategies last */
  const tp_cost *rows;    /* [x * n_far + k]: the same with those first; NULL: not needed yet */
  tp_cost *least, *at;    /* by x: the minimum of its row, and the column of that */
  tp_cost *room;          /* for the one of `columns` and `rows` that is not the table itself */
} tp__neighbors;

enum { TP__FEW_EDGES = 16 };

/* The inputs of dominance, collected once for all pairs of strategies. */
typedef struct tp__dominance {
  const tp__reducer *r;
  const tp__wnode *v;
  int node, n;
  tp__neighbors few[TP__FEW_EDGES], *neighbors;
  double *gain, *size; /* by strategy: see tp__dominance_compare */
} tp__dominance;

/* Uses the scratch of the reducer. Must be closed, unless it fails. */
tp_status tp__dominance_open(tp__reducer *r, int node, tp__dominance *d);
void tp__dominance_close(tp__dominance *d);

/* Compares all strategies with x, for tp__dominates. */
void tp__dominance_compare(tp__dominance *d, int x);
/* True if y is at least as good as x for all choices of the neighbors. */
bool tp__dominates(tp__dominance *d, int y, int x);

#endif
