/* Recognizes contractions and their GEMM form in linalg ops. */
#include "passes/support/contraction.h"

#include "passes/support/lower.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

/* Looks through one extf. */
static MlirValue widened(MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  return !mlirOperationIsNull(op) && tp__op_is(op, "arith.extf") ? mlirOperationGetOperand(op, 0)
                                                                 : value;
}

/* Returns the number of body ops that the pattern yield(addf(c, mulf(a, b))) covers, or -1 if the
 * body does not match. */
static int match_body(MlirBlock body, int operands[2]) {
  MlirValue c = mlirBlockGetArgument(body, 2);
  MlirOperation yield = mlirBlockGetTerminator(body);
  if (mlirOperationIsNull(yield) || mlirOperationGetNumOperands(yield) != 1)
    return -1;
  MlirOperation add = tp__defining_op(mlirOperationGetOperand(yield, 0));
  if (mlirOperationIsNull(add) || !tp__op_is(add, "arith.addf"))
    return -1;
  bool c_first = mlirValueEqual(mlirOperationGetOperand(add, 0), c);
  if (!c_first && !mlirValueEqual(mlirOperationGetOperand(add, 1), c))
    return -1;
  MlirOperation multiply = tp__defining_op(mlirOperationGetOperand(add, c_first ? 1 : 0));
  if (mlirOperationIsNull(multiply) || !tp__op_is(multiply, "arith.mulf"))
    return -1;
  int n_ops = 3;
  for (int i = 0; i < 2; i++) {
    MlirValue factor = mlirOperationGetOperand(multiply, i), source = widened(factor);
    n_ops += mlirValueEqual(factor, source) ? 0 : 1;
    if (!mlirValueIsABlockArgument(source) ||
        !mlirBlockEqual(mlirBlockArgumentGetOwner(source), body) ||
        mlirBlockArgumentGetArgNumber(source) > 1)
      return -1;
    operands[i] = (int)mlirBlockArgumentGetArgNumber(source);
  }
  return operands[0] != operands[1] && tp__is_used_once(c) ? n_ops : -1;
}

static bool match_map(MlirAffineMap map, MlirType type, int rank, tp__contraction *c, int *loops) {
  for (int d = 0; d < rank; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    int64_t size = mlirShapedTypeGetDimSize(type, d);
    loops[d] = -1;
    if (mlirAffineExprIsADim(expr)) {
      loops[d] = (int)mlirAffineDimExprGetPosition(expr);
      if (c->sizes[loops[d]] >= 0 && c->sizes[loops[d]] != size)
        return false;
      c->sizes[loops[d]] = size;
    } else if (!mlirAffineExprIsAConstant(expr) || mlirAffineConstantExprGetValue(expr) != 0) {
      return false;
    }
  }
  return true;
}

bool tp__are_mixed_factors(MlirType a, MlirType b, MlirType c) {
  bool narrow = mlirTypeEqual(a, b) && (mlirTypeIsAF16(a) || mlirTypeIsABF16(a));
  return mlirTypeIsAF32(c) && (narrow || (tp__is_f8(a) && tp__is_f8(b)));
}

static bool is_runtime_float(MlirType type) {
  return mlirTypeIsAF32(type) || mlirTypeIsAF64(type) || mlirTypeIsABF16(type) ||
         mlirTypeIsAF16(type);
}

/* True for the type of A, B or C; `of_c` is that of C. */
static bool is_factor(MlirType type, MlirType of_c, bool narrow_c) {
  bool sums_narrow = narrow_c && !mlirTypeIsAF64(of_c);
  return is_runtime_float(type) || (tp__is_f8(type) && (sums_narrow || mlirTypeIsAF32(of_c)));
}

