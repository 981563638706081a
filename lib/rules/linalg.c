/* Structured ops: linalg.generic and every named op with indexing maps.
 *
 * The loops are the factors; the maps assign them to dimensions. A loop that indexes no output is a
 * reduction. Its combiner is read from the body for each output. If the body has no known
 * associative combiner, the loop is fixed. */
#include "ir/collectives.h"
#include "ir/work.h"
#include "rules/body.h"
#include "rules/families.h"
#include "rules/in_place.h"
#include "rules/linalg_window.h"
#include "rules/mask.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

static bool matches(MlirOperation op) {
  return tp__op_has_dialect(op, "linalg") && mlirOperationGetNumRegions(op) == 1 &&
         !mlirAttributeIsNull(mlirLinalgGetIndexingMapsAttribute(op));
}

static int n_inits(MlirOperation op) {
  int64_t segments[2];
  if (tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) == 2)
    return (int)segments[1];
  return (int)mlirOperationGetNumResults(op);
}

/* Reads the dimensions that are indexed by a single loop. */
static tp_status read_maps(tp_rule *rule, MlirAttribute maps) {
  int n_maps = (int)mlirArrayAttrGetNumElements(maps);
  int n_loops = (int)mlirAffineMapGetNumDims(tp__map_at(maps, 0));
  if (n_loops > TP_MAX_FACTORS || n_maps > rule->n_operands)
    return tp__error(rule->op, TP_UNSUPPORTED, "has %d loops; at most %d are supported", n_loops,
                     TP_MAX_FACTORS);
  for (int f = 0; f < n_loops; f++)
    tp__rule_factor(rule, 1, TP_PARALLEL);
  for (int i = 0; i < n_maps; i++) {
    tp_value_map *operand = &rule->operands[i];
    MlirAffineMap map = tp__map_at(maps, i);
    for (int d = 0; operand->is_tensor && d < operand->rank; d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(expr)) {
        int f = (int)mlirAffineDimExprGetPosition(expr);
        for (int e = 0; e < d; e++) /* a diagonal: the loop indexes two dimensions */
          if (operand->dims[e].n_factors && operand->dims[e].factors[0] == f)
            rule->factors[f].kind = TP_FIXED;
        tp__dim_set(operand, d, f);
        rule->factors[f].size = operand->shape[d];
      }
    }
  }
  return TP_OK;
}

/* Sets the combiners, and the kinds of loops that some output does not have: such an output is
 * partial over the loop, while others may be split along it. */
static void read_reductions(tp_rule *rule, const tp_body *body, int first_init) {
  for (int k = 0; k < rule->n_results; k++) {
    tp_value_map *init = &rule->operands[first_init + k], *result = &rule->results[k];
    init->is_init = true;
    init->is_unused = !tp__body_reads(body, first_init + k);
    tp_combiner combiner = TP_SUM;
    init->has_combiner = result->has_combiner = tp__body_combiner(body, k, &combiner);
    init->combiner = result->combiner = (uint8_t)combiner;
    for (int d = 0; d < result->rank; d++)
      result->dims[d] = init->dims[d];
    for (int f = 0; f < rule->n_factors; f++)
      if (rule->factors[f].kind != TP_FIXED && !tp__moves_along(init, f))
        rule->factors[f].kind = init->has_combiner ? TP_REDUCTION : TP_FIXED;
  }
}

/* Returns a constant that every iteration yields: the scalar operand of a fill, or a captured
 * constant. Null if there is none. */
static MlirValue yielded_constant(const tp_rule *rule, const tp_body *body) {
  MlirValue v = mlirOperationGetOperand(body->yield, 0);
  if (mlirValueIsABlockArgument(v) && mlirBlockEqual(mlirBlockArgumentGetOwner(v), body->block)) {
    intptr_t i = mlirBlockArgumentGetArgNumber(v);
    return i < body->n_inputs && !rule->operands[i].is_tensor ? rule->operands[i].value
                                                              : (MlirValue){NULL};
  }
  MlirOperation op = tp__defining_op(v);
  return !mlirOperationIsNull(op) &&
                 (tp__op_is(op, "arith.constant") || tp__op_is(op, "complex.constant"))
             ? v
             : (MlirValue){NULL};
}

static bool reads_tensors(const tp_rule *rule) {
  for (int i = 0; i < rule->n_operands; i++)
    if (rule->operands[i].is_tensor && !rule->operands[i].is_unused)
      return true;
  return false;
}

