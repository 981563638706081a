/* Plans within a memory limit that place reshards as planning without a limit does.
 *
 * Routes reshard as late as possible and count the memory held until then. Without a limit, a value
 * with several uses has one copy, and reshards to smaller layouts run right behind the producer.
 * For the same decisions of all ops, that often holds less memory than routes do. So the solver's
 * choices for arguments, ops and results are also planned without routes: every decision has one
 * strategy left, except for the copies. */
#include "passes/propagate/limits/reduced_planner.h"

#include <string.h>

/* By node that does not belong to routes: a row with only the chosen strategy, numbered as in the
 * program, or as in the planner if `own`. NULL when memory runs out. */
static const bool *const *chosen_rows(const tp_planner *p, const int *choices, bool own) {
  const bool **rows =
      tp__arena_array(p->problem.arena, p->problem.n_nodes + 1, sizeof(const bool *));
  size_t n = 0;
  for (size_t i = 0; rows && i < p->problem.n_nodes; i++) {
    if (tp__is_of_routes(&p->problem.nodes[i]))
      continue;
    int at = tp__number_among_all(p->kept && !own ? p->kept[n] : NULL, choices[i]);
    bool *row =
        tp__arena_array(p->problem.arena,
                        (size_t)(at < TP_MAX_STRATEGIES ? TP_MAX_STRATEGIES : at) + 1, sizeof *row);
    if (!row)
      return NULL;
    row[at] = true;
    rows[n++] = row;
  }
  return rows;
}

/* Plans with a planner without routes that keeps only these strategies. */
static tp_status plan_unrouted(tp_planner *unrouted, const bool *const *rows) {
  tp_status status = tp__planner_cut(unrouted, rows);
  if (status == TP_OK)
    status = tp__plan_copies(unrouted);
  if (status == TP_OK)
    status = tp__plan_make_problem(unrouted, false, &unrouted->stated);
  return status == TP_OK ? tp__plan_stated(unrouted) : status;
}

/* Marks the values held at the peak. The result of a reshard counts as its source value. */
static tp_status mark_peak(tp_planner *written, tp_at_peak *at_peak) {
  tp_memory_peak peak = {0};
  tp_status status = tp__plan_peak(written, &peak);
  memset(at_peak->made, false, written->problem.n_values * sizeof *at_peak->made);
  memset(at_peak->changed, false, written->problem.n_values * sizeof *at_peak->changed);
  for (size_t i = 0; i < peak.n && status == TP_OK; i++) {
    MlirValue value = peak.held[i].value;
    bool is_changed = false;
    while (!mlirValueIsNull(value) && !mlirValueIsABlockArgument(value) &&
           tp__op_is(mlirOpResultGetOwner(value), "shard.shard") &&
           !tp__planned_value(written, value)) {
      is_changed = true;
      value = mlirOperationGetOperand(mlirOpResultGetOwner(value), 0);
    }
    const tp_planned_value *of = mlirValueIsNull(value) ? NULL : tp__planned_value(written, value);
    if (of)
      (is_changed ? at_peak->changed : at_peak->made)[of - written->problem.values] = true;
  }
  tp__memory_peak_destroy(&peak);
  return status;
}

int64_t tp__unrouted_peak(const tp_planner *p, const tp_solution *solution, tp_cost *cost,
                          tp_at_peak *at_peak) {
  int64_t held = INT64_MAX;
  const bool *const *rows = p->is_restricted ? NULL : chosen_rows(p, solution->choices, false);
  if (!rows)
    return held; /* a module that is read again has all strategies */
  tp_copied copied;
  if (tp__copy_open(p, &copied) == TP_OK && plan_unrouted(&copied.again.planner, rows) == TP_OK &&
      tp__plan_write(&copied.again.planner) == TP_OK) {
    held = copied.again.planner.result.peak;
    *cost = copied.again.planner.result.cost;
    if (at_peak && mark_peak(&copied.again.planner, at_peak) != TP_OK)
      held = INT64_MAX;
  }
  tp__copy_close(&copied);
  return held;
}

tp_status tp__unrouted_open(const tp_planner *p, tp_planner *unrouted) {
  int *place = tp__calloc(p->problem.n_nodes + 1, sizeof *place);
  tp_status status = tp__planner_copy(p, unrouted);
  unrouted->same_layouts = (tp_memo){0};
  if (!place || status != TP_OK) {
    tp__free(place);
    return tp__plan_no_memory(p);
  }
  unrouted->problem.n_nodes = 0;
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    place[i] = (int)unrouted->problem.n_nodes;
    if (!tp__is_of_routes(&p->problem.nodes[i]))
      unrouted->problem.nodes[unrouted->problem.n_nodes++] = p->problem.nodes[i];
  }
  for (size_t k = 0; k < unrouted->problem.n_values; k++) {
    tp_planned_value *v = &unrouted->problem.values[k];
    v->node = place[v->node];
    for (int u = 0; u < v->n_uses; u++)
      v->uses[u].node = place[v->uses[u].node];
  }
  tp__free(place);
  return TP_OK;
}

void tp__unrouted_close(tp_planner *unrouted) {
  tp__memo_destroy(&unrouted->same_layouts);
  tp__planner_drop(unrouted);
}

tp_status tp__unrouted_take(tp_planner *p, const int *choices) {
  tp_planner unrouted;
  const bool *const *own = chosen_rows(p, choices, true), *const *all =
                                                              chosen_rows(p, choices, false);
  if (!own || !all)
    return tp__plan_no_memory(p);
  tp_status status = tp__unrouted_open(p, &unrouted);
  if (status == TP_OK)
    status = plan_unrouted(&unrouted, own);
  if (status == TP_OK) {
    unrouted.kept = all;
    tp__memo_destroy(&unrouted.same_layouts);
    tp__planner_take(p, &unrouted);
  } else {
    tp__unrouted_close(&unrouted);
  }
  return status;
}
