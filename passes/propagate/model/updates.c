/* Ties each result that is the new value of an argument (tp.updates) to that argument. Both get one
 * layout, so that the results of a step are the arguments of the next one. */
#include "passes/propagate/model/planner.h"

#include <inttypes.h>

/* Sets *arg to the argument whose new value a result is, or to -1. by_arg[i] is the result that
 * updates argument i, or -1. */
static tp_status read_update(const tp_planner *p, MlirType type, int result, int *by_arg,
                             int *arg) {
  MlirAttribute attr = tp__result_attr(p->problem.graph.func, result, "tp.updates");
  *arg = -1;
  if (mlirAttributeIsNull(attr))
    return TP_OK;
  int64_t i = mlirAttributeIsAInteger(attr) ? mlirIntegerAttrGetValueInt(attr) : -1;
  if (i < 0 || i >= p->problem.graph.n_args)
    return tp__error(p->problem.graph.func, TP_INVALID_ARGUMENT,
                     "result %d: tp.updates must be the number of the argument whose new value the "
                     "result is, 0 to %d",
                     result, p->problem.graph.n_args - 1);
  if (!mlirTypeEqual(mlirFunctionTypeGetInput(type, i), mlirFunctionTypeGetResult(type, result))) {
    char from[128], to[128];
    tp__type_text(mlirFunctionTypeGetInput(type, i), sizeof from, from);
    tp__type_text(mlirFunctionTypeGetResult(type, result), sizeof to, to);
    return tp__error(p->problem.graph.func, TP_INVALID_ARGUMENT,
                     "result %d is %s and cannot be the new value of argument %" PRId64
                     " (tp.updates), which is %s",
                     result, to, i, from);
  }
  if (by_arg[i] >= 0)
    return tp__error(p->problem.graph.func, TP_INVALID_ARGUMENT,
                     "results %d and %d are both the new value of argument %" PRId64
                     " (tp.updates); drop one of them",
                     by_arg[i], result, i);
  *arg = (int)i;
  by_arg[i] = result;
  return TP_OK;
}

tp_status tp__read_updates(tp_planner *p) {
  const tp_func_graph *graph = &p->problem.graph;
  MlirType type = tp__func_type(graph->func);
  int *by_arg = tp__arena_array(p->problem.arena, (size_t)graph->n_args + 1, sizeof *by_arg);
  int *updated = tp__arena_array(p->problem.arena, (size_t)graph->n_results + 1, sizeof *updated);
  if (!by_arg || !updated)
    return tp__out_of_memory(graph->func);
  for (int i = 0; i < graph->n_args; i++)
    by_arg[i] = -1;
  for (int i = 0; i < graph->n_results; i++)
    TP_TRY(read_update(p, type, i, by_arg, &updated[i]));
  p->problem.updated = updated;
  return TP_OK;
}

static tp_status tie(tp_planner *p, tp_problem *problem, int arg_node, int result_node) {
  const tp_node *a = &p->problem.nodes[arg_node], *b = &p->problem.nodes[result_node];
  tp_cost *table = tp__calloc((size_t)a->n * (size_t)b->n + 1, sizeof *table);
  bool possible = false;
  if (!table)
    return tp__out_of_memory(p->problem.graph.func);
  for (int x = 0; x < a->n; x++)
    for (int y = 0; y < b->n; y++) {
      bool same = tp_spec_equal(a->out[x], b->in[y]);
      table[(size_t)x * (size_t)b->n + (size_t)y] = same ? 0 : TP_COST_FORBIDDEN;
      possible |= same;
    }
  tp_status status = tp_problem_add_edge(problem, arg_node, result_node, table);
  tp__free(table);
  if (status != TP_OK)
    return tp__out_of_memory(p->problem.graph.func);
  if (possible)
    return TP_OK;
  char from[256], to[256];
  int rank = (int)mlirShapedTypeGetRank(
      mlirFunctionTypeGetInput(tp__func_type(p->problem.graph.func), a->index));
  tp_spec_text(p->problem.mesh, a->out[0], rank, from, sizeof from);
  tp_spec_text(p->problem.mesh, b->in[0], rank, to, sizeof to);
  return tp__error(p->problem.graph.func, TP_INFEASIBLE,
                   "result %d is the new value of argument %d (tp.updates), but their layouts "
                   "cannot be the same (%s, %s); annotate the argument only, or both alike",
                   b->index, a->index, to, from);
}

tp_status tp__tie_updates(tp_planner *p, tp_problem *problem) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->problem.graph.func, 0));
  tp_status status = TP_OK;
  for (size_t i = 0; i < p->problem.n_nodes && status == TP_OK; i++) {
    const tp_node *node = &p->problem.nodes[i];
    int arg = node->kind == TP_NODE_RESULT ? p->problem.updated[node->index] : -1;
    if (arg >= 0)
      status =
          tie(p, problem, tp__planned_value(p, mlirBlockGetArgument(entry, arg))->node, (int)i);
  }
  return status;
}
