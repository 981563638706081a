/* Runs blocks and functions on all devices in step. */
#include "reference/devices.h"

#include "ir/ir.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

/* ---- the devices of a program ---- */

enum { MAX_DEVICES = 4096 };

static bool is_discardable(MlirOperation op, const char *name) {
  return !mlirAttributeIsNull(
      mlirOperationGetDiscardableAttributeByName(op, mlirStringRefCreateFromCString(name)));
}

bool tp__call_communicates(const evaluation *r, MlirOperation call) {
  return r->n_devices > 0 && mlirAttributeIsNull(tp__sort_attribute(call));
}

typedef struct survey {
  bool communicates;
  int n_grids;
  MlirOperation grid;
} survey;

static MlirWalkResult look(MlirOperation op, void *data) {
  survey *s = data;
  const op_row *row = tp__row_find(mlirIdentifierStr(mlirOperationGetName(op)));
  s->communicates |= row && !row->run;
  s->communicates |= tp__op_is(op, "func.call") && is_discardable(op, "tp.pairs");
  if (tp__op_is(op, "shard.grid")) {
    s->n_grids++;
    s->grid = op;
  }
  return MlirWalkResultAdvance;
}

bool tp__find_devices(evaluation *r) {
  survey s = {0};
  mlirOperationWalk(mlirModuleGetOperation(r->module), look, &s, MlirWalkPreOrder);
  if (!s.communicates)
    return true;
  if (s.n_grids != 1)
    return tp__eval_unsupported(r, mlirModuleGetOperation(r->module),
                                "communicates, and does not have one grid");
  r->grid = tp__eval_allocate(r, sizeof *r->grid);
  r->grid->n_axes = tp__eval_integers(s.grid, "shape", TP__EVAL_MAX_RANK, r->grid->sizes);
  int64_t n = 1;
  for (int a = 0; a < r->grid->n_axes && a < TP__EVAL_MAX_RANK; a++)
    if (__builtin_mul_overflow(n, r->grid->sizes[a], &n) || n < 1 || n > MAX_DEVICES)
      return tp__eval_unsupported(r, s.grid, "has more devices than the evaluator supports");
  r->n_devices = (int)n;
  return true;
}

devices tp__no_devices(evaluation *r) {
  return (devices){.numbers = tp__eval_allocate(r, (size_t)r->n_devices * sizeof(int))};
}

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

bool tp__has_device(const devices *on, int device) {
  return bsearch(&device, on->numbers, (size_t)on->n, sizeof(int), compare) != NULL;
}

/* ---- blocks ---- */

static bool is_same(double a, double b) { return a == b || (isnan(a) && isnan(b)); }

static bool is_same_number(const number *a, const number *b) {
  return is_same(a->value, b->value) && is_same(a->reach, b->reach) &&
         is_same(a->error, b->error) && a->integer == b->integer;
}

static bool is_same_cell(const cell *a, const cell *b) {
  return a->tensor == b->tensor && a->unit == b->unit &&
         (a->tensor ||
          (is_same_number(a->scalar, b->scalar) && is_same_number(a->scalar + 1, b->scalar + 1)));
}

/* True if two devices see the same in the slots below `end` that the nodes of a block read. */
static bool block_reads_same(const cell *a, const cell *b, const block *nodes, int end) {
  for (const node *n = nodes->nodes; n < nodes->nodes + nodes->n_nodes; n++) {
    for (int i = 0; i < n->n_operands; i++)
      if (n->operands[i] < end && !is_same_cell(a + n->operands[i], b + n->operands[i]))
        return false;
    for (int i = 0; i < n->n_blocks; i++)
      if (!block_reads_same(a, b, n->blocks + i, end))
        return false;
  }
  return true;
}

static bool reads_same(const cell *a, const cell *b, const node *n) {
  for (int i = 0; i < n->n_operands; i++)
    if (!is_same_cell(a + n->operands[i], b + n->operands[i]))
      return false;
  for (int i = 0; i < n->n_blocks; i++)
    if (!block_reads_same(a, b, n->blocks + i, n->first_inner))
      return false;
  return true;
}

