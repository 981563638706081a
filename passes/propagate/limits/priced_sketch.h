/* Prices of memory for the sketch of a large function under a memory limit. They give a lower bound
 * on the cost of keeping the limit, for each strategy. */
#ifndef TP_PASSES_PROPAGATE_PRICED_H
#define TP_PASSES_PROPAGATE_PRICED_H

#include "passes/propagate/limits/route_sketch.h"

/* Arrays are allocated in the planner's arena. Arrays by strategy list the strategies of all of the
 * planner's nodes, one node after the other. */
typedef struct tp_priced {
  tp_planner *p, sketch;
  tp_problem *unpriced;  /* problem of the sketch without prices */
  size_t n_first;        /* number of nodes of the planner, without routes */
  size_t *offset;        /* by these nodes, and the end: index of their first strategy */
  int *node;             /* by these nodes: their number in the sketch */
  bool *must;            /* by strategy: it was part of a plan that was found */
  size_t n_must;         /* number of strategies with `must` */
  bool *cheapest;        /* by strategy: it is part of the cheapest plan without a limit */
  tp_cost *reduced_cost; /* by strategy: lower bound on the cost of a plan that uses it */
  int64_t limit;         /* for the memory of nodes */
  int64_t *used;         /* by time: bytes of the last choices */
  uint64_t *prices;      /* of the sketch, in fixed point */
  size_t n_times;
  /* By time. In this order: the prices that the ascent has now; prices between those of a plan
   * that exceeds the limit and those of one that keeps it; the prices of the last solution with
   * routes; the prices that gave the best bound. */
  double *price, *between, *routed, *best;
  const double *current; /* the prices that were set last; NULL: none */
  bool has_routed;
  int n_priced;  /* times with a price of the ascent */
  int *choices;  /* of the sketch: the last ones found */
  tp_cost bound; /* certified lower bound */
  int64_t left;  /* remaining work for the function */
} tp_priced;

/* Opens the sketch of priced->p. Must be closed also when it fails. */
tp_status tp__priced_open(tp_priced *priced);
void tp__priced_close(tp_priced *priced);

/* Sets the prices by time, as cost per byte, for later calls. The array must stay. */
void tp__priced_set(tp_priced *priced, const double *price);
/* Takes the prices of a solution with routes, if it has any. */
void tp__priced_take(tp_priced *priced, const tp_solution *solution);
/* Solves the sketch at the current prices and updates the bound. The plan is stored in
 * priced->choices and priced->used, and its strategies are marked in `must`. TP_INFEASIBLE: no plan
 * was found. */
tp_status tp__priced_solve(tp_priced *priced);
/* The same with enough work for the exact bound, mostly. */
tp_status tp__priced_solve_exactly(tp_priced *priced);
/* Marks in `must`, for each node, the n strategies that cost least at the current prices beside
 * those that are marked for its neighbors. */
tp_status tp__priced_keep_nearest(tp_priced *priced, int n);
/* Takes the cheapest plan of the sketch with these strategies, by node of the planner, as if a
 * solve had found it. TP_INFEASIBLE: there is none. */
tp_status tp__priced_follow(tp_priced *priced, const int *chosen);
/* Computes priced->reduced_cost of all strategies at the best prices. */
tp_status tp__priced_reduced_costs(tp_priced *priced);
/* Sets *threshold so that about `share` strategies per node, on average, have a reduced cost below
 * it. */
tp_status tp__priced_threshold(const tp_priced *priced, size_t share, tp_cost *threshold);

/* Marks strategy s of a node in `must`. */
void tp__priced_keep(tp_priced *priced, size_t node, int s);
/* The time with the highest memory use. */
int64_t tp__priced_peak(const tp_priced *priced);
/* Returns solver options whose work budget is 1/share of the work limit, or the remaining work if
 * that is less. */
tp_solver_options tp__priced_options(const tp_priced *priced, int share);
/* Accounts for work that was spent. */
void tp__priced_spend(tp_priced *priced, int64_t work);
#endif
