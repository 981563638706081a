/* Reductions whose outputs depend on each other, in linalg.generic and linalg.reduce: argmax and
 * similar picks (arg_reduction.h), and the maximum and sums of an online softmax (rescale.h).
 *
 * A loop that indexes no output may be sharded. Every device runs the op on its part of the loop.
 * Then the outputs of all parts are gathered, and a second op combines them in device order, with
 * the comparisons and factors of the body. The result therefore has the same ties and NaN as on a
 * single device. */
#include "rules/arg_reduction.h"
#include "rules/families.h"
#include "rules/mask.h"
#include "rules/ordered_reduction_parts.h"
#include "rules/ordered_reduction_rescale.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

static int n_inputs_of(MlirOperation op) {
  return (int)(mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op));
}

static MlirAffineMap map_of(MlirOperation op, int operand) {
  return mlirAffineMapAttrGetValue(
      mlirArrayAttrGetElement(mlirLinalgGetIndexingMapsAttribute(op), operand));
}

/* True if all outputs have the same shape and map, because they are combined point by point. */
static bool outputs_agree(MlirOperation op, int n_inputs) {
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, k)),
             first = mlirValueGetType(mlirOperationGetResult(op, 0));
    int rank, other;
    int64_t shape[TP_MAX_RANK], shape2[TP_MAX_RANK];
    if (!tp__static_tensor(first, &rank, shape) || !tp__static_tensor(type, &other, shape2) ||
        rank == TP_MAX_RANK ||
        !mlirAffineMapEqual(map_of(op, n_inputs), map_of(op, n_inputs + (int)k)))
      return false;
  }
  return true;
}

/* Exactly one of both. */
typedef struct joined {
  bool picks;
  tp_arg_reduction pick;
  tp_rescale rescale;
} joined;

_Static_assert((int)TP_MAX_PICKED == (int)TP_MAX_RESCALED,
               "outputs of both are kept in the same arrays");

static bool read_joined(MlirOperation op, const MlirValue *inits, joined *j) {
  int n_inputs = n_inputs_of(op);
  j->picks = tp__arg_reduction_read(op, n_inputs, inits, &j->pick);
  return j->picks ||
         (tp__rescale_read(op, n_inputs, &j->rescale) && tp__max_has_loops(op, &j->rescale));
}

/* Reads the op with the initial values that it had when the rule was read. */
static bool read_rule(const tp_rule *rule, joined *j) {
  MlirValue inits[TP_MAX_PICKED];
  int n_inputs = n_inputs_of(rule->op);
  for (int k = 0; k < rule->n_results; k++)
    inits[k] = rule->operands[n_inputs + k].value;
  return read_joined(rule->op, inits, j);
}

/* True if every initial value is read, and at least one output has no plain combiner. */
static bool may_be_joined(const tp_body *body, int n) {
  tp_combiner combiner;
  bool combine = true;
  for (int k = 0; k < n; k++)
    if (!tp__body_reads(body, body->n_inputs + k))
      return false;
  for (int k = 0; k < n && combine; k++)
    combine = tp__body_combiner(body, k, &combiner);
  return !combine;
}

bool tp__looks_ordered(MlirOperation op) {
  int n = (int)mlirOperationGetNumResults(op), n_inputs = n_inputs_of(op);
  tp_body body;
  return (tp__op_is(op, "linalg.generic") || tp__op_is(op, "linalg.reduce")) && n > 0 &&
         n <= TP_MAX_PICKED && n_inputs >= 0 && tp__body_of(op, n_inputs, &body) &&
         may_be_joined(&body, n) && outputs_agree(op, n_inputs);
}

/* Matches reductions that no other family can split. */
static bool matches(MlirOperation op) {
  int n = (int)mlirOperationGetNumResults(op), n_inputs = n_inputs_of(op);
  joined j;
  MlirValue inits[TP_MAX_PICKED];
  if (!tp__looks_ordered(op))
    return false;
  for (int k = 0; k < n; k++)
    inits[k] = mlirOperationGetOperand(op, n_inputs + k);
  return read_joined(op, inits, &j);
}

/* ---- the rule ---- */

/* True if the loop occurs in maps only as a single-loop dimension, and at most once per map. */
static bool is_plain(MlirOperation op, int f) {
  for (int i = 0; i < (int)mlirOperationGetNumOperands(op); i++) {
    MlirAffineMap map = map_of(op, i);
    int n = 0;
    for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsFunctionOfDim(expr, f) && (!mlirAffineExprIsADim(expr) || n++ > 0))
        return false;
    }
  }
  return true;
}

static bool is_output_loop(MlirOperation op, int f) {
  MlirAffineMap map = map_of(op, n_inputs_of(op));
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
    if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, d), f))
      return true;
  return false;
}

/* If the order of iterations matters, the parts must be contiguous, so only the outermost loop of
 * the reduction may be split. */
