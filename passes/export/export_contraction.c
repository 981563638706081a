/* Contractions without windows, as stablehlo.dot_general. */
#include "passes/export/export_nest.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

typedef struct dims {
  int n;
  int64_t items[TP_NEST_MAX_LOOPS];
} dims;

static void append_dims(tp__string *text, const char *name, const dims *d) {
  tp__string_printf(text, "%s = [", name);
  for (int i = 0; i < d->n; i++)
    tp__string_printf(text, "%s%lld", i ? ", " : "", (long long)d->items[i]);
  tp__string_printf(text, "]");
}

static int dim_of_loop(const tp_nest *n, int i, int loop) {
  for (int d = 0; d < tp__value_rank(n->operands[i]); d++)
    if (n->loops[i][d] == loop)
      return d;
  return -1;
}

/* Sorts the loops into batch, free and contracted ones. False if a loop is none of them: summed but
 * in one operand only, or in neither. */
static bool sort_loops(const tp_nest *n, dims batch[2], dims contracted[2], dims *order) {
  uint32_t in_result = 0;
  MlirAffineMap map = n->maps[2];
  dims free_loops[2] = {{0}, {0}};
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
    if (mlirAffineExprIsADim(mlirAffineMapGetResult(map, d)))
      in_result |= UINT32_C(1) << mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, d));
  for (int l = 0; l < n->n_loops; l++) {
    int at[2] = {dim_of_loop(n, 0, l), dim_of_loop(n, 1, l)};
    bool kept = in_result >> l & 1, in_both = at[0] >= 0 && at[1] >= 0;
    if ((!kept && !in_both) || (at[0] < 0 && at[1] < 0))
      return false;
    if (in_both)
      for (int s = 0; s < 2; s++) {
        dims *to = kept ? &batch[s] : &contracted[s];
        to->items[to->n++] = at[s];
      }
    if (in_both && kept)
      order->items[order->n++] = l;
  }
  for (int s = 0; s < 2; s++)
    for (int d = 0; d < tp__value_rank(n->operands[s]); d++) {
      int l = n->loops[s][d];
      if ((in_result >> l & 1) && dim_of_loop(n, 1 - s, l) < 0)
        free_loops[s].items[free_loops[s].n++] = l;
    }
  for (int s = 0; s < 2; s++)
    for (int i = 0; i < free_loops[s].n; i++)
      order->items[order->n++] = free_loops[s].items[i];
  return true;
}

static MlirValue build_dot(tp_export *x, const tp_nest *n, const dims batch[2],
                           const dims contracted[2], const dims *order, MlirType element) {
  tp__string text = {0};
  int64_t sizes[TP_NEST_MAX_LOOPS];
  tp__string_append(&text, "#stablehlo.dot<");
  append_dims(&text, "lhs_batching_dimensions", &batch[0]);
  append_dims(&text, ", rhs_batching_dimensions", &batch[1]);
  append_dims(&text, ", lhs_contracting_dimensions", &contracted[0]);
  append_dims(&text, ", rhs_contracting_dimensions", &contracted[1]);
  tp__string_append(&text, ">");
  for (int i = 0; i < order->n; i++)
    sizes[i] = n->sizes[order->items[i]];
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "dot_dimension_numbers",
                tp__export_attr(x, "%s", text.failed ? "#stablehlo.dot<>" : text.text)),
      tp__export_precision(x, element),
  };
  tp__string_destroy(&text);
  return tp__export_build(x, "stablehlo.dot_general", tp__export_tensor(element, order->n, sizes),
                          2, n->operands, TP_LEN(attrs), attrs);
}

/* Contractions of StableHLO add up booleans by "or", not modulo 2, and true is 1 in them. */
bool tp__nest_is_contraction(const tp_nest *n) {
  if (n->n_operands != 3 || !tp__body_is_contraction(&n->body))
    return false;
  for (int i = 0; i < n->n_operands; i++)
    if (tp__is_bool(tp__number_type(mlirValueGetType(mlirOperationGetOperand(n->op, i)))))
      return false;
  return true;
}

tp_status tp__nest_contract(tp_export *x, tp_nest *n, bool *done) {
  dims batch[2] = {{0}, {0}}, contracted[2] = {{0}, {0}}, order = {0};
  int64_t loops[TP_NEST_MAX_LOOPS], permutation[TP_NEST_MAX_LOOPS];
  int count;
  if (!tp__nest_is_contraction(n) || !sort_loops(n, batch, contracted, &order))
    return TP_OK;
  *done = true;
  MlirValue old = mlirOperationGetOperand(n->op, 2);
  MlirType type = tp__export_type(mlirValueGetType(old));
  MlirValue value = build_dot(x, n, batch, contracted, &order, tp__element_type(type));
  TP_TRY(tp__nest_result_loops(n, 0, loops, &count));
  for (int d = 0; d < count; d++)
    for (int i = 0; i < order.n; i++)
      if (order.items[i] == loops[d])
        permutation[d] = i;
  value = tp__nest_add_units(x, n, 0, tp__export_transpose(x, value, permutation));
  if (!tp__is_zero_tensor(old))
    value = tp__export_combine(x, TP_SUM, tp__export_operand(x, n->op, 2), value);
  return tp__export_map(x, n->op, mlirOperationGetResult(n->op, 0), value);
}