/* Returns the accumulators (bit i: operand i) that one iteration passes to the next along loops
 * that some output does not have. */
static uint64_t carried_operands(const tp_rule *rule, const tp_body *body) {
  uint64_t inits = 0;
  bool carries = false;
  for (int i = body->n_inputs; i < body->n_args; i++)
    inits |= UINT64_C(1) << i;
  for (int f = 0; f < rule->n_factors; f++)
    for (int i = body->n_inputs; i < body->n_args; i++)
      carries |= !tp__moves_along(&rule->operands[i], f);
  return carries ? inits : 0;
}

/* True if sums of the operands in the set pass through the whole op. An accumulator that has
 * absorbed such an operand belongs to the set in the next iteration: one `acc * x` is linear in x,
 * but a product of many x is not. */
static bool is_linear(const tp_rule *rule, const tp_body *body, uint64_t set) {
  uint64_t carried = carried_operands(rule, body);
  bool only_init = rule->n_results == 1 && !(set & ~carried);
  return tp__body_linear(body, set) && (only_init || tp__body_linear(body, set | carried));
}

static void read_variants(tp_rule *rule, const tp_body *body) {
  if (rule->n_results == 1 && !reads_tensors(rule)) {
    MlirValue constant = yielded_constant(rule, body);
    rule->is_free = !mlirValueIsNull(constant);
    for (tp_combiner c = 0; c < TP_AVERAGE && rule->is_free; c++)
      if (tp__is_identity(constant, c))
        tp__rule_variant(rule, c, 0);
    return;
  }
  int readable[6], n = 0;
  for (int i = 0; i < body->n_args; i++)
    if (rule->operands[i].is_tensor && tp__body_reads(body, i)) {
      if (n == TP_LEN(readable))
        return; /* too many to try all subsets */
      readable[n++] = i;
    }
  for (unsigned subset = 1; subset < 1u << n; subset++) {
    uint64_t set = 0;
    for (int i = 0; i < n; i++)
      if (subset >> i & 1)
        set |= UINT64_C(1) << readable[i];
    if (is_linear(rule, body, set))
      tp__rule_variant(rule, TP_SUM, set);
  }
}

static MlirType element_of(const tp_rule *rule, int operand) {
  return tp__number_type(mlirValueGetType(rule->operands[operand].value));
}

static void read_work(tp_rule *rule, const tp_body *body) {
  double points = 1;
  bool reduces = false;
  for (int f = 0; f < rule->n_factors; f++) {
    points *= rule->traffic.skipped >> f & 1 ? 1 : (double)rule->factors[f].size;
    reduces |= rule->factors[f].kind != TP_PARALLEL;
  }
  rule->points = points;
  if (tp__body_is_contraction(body) && reduces) {
    rule->contraction_flops = 2 * points;
    rule->peak =
        rule->n_operands < 2 ? TP_PEAK_F32 : tp__peak_of(element_of(rule, 0), element_of(rule, 1));
  } else {
    rule->scalar_ops = points * tp__body_work(body);
  }
  rule->is_elementwise = rule->contraction_flops == 0;
}

/* ---- uneven shards ---- */

/* True if the body is explicit and can be changed. The body of a named op is implied by its
 * name. */
static bool has_own_body(MlirOperation op) {
  return tp__op_is(op, "linalg.generic") || tp__op_is(op, "linalg.reduce") ||
         tp__op_is(op, "linalg.map");
}

/* True if a dimension of the operand is indexed by loop f alone. */
static bool has_factor(const tp_value_map *map, int f) {
  for (int d = 0; d < map->rank; d++)
    if (map->dims[d].n_factors && !map->dims[d].window && map->dims[d].factors[0] == f)
      return true;
  return false;
}

/* True if zeros in both operands keep padding out of the result, and the op remains a contraction.
 * Both operands need zeros, because 0 times NaN is NaN. */
static bool can_zero(const tp_rule *rule, const tp_body *body, int f) {
  return tp__body_is_contraction(body) && has_factor(&rule->operands[0], f) &&
         has_factor(&rule->operands[1], f);
}

static void read_uneven(tp_rule *rule, const tp_body *body) {
  bool own = has_own_body(rule->op);
  bool traps = own ? !tp__body_can_mask(body) : tp__body_has_traps(body);
  for (int f = 0; f < rule->n_factors; f++)
    rule->factors[f].must_divide =
        traps || (!own && rule->factors[f].kind == TP_REDUCTION && !can_zero(rule, body, f));
}