static bool match_operand(MlirOperation op, MlirAttribute maps, int operand, int which,
                          bool narrow_c, tp__contraction *c) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(op, operand)),
           element_of_c = tp__element_type(mlirValueGetType(mlirOperationGetOperand(op, 2)));
  bool shaped = mlirTypeIsARankedTensor(type) || mlirTypeIsAMemRef(type);
  if (!shaped || !mlirShapedTypeHasStaticShape(type) || mlirShapedTypeGetRank(type) > TP_MAX_RANK ||
      !is_factor(tp__element_type(type), element_of_c, narrow_c))
    return false;
  c->rank[which] = (int)mlirShapedTypeGetRank(type);
  MlirAffineMap map = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, operand));
  c->n_loops = (int)mlirAffineMapGetNumDims(map);
  return c->n_loops <= TP_MAX_LOOPS && match_map(map, type, c->rank[which], c, c->loops[which]);
}

static bool match(MlirOperation op, bool narrow_c, tp__contraction *c) {
  if (!tp__op_has_dialect(op, "linalg") || mlirOperationGetNumRegions(op) != 1 ||
      mlirOperationGetNumOperands(op) != 3 || mlirOperationGetNumResults(op) > 1)
    return false;
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (mlirBlockIsNull(body) || mlirBlockGetNumArguments(body) != 3)
    return false;
  int n_ops = 0;
  for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o);
       o = mlirOperationGetNextInBlock(o))
    n_ops++;
  if (match_body(body, c->operands) != n_ops)
    return false;
  MlirAttribute maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirAttributeIsNull(maps) || mlirArrayAttrGetNumElements(maps) != 3)
    return false;
  for (int i = 0; i < TP_MAX_LOOPS; i++)
    c->sizes[i] = -1;
  if (!match_operand(op, maps, c->operands[0], 0, narrow_c, c) ||
      !match_operand(op, maps, c->operands[1], 1, narrow_c, c) ||
      !match_operand(op, maps, 2, 2, narrow_c, c))
    return false;
  bool any = false, in_result[TP_MAX_LOOPS] = {false};
  for (int d = 0; d < c->rank[2]; d++) {
    if (c->loops[2][d] < 0 || in_result[c->loops[2][d]])
      return false;
    in_result[c->loops[2][d]] = true;
  }
  for (int i = 0; i < c->n_loops; i++) {
    c->reduced[i] = !in_result[i];
    any |= c->reduced[i];
    if (c->sizes[i] < 0)
      return false;
  }
  return any;
}

bool tp__match_contraction(MlirOperation op, tp__contraction *c) { return match(op, false, c); }

bool tp__match_narrow_contraction(MlirOperation op, tp__contraction *c) {
  return match(op, true, c);
}

/* ---- transposes ---- */

bool tp__is_transpose(MlirOperation op, int rank, int *from) {
  int64_t permutation[TP_MAX_RANK];
  if (tp__op_is(op, "linalg.transpose") &&
      tp__int_list(tp__inherent(op, "permutation"), TP_MAX_RANK, permutation) == rank) {
    for (int d = 0; d < rank; d++)
      from[d] = (int)permutation[d];
    return true;
  }
  if (!tp__op_is(op, "linalg.generic") || mlirOperationGetNumOperands(op) != 2 ||
      mlirOperationGetNumResults(op) != 1)
    return false;
  MlirAttribute maps = tp__inherent(op, "indexing_maps");
  MlirAffineMap in = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 0)),
                out = mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, 1));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  if (!mlirAffineMapIsPermutation(in) || !mlirAffineMapIsIdentity(out) ||
      mlirAffineMapGetNumResults(in) != rank ||
      !mlirValueEqual(mlirOperationGetOperand(mlirBlockGetTerminator(body), 0),
                      mlirBlockGetArgument(body, 0)))
    return false;
  for (int d = 0; d < rank; d++)
    from[mlirAffineDimExprGetPosition(mlirAffineMapGetResult(in, d))] = d;
  return true;
}

MlirValue tp__through_transposes(MlirValue value, int rank, int *loops) {
  for (;;) {
    MlirOperation op = tp__defining_op(value);
    int from[TP_MAX_RANK], old[TP_MAX_RANK];
    if (mlirOperationIsNull(op) || !tp__is_transpose(op, rank, from))
      return value;
    for (int d = 0; d < rank; d++)
      old[d] = loops[d];
    for (int d = 0; d < rank; d++)
      loops[from[d]] = old[d];
    value = mlirOperationGetOperand(op, 0);
  }
}

/* ---- sums in f32 ---- */

