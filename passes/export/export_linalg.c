/* Structured ops: a body becomes ops on tensors with a dimension per loop, which are reduced along
 * the reduction loops. Contractions become dot_general, argmax and the like one stablehlo.reduce of
 * several values, reads of captured tensors become gathers. */
#include "passes/export/export_nest.h"

#include "rules/arg_reduction.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

static MlirType space(const tp_nest *n, MlirType element) {
  return tp__export_tensor(element, n->n_loops, n->sizes);
}

/* ---- reading ---- */

static bool uses_loop(MlirAffineMap map, int loop) {
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
    if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, d), loop))
      return true;
  return false;
}

static tp_status read_nest(MlirOperation op, tp_nest *n) {
  int64_t segments[2];
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  MlirAttribute iterators = tp__inherent(op, "iterator_types");
  *n = (tp_nest){.op = op};
  n->n_operands = (int)mlirOperationGetNumOperands(op);
  n->n_loops = mlirAttributeIsNull(maps) || mlirArrayAttrGetNumElements(maps) == 0
                   ? 0
                   : (int)mlirAffineMapGetNumDims(tp__map_at(maps, 0));
  if (mlirAttributeIsNull(maps) ||
      tp__int_list(tp__inherent(op, "operandSegmentSizes"), 2, segments) != 2 ||
      n->n_operands > TP_NEST_MAX_OPERANDS || n->n_loops > TP_NEST_MAX_LOOPS ||
      !tp__body_of(op, (int)segments[0], &n->body))
    return tp__error(op, TP_UNSUPPORTED,
                     "has no body, or more than %d operands or %d loops, and cannot be exported",
                     TP_NEST_MAX_OPERANDS, TP_NEST_MAX_LOOPS);
  MlirAttribute parallel =
      tp__parse_attr(mlirOperationGetContext(op), "#linalg.iterator_type<parallel>");
  for (int l = 0; l < n->n_loops; l++) {
    /* of a named op, the loops that results do not use are reductions */
    n->is_reduction[l] = mlirAttributeIsNull(iterators)
                             ? !uses_loop(tp__map_at(maps, n->n_operands - 1), l)
                             : !mlirAttributeEqual(mlirArrayAttrGetElement(iterators, l), parallel);
    n->sizes[l] = -1;
    n->number[l] = l;
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
static bool linear(MlirAffineExpr expr, int64_t factor, int64_t *constant, int64_t *c) {
  if (mlirAffineExprIsADim(expr)) {
    c[mlirAffineDimExprGetPosition(expr)] += factor;
    return true;
  }
  if (mlirAffineExprIsAConstant(expr)) {
    *constant += factor * mlirAffineConstantExprGetValue(expr);
    return true;
  }
  if (mlirAffineExprIsAAdd(expr))
    return linear(mlirAffineBinaryOpExprGetLHS(expr), factor, constant, c) &&
           linear(mlirAffineBinaryOpExprGetRHS(expr), factor, constant, c);
  if (!mlirAffineExprIsAMul(expr))
    return false;
  MlirAffineExpr a = mlirAffineBinaryOpExprGetLHS(expr), b = mlirAffineBinaryOpExprGetRHS(expr);
  if (mlirAffineExprIsAConstant(a))
    return linear(b, factor * mlirAffineConstantExprGetValue(a), constant, c);
  return mlirAffineExprIsAConstant(b) &&
         linear(a, factor * mlirAffineConstantExprGetValue(b), constant, c);
}

/* Replaces dimension `d`, indexed by `at` + step * loop, by the elements that the loop reads. */
MlirValue tp__nest_pick(tp_export *x, MlirValue value, int d, int64_t at, int64_t step,
                        int64_t count) {
  int rank = 0;
  int64_t offsets[TP_MAX_RANK] = {0}, sizes[TP_MAX_RANK], strides[TP_MAX_RANK];
  (void)tp__static_tensor(mlirValueGetType(value), &rank, sizes);
  for (int i = 0; i < rank; i++)
    strides[i] = 1;
  bool is_reversed = step < 0 && count > 1;
  offsets[d] = is_reversed ? at + step * (count - 1) : at;
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

/* Brings an operand to a form in which each dimension is one loop. */
static tp_status flatten(tp_export *x, tp_nest *n, int i) {
  MlirValue value = tp__export_operand(x, n->op, i);
  int n_dims = 0;
  if (!tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(n->op, i)))) {
    n->operands[i] = value;
    return TP_OK;
  }
  for (intptr_t d = 0, at = 0; d < mlirAffineMapGetNumResults(n->maps[i]); d++) {
    int64_t constant = 0, c[TP_NEST_MAX_LOOPS] = {0};
    int used[TP_NEST_MAX_LOOPS], n_used = 0;
    if (!linear(mlirAffineMapGetResult(n->maps[i], d), 1, &constant, c))
      return tp__error(n->op, TP_UNSUPPORTED,
                       "operand %d is read at positions that are not sums of multiples of loops",
                       i);
    /* the loop with the most iterations stays one slice */
    for (int l = 0; l < n->n_loops; l++)
      if (c[l] != 0)
        used[n_used++] = l;
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
    value = split_window(x, n, value, (int)at, constant, c, used, n_used);
    for (int k = 0; k < n_used; k++)
      n->loops[i][n_dims++] = used[k];
    at += n_used;
  }
  n->operands[i] = value;
  return TP_OK;
}

/* Reads the diagonal where two dimensions are one loop; spreads the operand over all loops. */
static tp_status spread(tp_export *x, const tp_nest *n, int i, MlirValue *now) {
  int64_t dims[TP_NEST_MAX_LOOPS];
  uint32_t seen = 0;
  MlirValue value = n->operands[i];
  for (int d = 0; d < tp__value_rank(value); d++) {
    if (seen >> n->loops[i][d] & 1)
      return tp__error(n->op, TP_UNSUPPORTED,
                       "reads the diagonal of operand %d, which has no form in StableHLO", i);
    seen |= UINT32_C(1) << n->loops[i][d];
  }
  /* broadcast_in_dim takes dimensions in any order */
  for (int d = 0; d < tp__value_rank(value); d++)
    dims[d] = n->loops[i][d];
  *now = tp__export_broadcast(x, value, space(n, tp__element_type(mlirValueGetType(value))), dims);
  return TP_OK;
}

/* ---- the body ---- */

MlirValue tp__nest_iota(tp_export *x, const tp_nest *n, int64_t loop) {
  MlirNamedAttribute attr = tp__named(x->context, "iota_dimension", tp__attr_i64(x->context, loop));
  return tp__export_build(x, "stablehlo.iota", space(n, mlirIndexTypeGet(x->context)), 0, NULL, 1,
                          &attr);
}

/* A tensor with one more dimension, of size 1, at the end, over all loops. */
static MlirValue component(tp_export *x, const tp_nest *n, MlirValue value) {
  int64_t sizes[TP_NEST_MAX_LOOPS + 1];
  MlirType type = space(n, tp__element_type(mlirValueGetType(value)));
  if (tp__value_rank(value) == 0)
    value = tp__export_broadcast(x, value, type, NULL);
  memcpy(sizes, n->sizes, (size_t)n->n_loops * sizeof *sizes);
  sizes[n->n_loops] = 1;
  return tp__export_reshape(x, value, n->n_loops + 1, sizes);
}

/* tensor.extract of a captured tensor: a gather of one element per point. */
static tp_status gather(tp_export *x, tp_nest *n, MlirOperation op, MlirValue *now) {
  MlirValue source = tp__export_operand(x, op, 0), parts[TP_MAX_RANK];
  int rank = tp__value_rank(source);
  int64_t ones[TP_MAX_RANK];
  tp__string list = {0};
  if (rank == 0) {
    *now = source;
    return TP_OK;
  }
  for (int d = 0; d < rank; d++) {
    TP_TRY(tp__nest_evaluate(x, n, mlirOperationGetOperand(op, 1 + d), &parts[d]));
    parts[d] = component(x, n, parts[d]);
    ones[d] = 1;
    tp__string_printf(&list, "%s%d", d ? ", " : "", d);
  }
  MlirValue operands[] = {source, tp__export_concat(x, rank, parts, n->n_loops)};
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "dimension_numbers",
                tp__export_attr(x,
                                "#stablehlo.gather<collapsed_slice_dims = [%s], start_index_map = "
                                "[%s], index_vector_dim = %d>",
                                list.failed ? "" : list.text, list.failed ? "" : list.text,
                                n->n_loops)),
      tp__export_list(x, "slice_sizes", rank, ones),
      tp__named(x->context, "indices_are_sorted", mlirBoolAttrGet(x->context, false)),
  };
  tp__string_destroy(&list);
  *now =
      tp__export_build(x, "stablehlo.gather", space(n, tp__element_type(mlirValueGetType(source))),
                       2, operands, TP_LEN(attrs), attrs);
  return TP_OK;
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
    return gather(x, n, op, now);
  if (n_operands == 0 || n_operands > 3) { /* a constant */
    TP_TRY(tp__export_op(x, op));
    *now = tp__export_value(x, mlirOperationGetResult(op, 0));
    return TP_OK;
  }
  for (int i = 0; i < n_operands; i++)
    TP_TRY(tp__nest_evaluate(x, n, mlirOperationGetOperand(op, i), &operands[i]));
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
  return spread(x, n, i, now);
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

