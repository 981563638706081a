/* Reductions. A result with a combiner becomes a stablehlo.reduce. Argmax and the like become one
 * stablehlo.reduce of several values. Other reductions are unrolled. */
#include "passes/export/export_nest.h"

#include "rules/arg_reduction.h"

static int reduced_loops(const tp_nest *n, int64_t *dims) {
  int count = 0;
  for (int l = 0; l < n->n_loops; l++)
    if (n->is_reduction[l])
      dims[count++] = l;
  return count;
}

/* ---- reductions ---- */

/* Returns the value that an iteration contributes. If the last op of the body combines a value with
 * the accumulator, it is that value; else it is the result of the body, whose accumulator must be
 * the identity of the combiner. */
static MlirValue added(const tp_nest *n, int k) {
  static const char *const combiners[] = {"arith.addf", "arith.addi",     "arith.mulf",
                                          "arith.muli", "arith.maximumf", "arith.minimumf"};
  MlirValue result = mlirOperationGetOperand(n->body.yield, k);
  MlirValue held = mlirBlockGetArgument(n->body.block, n->body.n_inputs + k);
  MlirOperation last = tp__defining_op(result);
  for (int i = 0; i < 2 && !mlirOperationIsNull(last); i++)
    if (tp__op_is_any(last, TP_LEN(combiners), combiners) &&
        mlirValueEqual(mlirOperationGetOperand(last, i), held) &&
        !mlirValueEqual(mlirOperationGetOperand(last, 1 - i), held))
      return mlirOperationGetOperand(last, 1 - i);
  return result;
}

static tp_status reduce_one(tp_export *x, tp_nest *n, int k, tp_combiner combiner) {
  int64_t dims[TP_NEST_MAX_LOOPS];
  int n_dims = reduced_loops(n, dims), init = n->body.n_inputs + k;
  MlirValue value, number, old = mlirOperationGetOperand(n->op, init);
  MlirType element = tp__element_type(tp__export_type(mlirValueGetType(old)));
  MlirType combined = tp__export_combined(element, combiner);
  MlirAttribute identity = tp__export_identity(combined, combiner);
  MlirBlock block;
  if (mlirAttributeIsNull(identity))
    return tp__error(n->op, TP_UNSUPPORTED, "the combiner of result %d has no identity", k);
  number = tp__export_splat(x, tp__export_tensor(combined, 0, NULL), identity);
  n->accumulators[k] = tp__export_bitcast(x, number, element);
  TP_TRY(tp__nest_evaluate(x, n, added(n, k), &value));
  if (tp__value_rank(value) == 0)
    value = tp__nest_full(x, n, value);
  value = tp__export_bitcast(x, value, combined);
  MlirOperation reduce = tp__export_reduce(x, 1, &value, &number, n_dims, dims, &block);
  TP_TRY(tp__export_combiner(x, n->op, combiner, block));
  value = tp__export_bitcast(x, mlirOperationGetResult(reduce, 0), element);
  TP_TRY(tp__nest_order_result(x, n, k, &value));
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
    TP_TRY(tp__nest_order_result(x, n, k, &value));
    TP_TRY(tp__export_map(x, n->op, mlirOperationGetResult(n->op, k), value));
  }
  return TP_OK;
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
    state[k] = tp__nest_spread(x, &first, n->body.n_inputs + k);
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
    TP_TRY(tp__nest_order_result(x, n, k, &state[k]));
    TP_TRY(tp__export_map(x, n->op, mlirOperationGetResult(n->op, k), state[k]));
  }
  return TP_OK;
}

tp_status tp__nest_reduce(tp_export *x, tp_nest *n) {
  bool done = false;
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