MlirType tp__type_with(MlirType type, MlirType element) {
  int64_t shape[TP_MAX_RANK];
  int rank = (int)mlirShapedTypeGetRank(type);
  for (int d = 0; d < rank; d++)
    shape[d] = mlirShapedTypeGetDimSize(type, d);
  return mlirRankedTensorTypeGet(rank, shape, element, mlirRankedTensorTypeGetEncoding(type));
}

MlirValue tp__widened_init(MlirOperation where, MlirValue init, MlirType wide, const char *widen) {
  MlirOperation fill = tp__defining_op(init);
  MlirType element = tp__element_type(wide);
  if (mlirOperationIsNull(fill) || !tp__op_is(fill, "linalg.fill"))
    return tp__build_one(where, widen, 1, &init, wide);
  MlirValue number = mlirOperationGetOperand(fill, 0);
  MlirOperation copy = mlirOperationClone(fill);
  tp__insert_before(where, copy);
  mlirOperationSetOperand(copy, 0, tp__build_one(copy, widen, 1, &number, element));
  mlirOperationSetOperand(copy, 1, tp__build_one(copy, "tensor.empty", 0, NULL, wide));
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(copy, 0));
  for (int i = 0; i < 2; i++)
    mlirValueSetType(mlirBlockGetArgument(body, i), element);
  mlirValueSetType(mlirOperationGetResult(copy, 0), wide);
  return mlirOperationGetResult(copy, 0);
}

/* ---- matmuls of rows and a matrix ---- */

/* The loops of an operand's dimensions, without dimensions of size 1 that are indexed by a
 * constant. */
static int loops_of(const tp__contraction *c, int which, int *loops) {
  int n = 0;
  for (int d = 0; d < c->rank[which]; d++)
    if (c->loops[which][d] >= 0)
      loops[n++] = c->loops[which][d];
  return n;
}

static bool are_equal(int n, const int *a, int m, const int *b) {
  bool equal = n == m;
  for (int i = 0; i < n && equal; i++)
    equal = a[i] == b[i];
  return equal;
}

/* True if operand `left` is [rows.., terms..] and the other operand [terms.., columns..] or,
 * transposed, [columns.., terms..]. */
static bool is_rows_by_matrix(const tp__contraction *c, int left, int n_columns, bool *transposed) {
  int of_left[TP_MAX_RANK], of_right[TP_MAX_RANK], of_c[TP_MAX_RANK], straight[TP_MAX_RANK],
      turned[TP_MAX_RANK];
  int n_left = loops_of(c, left, of_left), n_right = loops_of(c, 1 - left, of_right),
      n_c = loops_of(c, 2, of_c);
  int n_rows = n_c - n_columns, n_terms = n_left - n_rows;
  if (n_rows < 1 || n_terms < 1 || n_terms + n_columns != n_right ||
      !are_equal(n_rows, of_left, n_rows, of_c))
    return false;
  for (int i = 0; i < n_terms; i++)
    straight[i] = turned[n_columns + i] = of_left[n_rows + i];
  for (int i = 0; i < n_columns; i++)
    straight[n_terms + i] = turned[i] = of_c[n_rows + i];
  *transposed = are_equal(n_right, of_right, n_right, turned);
  return *transposed || are_equal(n_right, of_right, n_right, straight);
}

bool tp__match_rows_by_matrix(MlirOperation op, int n_columns, tp__factors *factors) {
  tp__contraction c;
  if (!tp__match_contraction(op, &c))
    return false;
  for (int left = 0; left < 2; left++) {
    tp__contraction read = c;
    MlirValue right = tp__through_transposes(mlirOperationGetOperand(op, c.operands[1 - left]),
                                             c.rank[1 - left], read.loops[1 - left]);
    if (!is_rows_by_matrix(&read, left, n_columns, &factors->transpose_b))
      continue;
    factors->a = mlirOperationGetOperand(op, c.operands[left]);
    factors->b = right;
    factors->k = 1;
    for (int i = 0; i < c.n_loops; i++)
      factors->k *= c.reduced[i] ? c.sizes[i] : 1;
    return true;
  }
  return false;
}