/* The nest without the loops in `without`. Operands are taken at iteration at[l] of these loops;
 * with at = NULL they must not use them. */
tp_nest tp__nest_part(tp_export *x, const tp_nest *whole, uint32_t without, const int64_t *at) {
  tp_nest n = *whole;
  n.memo = (tp__value_map){0};
  n.n_loops = 0;
  for (int l = 0; l < whole->n_loops; l++) {
    bool kept = !(without >> l & 1);
    MlirType type = tp__export_type(mlirIndexTypeGet(x->context));
    n.number[l] = kept ? n.n_loops : -1;
    if (!kept && at)
      n.fixed[l] = tp__export_int(x, type, at[l]);
    if (kept) {
      n.sizes[n.n_loops] = whole->sizes[l];
      n.is_reduction[n.n_loops++] = whole->is_reduction[l];
    }
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
        n.loops[i][n_kept++] = n.number[loop];
    }
    if (at && n_kept < rank)
      n.operands[i] = tp__export_reshape(x, n.operands[i], n_kept, sizes);
  }
  return n;
}

/* ---- results ---- */

/* The loops that index result k, in the order of its dimensions. */
static tp_status loops_of_result(const tp_nest *n, int k, int64_t *loops, int *count) {
  MlirAffineMap map = n->maps[n->body.n_inputs + k];
  *count = (int)mlirAffineMapGetNumResults(map);
  for (int d = 0; d < *count; d++) {
    if (!mlirAffineExprIsADim(mlirAffineMapGetResult(map, d)))
      return tp__error(n->op, TP_UNSUPPORTED,
                       "writes result %d at positions that are not loops, which has no form in "
                       "StableHLO",
                       k);
    loops[d] = mlirAffineDimExprGetPosition(mlirAffineMapGetResult(map, d));
  }
  return TP_OK;
}

