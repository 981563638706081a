/* linalg: a body at every point of a space of loops. */
#include "machine.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Linalg.h>
#include <string.h>

enum { MOST_OPERANDS = 64, MOST_LOOPS = 32 };

static int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static int64_t value_of(MlirAffineExpr e, const int64_t *at) {
  if (mlirAffineExprIsADim(e))
    return at[mlirAffineDimExprGetPosition(e)];
  if (mlirAffineExprIsAConstant(e))
    return mlirAffineConstantExprGetValue(e);
  int64_t a = value_of(mlirAffineBinaryOpExprGetLHS(e), at), b = value_of(mlirAffineBinaryOpExprGetRHS(e), at);
  if (mlirAffineExprIsAAdd(e))
    return a + b;
  if (mlirAffineExprIsAMul(e))
    return a * b;
  if (mlirAffineExprIsAFloorDiv(e))
    return floor_of(a, b);
  return mlirAffineExprIsACeilDiv(e) ? -floor_of(-a, b) : a - b * floor_of(a, b);
}

typedef struct operand {
  MlirAffineMap map;
  int n;
  MlirAffineExpr expressions[REFERENCE_MAX_RANK];
  tensor *tensor; /* NULL: a scalar */
} operand;

typedef struct structured {
  int n_operands, n_loops;
  operand operands[MOST_OPERANDS];
  int64_t sizes[MOST_LOOPS];
} structured;

/* A loop is as long as a dimension that it alone walks through. */
static bool measure_loops(reference *r, const node *n, structured *s) {
  for (int l = 0; l < s->n_loops; l++)
    s->sizes[l] = -1;
  for (int i = 0; i < s->n_operands; i++)
    for (int d = 0; d < s->operands[i].n; d++) {
      MlirAffineExpr e = s->operands[i].expressions[d];
      if (s->operands[i].tensor && mlirAffineExprIsADim(e) && s->sizes[mlirAffineDimExprGetPosition(e)] < 0)
        s->sizes[mlirAffineDimExprGetPosition(e)] = s->operands[i].tensor->shape[d];
    }
  for (int l = 0; l < s->n_loops; l++)
    if (s->sizes[l] < 0)
      return lack(r, n->op, "has a loop without a length");
  return true;
}

static bool read_operands(reference *r, const cell *frame, const node *n, structured *s) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(n->op);
  s->n_operands = n->n_operands;
  if (mlirAttributeIsNull(maps) || s->n_operands > MOST_OPERANDS || mlirArrayAttrGetNumElements(maps) != s->n_operands)
    return lack(r, n->op, "has no maps that are known here");
  for (int i = 0; i < s->n_operands; i++) {
    operand *o = s->operands + i;
    o->map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
    o->n = (int)mlirAffineMapGetNumResults(o->map);
    o->tensor = frame[n->operands[i]].tensor;
    s->n_loops = (int)mlirAffineMapGetNumDims(o->map);
    if (o->n > REFERENCE_MAX_RANK || s->n_loops > MOST_LOOPS || mlirAffineMapGetNumSymbols(o->map) > 0)
      return lack(r, n->op, "has maps that are not known here");
    for (int d = 0; d < o->n; d++)
      o->expressions[d] = mlirAffineMapGetResult(o->map, d);
  }
  return measure_loops(r, n, s);
}

/* The element of an operand at a point; -1: none. */
static int64_t element_at(const operand *o, const int64_t *point) {
  int64_t at[REFERENCE_MAX_RANK];
  for (int d = 0; d < o->n; d++)
    at[d] = value_of(o->expressions[d], point);
  return place_in(o->tensor, at);
}

static bool run_point(reference *r, cell *frame, const node *n, const structured *s, tensor *const *made,
                      const int64_t *point) {
  const block *body = n->blocks;
  int64_t places[MOST_OPERANDS];
  int n_in = s->n_operands - n->n_results;
  for (int i = 0; i < s->n_operands; i++) {
    const tensor *from = i < n_in ? s->operands[i].tensor : made[i - n_in];
    if (!from) {
      if (i < body->n_arguments)
        frame[body->arguments[i]] = frame[n->operands[i]];
      continue;
    }
    places[i] = element_at(s->operands + i, point);
    if (places[i] < 0)
      return fail(r, n->op, "reads outside of operand %d", i);
    if (i < body->n_arguments)
      cell_get(from, places[i], frame + body->arguments[i]);
  }
  if (!run_block(r, frame, body))
    return false;
  for (int k = 0; k < n->n_results; k++)
    cell_put(made[k], places[n_in + k], frame + terminator(body)->operands[k]);
  return true;
}

/* Points in the order of the loops; where a result is written twice, the last one stays. */
static bool run_structured(reference *r, cell *frame, const node *n) {
  structured s = {0};
  tensor *made[MOST_OPERANDS];
  if (!read_operands(r, frame, n, &s))
    return false;
  for (int k = 0; k < n->n_results; k++)
    made[k] = tensor_copy(r, s.operands[s.n_operands - n->n_results + k].tensor);
  loops here = {.n = s.n_loops, .outer = r->loops};
  bool empty = false, ok = true;
  for (int l = 0; l < s.n_loops; l++)
    empty |= s.sizes[l] == 0;
  r->loops = &here;
  while (!empty && ok) {
    ok = run_point(r, frame, n, &s, made, here.at);
    empty = !next_place(s.n_loops, s.sizes, here.at);
  }
  r->loops = here.outer;
  for (int k = 0; k < n->n_results; k++)
    frame[n->results[k]].tensor = made[k];
  return ok;
}

static bool run_index(reference *r, cell *frame, const node *n) {
  int64_t dim = mlirIntegerAttrGetValueInt(attribute_of(n->op, "dim"));
  if (!r->loops || dim >= r->loops->n)
    return fail(r, n->op, "stands in no loop");
  frame[n->results[0]] = (cell){.scalar = {{.integer = r->loops->at[dim]}}};
  return true;
}

const op_row linalg_rows[] = {{"linalg.index", run_index}, {NULL, NULL}};

run_fn linalg_find(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  bool is_linalg = name.length > 7 && memcmp(name.data, "linalg.", 7) == 0;
  return is_linalg && mlirOperationGetNumRegions(op) == 1 ? run_structured : NULL;
}
