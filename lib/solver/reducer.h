/* The state of a running reduction, which the rules of reduce_strategies.c and reduce_nodes.c share
 * with the queue of reduce.c.
 *
 * A rule handles one alive node. It queues the nodes whose surroundings it changes. */
#ifndef TP_LIB_SOLVER_REDUCER_H
#define TP_LIB_SOLVER_REDUCER_H

#include "solver/control.h"
#include "solver/wcsp.h"

typedef struct tp__reducer {
  tp__wcsp *g;
  tp_cost limit, first_constant; /* first_constant: the graph's constant at the start */
  int64_t table_budget, *work;
  tp__control *control; /* NULL: cannot be stopped */
  bool must_finish;     /* a stop was requested, or the gap is small enough */
  int n_steps;
  int *queue; /* ring of n_nodes entries; a node is queued at most once */
  int head, n_queued;
  bool *queued;
  bool *drop;  /* by strategy of the current node */
  bool *taken; /* the same, for the columns of an equality */
  tp_cost *scratch;
  size_t scratch_capacity;
  /* with a shelf: the star bound's result for the current node, if it changed nothing; otherwise
   * NULL */
  struct star *quiet;
  tp_status (*step)(struct tp__reducer *r, int node); /* processes a node */
} tp__reducer;

void tp__reducer_touch(tp__reducer *r, int node);
void tp__reducer_touch_neighbors(tp__reducer *r, int node);

/* Returns scratch for n costs, valid until the next call. NULL if memory runs out. */
tp_cost *tp__reducer_scratch(tp__reducer *r, size_t n);

/* Drops the n_drop strategies marked in r->drop. */
tp_status tp__reducer_apply_drop(tp__reducer *r, int node, int n_drop);

/* ---- reduce_strategies.c ---- */

/* Dominance compares all pairs of strategies; beyond this number it does not pay off. */
enum { TP__MAX_DOMINANCE = 512 };

/* Moves the minimum node cost into the constant. */
tp_status tp__reducer_normalize(tp__wcsp *g, tp__wnode *v);
/* Drops strategies, and forbids pairs with those of a neighbor, that cannot be in an assignment
 * below the limit. */
tp_status tp__reducer_star_bound(tp__reducer *r, int node);
tp_status tp__reducer_dominated(tp__reducer *r, int node);

/* ---- reduce_nodes.c ---- */

/* For n == 1 or no neighbors: the cost of `node` is known. */
tp_status tp__reducer_fold(tp__reducer *r, int node);
/* For one neighbor. */
tp_status tp__reducer_eliminate_leaf(tp__reducer *r, int node);
/* For two neighbors. Keeps the node if the table between them would exceed the budget. */
tp_status tp__reducer_eliminate_between(tp__reducer *r, int node);
/* Merges the node with a neighbor if an edge pairs their strategies one to one. */
tp_status tp__reducer_merge_equal(tp__reducer *r, int node);

#endif
