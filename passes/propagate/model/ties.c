/* Ties arguments and results that get one layout: the new value of an argument (tp.updates), so
 * that the results of a step are the arguments of the next one; the gradient of an argument
 * (tp.gradient on a result); and the gradient at a result (tp.gradient on an argument), which comes
 * from what the caller computes with the result. */
#include "passes/propagate/model/planner.h"

#include <inttypes.h>

/* An attribute that ties. `on_result`: it stands on a result and has the number of an argument;
 * else the other way round. */
typedef struct tie_attr {
  const char *name;
  bool on_result;
  const char *what; /* the result, or the argument, is this of the other one */
  const char *rule; /* what the number must be */
} tie_attr;

static const tie_attr attrs[] = {
    {"tp.updates", true, "new value of",
     "the number of the argument whose new value the result is"},
    {"tp.gradient", true, "gradient of", "the number of the argument whose gradient the result is"},
    {"tp.gradient", false, "gradient at",
     "the number of the result whose gradient the argument is"},
};

static const char *const sides[] = {[false] = "argument", [true] = "result"};

static MlirType type_of(const tp_planner *p, bool is_result, intptr_t number) {
  MlirType type = tp__func_type(p->problem.graph.func);
  return is_result ? mlirFunctionTypeGetResult(type, number)
                   : mlirFunctionTypeGetInput(type, number);
}

/* Reads an attribute of argument or result `number`: sets *other to the number that it holds, or to
 * -1 if there is no such attribute. */
static tp_status read_tie(const tp_planner *p, const tie_attr *a, int number, int *other) {
  const tp_func_graph *graph = &p->problem.graph;
  MlirAttribute attr =
      (a->on_result ? tp__result_attr : tp__arg_attr)(graph->func, number, a->name);
  int n = a->on_result ? graph->n_args : graph->n_results;
  *other = -1;
  if (mlirAttributeIsNull(attr))
    return TP_OK;
  int64_t i = mlirAttributeIsAInteger(attr) ? mlirIntegerAttrGetValueInt(attr) : -1;
  if (i < 0 || i >= n)
    return tp__error(graph->func, TP_INVALID_ARGUMENT, "%s %d: %s must be %s, 0 to %d",
                     sides[a->on_result], number, a->name, a->rule, n - 1);
  MlirType own = type_of(p, a->on_result, number), its = type_of(p, !a->on_result, i);
  if (!mlirTypeEqual(own, its)) {
    char from[128], to[128];
    tp__type_text(its, sizeof from, from);
    tp__type_text(own, sizeof to, to);
    return tp__error(graph->func, TP_INVALID_ARGUMENT,
                     "%s %d is %s and cannot be the %s %s %" PRId64 " (%s), which is %s",
                     sides[a->on_result], number, to, a->what, sides[!a->on_result], i, a->name,
                     from);
  }
  *other = (int)i;
  return TP_OK;
}

/* Adds a tie, the first one of its argument and of its result. */
static void add_tie(tp_planner *p, tp_tie *ties, int arg, int result, int attr) {
  int *first[] = {&p->problem.tie_of_arg[arg], &p->problem.tie_of_result[result]};
  ties[p->problem.n_ties] =
      (tp_tie){.arg = arg, .result = result, .attr = attr, .next = {*first[0], *first[1]}};
  *first[0] = *first[1] = p->problem.n_ties++;
}

/* Reads the ties of one attribute. by_other has room for all arguments and results. */
static tp_status read_ties(tp_planner *p, const tie_attr *a, int *by_other, tp_tie *ties) {
  const tp_func_graph *graph = &p->problem.graph;
  int n_others = a->on_result ? graph->n_args : graph->n_results;
  for (int i = 0; i < n_others; i++)
    by_other[i] = -1;
  for (int i = 0; i < (a->on_result ? graph->n_results : graph->n_args); i++) {
    int other;
    TP_TRY(read_tie(p, a, i, &other));
    if (other < 0)
      continue;
    if (by_other[other] >= 0)
      return tp__error(graph->func, TP_INVALID_ARGUMENT,
                       "%ss %d and %d are both the %s %s %d (%s); drop one of them",
                       sides[a->on_result], by_other[other], i, a->what, sides[!a->on_result],
                       other, a->name);
    by_other[other] = i;
    add_tie(p, ties, a->on_result ? other : i, a->on_result ? i : other, (int)(a - attrs));
  }
  return TP_OK;
}

