/* Translates IR functions into nodes, and runs them. */
#include "reference/devices.h"

#include "ir/ir.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

/* ---- functions ---- */

typedef struct function function;

/* Hash table from the values of a function to their slots, with open addressing. */
typedef struct slots {
  size_t capacity, n;
  struct {
    const void *key;
    int slot;
  } *rows;
} slots;

static size_t row_of(const slots *s, const void *key) {
  size_t i = (size_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20 & (s->capacity - 1);
  while (s->rows[i].key && s->rows[i].key != key)
    i = (i + 1) & (s->capacity - 1);
  return i;
}

static int slot_of(evaluation *r, slots *s, MlirValue value) {
  if (2 * s->n >= s->capacity) {
    slots larger = {.capacity = s->capacity ? 2 * s->capacity : 256, .n = s->n};
    larger.rows = tp__eval_allocate(r, larger.capacity * sizeof *larger.rows);
    for (size_t i = 0; i < s->capacity; i++)
      if (s->rows[i].key)
        larger.rows[row_of(&larger, s->rows[i].key)] = s->rows[i];
    *s = larger;
  }
  size_t i = row_of(s, value.ptr);
  if (!s->rows[i].key) {
    s->rows[i].key = value.ptr;
    s->rows[i].slot = (int)s->n++;
  }
  return s->rows[i].slot;
}

const op_row *tp__row_find(MlirStringRef name) {
  const op_row *const tables[] = {tp__flow_rows,   tp__control_rows,    tp__tensor_rows,
                                  tp__linalg_rows, tp__collective_rows, tp__message_rows,
                                  tp__place_rows};
  for (int i = 0; i < TP_LEN(tables); i++)
    for (const op_row *row = tables[i]; row->name; row++)
      if (strlen(row->name) == name.length && memcmp(row->name, name.data, name.length) == 0)
        return row;
  return NULL;
}

/* A scalar op with two results, one element at a time. */
static bool run_pair(evaluation *r, cell *frame, const node *n) {
  tensor *made[2] = {NULL, NULL};
  int64_t count = 1;
  for (int i = 0; i < n->n_operands; i++) {
    const tensor *shaped = frame[n->operands[i]].tensor;
    for (int k = 0; shaped && k < 2; k++)
      made[k] = tp__eval_tensor(r, n->kinds[k], shaped->rank, shaped->shape);
    count = shaped ? shaped->n : count;
  }
  for (int64_t e = 0; e < count; e++) {
    const number *in[3];
    number out[2];
    for (int i = 0; i < n->n_operands; i++) {
      const cell *c = frame + n->operands[i];
      in[i] = c->tensor ? c->tensor->numbers + e : c->scalar;
    }
    tp__scalar_apply(n->scalar, &n->types, n->n_operands, in, out);
    for (int k = 0; k < 2; k++)
      *(made[k] ? made[k]->numbers + e : frame[n->results[k]].scalar) = out[k];
  }
  for (int k = 0; k < 2; k++)
    frame[n->results[k]].tensor = made[k];
  return tp__eval_count(r, n, (double)count);
}

static bool run_scalar(evaluation *r, cell *frame, const node *n) {
  const number *in[3];
  cell *to = frame + n->results[0];
  tensor *shaped = NULL;
  for (int i = 0; i < n->n_operands; i++)
    if (frame[n->operands[i]].tensor)
      shaped = frame[n->operands[i]].tensor;
  if (!shaped) {
    for (int i = 0; i < n->n_operands; i++)
      in[i] = frame[n->operands[i]].scalar;
    to->tensor = NULL;
    tp__scalar_apply(n->scalar, &n->types, n->n_operands, in, to->scalar);
    return true;
  }
  tensor *made = tp__eval_tensor(r, n->kinds[0], shaped->rank, shaped->shape);
  int64_t steps[3];
  for (int i = 0; i < n->n_operands; i++) { /* the condition of arith.select may be a scalar */
    const cell *c = frame + n->operands[i];
    in[i] = c->tensor ? c->tensor->numbers : c->scalar;
    steps[i] = c->tensor ? c->tensor->kind->parts : 0;
  }
  tp__scalar_apply_all(n->scalar, &n->types, n->n_operands, in, steps, made->n, made->numbers);
  to->tensor = made;
  return tp__eval_count(r, n, (double)made->n);
}

static bool translate_block(evaluation *r, slots *s, MlirBlock from, block *to);

/* Ops that only move numbers round nothing, whatever their type. */
static double computed_unit(const node *n) {
  double unit = 0;
  if ((n->scalar || n->run == tp__run_softmax) && n->kinds[0]->is_float)
    unit = unit_of(n->kinds[0]);
  for (const block *b = n->blocks; b < n->blocks + n->n_blocks; b++)
    for (int i = 0; i < b->n_nodes; i++)
      unit = fmax(unit, b->nodes[i].unit);
  return unit;
}

static bool communicates(const evaluation *r, const node *n) {
  if (!n->run || (n->run == tp__run_call && tp__call_communicates(r, n->op)))
    return true;
  for (const block *b = n->blocks; b < n->blocks + n->n_blocks; b++)
    for (int i = 0; i < b->n_nodes; i++)
      if (b->nodes[i].run_on)
        return true;
  return false;
}

static bool translate_op(evaluation *r, slots *s, MlirOperation op, node *n) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  *n = (node){.op = op,
              .n_operands = (int)mlirOperationGetNumOperands(op),
              .n_results = (int)mlirOperationGetNumResults(op),
              .n_blocks = (int)mlirOperationGetNumRegions(op)};
  n->operands = tp__eval_allocate(r, (size_t)n->n_operands * sizeof(int));
  n->results = tp__eval_allocate(r, (size_t)n->n_results * sizeof(int));
  n->kinds = tp__eval_allocate(r, (size_t)n->n_results * sizeof(kind *));
  n->blocks = tp__eval_allocate(r, (size_t)n->n_blocks * sizeof(block));
  n->kept = tp__eval_allocate(r, sizeof *n->kept);
  for (int i = 0; i < n->n_operands; i++)
    n->operands[i] = slot_of(r, s, mlirOperationGetOperand(op, i));
  for (int i = 0; i < n->n_results; i++) {
    n->results[i] = slot_of(r, s, mlirOperationGetResult(op, i));
    n->kinds[i] = tp__kind_of(r, mlirValueGetType(mlirOperationGetResult(op, i)));
  }
  const op_row *row = tp__row_find(name);
  n->run = row ? row->run : NULL;
  n->scalar = row ? NULL : tp__scalar_find(name);
  if (n->scalar) {
    n->run = n->n_results == 2 ? run_pair : run_scalar;
    n->types = (scalar_types){.to = n->kinds[0], .predicate = tp__scalar_predicate(op)};
    n->types.of = tp__kind_of(r, mlirValueGetType(mlirOperationGetOperand(op, n->n_operands - 1)));
    if (!n->types.to || !n->types.of || n->n_operands > 3)
      return tp__eval_unsupported(
          r, op, "has operands or results of a type that the evaluator does not support");
  }
  if (!row && !n->run)
    n->run = tp__linalg_find(op);
  if (!row && !n->run)
    return tp__eval_unsupported(r, op, "is not supported by the evaluator");
  n->first_inner = (int)s->n;
  for (int i = 0; i < n->n_blocks; i++) {
    MlirBlock first = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
    if (mlirBlockIsNull(first))
      continue;
    if (!mlirBlockIsNull(mlirBlockGetNextInRegion(first)))
      return tp__eval_unsupported(r, op, "has branches");
    if (!translate_block(r, s, first, n->blocks + i))
      return false;
  }
  n->unit = computed_unit(n);
  if (!communicates(r, n))
    return true;
  n->run_on = row ? row->run_on : NULL;
  return n->run_on || tp__eval_unsupported(r, op,
                                           "communicates, which the evaluator does not "
                                           "support here");
}

