/* Writes trial plans into copies of the module, where their memory is measured. */
#include "passes/propagate/limits/reduced_planner.h"

static bool same_nodes(const tp_planner *a, const tp_planner *b) {
  bool same = a->problem.n_nodes == b->problem.n_nodes;
  for (size_t i = 0; same && i < a->problem.n_nodes; i++)
    same = a->problem.nodes[i].kind == b->problem.nodes[i].kind &&
           a->problem.nodes[i].n == b->problem.nodes[i].n;
  return same;
}

tp_status tp__copy_open(const tp_planner *p, tp_copied *c) {
  *c = (tp_copied){.module = mlirModuleFromOperation(mlirOperationClone(p->problem.pass->module)),
                   .pass = *p->problem.pass};
  c->pass.module = mlirModuleGetOperation(c->module);
  c->handler =
      mlirContextAttachDiagnosticHandler(c->pass.context, tp__discard_diagnostic, NULL, NULL);
  return tp__replan_open(&c->pass, p, true, &c->again);
}

void tp__copy_close(tp_copied *c) {
  tp__replan_close(&c->again);
  mlirContextDetachDiagnosticHandler(c->pass.context, c->handler);
  mlirModuleDestroy(c->module);
}

int64_t tp__written_peak(const tp_planner *p, const tp_solution *solution) {
  int64_t held = INT64_MAX;
  if (p->is_restricted)
    return held; /* a module that is read again has all strategies */
  tp_copied copied;
  tp_planner *again = &copied.again.planner;
  bool ok = tp__copy_open(p, &copied) == TP_OK;
  if (ok && p->kept)
    ok = tp__planner_cut(again, p->kept) == TP_OK;
  ok = ok && tp__routes_build(again, false) == TP_OK && same_nodes(p, again);
  for (size_t i = 0; ok && i < p->problem.n_nodes; i++)
    again->problem.nodes[i].chosen = solution->choices[i];
  again->result.method = solution->method;
  if (ok && tp__plan_write(again) == TP_OK)
    held = again->result.peak;
  tp__copy_close(&copied);
  return held;
}
