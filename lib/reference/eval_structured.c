/* Runs structured linalg ops: evaluates a body at every point of an iteration space. */
#include "reference/eval_structured.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/Linalg.h>
#include <string.h>

enum { MAX_OPERANDS = 128 };

static int64_t floor_of(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

static int64_t value_of(MlirAffineExpr e, const int64_t *at) {
  if (mlirAffineExprIsADim(e))
    return at[mlirAffineDimExprGetPosition(e)];
  if (mlirAffineExprIsAConstant(e))
    return mlirAffineConstantExprGetValue(e);
  int64_t a = value_of(mlirAffineBinaryOpExprGetLHS(e), at),
          b = value_of(mlirAffineBinaryOpExprGetRHS(e), at);
  if (mlirAffineExprIsAAdd(e))
    return a + b;
  if (mlirAffineExprIsAMul(e))
    return a * b;
  if (mlirAffineExprIsAFloorDiv(e))
    return floor_of(a, b);
  return mlirAffineExprIsACeilDiv(e) ? -floor_of(-a, b) : a - b * floor_of(a, b);
}

/* ---- the plan ---- */

/* True if the expression is linear. A linear expression has constant differences, so its values at
 * 0 and at the unit vectors determine it. */
static bool is_linear(MlirAffineExpr e) {
  if (mlirAffineExprIsADim(e) || mlirAffineExprIsAConstant(e))
    return true;
  MlirAffineExpr a = mlirAffineBinaryOpExprGetLHS(e), b = mlirAffineBinaryOpExprGetRHS(e);
  if (mlirAffineExprIsAAdd(e))
    return is_linear(a) && is_linear(b);
  return mlirAffineExprIsAMul(e) && ((is_linear(a) && mlirAffineExprIsAConstant(b)) ||
                                     (mlirAffineExprIsAConstant(a) && is_linear(b)));
}

/* Computes the base and the strides of a linear map, and checks that every point is in bounds. */
static void measure_access(const structured *s, MlirType type, access *a) {
  int64_t row = 1;
  a->is_linear = true;
  for (int d = a->n - 1; d >= 0; d--) {
    int64_t zero[TP__EVAL_MAX_LOOPS] = {0}, size = mlirShapedTypeGetDimSize(type, d);
    if (!is_linear(a->expressions[d])) {
      a->is_linear = false;
      return;
    }
    int64_t first = value_of(a->expressions[d], zero), low = first, high = first;
    a->base += first * row;
    for (int l = 0; l < s->n_loops; l++) {
      zero[l] = 1;
      int64_t step = value_of(a->expressions[d], zero) - first;
      zero[l] = 0;
      a->strides[l] += step * row;
      *(step < 0 ? &low : &high) += step * (s->sizes[l] - 1);
    }
    a->is_linear &= low >= 0 && high < size;
    row *= size;
  }
}

/* Sets the trip count of each loop from an operand dimension that the loop alone indexes. */
static bool measure_loops(evaluation *r, const node *n, structured *s) {
  for (int l = 0; l < s->n_loops; l++)
    s->sizes[l] = -1;
  for (int i = 0; i < s->n_operands; i++)
    for (int d = 0; d < s->accesses[i].n; d++) {
      int l = s->accesses[i].dims[d];
      if (s->accesses[i].is_tensor && l >= 0 && s->sizes[l] < 0)
        s->sizes[l] =
            mlirShapedTypeGetDimSize(mlirValueGetType(mlirOperationGetOperand(n->op, i)), d);
    }
  s->n_points = 1;
  for (int l = 0; l < s->n_loops; l++) {
    if (s->sizes[l] < 0)
      return tp__eval_unsupported(r, n->op, "has a loop of unknown size");
    s->is_empty |= s->sizes[l] == 0;
    s->n_points *= (double)s->sizes[l];
  }
  return true;
}

static bool read_map(evaluation *r, const node *n, structured *s, int i, MlirAffineMap map) {
  access *a = s->accesses + i;
  a->is_tensor = mlirTypeIsAShaped(mlirValueGetType(mlirOperationGetOperand(n->op, i)));
  a->n = (int)mlirAffineMapGetNumResults(map);
  s->n_loops = (int)mlirAffineMapGetNumDims(map);
  if (a->n > TP__EVAL_MAX_RANK || s->n_loops > TP__EVAL_MAX_LOOPS ||
      mlirAffineMapGetNumSymbols(map) > 0)
    return tp__eval_unsupported(r, n->op, "has indexing maps that the evaluator does not support");
  for (int d = 0; d < a->n; d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(map, d);
    a->expressions[d] = e;
    a->dims[d] = mlirAffineExprIsADim(e) ? (int)mlirAffineDimExprGetPosition(e) : -1;
  }
  return true;
}

static bool make_plan(evaluation *r, const node *n, structured *s) {
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(n->op);
  s->n_operands = n->n_operands;
  s->n_inputs = n->n_operands - n->n_results;
  if (mlirAttributeIsNull(maps) || s->n_operands > MAX_OPERANDS ||
      mlirArrayAttrGetNumElements(maps) != s->n_operands)
    return tp__eval_unsupported(r, n->op, "has no indexing maps that the evaluator supports");
  s->accesses = tp__eval_allocate(r, (size_t)s->n_operands * sizeof *s->accesses);
  for (int i = 0; i < s->n_operands; i++)
    if (!read_map(r, n, s, i, mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i))))
      return false;
  if (!measure_loops(r, n, s))
    return false;
  for (int i = 0; i < s->n_operands && !s->is_empty; i++)
    if (s->accesses[i].is_tensor)
      measure_access(s, mlirValueGetType(mlirOperationGetOperand(n->op, i)), s->accesses + i);
  if (!s->is_empty) {
    s->contraction = tp__contraction_find(r, n, s);
    s->lanes = tp__lanes_plan(r, n, s);
  }
  return true;
}

