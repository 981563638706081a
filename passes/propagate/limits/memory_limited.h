/* Planning of large functions under a memory limit (memory_limited.c), and functions it shares with
 * verify_overestimates.c. */
#ifndef TP_PASSES_PROPAGATE_LIMITED_H
#define TP_PASSES_PROPAGATE_LIMITED_H

#include "passes/propagate/limits/routes.h"

/* True if the problem of the routes is so large that it is only stated for strategies that may be
 * part of a good plan. */
bool tp__is_large(const tp_planner *planner);
/* Plans such a function: chooses strategies for planner->nodes, and sets routes, problem, cost and
 * bound. */
tp_status tp__plan_limited(tp_planner *planner);

/* ---- selection_problem.c ---- */

/* Emits the error that the problem of the planner, or of a sketch, has no solution, with the
 * reason. */
tp_status tp__plan_infeasible(tp_planner *planner, const tp_solution *solution);

/* ---- verify_overestimates.c ---- */

/* A copy of the module, read again for a planner so that a plan can be written into it. Diagnostics
 * are discarded. Must not be moved. */
typedef struct tp_copied {
  MlirModule module;
  tp_pass pass;
  tp_again again;
  MlirDiagnosticHandlerID handler;
} tp_copied;

/* Must be closed also when it fails. */
tp_status tp__copy_open(const tp_planner *planner, tp_copied *copied);
void tp__copy_close(tp_copied *copied);
/* True if the plan of the solution keeps the limit, measured by writing it into a copy of the
 * module. */
bool tp__keeps_limit(const tp_planner *planner, const tp_solution *solution);

/* ---- unlimited_reshards.c ---- */

/* The values that a device holds at its peak; flags by value of the planner. */
typedef struct tp_at_peak {
  bool *made;    /* in the layout in which it is produced */
  bool *changed; /* in another layout */
} tp_at_peak;

/* Makes a planner of its own with the nodes of `planner` that do not belong to routes, in the same
 * order. Must be closed also when it fails. */
tp_status tp__plain_open(const tp_planner *planner, tp_planner *plain);
void tp__plain_close(tp_planner *plain);
/* Plans the decisions of the solution without routes. Returns the peak memory and sets *cost;
 * INT64_MAX if that is not possible. `at_peak` may be NULL. */
int64_t tp__plain_held(const tp_planner *planner, const tp_solution *solution, tp_cost *cost,
                       tp_at_peak *at_peak);
/* Turns the planner into one without routes that has this plan. */
tp_status tp__plain_take(tp_planner *planner, const int *choices);

/* ---- k_best.c ---- */

typedef struct tp_nearby {
  int *choices; /* by node of the planner, in its arena, for tp__plain_take; NULL: none */
  tp_cost cost; /* only cheaper plans are searched for */
  int64_t work; /* work that was done */
} tp_nearby;

/* Lists plans without routes, from the cheapest on, with at most `work` units of work. The cheapest
 * one that keeps the limit and costs less than best->cost becomes `best`. */
tp_status tp__plan_nearby(const tp_planner *planner, int64_t work, tp_nearby *best);

#endif
