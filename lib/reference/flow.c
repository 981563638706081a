/* Runs calls, constants, assertions, sharding ops and terminators. */
#include "ir/ir.h"
#include "reference/devices.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* Terminators do nothing: the enclosing op reads their operands. */
static bool run_noop(evaluation *r, cell *frame, const node *n) {
  return (void)r, (void)frame, (void)n, true;
}

/* Reads a dense_resource. Access to its bytes, and to the numbers in attributes, is the only code
 * that the evaluator shares with the compiler. */
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
    {"arith.constant", run_constant, NULL},
    {"complex.constant", run_constant, NULL},
    {"scf.yield", run_noop, NULL},
    {"scf.condition", run_noop, NULL},
    {"func.call", tp__run_call, tp__run_call_on},
    {"func.return", run_noop, NULL},
    {"linalg.yield", run_noop, NULL},
    {"tensor.yield", run_noop, NULL},
    {"cf.assert", run_assert, NULL},
    {"shard.sharding", run_noop, NULL},
    {"shard.shard", run_same, NULL},
    {NULL, NULL, NULL},
};
