#include "rules/linalg_window.h"

#include "rules/in_place.h"
#include "rules/pad.h"
#include "rules/window.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

/* ---- expressions ---- */

typedef struct linear {
  int64_t constant;
  int64_t loops[TP_MAX_FACTORS]; /* their coefficients */
} linear;

/* Adds `scale` times the expression; false when it is not linear, or its numbers are too large. */
static bool add_expr(MlirAffineExpr expr, int64_t scale, linear *sum) {
  bool is_add = mlirAffineExprIsAAdd(expr);
  if (is_add || mlirAffineExprIsAMul(expr)) {
    MlirAffineExpr left = mlirAffineBinaryOpExprGetLHS(expr),
                   right = mlirAffineBinaryOpExprGetRHS(expr);
    if (is_add)
      return add_expr(left, scale, sum) && add_expr(right, scale, sum);
    return mlirAffineExprIsAConstant(right) &&
           !__builtin_mul_overflow(scale, mlirAffineConstantExprGetValue(right), &scale) &&
           add_expr(left, scale, sum);
  }
  int64_t *entry = &sum->constant;
  if (mlirAffineExprIsAConstant(expr)) {
    if (__builtin_mul_overflow(scale, mlirAffineConstantExprGetValue(expr), &scale))
      return false;
  } else if (mlirAffineExprIsADim(expr)) {
    entry = &sum->loops[mlirAffineDimExprGetPosition(expr)];
  } else {
    return false;
  }
  return !__builtin_add_overflow(*entry, scale, entry);
}

/* ---- the rule ---- */

static void fix_loops(tp_rule *rule, MlirAffineExpr expr, int but) {
  for (int f = 0; f < rule->n_factors; f++)
    if (f != but && mlirAffineExprIsFunctionOfDim(expr, f))
      rule->factors[f].kind = TP_FIXED;
}

static bool moves_along(const tp_value_map *map, int f) {
  for (int d = 0; d < map->rank; d++)
    if (map->dims[d].n_factors && map->dims[d].factors[0] == f)
      return true;
  return false;
}

/* What reading an op's maps needs to know. */
typedef struct reader {
  tp_rule *rule;
  const tp_body *body;
  bool combines; /* its reductions may be split */
  tp__arena *arena;
} reader;

/* The number of results that have loop f, in a window or not. */
static int n_results_with(const reader *r, int f) {
  int n = 0;
  for (int i = r->body->n_inputs; i < r->body->n_inputs + r->rule->n_results; i++)
    n += moves_along(&r->rule->operands[i], f);
  return n;
}

/* Is an input that the body reads a vector along loop f, element by element? */
static bool is_weighed(const reader *r, int f) {
  for (int i = 0; i < r->body->n_inputs; i++)
    if (r->rule->operands[i].is_tensor && tp__body_reads(r->body, i) &&
        moves_along(&r->rule->operands[i], f))
      return true;
  return false;
}

/* How much it is worth to split loop f: as much as it is long. A loop that only counts the elements
 * of a window (pooling) is split for want of others; 0: it cannot be split. */
static int64_t worth(const reader *r, int f) {
  int n = n_results_with(r, f);
  if (r->rule->factors[f].kind == TP_FIXED || (n > 0 && n < r->rule->n_results) ||
      (n == 0 && !r->combines))
    return 0;
  return n > 0 || is_weighed(r, f) ? r->rule->factors[f].size : 1;
}

/* The loop of an expression that may be split, -1: none. In a convolution that is the one that the
 * results have; where the results are the gradient of a kernel, it is the long one over which they
 * are summed. */
static int split_loop(const reader *r, const linear *sum) {
  int best = -1;
  int64_t most = 0;
  for (int f = 0; f < r->rule->n_factors; f++) {
    int64_t value = sum->loops[f] && r->rule->factors[f].size > 1 ? worth(r, f) : 0;
    if (value > most || (value == most && value > 0 && n_results_with(r, best) == 0)) {
      best = f;
      most = value;
    }
  }
  return best;
}

/* The least and the greatest that the loops but f add up to; false when that is too large a
 * number. */
static bool range_of(const tp_rule *rule, const linear *sum, int f, tp_window *window) {
  int64_t low = sum->constant, high = sum->constant;
  for (int k = 0; k < rule->n_factors; k++) {
    int64_t last;
    if (k == f || sum->loops[k] == 0)
      continue;
    if (rule->factors[k].size < 1 ||
        __builtin_mul_overflow(sum->loops[k], rule->factors[k].size - 1, &last) ||
        __builtin_add_overflow(last < 0 ? low : high, last, last < 0 ? &low : &high))
      return false;
  }
  *window = (tp_window){.stride = sum->loops[f], .offset = low};
  return !__builtin_sub_overflow(high, low, &window->extent) &&
         !__builtin_add_overflow(window->extent, 1, &window->extent);
}

/* The local map of an op counts from the first element fetched. That of a named op follows from its
 * name: it has to count from the least element of a window already. */
static bool can_count(MlirOperation op, tp_window window) {
  return tp__op_is(op, "linalg.generic") || (window.stride > 0 && window.offset == 0);
}

