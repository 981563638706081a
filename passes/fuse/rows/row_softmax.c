/* Matches the parts of a split softmax as row expressions: row max, sum of exponentials, and
 * pick. */
#include "passes/fuse/rows/row_softmax.h"

static const tp__row_node *at(const tp__rows *rows, int node) { return &rows->nodes[node]; }

/* ---- where the rows are ---- */

/* Returns the operand of an elementwise widening op; null for other ops. */
static MlirValue widened(MlirOperation op) {
  if (tp__op_is(op, "arith.extf"))
    return mlirOperationGetOperand(op, 0);
  if (!tp__op_has_dialect(op, "linalg") || mlirOperationGetNumRegions(op) != 1 ||
      mlirOperationGetNumOperands(op) != 2)
    return (MlirValue){NULL};
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation first = mlirBlockGetFirstOperation(block), yield = mlirBlockGetTerminator(block);
  bool is =
      tp__op_is(first, "arith.extf") && mlirOperationGetNumOperands(yield) == 1 &&
      mlirValueEqual(mlirOperationGetOperand(yield, 0), mlirOperationGetResult(first, 0)) &&
      mlirValueEqual(mlirOperationGetOperand(first, 0), mlirBlockGetArgument(block, 0)) &&
      mlirTypeEqual(mlirShapedTypeGetElementType(mlirValueGetType(mlirOperationGetOperand(op, 0))),
                    mlirValueGetType(mlirBlockGetArgument(block, 0)));
  return is ? mlirOperationGetOperand(op, 0) : (MlirValue){NULL};
}

MlirValue tp__find_row_max_input(MlirValue largest) {
  MlirOperation op = tp__defining_op(largest);
  while (!mlirOperationIsNull(op) && tp__is_reshape(op))
    op = tp__defining_op(mlirOperationGetOperand(op, 0));
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (mlirOperationIsNull(op) || !tp__op_has_dialect(op, "linalg") ||
      mlirOperationGetNumOperands(op) != 2 ||
      !tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, 0))))
    return (MlirValue){NULL};
  MlirValue rows = mlirOperationGetOperand(op, 0);
  for (;;) {
    MlirOperation made = tp__defining_op(rows);
    MlirValue narrow = mlirOperationIsNull(made) ? (MlirValue){NULL} : widened(made);
    if (mlirValueIsNull(narrow))
      break;
    rows = narrow;
  }
  return tp__static_tensor(mlirValueGetType(rows), &rank, shape) && rank > 0 ? rows
                                                                             : (MlirValue){NULL};
}

/* ---- matching ---- */

bool tp__match_row_max(const tp__rows *rows, int node) {
  return node >= 0 && at(rows, node)->kind == TP_ROW_REDUCE_MAX &&
         tp__row_is_root(rows, at(rows, node)->a);
}

int tp__row_shift(const tp__rows *rows, int largest, bool finite) {
  for (int i = 0; i < rows->n && finite; i++)
    if (at(rows, i)->kind == TP_ROW_WHERE && at(rows, i)->b == largest &&
        at(rows, at(rows, i)->a)->kind == TP_ROW_FINITE && at(rows, at(rows, i)->a)->a == largest)
      return i;
  return finite ? TP_ROW_UNKNOWN : largest;
}

enum { MAX_TERMS = 8 };

typedef struct terms {
  int n, node[MAX_TERMS], sign[MAX_TERMS];
} terms;

/* Splits nested sums and negations into signed terms. False if there are too many. */
static bool find_terms(const tp__rows *rows, int node, int sign, terms *found) {
  const tp__row_node *of = at(rows, node);
  if (of->kind == TP_ROW_ADD)
    return find_terms(rows, of->a, sign, found) && find_terms(rows, of->b, sign, found);
  if (of->kind == TP_ROW_MULTIPLY)
    for (int side = 0; side < 2; side++) {
      const tp__row_node *factor = at(rows, side ? of->b : of->a);
      if (factor->kind == TP_ROW_NUMBER && factor->number == -1)
        return find_terms(rows, side ? of->a : of->b, -sign, found);
    }
  if (found->n == MAX_TERMS)
    return false;
  found->node[found->n] = node;
  found->sign[found->n++] = sign;
  return true;
}

/* Removes a term; TP_ROW_UNKNOWN stands for the root. False if it does not occur. */
static bool take(terms *of, const tp__rows *rows, int node, int sign) {
  for (int i = 0; i < of->n; i++)
    if (of->sign[i] == sign &&
        (node == TP_ROW_UNKNOWN ? tp__row_is_root(rows, of->node[i]) : of->node[i] == node)) {
      of->n--;
      of->node[i] = of->node[of->n];
      of->sign[i] = of->sign[of->n];
      return true;
    }
  return false;
}

bool tp__match_row_exp_sum(const tp__rows *rows, int node, int largest, bool *finite) {
  if (node < 0 || at(rows, node)->kind != TP_ROW_SUM ||
      at(rows, at(rows, node)->a)->kind != TP_ROW_EXPONENTIAL)
    return false;
  for (int i = 0; i < 2; i++) {
    terms found = {0};
    int shift = tp__row_shift(rows, largest, i == 1);
    *finite = i == 1;
    if (shift >= 0 && find_terms(rows, at(rows, at(rows, node)->a)->a, 1, &found) && found.n == 2 &&
        take(&found, rows, TP_ROW_UNKNOWN, 1) && take(&found, rows, shift, -1))
      return true;
  }
  return false;
}

/* True if the node is one number per row: the element at the same row of the target. */
static bool is_of_number(const tp__rows *rows, int node) {
  int dims[TP_MAX_RANK];
  for (int d = 0; d < rows->rank; d++)
    dims[d] = d;
  return tp__row_is_along(rows, node, rows->rank - 1, dims);
}

bool tp__match_row_pick(const tp__rows *rows, int node, int shift, int sum, tp__row_pick *pick) {
  terms found = {0};
  if (node < 0 || at(rows, node)->kind != TP_ROW_SUM ||
      at(rows, at(rows, node)->a)->kind != TP_ROW_WHERE)
    return false;
  const tp__row_node *where = at(rows, at(rows, node)->a), *equal = at(rows, where->a);
  if (equal->kind != TP_ROW_EQUAL || !find_terms(rows, where->b, 1, &found))
    return false;
  bool column_first = at(rows, equal->a)->kind == TP_ROW_COLUMN;
  int column = column_first ? equal->a : equal->b, target = column_first ? equal->b : equal->a,
      logarithm = TP_ROW_UNKNOWN;
  if (at(rows, column)->kind != TP_ROW_COLUMN || !is_of_number(rows, target))
    return false;
  *pick = (tp__row_pick){.target = at(rows, target)->value, .first = at(rows, column)->value};
  for (int i = 0; i < rows->n; i++)
    if (at(rows, i)->kind == TP_ROW_LOGARITHM && at(rows, i)->a == sum)
      logarithm = i;
  if (!take(&found, rows, TP_ROW_UNKNOWN, 1))
    return false;
  if (found.n > 0 && take(&found, rows, shift, -1))
    pick->pick = TPRT_CUDA_LESS_LARGEST;
  if (found.n > 0 && pick->pick == TPRT_CUDA_LESS_LARGEST && logarithm >= 0 &&
      take(&found, rows, logarithm, -1))
    pick->pick = TPRT_CUDA_LOG_PROBABILITY;
  return found.n == 0;
}