/* Orders the dimensions of a value, which are loops in ascending order, as result k has them. */
static tp_status order_result(tp_export *x, const tp_nest *n, int k, MlirValue *value) {
  int64_t loops[TP_NEST_MAX_LOOPS], permutation[TP_NEST_MAX_LOOPS];
  int count;
  TP_TRY(loops_of_result(n, k, loops, &count));
  for (int d = 0; d < count; d++) {
    permutation[d] = 0;
    for (int other = 0; other < count; other++)
      permutation[d] += loops[other] < loops[d];
  }
  *value = tp__export_transpose(x, *value, permutation);
  return TP_OK;
}

MlirValue tp__nest_full(tp_export *x, const tp_nest *n, MlirValue value) {
  return tp__export_broadcast(x, value, space(n, tp__element_type(mlirValueGetType(value))), NULL);
}

static bool is_reduced(const tp_nest *n) {
  for (int l = 0; l < n->n_loops; l++)
    if (n->is_reduction[l])
      return true;
  return false;
}

static int reduced_loops(const tp_nest *n, int64_t *dims) {
  int count = 0;
  for (int l = 0; l < n->n_loops; l++)
    if (n->is_reduction[l])
      dims[count++] = l;
  return count;
}

static tp_status elementwise(tp_export *x, tp_nest *n) {
  for (int k = 0; k < n->n_operands - n->body.n_inputs; k++) {
    MlirValue value;
    TP_TRY(tp__nest_evaluate(x, n, mlirOperationGetOperand(n->body.yield, k), &value));
    if (tp__value_rank(value) == 0)
      value = tp__nest_full(x, n, value);
    TP_TRY(order_result(x, n, k, &value));
    TP_TRY(tp__export_map(x, n->op, mlirOperationGetResult(n->op, k), value));
  }
  return TP_OK;
}