/* ---- liveness ---- */

/* Sets last[slot] = i for every slot that the nodes of a block read, including nested blocks. */
static void note_uses(const block *b, int i, int *last) {
  for (const node *n = b->nodes; n < b->nodes + b->n_nodes; n++) {
    for (int k = 0; k < n->n_operands; k++)
      last[n->operands[k]] = i;
    for (int k = 0; k < n->n_blocks; k++)
      note_uses(n->blocks + k, i, last);
  }
}

/* Marks each tensor that a node of the block produces as dead after its last use. The terminator's
 * operands stay alive, because the enclosing op reads them. */
static void find_dead(evaluation *r, const slots *s, const block *b) {
  bool has_tensors = false;
  for (int i = 0; i < b->n_nodes && !has_tensors; i++)
    for (int k = 0; k < b->nodes[i].n_results; k++)
      has_tensors |= mlirTypeIsAShaped(mlirValueGetType(mlirOperationGetResult(b->nodes[i].op, k)));
  if (!has_tensors) /* bodies of structured ops */
    return;
  int *last = tp__eval_scratch(r, s->n * sizeof *last);
  for (int i = 0; i < b->n_nodes; i++) {
    node *n = b->nodes + i;
    for (int k = 0; k < n->n_results; k++)
      last[n->results[k]] = i;
    for (int k = 0; k < n->n_operands; k++)
      last[n->operands[k]] = i;
    for (int k = 0; k < n->n_blocks; k++)
      note_uses(n->blocks + k, i, last);
  }
  for (int i = 0; i < b->n_nodes; i++) {
    const node *n = b->nodes + i;
    for (int k = 0; k < n->n_results; k++) {
      node *reader = b->nodes + last[n->results[k]];
      if (reader == terminator(b) ||
          !mlirTypeIsAShaped(mlirValueGetType(mlirOperationGetResult(n->op, k))))
        continue;
      int *dead = tp__eval_allocate(r, (size_t)(reader->n_dead + 1) * sizeof *dead);
      if (reader->n_dead)
        memcpy(dead, reader->dead, (size_t)reader->n_dead * sizeof *dead);
      dead[reader->n_dead++] = n->results[k];
      reader->dead = dead;
    }
  }
}

