/* Control flow, calls, constants, layouts. */
#include "machine.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

enum { MOST_CARRIED = 128 };

/* Terminators: their operands are read by the op around. */
static bool run_nothing(reference *r, cell *frame, const node *n) { return (void)r, (void)frame, (void)n, true; }

static bool run_constant(reference *r, cell *frame, const node *n) {
  cell *to = frame + n->results[0];
  MlirAttribute value = attribute_of(n->op, "value");
  MlirType type = mlirValueGetType(mlirOperationGetResult(n->op, 0));
  *to = (cell){0};
  if (!n->kinds[0])
    return lack(r, n->op, "not of numbers that are known here");
  if (!mlirTypeIsAShaped(type))
    return numbers_of(n->kinds[0], value, to->scalar) || lack(r, n->op, "not a number");
  to->tensor = tensor_of(r, n->op, type);
  if (!to->tensor)
    return false;
  if (!mlirAttributeIsADenseElements(value))
    return lack(r, n->op, "not dense");
  bool splat = mlirDenseElementsAttrIsSplat(value);
  MlirAttribute one = splat ? mlirDenseElementsAttrGetSplatValue(value) : mlirAttributeGetNull();
  int64_t at[REFERENCE_MAX_RANK] = {0}, e = 0;
  if (to->tensor->n > 0)
    do {
      if (!splat)
        one = mlirElementsAttrGetValue(value, to->tensor->rank, (uint64_t *)at);
      if (!numbers_of(n->kinds[0], one, to->tensor->numbers + e++ * n->kinds[0]->parts))
        return lack(r, n->op, "has an element that is no number");
    } while (next_place(to->tensor->rank, to->tensor->shape, at));
  return true;
}

static void copy_cells(cell *frame, int n, const int *from, const int *to) {
  cell held[MOST_CARRIED]; /* what is read may be written, too */
  for (int i = 0; i < n; i++)
    held[i] = frame[from[i]];
  for (int i = 0; i < n; i++)
    frame[to[i]] = held[i];
}

static bool run_for(reference *r, cell *frame, const node *n) {
  const block *body = n->blocks;
  int64_t bounds[3];
  int carried = n->n_results;
  if (carried >= MOST_CARRIED)
    return lack(r, n->op, "carries too many values");
  for (int i = 0; i < 3; i++)
    if (!integer_in(r, n, frame + n->operands[i], bounds + i))
      return false;
  if (bounds[2] <= 0)
    return fail(r, n->op, "has a step of %lld", (long long)bounds[2]);
  const kind *counter = kind_of(mlirValueGetType(mlirOperationGetOperand(n->op, 0)));
  copy_cells(frame, carried, n->operands + 3, n->results);
  for (int64_t i = bounds[0]; i < bounds[1]; i += bounds[2]) {
    copy_cells(frame, carried, n->results, body->arguments + 1);
    frame[body->arguments[0]] = (cell){.scalar = {whole(counter, i)}};
    if (!run_block(r, frame, body))
      return false;
    copy_cells(frame, carried, terminator(body)->operands, n->results);
  }
  return true;
}

static bool run_while(reference *r, cell *frame, const node *n) {
  const block *before = n->blocks, *after = n->blocks + 1;
  if (n->n_operands >= MOST_CARRIED || n->n_results >= MOST_CARRIED)
    return lack(r, n->op, "carries too many values");
  copy_cells(frame, n->n_operands, n->operands, before->arguments);
  for (;;) {
    int64_t goes_on;
    if (!run_block(r, frame, before))
      return false;
    const node *condition = terminator(before);
    if (!integer_in(r, condition, frame + condition->operands[0], &goes_on))
      return false;
    if (!goes_on) {
      copy_cells(frame, n->n_results, condition->operands + 1, n->results);
      return true;
    }
    copy_cells(frame, n->n_results, condition->operands + 1, after->arguments);
    if (!run_block(r, frame, after))
      return false;
    copy_cells(frame, n->n_operands, terminator(after)->operands, before->arguments);
  }
}

static bool run_if(reference *r, cell *frame, const node *n) {
  int64_t condition;
  if (!integer_in(r, n, frame + n->operands[0], &condition))
    return false;
  const block *b = n->blocks + (condition ? 0 : 1);
  if (b->n_nodes == 0)
    return true;
  if (n->n_results >= MOST_CARRIED)
    return lack(r, n->op, "has too many results");
  if (!run_block(r, frame, b))
    return false;
  copy_cells(frame, n->n_results, terminator(b)->operands, n->results);
  return true;
}

static bool run_assert(reference *r, cell *frame, const node *n) {
  const number *holds = frame[n->operands[0]].scalar;
  return !is_certain(holds) || holds->integer || fail(r, n->op, "does not hold");
}

/* shard.shard, which states a layout. */
static bool run_same(reference *r, cell *frame, const node *n) {
  (void)r;
  frame[n->results[0]] = frame[n->operands[0]];
  return true;
}

const op_row flow_rows[] = {
    {"arith.constant", run_constant},
    {"complex.constant", run_constant},
    {"scf.for", run_for},
    {"scf.while", run_while},
    {"scf.if", run_if},
    {"scf.yield", run_nothing},
    {"scf.condition", run_nothing},
    {"func.call", run_call},
    {"func.return", run_nothing},
    {"linalg.yield", run_nothing},
    {"tensor.yield", run_nothing},
    {"cf.assert", run_assert},
    {"shard.sharding", run_nothing},
    {"shard.shard", run_same},
    {NULL, NULL},
};
