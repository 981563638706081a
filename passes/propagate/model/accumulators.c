/* Values that a loop accumulates. In each step, an op adds to them, takes a maximum or minimum with
 * them, or writes a part of them, and nothing else in the loop reads them. They may be partial:
 * gradients that are added up over micro-batches are then reduced once, behind the loop. (XLA moves
 * such all-reduces out of loops in a pass of its own, "while-loop-all-reduce-code-motion".) */
#include "passes/propagate/model/planner.h"

/* True if the op passes partial values of operand i on to its result. */
static bool passes_on(const tp_rule *rule, int i, tp_combiner combiner) {
  if (i >= rule->n_operands || rule->n_results != 1)
    return false;
  bool passes = rule->operands[i].is_init && rule->results[0].has_combiner &&
                rule->results[0].combiner == combiner;
  for (int v = 0; v < rule->n_variants && i < 64; v++)
    passes |= rule->variants[v].combiner == combiner && rule->variants[v].result == combiner &&
              rule->variants[v].operands >> i & 1;
  return passes;
}

static bool is_source(const tp_carried *carried, MlirOperation op, intptr_t operand) {
  for (int u = 0; u < carried->n_uses; u++)
    if (mlirOperationEqual(carried->uses[u].op, op) && carried->uses[u].operand == operand)
      return true;
  return false;
}

/* The argument of the other region of an scf.while that a terminator passes its operand to; null
 * for other ops. */
static MlirValue passed_to(MlirOperation terminator, intptr_t operand) {
  MlirOperation loop = mlirOperationGetParentOperation(terminator);
  bool is_condition = tp__op_is(terminator, "scf.condition");
  if (!tp__op_is(loop, "scf.while") || operand < is_condition)
    return (MlirValue){NULL};
  MlirBlock to = mlirRegionGetFirstBlock(mlirOperationGetRegion(loop, is_condition));
  return mlirBlockGetArgument(to, operand - is_condition);
}

/* What the only reader of the value makes of it, if it passes partial values on; null else.
 * *is_done: the loop carries it on as `carried`. */
static MlirValue next_value(const tp_func_graph *graph, const tp_carried *carried,
                            tp_combiner combiner, MlirValue value, bool *is_done) {
  MlirOpOperand use = mlirValueGetFirstUse(value);
  if (mlirOpOperandIsNull(use) || !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use)))
    return (MlirValue){NULL};
  MlirOperation user = mlirOpOperandGetOwner(use);
  intptr_t operand = mlirOpOperandGetOperandNumber(use);
  *is_done = is_source(carried, user, operand);
  if (*is_done || mlirOperationGetNumResults(user) == 0)
    return *is_done ? value : passed_to(user, operand);
  MlirValue result = mlirOperationGetResult(user, 0);
  int number = tp__func_graph_number(graph, result);
  const tp_rule *rule = number < 0 ? NULL : graph->makers[number];
  return rule && passes_on(rule, (int)operand, combiner) ? result : (MlirValue){NULL};
}

static bool accumulates(const tp_func_graph *graph, const tp_carried *carried,
                        tp_combiner combiner) {
  enum { MOST_STEPS = 64 };
  MlirValue value = carried->values[0];
  bool is_done = false;
  for (int i = 0; i < MOST_STEPS && !mlirValueIsNull(value) && !is_done; i++)
    value = next_value(graph, carried, combiner, value, &is_done);
  return is_done;
}

bool tp__accumulates(const tp_func_graph *graph, const tp_carried *carried, tp_combiner *combiner) {
  if (!mlirValueIsABlockArgument(carried->values[0])) /* of branches */
    return false;
  for (*combiner = TP_SUM; *combiner < TP_AVERAGE; ++*combiner)
    if (accumulates(graph, carried, *combiner))
      return true;
  return false;
}