tp_status tp__read_ties(tp_planner *p) {
  const tp_func_graph *graph = &p->problem.graph;
  size_t n = (size_t)graph->n_args + (size_t)graph->n_results + 1;
  int *by_other = tp__arena_array(p->problem.arena, n, sizeof *by_other);
  int *first = tp__arena_array(p->problem.arena, n, sizeof *first);
  tp_tie *ties = tp__arena_array(p->problem.arena, n * TP_LEN(attrs), sizeof *ties);
  if (!by_other || !first || !ties)
    return tp__out_of_memory(graph->func);
  for (size_t i = 0; i < n; i++)
    first[i] = -1;
  p->problem.tie_of_arg = first;
  p->problem.tie_of_result = first + graph->n_args;
  p->problem.ties = ties;
  p->problem.n_ties = 0;
  for (int k = 0; k < TP_LEN(attrs); k++)
    TP_TRY(read_ties(p, &attrs[k], by_other, ties));
  return TP_OK;
}

static tp_status tie(tp_planner *p, tp_problem *problem, const tp_tie *t, int arg_node,
                     int result_node) {
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
  const tie_attr *attr = &attrs[t->attr];
  char own[256], other[256];
  int rank = (int)mlirShapedTypeGetRank(type_of(p, false, t->arg));
  tp_spec_text(p->problem.mesh, attr->on_result ? b->in[0] : a->out[0], rank, own, sizeof own);
  tp_spec_text(p->problem.mesh, attr->on_result ? a->out[0] : b->in[0], rank, other, sizeof other);
  return tp__error(p->problem.graph.func, TP_INFEASIBLE,
                   "%s %d is the %s %s %d (%s), but their layouts cannot be the same (%s, %s); "
                   "annotate the %s only, or both alike",
                   sides[attr->on_result], attr->on_result ? t->result : t->arg, attr->what,
                   sides[!attr->on_result], attr->on_result ? t->arg : t->result, attr->name, own,
                   other, sides[!attr->on_result]);
}

tp_status tp__tie_layouts(tp_planner *p, tp_problem *problem) {
  MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->problem.graph.func, 0));
  for (size_t i = 0; i < p->problem.n_nodes; i++) {
    const tp_node *node = &p->problem.nodes[i];
    int k = node->kind == TP_NODE_RESULT ? p->problem.tie_of_result[node->index] : -1;
    for (; k >= 0; k = p->problem.ties[k].next[1]) {
      const tp_tie *t = &p->problem.ties[k];
      const tp_planned_value *v = tp__planned_value(p, mlirBlockGetArgument(entry, t->arg));
      TP_TRY(tie(p, problem, t, v->node, (int)i));
    }
  }
  return TP_OK;
}

tp_status tp__pin_of_argument(tp_planner *p, int number, tp_annotation *pin, bool *pinned) {
  TP_TRY(tp__func_graph_arg(&p->problem.graph, number, pin, pinned));
  for (int k = p->problem.tie_of_arg[number]; k >= 0 && !*pinned; k = p->problem.ties[k].next[0])
    TP_TRY(tp__func_graph_result(&p->problem.graph, p->problem.ties[k].result, pin, pinned));
  return TP_OK;
}

tp_status tp__pin_of_result(tp_planner *p, int number, tp_annotation *pin, bool *pinned) {
  TP_TRY(tp__func_graph_result(&p->problem.graph, number, pin, pinned));
  for (int k = p->problem.tie_of_result[number]; k >= 0 && !*pinned; k = p->problem.ties[k].next[1])
    TP_TRY(tp__func_graph_arg(&p->problem.graph, p->problem.ties[k].arg, pin, pinned));
  return TP_OK;
}
