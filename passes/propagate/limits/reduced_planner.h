/* Planners of their own with fewer strategies or without routes, and trial plans. The searches
 * (search.h) share them. */
#ifndef TP_PASSES_PROPAGATE_REDUCED_H
#define TP_PASSES_PROPAGATE_REDUCED_H

#include "passes/propagate/limits/routes.h"

/* ---- reduced_planner.c ---- */

/* Makes a planner of its own with the nodes and values of `planner`, which must have no routes.
 * Must be dropped also when it fails. */
tp_status tp__planner_copy(const tp_planner *planner, tp_planner *copy);
void tp__planner_drop(tp_planner *copy);
/* Moves everything of the copy into `planner`, and drops the copy. */
void tp__planner_take(tp_planner *planner, tp_planner *copy);
/* Node i keeps its strategies s with kept[i][s], at least one of them. `planner` must have no
 * routes. `kept` stays in use as planner->kept. */
tp_status tp__planner_cut(tp_planner *planner, const bool *const *kept);

/* Returns the number, among all strategies of a node, of strategy s of those in `kept`; NULL: it
 * keeps all. */
int tp__number_among_all(const bool *kept, int s);
/* The node at this index (routes are not built) keeps its strategies s with among[s]. The result
 * counts as another function. */
tp_status tp__planner_restrict(tp_planner *planner, int place, const bool *among);
/* True if the node was added for routes. */
bool tp__is_of_routes(const tp_node *node);

/* ---- selection_problem.c ---- */

/* Reports that the solver failed. Returns the status. */
tp_status tp__solver_failed(const tp_planner *planner, tp_status status);
/* Emits the error that the problem of the planner, or of a sketch, has no solution, with the
 * reason. */
tp_status tp__plan_infeasible(tp_planner *planner, const tp_solution *solution);

/* ---- trial_plan.c ---- */

/* A copy of the module, read again for a planner so that a plan can be written into it. Diagnostics
 * are discarded. Must not be moved. */
typedef struct tp_copied {
  MlirModule module;
  tp_pass pass;
  tp_replan again;
  MlirDiagnosticHandlerID handler;
} tp_copied;

/* Must be closed also when it fails. */
tp_status tp__copy_open(const tp_planner *planner, tp_copied *copied);
void tp__copy_close(tp_copied *copied);
/* Peak memory of the solution's plan as written; INT64_MAX if it cannot be written. */
int64_t tp__written_peak(const tp_planner *planner, const tp_solution *solution);

/* ---- unrouted_plan.c ---- */

/* The values that a device holds at its peak; flags by value of the planner. */
typedef struct tp_at_peak {
  bool *made;    /* in the layout in which it is produced */
  bool *changed; /* in another layout */
} tp_at_peak;

/* Makes a planner of its own with the nodes of `planner` that do not belong to routes, in the same
 * order. Must be closed also when it fails. */
tp_status tp__unrouted_open(const tp_planner *planner, tp_planner *unrouted);
void tp__unrouted_close(tp_planner *unrouted);
/* Plans the decisions of the solution without routes. Returns the peak memory and sets *cost;
 * INT64_MAX if that is not possible. `at_peak` may be NULL. */
int64_t tp__unrouted_peak(const tp_planner *planner, const tp_solution *solution, tp_cost *cost,
                          tp_at_peak *at_peak);
/* Turns the planner into one without routes that has this plan. */
tp_status tp__unrouted_take(tp_planner *planner, const int *choices);

#endif
