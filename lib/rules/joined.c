/* Reductions whose outputs depend on each other: argmax and its kin (pick.h), in linalg.generic and linalg.reduce.
 *
 * A loop that no output has may be sharded. Every device runs the op on its part of it, from the same initial value; then the outputs of all
 * parts are gathered, and a second op goes through them in the order of the devices, with the body's own comparisons. So the result has the
 * ties, the NaN and the sign of zero that one device finds. */
#include "rules/families.h"
#include "rules/mask.h"
#include "rules/pick.h"

#include "ir/collectives.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

static int n_inputs_of(MlirOperation op) { return (int)(mlirOperationGetNumOperands(op) - mlirOperationGetNumResults(op)); }

static MlirAffineMap map_of(MlirOperation op, int operand) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(mlirLinalgGetIndexingMapsAttribute(op), operand));
}

/* Outputs are combined point by point: all have one shape and one map. */
static bool outputs_agree(MlirOperation op, int n_inputs) {
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++) {
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, k)), first = mlirValueGetType(mlirOperationGetResult(op, 0));
    int rank, other;
    int64_t shape[TP_MAX_RANK], shape2[TP_MAX_RANK];
    if (!tp__static_tensor(first, &rank, shape) || !tp__static_tensor(type, &other, shape2) || rank == TP_MAX_RANK ||
        !mlirAffineMapEqual(map_of(op, n_inputs), map_of(op, n_inputs + (int)k)))
      return false;
  }
  return true;
}

static bool read_pick(MlirOperation op, const MlirValue *inits, tp_pick *pick) {
  return tp__pick_read(op, n_inputs_of(op), inits, pick);
}

static bool has_combiners(const tp_body *body, int n) {
  tp_combiner combiner;
  for (int k = 0; k < n; k++)
    if (!tp__body_combiner(body, k, &combiner))
      return false;
  return true;
}

/* Reductions that no other family splits. */
static bool matches(MlirOperation op) {
  int n = (int)mlirOperationGetNumResults(op), n_inputs = n_inputs_of(op);
  tp_body body;
  tp_pick pick;
  MlirValue inits[TP_MAX_PICKED];
  if (!(tp__op_is(op, "linalg.generic") || tp__op_is(op, "linalg.reduce")) || n == 0 || n > TP_MAX_PICKED || n_inputs < 0 ||
      !tp__body_of(op, n_inputs, &body) || !outputs_agree(op, n_inputs) || has_combiners(&body, n))
    return false;
  for (int k = 0; k < n; k++)
    inits[k] = mlirOperationGetOperand(op, n_inputs + k);
  return read_pick(op, inits, &pick);
}

/* ---- the rule ---- */

/* Does the loop stand in maps only by itself, and nowhere twice? */
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

/* Where the order of iterations matters, the parts have to follow each other: only the outermost loop of the reduction may be split. */
static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_pick pick;
  MlirValue inits[TP_MAX_PICKED];
  bool outermost = true;
  tp_status status = tp__linalg_family.rule(op, arena, rule);
  for (int k = 0; k < rule->n_results && status == TP_OK; k++)
    inits[k] = rule->operands[n_inputs_of(op) + k].value;
  if (status != TP_OK || !read_pick(op, inits, &pick))
    return status;
  for (int f = 0; f < rule->n_factors && (outermost || pick.any_order); f++) {
    if (is_output_loop(op, f) || rule->factors[f].size == 1)
      continue;
    if (rule->factors[f].kind == TP_FIXED && is_plain(op, f))
      rule->factors[f].kind = TP_JOINED;
    outermost = false;
  }
  return TP_OK;
}

/* ---- the axes of joined loops ---- */

/* Those of the outermost loop first, those of one loop major to minor: the order of the parts. */
static int joined_axes(const tp_rule *rule, const tp_mesh *mesh, const tp_strategy *s, int *axes) {
  int n = 0;
  for (int f = 0; f < rule->n_factors; f++)
    for (int o = 0; o < mesh->n_axes && rule->factors[f].kind == TP_JOINED; o++) {
      int a = s->order[o];
      if (s->choices[a].kind == TP_CHOOSE_FACTOR && s->choices[a].index == f && mesh->axes[a].size > 1)
        axes[n++] = a;
    }
  return n;
}

static int64_t group_size(const tp_mesh *mesh, int n, const int *axes) {
  int64_t size = 1;
  for (int i = 0; i < n; i++)
    size *= mesh->axes[axes[i]].size;
  return size;
}

