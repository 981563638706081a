#include "rules/linalg_window.h"

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
    MlirAffineExpr left = mlirAffineBinaryOpExprGetLHS(expr), right = mlirAffineBinaryOpExprGetRHS(expr);
    if (is_add)
      return add_expr(left, scale, sum) && add_expr(right, scale, sum);
    return mlirAffineExprIsAConstant(right) && !__builtin_mul_overflow(scale, mlirAffineConstantExprGetValue(right), &scale) &&
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

static bool in_all_results(const tp_rule *rule, int n_inputs, int f) {
  for (int i = n_inputs; i < n_inputs + rule->n_results; i++)
    if (!moves_along(&rule->operands[i], f))
      return false;
  return true;
}

/* The loop of an expression that may be split: its only one, or else the longest that the results have; -1: none. */
static int split_loop(const tp_rule *rule, const linear *sum, int n_inputs) {
  int n = 0, only = -1, longest = -1;
  for (int f = 0; f < rule->n_factors; f++) {
    if (sum->loops[f] == 0)
      continue;
    n++;
    only = f;
    if (rule->factors[f].kind != TP_FIXED && in_all_results(rule, n_inputs, f) &&
        (longest < 0 || rule->factors[f].size > rule->factors[longest].size))
      longest = f;
  }
  return n == 1 ? only : longest;
}

/* The least and the greatest that the loops but f add up to; false when that is too large a number. */
static bool range_of(const tp_rule *rule, const linear *sum, int f, tp_window *window) {
  int64_t low = sum->constant, high = sum->constant;
  for (int k = 0; k < rule->n_factors; k++) {
    int64_t last;
    if (k == f || sum->loops[k] == 0)
      continue;
    if (rule->factors[k].size < 1 || __builtin_mul_overflow(sum->loops[k], rule->factors[k].size - 1, &last) ||
        __builtin_add_overflow(last < 0 ? low : high, last, last < 0 ? &low : &high))
      return false;
  }
  *window = (tp_window){.stride = sum->loops[f], .offset = low};
  return !__builtin_sub_overflow(high, low, &window->extent) && !__builtin_add_overflow(window->extent, 1, &window->extent);
}

/* The local map of an op counts from the first element fetched. That of a named op follows from its name: it has to count from the least
 * element of a window already. */
static bool can_count(MlirOperation op, tp_window window) {
  return tp__op_is(op, "linalg.generic") || (window.stride > 0 && window.offset == 0);
}

static tp_status read_expr(tp_rule *rule, int i, int d, MlirAffineExpr expr, int n_inputs, tp__arena *arena) {
  tp_value_map *operand = &rule->operands[i];
  linear sum = {0};
  tp_window window;
  int f = i < n_inputs && add_expr(expr, 1, &sum) ? split_loop(rule, &sum, n_inputs) : -1;
  if (f >= 0 && (!range_of(rule, &sum, f, &window) || !can_count(rule->op, window)))
    f = -1;
  fix_loops(rule, expr, f);
  if (f < 0)
    return TP_OK;
  if (moves_along(operand, f)) { /* a diagonal: the loop moves along two dimensions at once */
    rule->factors[f].kind = TP_FIXED;
    return TP_OK;
  }
  return tp__dim_window(rule, operand, d, f, window, arena);
}

static MlirAffineMap map_of(MlirAttribute maps, int i) { return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i)); }

tp_status tp__linalg_windows(tp_rule *rule, MlirAttribute maps, int n_inputs, tp__arena *arena) {
  int n_maps = (int)mlirArrayAttrGetNumElements(maps);
  for (int i = 0; i < n_maps; i++) {
    const tp_value_map *operand = &rule->operands[i];
    MlirAffineMap map = map_of(maps, i);
    for (int d = 0; operand->is_tensor && d < operand->rank; d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(expr) || mlirAffineExprIsAConstant(expr))
        continue;
      tp_status status = read_expr(rule, i, d, expr, n_inputs, arena);
      if (status != TP_OK)
        return status;
    }
  }
  return TP_OK;
}

/* ---- localize ---- */

/* The element that the loops at 0 read has to be counted from the first one fetched: point j reads from |stride| * j on, and from
 * |stride| * (R - 1 - j) on if the stride is negative (tp__fetch_windows). */
static int64_t start_of(const tp_local *local, const tp_dim *dim) {
  const tp_window *window = dim->window;
  int64_t start = window->offset;
  if (window->stride < 0)
    start += window->stride * (tp__strategy_local(local->rule, local->mesh, local->strategy, dim->factors[0]) - 1);
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
                                      mlirAffineConstantExprGet(context, -start_of(local, &local->rule->operands[i].dims[d])));
  }
  return mlirAffineMapGet(context, mlirAffineMapGetNumDims(map), mlirAffineMapGetNumSymbols(map), n, exprs);
}

tp_status tp__linalg_fetch(const tp_local *local) {
  MlirOperation op = local->rule->op;
  tp_status status = tp__fetch_windows(local);
  if (status != TP_OK || !tp__op_is(op, "linalg.generic"))
    return status;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op), changed[64];
  int n = (int)mlirArrayAttrGetNumElements(maps);
  for (int i = 0; i < n; i++)
    changed[i] =
        mlirAffineMapAttrGet(local->rule->operands[i].is_tensor ? local_map(local, i, map_of(maps, i)) : map_of(maps, i));
  mlirOperationSetInherentAttributeByName(op, tp__ref("indexing_maps"),
                                          mlirArrayAttrGet(mlirOperationGetContext(op), n, changed));
  return TP_OK;
}