/* ---- reductions ---- */

/* With the identity for what was accumulated, the body gives what an iteration adds. */
static tp_status reduce_one(tp_export *x, tp_nest *n, int k, tp_combiner combiner) {
  int64_t dims[TP_NEST_MAX_LOOPS];
  int n_dims = reduced_loops(n, dims), init = n->body.n_inputs + k;
  MlirValue value, number, old = mlirOperationGetOperand(n->op, init);
  MlirType type = tp__export_type(mlirValueGetType(old)), element = tp__element_type(type);
  MlirAttribute identity = tp__export_identity(element, combiner);
  MlirBlock block;
  if (mlirAttributeIsNull(identity))
    return tp__error(n->op, TP_UNSUPPORTED, "the combiner of result %d has no identity", k);
  number = tp__export_splat(x, tp__export_tensor(element, 0, NULL), identity);
  n->accumulators[k] = number;
  TP_TRY(tp__nest_evaluate(x, n, mlirOperationGetOperand(n->body.yield, k), &value));
  if (tp__value_rank(value) == 0)
    value = tp__nest_full(x, n, value);
  MlirOperation reduce = tp__export_reduce(x, 1, &value, &number, n_dims, dims, &block);
  TP_TRY(tp__export_combiner(x, n->op, combiner, block));
  value = mlirOperationGetResult(reduce, 0);
  TP_TRY(order_result(x, n, k, &value));
  MlirOperation fill = tp__defined_by(old, "linalg.fill");
  bool starts_empty =
      !mlirOperationIsNull(fill) && tp__is_identity(mlirOperationGetOperand(fill, 0), combiner);
  if (!starts_empty)
    value = tp__export_combine(x, combiner, tp__export_operand(x, n->op, init), value);
  return tp__export_map(x, n->op, mlirOperationGetResult(n->op, k), value);
}

static tp_status reduce_each(tp_export *x, tp_nest *n, bool *done) {
  tp_combiner combiners[TP_NEST_MAX_OPERANDS];
  int n_results = n->n_operands - n->body.n_inputs;
  for (int k = 0; k < n_results; k++)
    if (!tp__body_combiner(&n->body, k, &combiners[k]))
      return TP_OK;
  *done = true;
  for (int k = 0; k < n_results; k++)
    TP_TRY(reduce_one(x, n, k, combiners[k]));
  return TP_OK;
}

/* ---- argmax and the like ---- */

/* Builds the combination of two parts as numbers in a scratch block, and exports it into the region
 * of the reduce. */
static tp_status export_combination(tp_export *x, tp_nest *n, const tp_arg_reduction *pick_,
                                    MlirBlock block) {
  MlirType types[2 * TP_MAX_PICKED];
  MlirValue held[TP_MAX_PICKED], offered[TP_MAX_PICKED], values[TP_MAX_PICKED];
  MlirOperation outer = x->where, last;
  for (int k = 0; k < pick_->n; k++)
    types[k] = types[pick_->n + k] =
        tp__element_type(mlirValueGetType(mlirOperationGetOperand(n->op, n->body.n_inputs + k)));
  MlirOperation scratch = tp__export_build_op(x, &(tp_build){.name = "tp.scratch", .n_regions = 1});
  MlirBlock numbers = tp__export_region_block(x, scratch, 0, 2 * pick_->n, types);
  MlirOperation mark = tp__create(&(tp_build){.name = "tp.end", .location = x->location});
  mlirBlockAppendOwnedOperation(numbers, mark);
  for (int k = 0; k < pick_->n; k++) {
    held[k] = mlirBlockGetArgument(numbers, k);
    offered[k] = mlirBlockGetArgument(numbers, pick_->n + k);
    TP_TRY(tp__export_map(x, n->op, held[k], mlirBlockGetArgument(block, k)));
    TP_TRY(tp__export_map(x, n->op, offered[k], mlirBlockGetArgument(block, pick_->n + k)));
  }
  for (int k = 0; k < pick_->n; k++)
    values[k] = tp__arg_reduction_combine(pick_, k, mark, held, offered);
  MlirOperation end = tp__create(&(tp_build){.name = "stablehlo.return", .location = x->location});
  mlirBlockAppendOwnedOperation(block, end);
  x->where = end;
  TP_TRY(tp__export_block(x, numbers, &last));
  for (int k = 0; k < pick_->n; k++)
    values[k] = tp__export_value(x, values[k]);
  mlirOperationSetOperands(end, pick_->n, values);
  x->where = outer;
  return tp__op_list_add(&x->done, scratch);
}