static tp_status read_expr(const reader *r, int i, int d, MlirAffineExpr expr) {
  tp_rule *rule = r->rule;
  linear sum = {0};
  tp_window window;
  int f = i < r->body->n_inputs && add_expr(expr, 1, &sum) ? split_loop(r, &sum) : -1;
  if (f >= 0 && (!range_of(rule, &sum, f, &window) || !can_count(rule->op, window)))
    f = -1;
  fix_loops(rule, expr, f);
  if (f < 0)
    return TP_OK;
  if (moves_along(&rule->operands[i], f)) {
    /* a diagonal: the loop moves along two dimensions at once */
    rule->factors[f].kind = TP_FIXED;
    return TP_OK;
  }
  return tp__dim_window(rule, &rule->operands[i], d, f, window, r->arena);
}

static MlirAffineMap map_of(MlirAttribute maps, int i) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
}

tp_status tp__linalg_windows(tp_rule *rule, MlirAttribute maps, const tp_body *body,
                             tp__arena *arena) {
  reader r = {.rule = rule, .body = body, .combines = true, .arena = arena};
  for (int k = 0; k < rule->n_results; k++) {
    tp_combiner combiner;
    r.combines &= tp__body_combiner(body, k, &combiner);
  }
  int n_maps = (int)mlirArrayAttrGetNumElements(maps);
  for (int i = 0; i < n_maps; i++) {
    const tp_value_map *operand = &rule->operands[i];
    MlirAffineMap map = map_of(maps, i);
    for (int d = 0; operand->is_tensor && d < operand->rank; d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(expr) || mlirAffineExprIsAConstant(expr))
        continue;
      tp_status status = read_expr(&r, i, d, expr);
      if (status != TP_OK)
        return status;
    }
  }
  return TP_OK;
}

/* ---- localize ----
 *
 * No valid point reads what is unspecified. The verifier of structured ops has seen that the
 * windows of all points, kernel loops and all, are inside of the dimension; a point's window is
 * therefore a part of what tp__hops_needed says that its device needs, and a plan brings all of
 * that. Kernel loops stay whole, so a reduction over them (pooling) sees its own window and nothing
 * else. Points in the padding of an uneven loop may read unspecified elements: along the result
 * nobody looks at them, in a split reduction tp__mask_yields drops them. */

/* The element that the loops at 0 read has to be counted from the first one fetched: point j reads
 * from |stride| * j on, and from |stride| * (R - 1 - j) on if the stride is negative
 * (tp__fetch_windows). Maps count from the first element of the padding. */
static int64_t start_of(const tp_local *local, int i, int d) {
  const tp_value_map *map = &local->rule->operands[i];
  const tp_window *window = map->dims[d].window;
  int64_t start = window->offset;
  tp_padding padding;
  if (!mlirOperationIsNull(map->pad) && tp__padding_of(map->pad, &padding))
    start += padding.low[d];
  if (window->stride < 0)
    start += window->stride * (tp__strategy_local(local->rule, local->mesh, local->strategy,
                                                  map->dims[d].factors[0]) -
                               1);
  return start;
}

static MlirAffineMap local_map(const tp_local *local, int i, MlirAffineMap map) {
  MlirContext context = mlirAffineMapGetContext(map);
  MlirAffineExpr exprs[TP_MAX_RANK];
  int n = (int)mlirAffineMapGetNumResults(map);
  for (int d = 0; d < n; d++) {
    exprs[d] = mlirAffineMapGetResult(map, d);
    if (tp__window_is_split(local, i, d))
      exprs[d] = mlirAffineAddExprGet(exprs[d],
                                      mlirAffineConstantExprGet(context, -start_of(local, i, d)));
  }
  return mlirAffineMapGet(context, mlirAffineMapGetNumDims(map), mlirAffineMapGetNumSymbols(map), n,
                          exprs);
}

/* Does some map count from another element than before? Those of most ops do not. */
static bool moves_maps(const tp_local *local) {
  for (int i = 0; i < local->rule->n_operands; i++)
    for (int d = 0; d < local->rule->operands[i].rank; d++)
      if (local->rule->operands[i].dims[d].window && tp__window_is_split(local, i, d))
        return true;
  return false;
}

static void write_local_maps(const tp_local *local) {
  MlirOperation op = local->rule->op;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op), changed[64];
  int n = (int)mlirArrayAttrGetNumElements(maps);
  for (int i = 0; i < n; i++)
    changed[i] = mlirAffineMapAttrGet(local->rule->operands[i].is_tensor
                                          ? local_map(local, i, map_of(maps, i))
                                          : map_of(maps, i));
  mlirOperationSetInherentAttributeByName(
      op, tp__ref("indexing_maps"), mlirArrayAttrGet(mlirOperationGetContext(op), n, changed));
}

tp_status tp__linalg_fetch(const tp_local *local) {
  tp_status status = tp__fetch_windows(local);
  if (status != TP_OK)
    return status;
  if (moves_maps(local) && tp__op_is(local->rule->op, "linalg.generic"))
    write_local_maps(local);
  return tp__pads_in_place_locally(local);
}