static tp_cost joining(const tp_rule *rule, const tp_mesh *mesh, const tp_topology *topology, const tp_strategy *s) {
  int axes[TP_MAX_AXES], n = joined_axes(rule, mesh, s, axes);
  tp_cost cost = 0;
  for (int k = 0; k < rule->n_results && n > 0; k++) {
    const tp_value_map *result = &rule->results[k];
    int64_t elements = tp_spec_local_elements(mesh, tp__strategy_result(rule, mesh, s, k), result->rank, result->shape);
    cost = tp_cost_add(cost, tp_cost_collective(topology, mesh, TP_ALL_GATHER, n, axes, group_size(mesh, n, axes) * elements,
                                                result->element_size));
  }
  return cost;
}

/* ---- localize ---- */

/* tensor<4x5> to tensor<1x4x5>. */
static MlirValue add_dimension(MlirOperation where, MlirValue value, MlirType type, int rank) {
  MlirContext context = mlirOperationGetContext(where);
  int64_t shape[TP_MAX_RANK] = {1};
  MlirAttribute groups[TP_MAX_RANK];
  for (int d = 0; d < rank; d++) {
    MlirAttribute members[] = {tp__attr_i64(context, 0), tp__attr_i64(context, d + 1)};
    shape[d + 1] = mlirShapedTypeGetDimSize(type, d);
    groups[d] = mlirArrayAttrGet(context, d == 0 ? 2 : 1, d == 0 ? members : members + 1);
  }
  MlirType longer = tp__tensor_like(type, rank + 1, shape);
  MlirNamedAttribute attrs[] = {
      tp__named(context, "reassociation", mlirArrayAttrGet(context, rank, groups)),
      tp__named(context, "static_output_shape", tp__attr_i64s(context, rank + 1, shape)),
  };
  MlirOperation op = tp__create(&(tp_build){.name = "tensor.expand_shape",
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = 1,
                                            .operands = &value,
                                            .n_results = 1,
                                            .results = &longer,
                                            .n_attributes = TP_LEN(attrs),
                                            .attributes = attrs});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

/* Result k of all parts, along the first dimension, which `part` has already. */
static MlirValue gather(const tp_local *local, MlirOperation where, int k, MlirValue part, int n, const int *axes) {
  const tp_value_map *result = &local->rule->results[k];
  tp_spec spec = tp__strategy_result(local->rule, local->mesh, local->strategy, k);
  tp_step step = {.kind = TP_STEP_ALL_GATHER, .n_axes = n, .dim = 0, .to_dim = -1};
  int64_t shape[TP_MAX_RANK] = {group_size(local->mesh, n, axes)};
  for (int d = 0; d < result->rank; d++) {
    int split[TP_MAX_AXES], n_split = tp_spec_dim_axes(local->mesh, spec, d, split);
    shape[d + 1] = result->shape[d];
    for (int i = 0; i < n_split; i++)
      tp_spec_append(&step.to, split[i], d + 1);
  }
  step.from = step.to;
  for (int i = 0; i < n; i++) {
    step.axes[i] = axes[i];
    tp_spec_append(&step.from, axes[i], 0);
  }
  return tp__build_step(where, local->module, part, local->mesh, &step, result->rank + 1, shape);
}

/* linalg.generic over the parts and the points of the outputs; its body is empty. */
static MlirOperation combining_op(MlirOperation where, int n, const MlirValue *parts, const MlirValue *inits, int rank) {
  MlirContext context = mlirOperationGetContext(where);
  MlirLocation location = mlirOperationGetLocation(where);
  MlirValue operands[2 * TP_MAX_PICKED];
  MlirType types[TP_MAX_PICKED], elements[2 * TP_MAX_PICKED];
  MlirLocation locations[2 * TP_MAX_PICKED];
  MlirAttribute maps[2 * TP_MAX_PICKED], iterators[TP_MAX_RANK];
  MlirAffineExpr points[TP_MAX_RANK];
  for (int d = 0; d <= rank; d++) {
    iterators[d] = tp__parse_attr(context, d == 0 ? "#linalg.iterator_type<reduction>" : "#linalg.iterator_type<parallel>");
    points[d] = mlirAffineDimExprGet(context, d);
  }
  for (int k = 0; k < n; k++) {
    operands[k] = parts[k];
    operands[n + k] = inits[k];
    maps[k] = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, rank + 1));
    maps[n + k] = mlirAffineMapAttrGet(mlirAffineMapGet(context, rank + 1, 0, rank, points + 1));
    types[k] = mlirValueGetType(inits[k]);
    elements[k] = elements[n + k] = tp__element_type(types[k]);
    locations[k] = locations[n + k] = location;
  }
  MlirNamedAttribute attrs[] = {
      tp__named(context, "indexing_maps", mlirArrayAttrGet(context, 2 * n, maps)),
      tp__named(context, "iterator_types", mlirArrayAttrGet(context, rank + 1, iterators)),
      tp__named(context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 2, (int32_t[]){n, n})),
  };
  MlirOperation op = tp__create(&(tp_build){.name = "linalg.generic",
                                            .location = location,
                                            .n_operands = 2 * n,
                                            .operands = operands,
                                            .n_results = n,
                                            .results = types,
                                            .n_attributes = TP_LEN(attrs),
                                            .attributes = attrs,
                                            .n_regions = 1});
  tp__insert_before(where, op);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(op, 0), mlirBlockCreate(2 * n, elements, locations));
  return op;
}