static tp_status reduce_picked(tp_export *x, tp_nest *n, const tp_arg_reduction *pick_) {
  int64_t dims[TP_NEST_MAX_LOOPS];
  int n_dims = reduced_loops(n, dims);
  MlirValue values[TP_MAX_PICKED], initial[TP_MAX_PICKED];
  MlirBlock block;
  for (int k = 0; k < pick_->n; k++) {
    MlirOperation fill =
        tp__defined_by(mlirOperationGetOperand(n->op, n->body.n_inputs + k), "linalg.fill");
    if (mlirOperationIsNull(fill))
      return tp__error(n->op, TP_UNSUPPORTED,
                       "result %d must start from linalg.fill to be exported", k);
    initial[k] = tp__export_operand(x, fill, 0);
    TP_TRY(tp__nest_evaluate(x, n, pick_->candidates[pick_->candidate_of[k]], &values[k]));
    if (tp__value_rank(values[k]) == 0)
      values[k] = tp__nest_full(x, n, values[k]);
  }
  MlirOperation reduce = tp__export_reduce(x, pick_->n, values, initial, n_dims, dims, &block);
  TP_TRY(export_combination(x, n, pick_, block));
  for (int k = 0; k < pick_->n; k++) {
    MlirValue value = mlirOperationGetResult(reduce, k);
    TP_TRY(order_result(x, n, k, &value));
    TP_TRY(tp__export_map(x, n->op, mlirOperationGetResult(n->op, k), value));
  }
  return TP_OK;
}

/* ---- contractions ---- */

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
  MlirAttribute precision = tp__export_attr(x, "#stablehlo<precision DEFAULT>");
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "dot_dimension_numbers",
                tp__export_attr(x, "%s", text.failed ? "#stablehlo.dot<>" : text.text)),
      tp__named(x->context, "precision_config",
                mlirArrayAttrGet(x->context, 2, (MlirAttribute[]){precision, precision})),
  };
  tp__string_destroy(&text);
  return tp__export_build(x, "stablehlo.dot_general", tp__export_tensor(element, order->n, sizes),
                          2, n->operands, TP_LEN(attrs), attrs);
}

static tp_status contract(tp_export *x, tp_nest *n, bool *done) {
  dims batch[2] = {{0}, {0}}, contracted[2] = {{0}, {0}}, order = {0};
  int64_t loops[TP_NEST_MAX_LOOPS], permutation[TP_NEST_MAX_LOOPS];
  int count;
  if (n->n_operands != 3 || !tp__body_is_contraction(&n->body) ||
      !sort_loops(n, batch, contracted, &order))
    return TP_OK;
  *done = true;
  MlirValue old = mlirOperationGetOperand(n->op, 2);
  MlirType type = tp__export_type(mlirValueGetType(old));
  MlirValue value = build_dot(x, n, batch, contracted, &order, tp__element_type(type));
  TP_TRY(loops_of_result(n, 0, loops, &count));
  for (int d = 0; d < count; d++)
    for (int i = 0; i < order.n; i++)
      if (order.items[i] == loops[d])
        permutation[d] = i;
  value = tp__export_transpose(x, value, permutation);
  if (!tp__is_zero_tensor(old))
    value = tp__export_combine(x, TP_SUM, tp__export_operand(x, n->op, 2), value);
  return tp__export_map(x, n->op, mlirOperationGetResult(n->op, 0), value);
}

/* ---- other reductions, iteration by iteration ---- */

enum { MAX_UNROLLED = 64 };

