/* The sketch of a large function under a memory limit, with prices of memory: what it costs at
 * least to keep the limit, with any strategy. Shared by priced_strategies.c and
 * memory_limited.c. */
#ifndef TP_PASSES_PROPAGATE_PRICED_H
#define TP_PASSES_PROPAGATE_PRICED_H

#include "passes/propagate/limits/route_sketch.h"

/* Arrays are of the planner's arena. Strategies are those of the planner's nodes, all in one
 * list. */
typedef struct tp_priced {
  tp_planner *p, sketch;
  tp_problem *unpriced; /* of the sketch */
  size_t n_first;       /* nodes of the planner, without routes */
  size_t *offset;       /* by these nodes, and the end: their strategies among all */
  int *node;            /* by these nodes: in the sketch */
  bool *must;           /* by strategy: was part of a plan that was found ... */
  size_t n_must;        /* ... so many of them */
  bool *cheapest;       /* by strategy: is part of the cheapest plan of all */
  tp_cost *least;       /* by strategy: what a plan with it costs at least */
  int64_t limit;        /* of what nodes hold */
  int64_t *used;        /* by time */
  uint64_t *prices;     /* of the sketch */
  size_t n_times;
  double *price, *best; /* by time: now, and at the best bound */
  int *choices;         /* of the sketch */
  tp_cost bound;        /* certified */
  int64_t left;         /* of the work for the function */
} tp_priced;

/* Opens the sketch of l->p. To be closed also when it fails. */
tp_status tp__priced_open(tp_priced *priced);
void tp__priced_close(tp_priced *priced);

/* Takes prices by time, as cost for a byte, for what follows. */
void tp__priced_set(tp_priced *priced, const double *price);
/* l->price becomes what the solution says, if it says something. */
void tp__priced_take(tp_priced *priced, const tp_solution *solution);
/* Solves the sketch at the present prices, for its bound. What is found is in l->choices and
 * l->used, and its strategies are kept. TP_INFEASIBLE: nothing was. */
tp_status tp__priced_solve(tp_priced *priced);
/* Raises prices until something is found that keeps the limit, at the times at which it is exceeded
 * most. */
tp_status tp__priced_search(tp_priced *priced);
/* l->least of all strategies, at the best prices. */
tp_status tp__priced_least(tp_priced *priced);
/* What the strategies cost at least that are not among the cheapest, so many to a node on the
 * average. */
tp_status tp__priced_threshold(const tp_priced *priced, size_t share, tp_cost *most);

/* Strategy s of a node must be kept. */
void tp__priced_keep(tp_priced *priced, size_t node, int s);
/* The time at which most is used. */
int64_t tp__priced_peak(const tp_priced *priced);
/* For a share of the work, or what is left of it if that is less. */
tp_solver_options tp__priced_options(const tp_priced *priced, int share);
/* So much of it was spent. */
void tp__priced_spend(tp_priced *priced, int64_t work);
#endif