/* Runs an op that does not communicate. Devices whose operands are equal share one run. */
static bool run_each(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  enum { MOST = 16 }; /* bounds the number of comparisons */
  cell *ran[MOST];
  int n_ran = 0;
  for (int i = 0; i < on->n; i++) {
    cell *frame = frames[on->numbers[i]];
    int k = 0;
    while (k < n_ran && !reads_same(ran[k], frame, n))
      k++;
    if (k < n_ran) {
      for (int j = 0; j < n->n_results; j++)
        frame[n->results[j]] = ran[k][n->results[j]];
      continue;
    }
    if (!n->run(r, frame, n))
      return false;
    if (n_ran < MOST)
      ran[n_ran++] = frame;
  }
  return true;
}

bool tp__run_block_on(evaluation *r, cell *const *frames, const block *b, const devices *on) {
  const struct message *sent_before = r->messages;
  for (const node *n = b->nodes; n < b->nodes + b->n_nodes; n++) {
    if (!tp__eval_count(r, n, 1) || !(n->run_on ? n->run_on : run_each)(r, frames, n, on))
      return false;
    for (int i = 0; i < on->n; i++) {
      cell *frame = frames[on->numbers[i]];
      tp__propagate_unit(frame, n);
      for (int k = 0; k < n->n_dead; k++)
        frame[n->dead[k]].tensor = NULL;
    }
    if (n->n_dead)
      tp__eval_collect(r);
  }
  return r->messages == sent_before ||
         tp__eval_unsupported(r, terminator(b)->op, "ends a block before a message is received");
}

/* ---- functions ---- */

bool tp__run_function_on(evaluation *r, const struct function *f, const devices *on, int n,
                         cell *const *arguments, cell *const *results) {
  cell **frames = tp__eval_allocate(r, (size_t)r->n_devices * sizeof *frames);
  active *here = tp__eval_allocate(r, (size_t)on->n * sizeof *here), *outer = r->frames;
  for (int i = 0; i < on->n; i++) {
    int d = on->numbers[i];
    frames[d] = tp__eval_frame(r, f);
    for (int k = 0; k < n; k++)
      frames[d][f->body.arguments[k]] = arguments[d][k];
    here[i] = (active){.cells = frames[d], .n = f->n_slots + 1, .outer = r->frames};
    r->frames = here + i;
  }
  bool ok = tp__run_block_on(r, frames, &f->body, on);
  r->frames = outer;
  const node *end = terminator(&f->body);
  for (int i = 0; ok && i < on->n; i++)
    for (int k = 0; k < end->n_operands; k++)
      results[on->numbers[i]][k] = frames[on->numbers[i]][end->operands[k]];
  return ok;
}

bool tp__run_call_on(evaluation *r, cell *const *frames, const node *n, const devices *on) {
  if (is_discardable(n->op, "tp.pairs"))
    return tp__run_permute_on(r, frames, n, on);
  const struct function *f = tp__eval_function(
      r, n->op, mlirFlatSymbolRefAttrGetValue(tp__eval_attribute(n->op, "callee")));
  if (!f)
    return false;
  cell **arguments = tp__eval_allocate(r, (size_t)r->n_devices * sizeof *arguments);
  cell **results = tp__eval_allocate(r, (size_t)r->n_devices * sizeof *results);
  for (int i = 0; i < on->n; i++) {
    int d = on->numbers[i];
    arguments[d] = tp__eval_allocate(r, (size_t)(n->n_operands + n->n_results) * sizeof(cell));
    results[d] = arguments[d] + n->n_operands;
    for (int k = 0; k < n->n_operands; k++)
      arguments[d][k] = frames[d][n->operands[k]];
  }
  if (!tp__run_function_on(r, f, on, n->n_operands, arguments, results))
    return false;
  for (int i = 0; i < on->n; i++)
    for (int k = 0; k < n->n_results; k++)
      frames[on->numbers[i]][n->results[k]] = results[on->numbers[i]][k];
  return true;
}
