/* Computes a lower bound on the extra cost of every plan that makes a decision otherwise. These
 * bounds are reduced costs from the bound that proves the plan; no other plans are made for
 * them. */
#include "passes/propagate/report/plan_report.h"

#include <stdlib.h>

static int by_worth(const void *a, const void *b) {
  const tp_decision *x = a, *y = b;
  return x->worth != y->worth ? (x->worth > y->worth ? -1 : 1) : x->node - y->node;
}

/* An op without inputs (fill) follows its use and decides nothing. */
static bool decides(const tp_planner *p, const tp_node *node) {
  bool is_op = node->kind == TP_NODE_OP && !p->problem.graph.items[node->index].rule->is_free;
  return !p->problem.overlaps && node->n > 1 &&
         (is_op || node->kind == TP_NODE_ARG || node->kind == TP_NODE_RESULT);
}

tp_status tp__report_decisions(tp_report *r, const tp_planner *p, const tp_space *space) {
  tp_function_report *f = &r->function;
  tp_cost *bounds = tp__calloc(space->offset[p->problem.n_nodes] + 1, sizeof *bounds);
  f->decisions = tp__calloc(p->problem.n_nodes + 1, sizeof *f->decisions);
  tp_status status = bounds && f->decisions ? TP_OK : TP_NO_MEMORY;
  for (int v = 0; v < (int)p->problem.n_nodes && status == TP_OK && !p->kept;
       v++) { /* if `kept`, strategies left out of the problem have no bounds */
    if (!decides(p, &p->problem.nodes[v]))
      continue;
    tp_cost least = TP_COST_FORBIDDEN;
    status = tp_sensitivity_bounds(space->sensitivity, v, bounds);
    for (int s = 0; status == TP_OK && s < space->planner->problem.nodes[v].n; s++)
      if (s != space->chosen[v] && bounds[s] < least)
        least = bounds[s];
    if (status == TP_OK && least > p->result.cost && least < TP_COST_FORBIDDEN)
      f->decisions[f->n_decisions++] = (tp_decision){v, least - p->result.cost};
  }
  tp__free(bounds);
  if (f->n_decisions > 0)
    qsort(f->decisions, (size_t)f->n_decisions, sizeof *f->decisions, by_worth);
  return status == TP_OK ? TP_OK : tp__out_of_memory(p->problem.graph.func);
}
