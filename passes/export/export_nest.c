/* Loop nests of structured ops: reading them, bringing operands to a form in which each dimension
 * is a loop, and computing values of the body as tensors with a dimension per loop. */
#include "passes/export/export_nest.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

MlirType tp__nest_space(const tp_nest *n, MlirType element) {
  return tp__export_tensor(element, n->n_loops, n->sizes);
}

/* ---- reading ---- */

static bool uses_loop(MlirAffineMap map, int loop) {
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
    if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, d), loop))
      return true;
  return false;
}

tp_status tp__nest_read(MlirOperation op, tp_nest *n) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  MlirAttribute iterators = tp__inherent(op, "iterator_types");
  *n = (tp_nest){.op = op};
  n->n_operands = (int)mlirOperationGetNumOperands(op);
  n->n_loops = mlirAttributeIsNull(maps) || mlirArrayAttrGetNumElements(maps) == 0
                   ? 0
                   : (int)mlirAffineMapGetNumDims(tp__map_at(maps, 0));
  /* on tensors, there is an init per result */
  int n_inputs = n->n_operands - (int)mlirOperationGetNumResults(op);
  if (mlirAttributeIsNull(maps) || !tp__body_of(op, n_inputs, &n->body))
    return tp__error(op, TP_UNSUPPORTED, "has no loop nest that can be exported");
  if (n->n_operands > TP_NEST_MAX_OPERANDS || n->n_loops > TP_NEST_MAX_LOOPS)
    return tp__error(op, TP_UNSUPPORTED,
                     "has more than %d operands or %d loops, and cannot be exported",
                     TP_NEST_MAX_OPERANDS, TP_NEST_MAX_LOOPS);
  MlirAttribute parallel =
      tp__parse_attr(mlirOperationGetContext(op), "#linalg.iterator_type<parallel>");
  for (int l = 0; l < TP_NEST_MAX_LOOPS; l++)
    n->number[l] = l < n->n_loops ? l : -1;
  for (int l = 0; l < n->n_loops; l++) {
    /* of a named op, the loops that results do not use are reductions */
    n->is_reduction[l] = mlirAttributeIsNull(iterators)
                             ? !uses_loop(tp__map_at(maps, n->n_operands - 1), l)
                             : !mlirAttributeEqual(mlirArrayAttrGetElement(iterators, l), parallel);
    n->sizes[l] = -1;
  }
  for (int i = 0; i < n->n_operands; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    n->maps[i] = tp__map_at(maps, i);
    for (intptr_t d = 0; tp__is_tensor(type) && d < mlirAffineMapGetNumResults(n->maps[i]); d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(n->maps[i], d);
      if (mlirAffineExprIsADim(expr))
        n->sizes[mlirAffineDimExprGetPosition(expr)] = mlirShapedTypeGetDimSize(type, d);
    }
  }
  for (int l = 0; l < n->n_loops; l++)
    if (n->sizes[l] < 0)
      return tp__error(op, TP_UNSUPPORTED, "the size of loop %d does not follow from a dimension",
                       l);
  return TP_OK;
}

/* ---- operands ---- */

/* Reads c0 + sum of c[l] * loop l. */
bool tp__nest_linear(MlirAffineExpr expr, int64_t factor, int64_t *constant, int64_t *c) {
  if (mlirAffineExprIsADim(expr)) {
    c[mlirAffineDimExprGetPosition(expr)] += factor;
    return true;
  }
  if (mlirAffineExprIsAConstant(expr)) {
    *constant += factor * mlirAffineConstantExprGetValue(expr);
    return true;
  }
  if (mlirAffineExprIsAAdd(expr))
    return tp__nest_linear(mlirAffineBinaryOpExprGetLHS(expr), factor, constant, c) &&
           tp__nest_linear(mlirAffineBinaryOpExprGetRHS(expr), factor, constant, c);
  if (!mlirAffineExprIsAMul(expr))
    return false;
  MlirAffineExpr a = mlirAffineBinaryOpExprGetLHS(expr), b = mlirAffineBinaryOpExprGetRHS(expr);
  if (mlirAffineExprIsAConstant(a))
    return tp__nest_linear(b, factor * mlirAffineConstantExprGetValue(a), constant, c);
  return mlirAffineExprIsAConstant(b) &&
         tp__nest_linear(a, factor * mlirAffineConstantExprGetValue(b), constant, c);
}