static tp_status rule_of(MlirOperation op, tp__arena *arena, tp_rule *rule) {
  tp_body body;
  int first_init = (int)mlirOperationGetNumOperands(op) - n_inits(op);
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  TP_TRY(tp__rule_begin(op, arena, rule));
  if (!tp__body_of(op, first_init, &body) || rule->n_results != n_inits(op))
    return tp__error(op, TP_UNSUPPORTED, "works on buffers or has no body; sharding needs tensors");
  TP_TRY(read_maps(rule, maps));
  TP_TRY(tp__linalg_windows(rule, maps, &body, arena));
  TP_TRY(tp__rule_in_place(rule, arena));
  read_reductions(rule, &body, first_init);
  read_variants(rule, &body);
  tp__drop_padded_variants(rule);
  tp__rule_traffic(rule);
  read_work(rule, &body);
  read_uneven(rule, &body);
  rule->reads_positions = tp__asks_index(op);
  return TP_OK;
}

/* The initial values decide whether an op that looks like an ordered reduction is one. */
static bool follows_from_op(MlirOperation op) { return !tp__looks_ordered(op); }

/* ---- localize: shifts linalg.index to the shard's first element, and masks padding ---- */

static tp_status shift_index(MlirOperation op, void *data) {
  const tp_local *local = *(const tp_local **)data;
  if (!tp__op_is(op, "linalg.index"))
    return TP_OK;
  int f = (int)mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
  MlirValue offset = tp__shard_offset(local, f);
  if (mlirValueIsNull(offset))
    return TP_OK;
  MlirValue index = mlirOperationGetResult(op, 0);
  MlirOperation sum = tp__create(&(tp_build){.name = "arith.addi",
                                             .location = mlirOperationGetLocation(op),
                                             .n_operands = 2,
                                             .operands = (MlirValue[]){index, offset},
                                             .n_results = 1,
                                             .results = (MlirType[]){mlirValueGetType(index)}});
  tp__insert_after(op, sum);
  tp__replace_uses_except(index, mlirOperationGetResult(sum, 0), sum);
  return TP_OK;
}

static uint32_t reductions_of(const tp_rule *rule) {
  uint32_t set = 0;
  for (int f = 0; f < rule->n_factors; f++)
    if (rule->factors[f].kind == TP_REDUCTION)
      set |= UINT32_C(1) << f;
  return set;
}

static void mask_reductions(const tp_local *local, const tp_body *body, uint32_t factors) {
  const tp_rule *rule = local->rule;
  bool zero = true;
  for (int f = 0; f < rule->n_factors; f++)
    if (factors >> f & 1)
      zero &= can_zero(rule, body, f);
  if (!zero) {
    tp__mask_yields(local, body, factors);
    return;
  }
  for (int i = 0; i < 2; i++)
    tp__mask_operand(
        local, i, factors,
        tp__identity_attr(tp__element_type(mlirValueGetType(rule->operands[i].value)), TP_SUM));
}

static tp_status localize(const tp_local *local) {
  const tp_rule *rule = local->rule;
  tp_body body;
  uint32_t uneven = tp__uneven_factors(local), reductions = uneven & reductions_of(rule);
  TP_TRY(tp__linalg_fetch(local));
  if (rule->reads_positions)
    TP_TRY(tp__walk(rule->op, shift_index, &local));
  if (!uneven ||
      !tp__body_of(rule->op, (int)mlirOperationGetNumOperands(rule->op) - rule->n_results, &body))
    return TP_OK;
  if (has_own_body(rule->op) && tp__body_has_traps(&body))
    tp__mask_traps(local, &body, uneven);
  if (reductions)
    mask_reductions(local, &body, reductions);
  return TP_OK;
}

const tp_family tp__linalg_family = {
    .name = "linalg",
    .ops = "linalg.generic and all named structured ops: matmul, batch_matmul, fill, transpose, "
           "broadcast, reduce, map, ...",
    .summary = "Every parallel loop; reductions whose body is a known associative combiner (sum, "
               "product, min, max, and, or, xor). Where several loops index one dimension "
               "(convolutions, pooling), only the loop that also indexes the results; the others "
               "stay whole. Captured tensors stay whole.",
    .communication = "A reduction over a split loop: all_reduce, or reduce_scatter onto a "
                     "dimension that is split the same way. A split loop of a window, a shift or a "
                     "reversal: permutes of parts that other devices hold.",
    .test = "test/rules/linalg",
    .matches = matches,
    .rule = rule_of,
    .follows_from_op = follows_from_op,
    .localize = localize,
};
