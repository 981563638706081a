/* Plans of the copy of the module with other annotations. */
#include "passes/propagate/limits/reduced_planner.h"
#include "passes/propagate/report/plan_report.h"

#include <mlir-c/Diagnostics.h>

/* ---- planning ---- */

bool tp__other_read(const tp_report *r, const tp_planner *p, bool keep_mesh, tp_replan *again) {
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(r->pass->context, tp__discard_diagnostic, NULL, NULL);
  tp_pass pass = *r->pass;
  pass.module = mlirModuleGetOperation(r->before);
  tp_status status = tp__replan_open(&pass, p, keep_mesh, again);
  again->planner.limits.is_other = true;
  again->planner.limits.binds = p->limits.binds;
  again->planner.limits.work = tp__other_plans_work(p);
  again->planner.limits.effort = p->limits.effort / TP_OTHER_PLANS_SHARE;
  mlirContextDetachDiagnosticHandler(r->pass->context, handler);
  return status == TP_OK;
}

bool tp__other_solve(tp_report *r, tp_replan *again, tp_price *price) {
  MlirDiagnosticHandlerID handler =
      mlirContextAttachDiagnosticHandler(r->pass->context, tp__discard_diagnostic, NULL, NULL);
  tp_status status = tp__plan(&again->planner);
  mlirContextDetachDiagnosticHandler(r->pass->context, handler);
  *price =
      (tp_price){status == TP_OK, true, again->planner.result.cost, again->planner.result.bound};
  r->function.is_cut_short |= again->planner.result.is_cut_short;
  return price->found;
}

bool tp__other_is_near(const tp_planner *p, tp_space *space, const tp_replan *again, bool *covers) {
  return p->limits.memory < 0 && !p->problem.overlaps &&
         again->planner.problem.reshards == p->problem.reshards &&
         tp__space_match(space, &again->planner, covers);
}

/* ---- annotations of the copy ---- */

static MlirOperation copied(const tp_report *r, MlirOperation op) {
  return r->ops.items[tp__table_get(&r->op_place, op.ptr)];
}

static void set_boundary(MlirOperation func, bool is_arg, int i, MlirAttribute value) {
  tp_boundary boundary;
  if (tp__boundary_begin(func, is_arg, &boundary) != TP_OK)
    return;
  tp__boundary_set(&boundary, i, "tp.sharding", value);
  tp__boundary_end(&boundary);
}

static void set_or_remove(MlirOperation op, const char *name, MlirAttribute value) {
  if (mlirAttributeIsNull(value))
    tp__remove(op, name);
  else
    tp__set(op, name, value);
}

tp_pin tp__other_pin(const tp_report *r, const tp_pin *pin) {
  tp_pin now = *pin;
  MlirOperation op = copied(r, pin->op);
  bool is_op = pin->place == TP_PIN_OP;
  now.sharding = is_op                      ? tp__get(op, "tp.sharding")
                 : pin->place == TP_PIN_ARG ? tp__arg_attr(op, pin->number, "tp.sharding")
                                            : tp__result_attr(op, pin->number, "tp.sharding");
  now.factors = is_op ? tp__get(op, "tp.factors") : (MlirAttribute){NULL};
  return now;
}

void tp__other_annotate(const tp_report *r, const tp_pin *pin, MlirAttribute sharding,
                        MlirAttribute factors) {
  MlirOperation op = copied(r, pin->op);
  if (pin->place != TP_PIN_OP) {
    set_boundary(op, pin->place == TP_PIN_ARG, pin->number, sharding);
    return;
  }
  set_or_remove(op, "tp.sharding", sharding);
  set_or_remove(op, "tp.factors", factors);
}

MlirAttribute tp__other_open(const tp_report *r, const tp_pin *pin) {
  if (!pin->is_constraint)
    return (MlirAttribute){NULL};
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(pin->value));
  return tp__write_sharding(
      r->pass->context, r->mesh, rank,
      (tp_annotation){.spec = tp_spec_replicated(), .open = (1u << rank) - 1});
}