/* ---- point by point ---- */

/* Returns the linear index of an operand's element at a point; -1: out of bounds. */
static int64_t element_at(const structured *s, const access *a, const tensor *t,
                          const int64_t *point) {
  if (a->is_linear)
    return tp__access_at(a, s->n_loops, point);
  int64_t at[TP__EVAL_MAX_RANK];
  for (int d = 0; d < a->n; d++)
    at[d] = value_of(a->expressions[d], point);
  return tp__linear_index(t, at);
}

static bool run_point(evaluation *r, cell *frame, const node *n, const structured *s,
                      tensor *const *made, const int64_t *point) {
  const block *body = n->blocks;
  int64_t places[MAX_OPERANDS];
  for (int i = 0; i < s->n_operands; i++) {
    const tensor *from = i < s->n_inputs ? frame[n->operands[i]].tensor : made[i - s->n_inputs];
    if (!from) {
      if (i < body->n_arguments)
        frame[body->arguments[i]] = frame[n->operands[i]];
      continue;
    }
    places[i] = element_at(s, s->accesses + i, from, point);
    if (places[i] < 0)
      return tp__eval_fail(r, n->op, "reads operand %d out of bounds", i);
    if (i < body->n_arguments)
      tp__cell_get(from, places[i], frame + body->arguments[i]);
  }
  if (!tp__run_block(r, frame, body))
    return false;
  for (int k = 0; k < n->n_results; k++)
    tp__cell_put(made[k], places[s->n_inputs + k], frame + terminator(body)->operands[k]);
  return true;
}

/* Runs the points in loop order. If a result element is written twice, the last write wins. */
static bool run_points(evaluation *r, cell *frame, const node *n, const structured *s,
                       tensor *const *made) {
  loops here = {.n = s->n_loops, .outer = r->loops};
  bool ok = true, more = true;
  r->loops = &here;
  while (more && ok) {
    ok = run_point(r, frame, n, s, made, here.at);
    more = tp__next_index(s->n_loops, s->sizes, here.at);
  }
  r->loops = here.outer;
  return ok;
}

bool tp__run_structured(evaluation *r, cell *frame, const node *n) {
  tensor *made[MAX_OPERANDS];
  if (!*n->kept) {
    structured *plan = tp__eval_allocate(r, sizeof *plan);
    if (!make_plan(r, n, plan))
      return false;
    *n->kept = plan;
  }
  const structured *s = *n->kept;
  for (int k = 0; k < n->n_results; k++)
    made[k] = tp__tensor_copy(r, frame[n->operands[s->n_inputs + k]].tensor);
  bool ok = true,
       is_done = s->is_empty || (s->contraction && tp__contraction_sum(r, frame, n, s, made[0]));
  if (!is_done) {
    if (s->contraction) /* it may have written some batches already */
      made[0] = tp__tensor_copy(r, frame[n->operands[s->n_inputs]].tensor);
    r->n_in_flight++;
    ok = (s->lanes ? tp__lanes_run : run_points)(r, frame, n, s, made);
    r->n_in_flight--;
  }
  for (int k = 0; k < n->n_results; k++)
    frame[n->results[k]].tensor = made[k];
  return ok && tp__eval_count(r, n, s->n_points);
}

static bool run_index(evaluation *r, cell *frame, const node *n) {
  int64_t dim = mlirIntegerAttrGetValueInt(tp__eval_attribute(n->op, "dim"));
  if (!r->loops || dim >= r->loops->n)
    return tp__eval_fail(r, n->op, "is not inside a structured op that has this loop");
  frame[n->results[0]] = (cell){.scalar = {{.integer = r->loops->at[dim]}}};
  return true;
}

const op_row tp__linalg_rows[] = {{"linalg.index", run_index, NULL},
                                  {"linalg.softmax", tp__run_softmax, NULL},
                                  {NULL, NULL, NULL}};

run_fn tp__linalg_find(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  bool is_linalg = name.length > 7 && memcmp(name.data, "linalg.", 7) == 0;
  return is_linalg && mlirOperationGetNumRegions(op) == 1 ? tp__run_structured : NULL;
}
