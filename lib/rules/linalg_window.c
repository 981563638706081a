/* Windows of structured ops: reads them from indexing maps, and rewrites the maps for local
 * shapes. */
#include "rules/linalg_window.h"

#include "rules/in_place.h"
#include "rules/padding.h"
#include "rules/window.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

/* ---- expressions ---- */

typedef struct linear {
  int64_t constant;
  int64_t loops[TP_MAX_FACTORS]; /* coefficients */
} linear;

/* Adds `scale` times the expression. False if it is not linear, or if its numbers overflow. */
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

bool tp__moves_along(const tp_value_map *map, int f) {
  for (int d = 0; d < map->rank; d++)
    if (map->dims[d].n_factors && map->dims[d].factors[0] == f)
      return true;
  return false;
}

/* The state of reading an op's maps. */
typedef struct reader {
  tp_rule *rule;
  const tp_body *body;
  bool combines; /* its reductions may be split */
  tp__arena *arena;
} reader;

/* Returns the number of results that have loop f, in a window or not. */
static int n_results_with(const reader *r, int f) {
  int n = 0;
  for (int i = r->body->n_inputs; i < r->body->n_inputs + r->rule->n_results; i++)
    n += tp__moves_along(&r->rule->operands[i], f);
  return n;
}

/* True if an input that the body reads has a dimension indexed by loop f. */
static bool is_weighed(const reader *r, int f) {
  for (int i = 0; i < r->body->n_inputs; i++)
    if (r->rule->operands[i].is_tensor && tp__body_reads(r->body, i) &&
        tp__moves_along(&r->rule->operands[i], f))
      return true;
  return false;
}

/* Returns the value of splitting loop f, which is its trip count. A loop that only counts the
 * elements of a window (pooling) has the value 1, so that it is a last resort. 0: the loop cannot
 * be split. */
static int64_t split_priority(const reader *r, int f) {
  int n = n_results_with(r, f);
  if (r->rule->factors[f].kind == TP_FIXED || (n > 0 && n < r->rule->n_results) ||
      (n == 0 && !r->combines))
    return 0;
  return n > 0 || is_weighed(r, f) ? r->rule->factors[f].size : 1;
}

/* Returns the loop of an expression that may be split; -1: none. In a convolution it is the loop
 * that the results have. If the result is the gradient of a kernel, it is the long loop over which
 * it is summed. */
static int split_loop(const reader *r, const linear *sum) {
  int best = -1;
  int64_t most = 0;
  for (int f = 0; f < r->rule->n_factors; f++) {
    int64_t value = sum->loops[f] && r->rule->factors[f].size > 1 ? split_priority(r, f) : 0;
    if (value > most || (value == most && value > 0 && n_results_with(r, best) == 0)) {
      best = f;
      most = value;
    }
  }
  return best;
}

/* Computes the range of the sum of all loops but f. False if it overflows. */
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

/* True if the op's local map can count from the first fetched element. The maps of a named op are
 * implied by its name, so its windows must start there already. */
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
  if (tp__moves_along(&rule->operands[i], f)) {
    /* a diagonal: the loop indexes two dimensions */
    rule->factors[f].kind = TP_FIXED;
    return TP_OK;
  }
  return tp__dim_window(rule, &rule->operands[i], d, f, window, r->arena);
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
    MlirAffineMap map = tp__map_at(maps, i);
    for (int d = 0; operand->is_tensor && d < operand->rank; d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(expr) || mlirAffineExprIsAConstant(expr))
        continue;
      TP_TRY(read_expr(&r, i, d, expr));
    }
  }
  return TP_OK;
}

/* ---- localize ----
 *
 * No valid point reads unspecified elements. The verifier of structured ops guarantees that the
 * windows of all points, over all kernel loops, are inside of the dimension. Hence the window of a
 * point is a part of the elements that tp__hops_needed reports for its device, and a plan fetches
 * all of these. Kernel loops stay whole, so a reduction over them (pooling) sees exactly its own
 * window. Points in the padding of an uneven loop may read unspecified elements: along a result
 * they are ignored, and in a split reduction tp__mask_yields drops them. */

/* Returns the element that the map reads when all loops are at 0, which local maps must subtract to
 * count from the first fetched element. Point j reads from |stride| * j on, or from |stride| * (R -
 * 1 - j) on if the stride is negative (tp__halo_fetch_windows). The maps count from the first
 * element of the padding. */
static int64_t start_of(const tp_local *local, int i, int d) {
  const tp_value_map *map = &local->rule->operands[i];
  const tp_window *window = map->dims[d].window;
  int64_t start = window->offset;
  tp_padding padding;
  if (!mlirOperationIsNull(map->in_place) && tp__padding_of(map->in_place, &padding))
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

/* True if some map must change. The maps of most ops do not. */
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
                                          ? local_map(local, i, tp__map_at(maps, i))
                                          : tp__map_at(maps, i));
  mlirOperationSetInherentAttributeByName(
      op, tp__ref("indexing_maps"), mlirArrayAttrGet(mlirOperationGetContext(op), n, changed));
}

tp_status tp__linalg_fetch(const tp_local *local) {
  TP_TRY(tp__halo_fetch_windows(local));
  if (moves_maps(local) && tp__op_is(local->rule->op, "linalg.generic"))
    write_local_maps(local);
  return tp__pads_in_place_locally(local);
}
