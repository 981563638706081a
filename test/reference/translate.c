/* From IR to nodes, and running them. */
#include "machine.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions ---- */

typedef struct slots { /* of the values of a function: open addressing */
  size_t capacity, n;
  struct {
    const void *key;
    int slot;
  } *rows;
} slots;

typedef struct function {
  struct function *next;
  MlirOperation op;
  block body;
  int n_slots;
} function;

static size_t row_of(const slots *s, const void *key) {
  size_t i = (size_t)key * UINT64_C(0x9E3779B97F4A7C15) >> 20 & (s->capacity - 1);
  while (s->rows[i].key && s->rows[i].key != key)
    i = (i + 1) & (s->capacity - 1);
  return i;
}

static int slot_of(slots *s, MlirValue value) {
  if (2 * s->n >= s->capacity) {
    slots larger = {.capacity = s->capacity ? 2 * s->capacity : 256, .n = s->n};
    larger.rows = calloc(larger.capacity, sizeof *larger.rows);
    if (!larger.rows)
      abort();
    for (size_t i = 0; i < s->capacity; i++)
      if (s->rows[i].key)
        larger.rows[row_of(&larger, s->rows[i].key)] = s->rows[i];
    free(s->rows);
    *s = larger;
  }
  size_t i = row_of(s, value.ptr);
  if (!s->rows[i].key) {
    s->rows[i].key = value.ptr;
    s->rows[i].slot = (int)s->n++;
  }
  return s->rows[i].slot;
}

static run_fn row_find(const op_row *rows, MlirStringRef name) {
  for (; rows->name; rows++)
    if (strlen(rows->name) == name.length && memcmp(rows->name, name.data, name.length) == 0)
      return rows->run;
  return NULL;
}

static bool run_scalar(reference *r, cell *frame, const node *n) {
  (void)r;
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
    scalar_apply(n->scalar, &n->types, n->n_operands, in, to->scalar);
    return true;
  }
  tensor *made = reference_tensor(r, n->kinds[0], shaped->rank, shaped->shape);
  for (int64_t e = 0; e < made->n; e++) {
    for (int i = 0; i < n->n_operands; i++) { /* arith.select may have one condition for all */
      const cell *c = frame + n->operands[i];
      in[i] = c->tensor ? c->tensor->numbers + e * c->tensor->kind->parts : c->scalar;
    }
    scalar_apply(n->scalar, &n->types, n->n_operands, in, made->numbers + e * made->kind->parts);
  }
  to->tensor = made;
  return true;
}

static bool translate_block(reference *r, slots *s, MlirBlock from, block *to);

static bool translate_op(reference *r, slots *s, MlirOperation op, node *n) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  *n = (node){.op = op,
              .n_operands = (int)mlirOperationGetNumOperands(op),
              .n_results = (int)mlirOperationGetNumResults(op),
              .n_blocks = (int)mlirOperationGetNumRegions(op)};
  n->operands = reference_allocate(r, (size_t)n->n_operands * sizeof(int));
  n->results = reference_allocate(r, (size_t)n->n_results * sizeof(int));
  n->kinds = reference_allocate(r, (size_t)n->n_results * sizeof(kind *));
  n->blocks = reference_allocate(r, (size_t)n->n_blocks * sizeof(block));
  for (int i = 0; i < n->n_operands; i++)
    n->operands[i] = slot_of(s, mlirOperationGetOperand(op, i));
  for (int i = 0; i < n->n_results; i++) {
    n->results[i] = slot_of(s, mlirOperationGetResult(op, i));
    n->kinds[i] = kind_of(mlirValueGetType(mlirOperationGetResult(op, i)));
  }
  const op_row *const tables[] = {flow_rows, tensor_rows, linalg_rows};
  for (int i = 0; i < 3 && !n->run; i++)
    n->run = row_find(tables[i], name);
  n->scalar = n->run ? NULL : scalar_find(name);
  if (n->scalar) {
    n->run = run_scalar;
    n->types = (scalar_types){.to = n->kinds[0], .predicate = scalar_predicate(op)};
    n->types.of = kind_of(mlirValueGetType(mlirOperationGetOperand(op, n->n_operands - 1)));
    if (!n->types.to || !n->types.of || n->n_operands > 3)
      return lack(r, op, "not on numbers that are known here");
  }
  if (!n->run)
    n->run = linalg_find(op);
  if (!n->run)
    return lack(r, op, "is not evaluated here");
  for (int i = 0; i < n->n_blocks; i++) {
    MlirBlock first = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, i));
    if (mlirBlockIsNull(first))
      continue;
    if (!mlirBlockIsNull(mlirBlockGetNextInRegion(first)))
      return lack(r, op, "has branches");
    if (!translate_block(r, s, first, n->blocks + i))
      return false;
  }
  return true;
}