MlirValue tp__nest_pick(tp_export *x, MlirValue value, int d, int64_t at, int64_t step,
                        int64_t count) {
  int rank = 0;
  int64_t offsets[TP_MAX_RANK] = {0}, sizes[TP_MAX_RANK], strides[TP_MAX_RANK];
  (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
  for (int i = 0; i < rank; i++)
    strides[i] = 1;
  bool is_reversed = step < 0 && count > 1;
  /* no element: the position may be outside */
  offsets[d] = is_reversed ? at + step * (count - 1) : count > 0 ? at : 0;
  strides[d] = count > 1 ? (step < 0 ? -step : step) : 1;
  sizes[d] = count;
  value = tp__export_slice(x, value, offsets, sizes, strides);
  return is_reversed ? tp__export_reverse(x, value, d) : value;
}

/* Gives a dimension that several loops index a dimension per loop: the last loop keeps the
 * dimension, each iteration of the others is a slice of its own. */
static MlirValue split_window(tp_export *x, const tp_nest *n, MlirValue value, int d, int64_t at,
                              const int64_t *c, const int *loops, int n_used) {
  int loop = loops[0];
  if (n_used == 1)
    return tp__nest_pick(x, value, d, at, c[loop], n->sizes[loop]);
  int rank = 0;
  int64_t sizes[TP_MAX_RANK], count = n->sizes[loop];
  MlirValue *parts = tp__calloc((size_t)count, sizeof *parts);
  for (int64_t k = 0; parts && k < count; k++) {
    MlirValue part = split_window(x, n, value, d, at + k * c[loop], c, loops + 1, n_used - 1);
    (void)tp__static_tensor(mlirValueGetType(part), &rank, sizes);
    for (int i = rank; i > d; i--)
      sizes[i] = sizes[i - 1];
    sizes[d] = 1;
    parts[k] = tp__export_reshape(x, part, rank + 1, sizes);
  }
  value = parts ? tp__export_concat(x, (int)count, parts, d) : value;
  tp__free(parts);
  return value;
}

/* The same, if one of the loops has no iteration: no element is read. */
static MlirValue no_window(tp_export *x, const tp_nest *n, MlirValue value, int d, const int *loops,
                           int n_used) {
  int rank = 0;
  int64_t sizes[TP_MAX_RANK + TP_NEST_MAX_LOOPS];
  MlirType element = tp__element_type(mlirValueGetType(value));
  (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
  memmove(sizes + d + n_used, sizes + d + 1, (size_t)(rank - d - 1) * sizeof *sizes);
  for (int k = 0; k < n_used; k++)
    sizes[d + k] = n->sizes[loops[k]];
  return tp__export_splat(x, tp__export_tensor(element, rank - 1 + n_used, sizes),
                          tp__export_identity(element, TP_SUM));
}

tp_status tp__nest_flatten(tp_export *x, tp_nest *n, int i) {
  MlirValue value = tp__export_operand(x, n->op, i);
  int n_dims = 0;
  if (!tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(n->op, i)))) {
    n->operands[i] = value;
    return TP_OK;
  }
  for (intptr_t d = 0, at = 0; d < mlirAffineMapGetNumResults(n->maps[i]); d++) {
    int64_t constant = 0, c[TP_NEST_MAX_LOOPS] = {0};
    int used[TP_NEST_MAX_LOOPS], n_used = 0;
    bool is_empty = false;
    if (!tp__nest_linear(mlirAffineMapGetResult(n->maps[i], d), 1, &constant, c))
      return tp__error(n->op, TP_UNSUPPORTED,
                       "operand %d is read at positions that are not sums of multiples of loops",
                       i);
    /* the loop with the most iterations stays one slice */
    for (int l = 0; l < n->n_loops; l++)
      if (c[l] != 0) {
        used[n_used++] = l;
        is_empty |= n->sizes[l] == 0;
      }
    for (int k = 0; k + 1 < n_used; k++)
      if (n->sizes[used[k]] > n->sizes[used[n_used - 1]]) {
        int swapped = used[k];
        used[k] = used[n_used - 1];
        used[n_used - 1] = swapped;
      }
    if (n_used == 0) { /* one element: its dimension goes */
      int rank = 0;
      int64_t sizes[TP_MAX_RANK];
      value = tp__nest_pick(x, value, (int)at, constant, 1, 1);
      (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
      memmove(sizes + at, sizes + at + 1, (size_t)(rank - 1 - at) * sizeof *sizes);
      value = tp__export_reshape(x, value, rank - 1, sizes);
      continue;
    }
    if (n_dims + n_used > TP_NEST_MAX_LOOPS)
      return tp__error(n->op, TP_UNSUPPORTED, "operand %d has too many dimensions", i);
    value = is_empty ? no_window(x, n, value, (int)at, used, n_used)
                     : split_window(x, n, value, (int)at, constant, c, used, n_used);
    for (int k = 0; k < n_used; k++)
      n->loops[i][n_dims++] = used[k];
    at += n_used;
  }
  n->operands[i] = value;
  return TP_OK;
}

/* Reads the diagonal of dimensions d and e, d < e, which are n by n: with e behind d they are one
 * dimension, of which it is every (n + 1)th element. */
static MlirValue read_diagonal(tp_export *x, MlirValue value, int d, int e) {
  int rank = 0;
  int64_t sizes[TP_MAX_RANK], permutation[TP_MAX_RANK];
  (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
  int64_t n = sizes[d];
  for (int i = 0; i < rank; i++)
    permutation[i] = i <= d || i > e ? i : i == d + 1 ? e : i - 1;
  value = tp__export_transpose(x, value, permutation);
  memmove(sizes + e, sizes + e + 1, (size_t)(rank - 1 - e) * sizeof *sizes);
  sizes[d] = n * n;
  return tp__nest_pick(x, tp__export_reshape(x, value, rank - 1, sizes), d, 0, n + 1, n);
}

/* Reads the diagonal where two dimensions are one loop; spreads the operand over all loops. */
MlirValue tp__nest_spread(tp_export *x, const tp_nest *n, int i) {
  int64_t dims[TP_NEST_MAX_LOOPS];
  MlirValue value = n->operands[i];
  int count = tp__value_rank(value);
  for (int d = 0; d < count; d++)
    dims[d] = n->loops[i][d];
  for (int d = 0; d < count; d++)
    for (int e = count - 1; e > d; e--)
      if (dims[e] == dims[d]) {
        value = read_diagonal(x, value, d, e);
        count--;
        memmove(dims + e, dims + e + 1, (size_t)(count - e) * sizeof *dims);
      }
  /* broadcast_in_dim takes dimensions in any order */
  return tp__export_broadcast(x, value,
                              tp__nest_space(n, tp__element_type(mlirValueGetType(value))), dims);
}

/* ---- the body ---- */

MlirValue tp__nest_iota(tp_export *x, const tp_nest *n, int64_t loop) {
  MlirNamedAttribute attr = tp__named(x->context, "iota_dimension", tp__attr_i64(x->context, loop));
  return tp__export_build(x, "stablehlo.iota", tp__nest_space(n, mlirIndexTypeGet(x->context)), 0,
                          NULL, 1, &attr);
}

static tp_status evaluate_op(tp_export *x, tp_nest *n, MlirOperation op, MlirValue *now) {
  MlirValue operands[3];
  int n_operands = (int)mlirOperationGetNumOperands(op);
  if (tp__op_is(op, "linalg.index")) {
    int64_t loop = mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
    *now = n->number[loop] < 0 ? n->fixed[loop] : tp__nest_iota(x, n, n->number[loop]);
    return TP_OK;
  }
  if (tp__op_is(op, "tensor.extract"))
    return tp__nest_gather(x, n, op, now);
  bool has_form = n_operands <= TP_LEN(operands) && mlirOperationGetNumRegions(op) == 0;
  if (has_form && n_operands == 0) { /* a constant */
    TP_TRY(tp__export_op(x, op));
    *now = tp__export_value(x, mlirOperationGetResult(op, 0));
    return TP_OK;
  }
  for (int i = 0; has_form && i < n_operands; i++)
    TP_TRY(tp__nest_evaluate(x, n, mlirOperationGetOperand(op, i), &operands[i]));
  *now = (MlirValue){NULL};
  if (has_form)
    TP_TRY(tp__export_elementwise(x, op, n_operands, operands, now));
  return mlirValueIsNull(*now)
             ? tp__error(op, TP_UNSUPPORTED,
                         "has no form in StableHLO in the body of a structured op")
             : TP_OK;
}

static bool in_body(const tp_nest *n, MlirValue value) {
  return mlirBlockEqual(tp__block_of(value), n->body.block);
}

static tp_status evaluate_argument(tp_export *x, tp_nest *n, int i, MlirValue *now) {
  int k = i - n->body.n_inputs;
  if (k >= 0 && !mlirValueIsNull(n->accumulators[k])) {
    *now = n->accumulators[k];
    return TP_OK;
  }
  *now = tp__nest_spread(x, n, i);
  return TP_OK;
}

/* The value at all points: a tensor with a dimension per loop, or a number that is equal at all. */
tp_status tp__nest_evaluate(tp_export *x, tp_nest *n, MlirValue value, MlirValue *now) {
  int64_t *known = tp__value_find(&n->memo, value);
  if (known || !in_body(n, value)) {
    *now = known ? (MlirValue){(const void *)(uintptr_t)*known} : tp__export_value(x, value);
    return TP_OK;
  }
  if (mlirValueIsABlockArgument(value))
    TP_TRY(evaluate_argument(x, n, (int)mlirBlockArgumentGetArgNumber(value), now));
  else
    TP_TRY(evaluate_op(x, n, tp__defining_op(value), now));
  int64_t *entry = tp__value_add(&n->memo, value, 0);
  if (!entry)
    return tp__out_of_memory(n->op);
  *entry = (int64_t)(uintptr_t)now->ptr;
  return TP_OK;
}

/* ---- parts of a nest ---- */

tp_nest tp__nest_part(tp_export *x, const tp_nest *whole, uint32_t without, const int64_t *at) {
  tp_nest n = *whole;
  n.memo = (tp__value_map){0};
  n.n_loops = 0;
  int number[TP_NEST_MAX_LOOPS];
  MlirValue fixed[TP_NEST_MAX_LOOPS] = {{NULL}};
  for (int l = 0; l < whole->n_loops; l++) {
    bool kept = !(without >> l & 1);
    MlirType type = tp__export_type(mlirIndexTypeGet(x->context));
    number[l] = kept ? n.n_loops : -1;
    if (!kept && at)
      fixed[l] = tp__export_int(x, type, at[l]);
    if (kept) {
      n.sizes[n.n_loops] = whole->sizes[l];
      n.is_reduction[n.n_loops++] = whole->is_reduction[l];
    }
  }
  for (int l = 0; l < TP_NEST_MAX_LOOPS; l++)
    if (n.number[l] >= 0) {
      n.fixed[l] = fixed[n.number[l]];
      n.number[l] = number[n.number[l]];
    }
  for (int i = 0; i < n.n_operands; i++) {
    int rank = tp__is_tensor(mlirValueGetType(n.operands[i])) ? tp__value_rank(n.operands[i]) : 0;
    int n_kept = 0;
    int64_t sizes[TP_MAX_RANK];
    for (int d = 0; d < rank; d++) {
      int loop = whole->loops[i][d];
      if (at && (without >> loop & 1))
        n.operands[i] = tp__nest_pick(x, n.operands[i], d, at[loop], 1, 1);
      else
        sizes[n_kept] = mlirShapedTypeGetDimSize(mlirValueGetType(n.operands[i]), d);
      if (!(without >> loop & 1))
        n.loops[i][n_kept++] = number[loop];
    }
    if (at && n_kept < rank)
      n.operands[i] = tp__export_reshape(x, n.operands[i], n_kept, sizes);
  }
  return n;
}

/* ---- results ---- */

/* Lists the loops that index the dimensions of result k, in their order. A dimension of size 1 that
 * no loop indexes, which a reduction may keep, is not in the list. */
tp_status tp__nest_result_loops(const tp_nest *n, int k, int64_t *loops, int *count) {
  MlirAffineMap map = n->maps[n->body.n_inputs + k];
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  (void)tp__static_tensor(mlirValueGetType(mlirOperationGetResult(n->op, k)), &rank, sizes);
  *count = 0;
  for (int d = 0; d < rank; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    if (mlirAffineExprIsADim(expr))
      loops[(*count)++] = mlirAffineDimExprGetPosition(expr);
    else if (!mlirAffineExprIsAConstant(expr) || sizes[d] != 1)
      return tp__error(n->op, TP_UNSUPPORTED,
                       "writes result %d at positions that are not loops, which has no form in "
                       "StableHLO",
                       k);
  }
  return TP_OK;
}

/* Reshapes a value that has one dimension for each loop of tp__nest_result_loops to the shape of
 * result k, which may also have dimensions of size 1. */
MlirValue tp__nest_add_units(tp_export *x, const tp_nest *n, int k, MlirValue value) {
  int rank = 0;
  int64_t sizes[TP_MAX_RANK];
  (void)tp__static_tensor(mlirValueGetType(mlirOperationGetResult(n->op, k)), &rank, sizes);
  return tp__value_rank(value) == rank ? value : tp__export_reshape(x, value, rank, sizes);
}

/* Orders the dimensions of a value, which are loops in ascending order, as result k has them. */
tp_status tp__nest_order_result(tp_export *x, const tp_nest *n, int k, MlirValue *value) {
  int64_t loops[TP_NEST_MAX_LOOPS], permutation[TP_NEST_MAX_LOOPS];
  int count;
  TP_TRY(tp__nest_result_loops(n, k, loops, &count));
  for (int d = 0; d < count; d++) {
    permutation[d] = 0;
    for (int other = 0; other < count; other++)
      permutation[d] += loops[other] < loops[d];
  }
  *value = tp__nest_add_units(x, n, k, tp__export_transpose(x, *value, permutation));
  return TP_OK;
}

MlirValue tp__nest_full(tp_export *x, const tp_nest *n, MlirValue value) {
  return tp__export_broadcast(x, value,
                              tp__nest_space(n, tp__element_type(mlirValueGetType(value))), NULL);
}
