/* Runs control flow, calls, constants and sharding ops. */
#include "ir/ir.h"
#include "reference/evaluator.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* Terminators do nothing: the enclosing op reads their operands. */
static bool run_noop(evaluation *r, cell *frame, const node *n) {
  return (void)r, (void)frame, (void)n, true;
}

/* Reads a dense_resource. Access to its bytes is the only code that the evaluator shares with the
 * compiler. */
static bool read_resource(evaluation *r, MlirOperation op, MlirAttribute value, tensor *to) {
  size_t size = (size_t)to->n * tp__kind_bytes(to->kind);
  void *bytes = tp__eval_scratch(r, size + 1);
  if (!tp__resource_bytes(value, size, bytes))
    return tp__eval_unsupported(r, op, "has a dense_resource without data");
  for (int64_t i = 0; i < to->n * to->kind->parts; i++)
    to->numbers[i] = tp__number_read(to->kind, bytes, i);
  return true;
}

bool tp__eval_elements(evaluation *r, MlirOperation op, MlirAttribute value, tensor *to) {
  if (mlirAttributeIsADenseResourceElements(value))
    return read_resource(r, op, value, to);
  if (!mlirAttributeIsADenseElements(value))
    return tp__eval_unsupported(r, op, "not dense");
  bool splat = mlirDenseElementsAttrIsSplat(value);
  MlirAttribute one = splat ? mlirDenseElementsAttrGetSplatValue(value) : mlirAttributeGetNull();
  int64_t at[TP__EVAL_MAX_RANK] = {0}, e = 0;
  if (to->n > 0)
    do {
      if (!splat)
        one = mlirElementsAttrGetValue(value, to->rank, (uint64_t *)at);
      if (!tp__numbers_of(to->kind, one, to->numbers + e++ * to->kind->parts))
        return tp__eval_unsupported(r, op, "has an element that is not a number");
    } while (tp__next_index(to->rank, to->shape, at));
  return true;
}

static bool run_constant(evaluation *r, cell *frame, const node *n) {
  cell *to = frame + n->results[0];
  MlirAttribute value = tp__eval_attribute(n->op, "value");
  MlirType type = mlirValueGetType(mlirOperationGetResult(n->op, 0));
  *to = (cell){0};
  if (!n->kinds[0])
    return tp__eval_unsupported(r, n->op,
                                "has an element type that the evaluator does not support");
  if (!mlirTypeIsAShaped(type))
    return tp__numbers_of(n->kinds[0], value, to->scalar) ||
           tp__eval_unsupported(r, n->op, "not a number");
  to->tensor = tp__tensor_of(r, n->op, type);
  return to->tensor && tp__eval_elements(r, n->op, value, to->tensor);
}

/* Copies cells through a buffer, because the source and the destination slots may overlap. */
static void copy_cells(evaluation *r, const node *at, cell *frame, int n, const int *from,
                       const int *to) {
  int most = at->n_operands + at->n_results;
  cell *held = *at->kept =
      *at->kept ? *at->kept : tp__eval_allocate(r, (size_t)most * sizeof *held);
  for (int i = 0; i < n; i++)
    held[i] = frame[from[i]];
  for (int i = 0; i < n; i++)
    frame[to[i]] = held[i];
}

/* Reads the bounds and the step of an scf.for: as unsigned numbers, if it compares so. */
static bool read_bounds(evaluation *r, cell *frame, const node *n, const kind *counter,
                        bool is_unsigned, int64_t bounds[3]) {
  for (int i = 0; i < 3; i++) {
    if (!tp__integer_in(r, n, frame + n->operands[i], bounds + i))
      return false;
    if (is_unsigned && counter->bits < 64)
      bounds[i] &= (INT64_C(1) << counter->bits) - 1;
  }
  if (is_unsigned ? bounds[2] == 0 : bounds[2] <= 0)
    return tp__eval_fail(r, n->op, "has step %lld, which is not positive", (long long)bounds[2]);
  return true;
}

/* The counter ends where the distance to the upper bound is at most one step: it never wraps
 * around. */
