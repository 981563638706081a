/* A reduction at work: what the rules of reduce_strategies.c and reduce_nodes.c share with the
 * queue of reduce.c.
 *
 * Rules look at one node, which is alive. They queue the nodes whose surroundings they change. */
#ifndef TP_LIB_SOLVER_REDUCER_H
#define TP_LIB_SOLVER_REDUCER_H

#include "solver/control.h"
#include "solver/wcsp.h"

typedef struct tp__reducer {
  tp__wcsp *g;
  tp_cost limit, first_constant; /* that of the graph, at the start */
  int64_t table_budget, *work;
  tp__control *control; /* NULL: nobody asks that it end */
  bool hurries;         /* somebody did, or the gap is small enough */
  int n_steps;
  int *queue; /* ring of n_nodes places: a node is queued at most once */
  int head, n_queued;
  bool *queued;
  bool *drop;  /* by strategy of the node at hand */
  bool *taken; /* the same, for columns of an equality */
  tp_cost *scratch;
  size_t room_scratch;
  /* with a shelf: what the star bound found at the node at hand, if that changed nothing; else
   * NULL */
  struct star *quiet;
  tp_status (*step)(struct tp__reducer *r, int node); /* what is done at a node */
} tp__reducer;

void tp__reducer_touch(tp__reducer *r, int node);
void tp__reducer_touch_neighbours(tp__reducer *r, int node);

/* Room for n costs, until the next call. NULL when memory runs out. */
tp_cost *tp__reducer_scratch(tp__reducer *r, size_t n);

/* Drops the n_drop strategies that are marked in r->drop. */
tp_status tp__reducer_apply_drop(tp__reducer *r, int node, int n_drop);

/* ---- reduce_strategies.c ---- */

/* Moves the least node cost into the constant. */
tp_status tp__reducer_normalise(tp__wcsp *g, tp__wnode *v);
/* Drops strategies, and forbids pairs with those of a neighbour, that cannot be in a choice below
 * the limit. */
tp_status tp__reducer_star_bound(tp__reducer *r, int node);
tp_status tp__reducer_dominated(tp__reducer *r, int node);

/* ---- reduce_nodes.c ---- */

/* n == 1, or no neighbour: the cost of `node` is known. */
tp_status tp__reducer_fold(tp__reducer *r, int node);
/* One neighbour. */
tp_status tp__reducer_eliminate_leaf(tp__reducer *r, int node);
/* Two neighbours; the node stays where their table would exceed the budget. */
tp_status tp__reducer_eliminate_between(tp__reducer *r, int node);
/* Makes the node and a neighbour one if an edge pairs their strategies. */
tp_status tp__reducer_merge_equal(tp__reducer *r, int node);

#endif