static bool translate_block(evaluation *r, slots *s, MlirBlock from, block *to) {
  to->n_arguments = (int)mlirBlockGetNumArguments(from);
  to->arguments = tp__eval_allocate(r, (size_t)to->n_arguments * sizeof(int));
  for (int i = 0; i < to->n_arguments; i++)
    to->arguments[i] = slot_of(r, s, mlirBlockGetArgument(from, i));
  for (MlirOperation op = mlirBlockGetFirstOperation(from); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    to->n_nodes++;
  to->nodes = tp__eval_allocate(r, (size_t)to->n_nodes * sizeof(node));
  int i = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(from); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (!translate_op(r, s, op, to->nodes + i++))
      return false;
  find_dead(r, s, to);
  return true;
}

static MlirOperation find_function(MlirModule module, MlirStringRef name) {
  MlirBlock body = mlirModuleGetBody(module);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = tp__eval_attribute(op, "sym_name");
    if (!mlirAttributeIsNull(symbol) && mlirStringRefEqual(mlirStringAttrGetValue(symbol), name))
      return op;
  }
  return (MlirOperation){NULL};
}

function *tp__eval_function(evaluation *r, MlirOperation at, MlirStringRef name) {
  MlirOperation op = find_function(r->module, name);
  for (function *f = r->functions; f; f = f->next)
    if (mlirOperationEqual(f->op, op))
      return f;
  MlirBlock body = mlirOperationIsNull(op) || mlirOperationGetNumRegions(op) == 0
                       ? (MlirBlock){NULL}
                       : mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body) || !mlirBlockIsNull(mlirBlockGetNextInRegion(body))) {
    (void)tp__eval_fail(
        r, at, "refers to function '%.*s', which is missing or does not consist of one block",
        (int)name.length, name.data);
    r->status = TP_NOT_FOUND;
    return NULL;
  }
  slots s = {0};
  function *f = tp__eval_allocate(r, sizeof *f);
  f->op = op;
  bool ok = translate_block(r, &s, body, &f->body);
  f->n_slots = (int)s.n;
  f->next = r->functions;
  r->functions = f;
  return ok ? f : NULL;
}

/* ---- running ---- */

void tp__propagate_unit(cell *frame, const node *n) {
  double unit = n->unit;
  for (int i = 0; i < n->n_operands; i++)
    unit = fmax(unit, frame[n->operands[i]].unit);
  for (int i = 0; i < n->n_results; i++)
    frame[n->results[i]].unit = fmax(unit, frame[n->results[i]].unit);
}

bool tp__run_block(evaluation *r, cell *frame, const block *b) {
  for (const node *n = b->nodes; n < b->nodes + b->n_nodes; n++) {
    if (!tp__eval_count(r, n, 1) || !n->run(r, frame, n))
      return false;
    tp__propagate_unit(frame, n);
    for (int i = 0; i < n->n_dead; i++)
      frame[n->dead[i]].tensor = NULL;
    if (n->n_dead)
      tp__eval_collect(r);
  }
  return true;
}

cell *tp__eval_frame(evaluation *r, const function *f) {
  return tp__eval_allocate(r, (size_t)(f->n_slots + 1) * sizeof(cell));
}

bool tp__run_in_frame(evaluation *r, const function *f, cell *frame, int n, const cell *arguments,
                      cell *results) {
  active here = {.cells = frame, .n = f->n_slots + 1, .outer = r->frames};
  for (int i = 0; i < n; i++)
    frame[f->body.arguments[i]] = arguments[i];
  r->frames = &here;
  bool ok = tp__run_block(r, frame, &f->body);
  r->frames = here.outer;
  const node *end = terminator(&f->body);
  for (int i = 0; ok && i < end->n_operands; i++)
    results[i] = frame[end->operands[i]];
  return ok;
}

bool tp__run_function(evaluation *r, const function *f, int n, const cell *arguments,
                      cell *results) {
  return tp__run_in_frame(r, f, tp__eval_frame(r, f), n, arguments, results);
}

bool tp__run_call(evaluation *r, cell *frame, const node *n) {
  if (!mlirAttributeIsNull(tp__sort_attribute(n->op)))
    return tp__run_sort(r, frame, n);
  const function *f = tp__eval_function(
      r, n->op, mlirFlatSymbolRefAttrGetValue(tp__eval_attribute(n->op, "callee")));
  if (!f)
    return false;
  cell *cells = *n->kept =
      *n->kept ? *n->kept
               : tp__eval_allocate(r, (size_t)(n->n_operands + n->n_results) * sizeof *cells);
  for (int i = 0; i < n->n_operands; i++)
    cells[i] = frame[n->operands[i]];
  if (!tp__run_function(r, f, n->n_operands, cells, cells + n->n_operands))
    return false;
  for (int i = 0; i < n->n_results; i++)
    frame[n->results[i]] = cells[n->n_operands + i];
  return true;
}
