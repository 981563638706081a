/* Measures ops: walks into regions and calls, and sums the arithmetic. */
#include "ir/plan_measure.h"

#include "ir/annotation.h"
#include "ir/work.h"

static void measure_compute(tp_measure *m, MlirOperation op) {
  tp_work work;
  if (!tp__op_work(op, &work))
    return;
  if (m->blocks > 0)
    work.memory_bytes = 0;
  m->plan.flops += (work.contraction_flops + work.scalar_ops) * m->times;
  double cost = (double)tp_cost_compute(&m->topology, &work) * m->times;
  m->plan.compute = tp_cost_add(
      m->plan.compute, cost < (double)TP_COST_FORBIDDEN ? (tp_cost)cost : TP_COST_FORBIDDEN);
}

static bool is_softmax(MlirAttribute fused) {
  MlirAttribute kind = mlirAttributeIsADictionary(fused)
                           ? mlirDictionaryAttrGetElementByName(fused, tp__ref("kind"))
                           : (MlirAttribute){NULL};
  return !mlirAttributeIsNull(kind) && mlirAttributeIsAString(kind) &&
         tp__ref_is(mlirStringAttrGetValue(kind), "softmax_rows");
}

static tp_status enter_call(tp_measure *m, MlirOperation call, MlirOperation callee) {
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(tp__inherent(call, "callee"));
  for (int i = 0; i < m->depth; i++)
    if (mlirOperationEqual(m->called[i], callee))
      return tp__error(call, TP_UNSUPPORTED,
                       "@%.*s calls itself; a recursive program cannot be sharded, use a "
                       "loop instead",
                       (int)name.length, name.data);
  if (m->depth == TP__MAX_CALL_DEPTH)
    return tp__error(call, TP_UNSUPPORTED, "calls nest more than %d deep; inline some of them",
                     TP__MAX_CALL_DEPTH);
  m->called[m->depth++] = callee;
  return TP_OK;
}

tp_status tp__measure_ops(tp_measure *m, MlirOperation parent) {
  bool structured = tp__op_has_dialect(parent, "linalg");
  bool loop = tp__op_is(parent, "scf.for") || tp__op_is(parent, "scf.while");
  bool blocks = loop && !mlirAttributeIsNull(tp__get(parent, "tp.blocks"));
  double before = m->times, trips;
  tp_status status = TP_OK;
  m->loops += loop;
  m->blocks += blocks;
  if (tp__loop_trips(parent, &trips))
    m->times *= trips;
  for (intptr_t r = 0; r < mlirOperationGetNumRegions(parent) && !structured; r++)
    for (MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(parent, r));
         !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation op = mlirBlockGetFirstOperation(block);
           !mlirOperationIsNull(op) && status == TP_OK; op = mlirOperationGetNextInBlock(op)) {
        measure_compute(m, op);
        status = tp__measure_collective(m, op);
        if (status == TP_OK && m->depth > 0 && ++m->n_called_ops > TP_MAX_INLINED_OPS)
          status = tp__error(m->func, TP_UNSUPPORTED,
                             "has more than %d ops, including the bodies of the functions that it "
                             "calls; make fewer calls, or call in a loop",
                             TP_MAX_INLINED_OPS);
        if (status == TP_OK && tp__op_is(op, "func.call")) {
          MlirOperation callee = tp__callee(m->module, op);
          int before_call = m->plan.n_collectives;
          if (!mlirOperationIsNull(callee))
            status = enter_call(m, op, callee);
          if (!mlirOperationIsNull(callee) && status == TP_OK)
            status = tp__measure_ops(m, callee);
          MlirAttribute fused =
              mlirOperationIsNull(callee) ? (MlirAttribute){NULL} : tp__get(callee, "tp.fused");
          if (!mlirAttributeIsNull(fused))
            tp__measure_join(m, before_call);
          if (!mlirAttributeIsNull(fused) && is_softmax(fused))
            tp__measure_gather_parts(m, op, before_call);
          m->depth -= mlirOperationIsNull(callee) ? 0 : 1;
        }
        if (status == TP_OK)
          status = tp__measure_ops(m, op);
      }
  m->loops -= loop;
  m->blocks -= blocks;
  m->times = before;
  return status;
}