static bool run_for(evaluation *r, cell *frame, const node *n) {
  const block *body = n->blocks;
  int64_t bounds[3];
  int carried = n->n_results;
  const kind *counter = tp__kind_of(r, mlirValueGetType(mlirOperationGetOperand(n->op, 0)));
  bool is_unsigned = !mlirAttributeIsNull(tp__inherent(n->op, "unsignedCmp"));
  if (!read_bounds(r, frame, n, counter, is_unsigned, bounds))
    return false;
  copy_cells(r, n, frame, carried, n->operands + 3, n->results);
  uint64_t at = (uint64_t)bounds[0], end = (uint64_t)bounds[1], step = (uint64_t)bounds[2];
  bool goes_on = is_unsigned ? at < end : bounds[0] < bounds[1];
  while (goes_on) {
    copy_cells(r, n, frame, carried, n->results, body->arguments + 1);
    frame[body->arguments[0]] = (cell){.scalar = {tp__whole(counter, (int64_t)at)}};
    if (!tp__run_block(r, frame, body))
      return false;
    copy_cells(r, n, frame, carried, terminator(body)->operands, n->results);
    goes_on = end - at > step;
    at += step;
  }
  return true;
}

static bool run_while(evaluation *r, cell *frame, const node *n) {
  const block *before = n->blocks, *after = n->blocks + 1;
  copy_cells(r, n, frame, n->n_operands, n->operands, before->arguments);
  for (;;) {
    int64_t goes_on;
    if (!tp__run_block(r, frame, before))
      return false;
    const node *condition = terminator(before);
    if (!tp__integer_in(r, condition, frame + condition->operands[0], &goes_on))
      return false;
    if (!goes_on) {
      copy_cells(r, n, frame, n->n_results, condition->operands + 1, n->results);
      return true;
    }
    copy_cells(r, n, frame, n->n_results, condition->operands + 1, after->arguments);
    if (!tp__run_block(r, frame, after))
      return false;
    copy_cells(r, n, frame, n->n_operands, terminator(after)->operands, before->arguments);
  }
}

/* Runs one of the blocks of an op, whose results are the values that the block yields. */
static bool run_branch(evaluation *r, cell *frame, const node *n, const block *b) {
  if (b->n_nodes == 0)
    return true;
  if (!tp__run_block(r, frame, b))
    return false;
  copy_cells(r, n, frame, n->n_results, terminator(b)->operands, n->results);
  return true;
}

static bool run_if(evaluation *r, cell *frame, const node *n) {
  int64_t condition;
  return tp__integer_in(r, n, frame + n->operands[0], &condition) &&
         run_branch(r, frame, n, n->blocks + (condition ? 0 : 1));
}

/* Block 0 is the default, block 1 + i that of case i. */
static bool run_switch(evaluation *r, cell *frame, const node *n) {
  MlirAttribute cases = tp__eval_attribute(n->op, "cases");
  intptr_t i = 0, n_cases = mlirDenseArrayGetNumElements(cases);
  int64_t selected;
  if (!tp__integer_in(r, n, frame + n->operands[0], &selected))
    return false;
  while (i < n_cases && mlirDenseI64ArrayGetElement(cases, i) != selected)
    i++;
  return run_branch(r, frame, n, n->blocks + (i < n_cases ? 1 + i : 0));
}

static bool run_assert(evaluation *r, cell *frame, const node *n) {
  const number *holds = frame[n->operands[0]].scalar;
  return !is_certain(holds) || holds->integer || tp__eval_fail(r, n->op, "does not hold");
}

/* shard.shard annotates a sharding and passes its operand through. */
static bool run_same(evaluation *r, cell *frame, const node *n) {
  (void)r;
  frame[n->results[0]] = frame[n->operands[0]];
  return true;
}

const op_row tp__flow_rows[] = {
    {"arith.constant", run_constant},
    {"complex.constant", run_constant},
    {"scf.for", run_for},
    {"scf.while", run_while},
    {"scf.if", run_if},
    {"scf.index_switch", run_switch},
    {"scf.yield", run_noop},
    {"scf.condition", run_noop},
    {"func.call", tp__run_call},
    {"func.return", run_noop},
    {"linalg.yield", run_noop},
    {"tensor.yield", run_noop},
    {"cf.assert", run_assert},
    {"shard.sharding", run_noop},
    {"shard.shard", run_same},
    {NULL, NULL},
};