static tp_status run_iteration(tp_export *x, tp_nest *n, uint32_t reduced, const int64_t *at,
                               MlirValue *state) {
  int n_results = n->n_operands - n->body.n_inputs;
  MlirValue next[TP_NEST_MAX_OPERANDS];
  tp_nest part = tp__nest_part(x, n, reduced, at);
  tp_status status = TP_OK;
  for (int k = 0; k < n_results; k++)
    part.accumulators[k] = state[k];
  for (int k = 0; k < n_results && status == TP_OK; k++) {
    status = tp__nest_evaluate(x, &part, mlirOperationGetOperand(n->body.yield, k), &next[k]);
    if (status == TP_OK && tp__value_rank(next[k]) == 0)
      next[k] = tp__nest_full(x, &part, next[k]);
  }
  for (int k = 0; k < n_results && status == TP_OK; k++)
    state[k] = next[k];
  tp__value_map_destroy(&part.memo);
  return status;
}

static tp_status unroll(tp_export *x, tp_nest *n) {
  int n_results = n->n_operands - n->body.n_inputs;
  uint32_t reduced = 0;
  int64_t at[TP_NEST_MAX_LOOPS] = {0}, n_iterations = 1;
  MlirValue state[TP_NEST_MAX_OPERANDS];
  for (int l = 0; l < n->n_loops; l++)
    if (n->is_reduction[l]) {
      reduced |= UINT32_C(1) << l;
      n_iterations *= n->sizes[l];
    }
  if (n_iterations > MAX_UNROLLED)
    return tp__error(n->op, TP_UNSUPPORTED,
                     "its reduction combines values in a way that has no form in StableHLO, and it "
                     "has %lld iterations; at most %d are unrolled",
                     (long long)n_iterations, MAX_UNROLLED);
  tp_nest first = tp__nest_part(x, n, reduced, at);
  for (int k = 0; k < n_results; k++)
    TP_TRY(spread(x, &first, n->body.n_inputs + k, &state[k]));
  for (int64_t i = 0; i < n_iterations; i++) {
    TP_TRY(run_iteration(x, n, reduced, at, state));
    for (int l = n->n_loops - 1; l >= 0; l--) {
      if (!n->is_reduction[l])
        continue;
      if (++at[l] < n->sizes[l])
        break;
      at[l] = 0;
    }
  }
  for (int k = 0; k < n_results; k++) {
    TP_TRY(order_result(x, n, k, &state[k]));
    TP_TRY(tp__export_map(x, n->op, mlirOperationGetResult(n->op, k), state[k]));
  }
  return TP_OK;
}

/* ---- ops ---- */

static tp_status export_nest(tp_export *x, tp_nest *n) {
  bool done = false;
  for (int i = 0; i < n->n_operands; i++)
    TP_TRY(flatten(x, n, i));
  if (!is_reduced(n))
    return elementwise(x, n);
  TP_TRY(contract(x, n, &done));
  if (!done)
    TP_TRY(tp__nest_scatter(x, n, &done));
  if (!done)
    TP_TRY(reduce_each(x, n, &done));
  if (done)
    return TP_OK;
  tp_arg_reduction picked;
  MlirValue inits[TP_NEST_MAX_OPERANDS];
  int n_results = n->n_operands - n->body.n_inputs;
  for (int k = 0; k < n_results; k++)
    inits[k] = mlirOperationGetOperand(n->op, n->body.n_inputs + k);
  return n_results <= TP_MAX_PICKED &&
                 tp__arg_reduction_read(n->op, n->body.n_inputs, inits, &picked)
             ? reduce_picked(x, n, &picked)
             : unroll(x, n);
}

tp_status tp__export_structured(tp_export *x, MlirOperation op) {
  tp_nest n;
  TP_TRY(read_nest(op, &n));
  tp_status status = export_nest(x, &n);
  tp__value_map_destroy(&n.memo);
  return status;
}

static tp_status fill(tp_export *x, MlirOperation op) {
  MlirType type = tp__export_type(mlirValueGetType(mlirOperationGetResult(op, 0)));
  return tp__export_replace(x, op,
                            tp__export_broadcast(x, tp__export_operand(x, op, 0), type, NULL));
}

const tp_export_row tp__export_linalg_rows[] = {
    {"linalg.fill", fill},
    {NULL, NULL},
};