static void build_body(const tp_pick *pick, MlirOperation op) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation yield = tp__create(&(tp_build){.name = "linalg.yield", .location = mlirOperationGetLocation(op)});
  MlirValue held[TP_MAX_PICKED], offered[TP_MAX_PICKED], values[TP_MAX_PICKED];
  mlirBlockAppendOwnedOperation(block, yield);
  for (int k = 0; k < pick->n; k++) {
    offered[k] = mlirBlockGetArgument(block, k);
    held[k] = mlirBlockGetArgument(block, pick->n + k);
  }
  for (int k = 0; k < pick->n; k++)
    values[k] = tp__pick_combine(pick, k, yield, held, offered);
  mlirOperationSetOperands(yield, pick->n, values);
}

/* Combines the results of all devices along the axes, behind the op, for all its users. */
static void combine_parts(const tp_local *local, const tp_pick *pick, int n_axes, const int *axes) {
  const tp_rule *rule = local->rule;
  MlirOperation where = mlirOperationGetNextInBlock(rule->op);
  MlirValue own[TP_MAX_PICKED], parts[TP_MAX_PICKED], inits[TP_MAX_PICKED];
  for (int k = 0; k < pick->n; k++) {
    inits[k] = mlirOperationGetOperand(rule->op, pick->body.n_inputs + k);
    own[k] = add_dimension(where, rule->results[k].value, mlirValueGetType(inits[k]), rule->results[k].rank);
  }
  for (int k = 0; k < pick->n; k++)
    parts[k] = gather(local, where, k, own[k], n_axes, axes);
  MlirOperation op = combining_op(where, pick->n, parts, inits, rule->results[0].rank);
  build_body(pick, op);
  for (int k = 0; k < pick->n; k++)
    tp__replace_uses_except(rule->results[k].value, mlirOperationGetResult(op, k), mlirOpResultGetOwner(own[k]));
}

static uint32_t joined_loops(const tp_rule *rule) {
  uint32_t loops = 0;
  for (int f = 0; f < rule->n_factors; f++)
    loops |= rule->factors[f].kind == TP_JOINED ? UINT32_C(1) << f : 0;
  return loops;
}

static tp_status localize(const tp_local *local) {
  const tp_rule *rule = local->rule;
  int axes[TP_MAX_AXES], n = joined_axes(rule, local->mesh, local->strategy, axes);
  uint32_t uneven = tp__uneven_factors(local) & joined_loops(rule);
  MlirValue inits[TP_MAX_PICKED];
  tp_pick pick;
  for (int k = 0; k < rule->n_results; k++)
    inits[k] = rule->operands[n_inputs_of(rule->op) + k].value;
  bool joins = n > 0 && read_pick(rule->op, inits, &pick); /* the body as it was */
  tp_status status = tp__linalg_family.localize(local);
  if (status != TP_OK || !joins)
    return status;
  combine_parts(local, &pick, n, axes);
  if (uneven)
    tp__mask_yields(local, &pick.body, uneven);
  return TP_OK;
}

const tp_family tp__joined_family = {
    .name = "joined",
    .ops = "linalg.generic and linalg.reduce that pick: argmax, argmin, a maximum by comparing, the best of several values and "
           "what "
           "belongs to it",
    .summary = "As linalg; also the loops of the reduction: all of them where their order does not matter, as where ties go to "
               "the smaller index, "
               "else the outermost.",
    .communication =
        "Loops of the reduction split: an all_gather of each result along a new dimension, whose parts every device combines.",
    .test = "test/rules/joined",
    .matches = matches,
    .rule = rule_of,
    .localize = localize,
    .joining = joining,
};