static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  joined j;
  bool outermost = true;
  TP_TRY(tp__linalg_family.rule(op, arena, rule));
  if (!read_rule(rule, &j))
    return TP_OK;
  for (int f = 0; f < rule->n_factors && (outermost || (j.picks && j.pick.any_order)); f++) {
    if (is_output_loop(op, f) || rule->factors[f].size == 1)
      continue;
    if (rule->factors[f].kind == TP_FIXED && is_plain(op, f))
      rule->factors[f].kind = TP_ORDERED;
    outermost = false;
  }
  return TP_OK;
}

static tp_cost joining(const tp_rule *rule, const tp_pricing *pricing, const tp_strategy *s) {
  tp_rescale rescale;
  tp_cost cost = 0;
  for (int k = 0; k < rule->n_results; k++)
    cost = tp_cost_add(cost, tp__parts_cost(rule, pricing, s, k));
  /* the maxima are gathered twice */
  if (cost > 0 && tp__rescale_read(rule->op, n_inputs_of(rule->op), &rescale))
    cost = tp_cost_add(cost, tp__parts_cost(rule, pricing, s, rescale.m));
  return cost;
}

/* ---- localize ---- */

static void build_body(const joined *j, MlirOperation op) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation yield = mlirBlockGetTerminator(block);
  MlirValue held[TP_MAX_PICKED], offered[TP_MAX_PICKED], values[TP_MAX_PICKED];
  int n = (int)mlirOperationGetNumResults(op);
  for (int k = 0; k < n; k++) {
    offered[k] = mlirBlockGetArgument(block, k);
    held[k] = mlirBlockGetArgument(block, n + k);
  }
  for (int k = 0; k < n; k++)
    values[k] = j->picks ? tp__arg_reduction_combine(&j->pick, k, yield, held, offered)
                         : tp__rescale_combine(&j->rescale, k, yield, held, offered);
  mlirOperationSetOperands(yield, n, values);
}

/* Combines the results of all devices along the axes, after the op, for all its users. */
static void combine_parts(const tp_local *local, const joined *j, const MlirValue *inits) {
  const tp_rule *rule = local->rule;
  MlirOperation where = mlirOperationGetNextInBlock(rule->op);
  MlirValue parts[TP_MAX_PICKED];
  for (int k = 0; k < rule->n_results; k++)
    parts[k] =
        tp__gather_parts(local, where, k, rule->results[k].value, mlirValueGetType(inits[k]));
  MlirOperation first = mlirOperationGetNextInBlock(rule->op),
                op = tp__parts_op(where, rule->n_results, parts, inits);
  build_body(j, op);
  for (int k = 0; k < rule->n_results; k++) {
    /* the op that gathers result k is its only user before the combining op */
    MlirOperation own = first;
    while (mlirOperationGetNumOperands(own) == 0 ||
           !mlirValueEqual(mlirOperationGetOperand(own, 0), rule->results[k].value))
      own = mlirOperationGetNextInBlock(own);
    tp__replace_uses_except(rule->results[k].value, mlirOperationGetResult(op, k), own);
  }
}

static uint32_t ordered_loops(const tp_rule *rule) {
  uint32_t loops = 0;
  for (int f = 0; f < rule->n_factors; f++)
    loops |= rule->factors[f].kind == TP_ORDERED ? UINT32_C(1) << f : 0;
  return loops;
}

static tp_status localize(const tp_local *local) {
  const tp_rule *rule = local->rule;
  int axes[TP_MAX_AXES], n_inputs = n_inputs_of(rule->op);
  uint32_t uneven = tp__uneven_factors(local) & ordered_loops(rule);
  MlirValue inits[TP_MAX_PICKED];
  joined j;
  /* read the body before it changes */
  bool joins =
      tp__ordered_axes_of(rule, local->mesh, local->strategy, axes) > 0 && read_rule(rule, &j);
  TP_TRY(tp__linalg_family.localize(local));
  if (!joins)
    return TP_OK;
  for (int k = 0; k < rule->n_results; k++)
    inits[k] = mlirOperationGetOperand(rule->op, n_inputs + k);
  if (!j.picks)
    tp__start_rescaled(local, &j.rescale, uneven);
  combine_parts(local, &j, inits);
  if (uneven)
    tp__mask_yields(local, j.picks ? &j.pick.body : &j.rescale.body, uneven);
  return TP_OK;
}

const tp_family tp__ordered_reduction_family = {
    .name = "ordered_reduction",
    .ops = "linalg.generic and linalg.reduce that select (argmax, argmin, a maximum by comparison, "
           "the best of several values together with its payload) or rescale (the maximum and the "
           "sums of an online softmax)",
    .summary = "As linalg; also the reduction loops: all of them if their order does not matter "
               "(for example, if ties go to the smaller index), otherwise only the outermost.",
    .communication =
        "Split reduction loops: an all_gather of each result along a new dimension, whose parts "
        "every device combines; if the results are rescaled, one more all_gather, of the maxima.",
    .test = "test/rules/ordered_reduction",
    .matches = matches,
    .rule = rule_of,
    .localize = localize,
    .joining = joining,
};
