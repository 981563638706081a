/* Planning large functions under a memory limit (memory_limited.c), and what it shares with
 * verify_overestimates.c. */
#ifndef TP_PASSES_PROPAGATE_LIMITED_H
#define TP_PASSES_PROPAGATE_LIMITED_H

#include "passes/propagate/limits/routes.h"

/* Is the problem of the routes so large that it is only stated for strategies that may be part of a
 * good plan? */
bool tp__is_large(const tp_planner *planner);
/* Plans such a function: chooses strategies for planner->nodes, and gives it routes, a problem,
 * cost and bound. */
tp_status tp__plan_limited(tp_planner *planner);

/* ---- reduced_planner.c ---- */

/* A planner of its own with the nodes and values of `planner`, which has no routes. To be dropped
 * also when it fails. */
tp_status tp__planner_copy(const tp_planner *planner, tp_planner *copy);
void tp__planner_drop(tp_planner *copy);
/* `planner` gets all that the copy has, and the copy is dropped. */
void tp__planner_take(tp_planner *planner, tp_planner *copy);
/* Node i keeps its strategies s with kept[i][s], of which there is one at least; `planner` has no
 * routes. `kept` stays in use. */
tp_status tp__planner_cut(tp_planner *planner, const bool *const *kept);

/* The node at this place (routes are not built) keeps its strategies s with among[s]: what is
 * planned then is another function. */
tp_status tp__planner_restrict(tp_planner *planner, int place, const bool *among);
/* Was the node added for routes? */
bool tp__is_of_routes(const tp_node *node);

/* ---- selection_problem.c ---- */

/* The problem of the planner, or of a sketch, has no solution: says why. */
tp_status tp__plan_infeasible(tp_planner *planner, const tp_solution *solution);

/* ---- verify_overestimates.c ---- */

/* A copy of the module, read again for what a planner planned, to write a plan into it. Its
 * diagnostics are swallowed. Not to be moved. */
typedef struct tp_copied {
  MlirModule module;
  tp_pass pass;
  tp_again again;
  MlirDiagnosticHandlerID handler;
} tp_copied;

/* To be closed also when it fails. */
tp_status tp__copy_open(const tp_planner *planner, tp_copied *copied);
void tp__copy_close(tp_copied *copied);
/* Does the plan of the solution hold no more than the limit? It is written into a copy of the
 * module. */
bool tp__keeps_limit(const tp_planner *planner, const tp_solution *solution);

/* ---- unlimited_reshards.c ---- */

/* What a device holds of values at the time at which it holds most; flags by value of the
 * planner. */
typedef struct tp_at_peak {
  bool *made;    /* in the layout in which it is made */
  bool *changed; /* in another one */
} tp_at_peak;

/* A planner of its own with the nodes of `planner` that are not of routes, in their order. To be
 * closed also when it fails. */
tp_status tp__plain_open(const tp_planner *planner, tp_planner *plain);
void tp__plain_close(tp_planner *plain);
/* What a device holds at most, and the cost, if the decisions of the solution are planned without
 * routes; INT64_MAX where they cannot be. `at_peak` may be NULL. */
int64_t tp__plain_held(const tp_planner *planner, const tp_solution *solution, tp_cost *cost,
                       tp_at_peak *at_peak);
/* The planner becomes one without routes that has this plan. */
tp_status tp__plain_take(tp_planner *planner, const int *choices);

/* ---- k_best.c ---- */

typedef struct tp_nearby {
  int *choices; /* by node of the planner, of its arena: tp__plain_take; NULL: none */
  tp_cost cost; /* only plans that cost less are sought */
  int64_t work; /* that was done */
} tp_nearby;

/* Lists plans that are written as planning without a limit writes them, from the cheapest on, with
 * so much work at most. The cheapest that keeps the limit and costs less than best->cost becomes
 * `best`. */
tp_status tp__plan_nearby(const tp_planner *planner, int64_t work, tp_nearby *best);

#endif