static bool translate_block(reference *r, slots *s, MlirBlock from, block *to) {
  to->n_arguments = (int)mlirBlockGetNumArguments(from);
  to->arguments = reference_allocate(r, (size_t)to->n_arguments * sizeof(int));
  for (int i = 0; i < to->n_arguments; i++)
    to->arguments[i] = slot_of(s, mlirBlockGetArgument(from, i));
  for (MlirOperation op = mlirBlockGetFirstOperation(from); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    to->n_nodes++;
  to->nodes = reference_allocate(r, (size_t)to->n_nodes * sizeof(node));
  int i = 0;
  for (MlirOperation op = mlirBlockGetFirstOperation(from); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    if (!translate_op(r, s, op, to->nodes + i++))
      return false;
  return true;
}

static MlirOperation find_function(MlirModule module, MlirStringRef name) {
  MlirBlock body = mlirModuleGetBody(module);
  for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    MlirAttribute symbol = attribute_of(op, "sym_name");
    if (!mlirAttributeIsNull(symbol) && mlirStringRefEqual(mlirStringAttrGetValue(symbol), name))
      return op;
  }
  return (MlirOperation){NULL};
}

static const function *function_of(reference *r, MlirOperation at, MlirStringRef name) {
  MlirOperation op = find_function(r->module, name);
  for (const function *f = r->functions; f; f = f->next)
    if (mlirOperationEqual(f->op, op))
      return f;
  MlirBlock body = mlirOperationIsNull(op) || mlirOperationGetNumRegions(op) == 0
                       ? (MlirBlock){NULL}
                       : mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body) || !mlirBlockIsNull(mlirBlockGetNextInRegion(body))) {
    lack(r, at, "no function of one block is called so");
    return NULL;
  }
  slots s = {0};
  function *f = reference_allocate(r, sizeof *f);
  f->op = op;
  bool ok = translate_block(r, &s, body, &f->body);
  f->n_slots = (int)s.n;
  free(s.rows);
  f->next = r->functions;
  r->functions = f;
  return ok ? f : NULL;
}

/* ---- running ---- */

enum { MOST_STEPS = 30000000 };

bool run_block(reference *r, cell *frame, const block *b) {
  for (int i = 0; i < b->n_nodes; i++) {
    if (r->steps++ > MOST_STEPS)
      return lack(r, b->nodes[i].op, "takes too many steps");
    if (!b->nodes[i].run(r, frame, b->nodes + i))
      return false;
  }
  return true;
}

bool run_function(reference *r, const function *f, int n, const cell *arguments, cell *results) {
  cell *frame = calloc((size_t)f->n_slots + 1, sizeof *frame);
  if (!frame)
    abort();
  for (int i = 0; i < n; i++)
    frame[f->body.arguments[i]] = arguments[i];
  bool ok = run_block(r, frame, &f->body);
  const node *end = terminator(&f->body);
  for (int i = 0; ok && i < end->n_operands; i++)
    results[i] = frame[end->operands[i]];
  free(frame);
  return ok;
}

bool run_call(reference *r, cell *frame, const node *n) {
  cell arguments[128], results[128];
  const function *f = function_of(r, n->op, mlirFlatSymbolRefAttrGetValue(attribute_of(n->op, "callee")));
  if (!f)
    return false;
  if (n->n_operands > 128 || n->n_results > 128)
    return lack(r, n->op, "has more than 128 operands or results");
  for (int i = 0; i < n->n_operands; i++)
    arguments[i] = frame[n->operands[i]];
  if (!run_function(r, f, n->n_operands, arguments, results))
    return false;
  for (int i = 0; i < n->n_results; i++)
    frame[n->results[i]] = results[i];
  return true;
}

bool reference_run(reference *r, const char *name, int n_arguments, tensor *const *arguments, tensor **results) {
  cell in[128], out[128];
  const function *f = function_of(r, mlirModuleGetOperation(r->module), mlirStringRefCreateFromCString(name));
  if (!f)
    return false;
  if (n_arguments > 128 || terminator(&f->body)->n_operands > 128)
    return lack(r, f->op, "has more than 128 arguments or results");
  for (int i = 0; i < n_arguments; i++) {
    MlirType type = mlirValueGetType(mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(f->op, 0)), i));
    in[i] = (cell){.tensor = arguments[i]};
    if (!mlirTypeIsAShaped(type))
      cell_get(arguments[i], 0, in + i);
  }
  if (!run_function(r, f, n_arguments, in, out))
    return false;
  const node *end = terminator(&f->body);
  for (int i = 0; i < end->n_operands; i++) {
    results[i] = out[i].tensor;
    if (!results[i]) {
      results[i] = reference_tensor(r, kind_of(mlirValueGetType(mlirOperationGetOperand(end->op, i))), 0, NULL);
      cell_put(results[i], 0, out + i);
    }
  }
  return true;
}
