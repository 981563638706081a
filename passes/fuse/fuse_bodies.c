/* Builds the bodies of fused functions over rows: sums, norms, quantization and matmuls as
 * linalg. */
#include "passes/fuse/fuse_bodies.h"

#include "passes/support/lower.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* ---- bodies of generics ---- */

static MlirValue wide(const tp__body *b, MlirOperation yield, MlirValue x) {
  return mlirTypeEqual(mlirValueGetType(x), b->f32)
             ? x
             : tp__build_one(yield, "arith.extf", 1, &x, b->f32);
}

static MlirValue narrow(const tp__body *b, MlirOperation yield, MlirValue x) {
  return mlirTypeEqual(b->element, b->f32)
             ? x
             : tp__build_one(yield, "arith.truncf", 1, &x, b->element);
}

static MlirValue number(const tp__body *b, MlirOperation yield, double x) {
  return tp__constant(yield, b->f32, mlirFloatAttrDoubleGet(b->context, b->f32, x));
}

/* ---- generics over rows ---- */

static MlirAttribute whole_map(const tp__body *b) {
  return mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, b->rank));
}

/* Map of a tensor with one number per row, in loops over whole rows. */
static MlirAttribute outer_map(const tp__body *b) {
  MlirAffineExpr loops[TP_MAX_RANK];
  for (int d = 0; d < b->rank - 1; d++)
    loops[d] = mlirAffineDimExprGet(b->context, d);
  return mlirAffineMapAttrGet(mlirAffineMapGet(b->context, b->rank, 0, b->rank - 1, loops));
}

/* Map of the same tensor in loops over the rows only. */
static MlirAttribute numbers_map(const tp__body *b) {
  return mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, b->rank - 1));
}

/* Map of one row, in loops over all rows. Dimensions of size 1 are at index 0; the other dimension
 * holds the row's elements. */
static MlirAttribute row_map(const tp__body *b, MlirValue row) {
  MlirAffineExpr places[TP_MAX_RANK];
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(row), &rank, shape);
  for (int d = 0; d < rank; d++)
    places[d] = shape[d] == 1 ? mlirAffineConstantExprGet(b->context, 0)
                              : mlirAffineDimExprGet(b->context, b->rank - 1);
  return mlirAffineMapAttrGet(mlirAffineMapGet(b->context, b->rank, 0, rank, places));
}

typedef struct input {
  MlirValue value;
  MlirAttribute map;
} input;

/* Builds a generic with an empty body and returns the yield of the body. */
static MlirOperation generic(const tp__body *b, int n, const input *inputs, MlirValue init,
                             MlirAttribute init_map) {
  MlirValue operands[TP_FUSED_OPERANDS + 1];
  MlirAttribute maps[TP_FUSED_OPERANDS + 1];
  for (int i = 0; i < n; i++) {
    operands[i] = inputs[i].value;
    maps[i] = inputs[i].map;
  }
  operands[n] = init;
  maps[n] = init_map;
  return tp__build_generic_body(tp__build_generic(&(tp_generic){.where = b->end,
                                                                .location = b->location,
                                                                .n_inputs = n,
                                                                .n_inits = 1,
                                                                .operands = operands,
                                                                .maps = maps}));
}

static MlirValue finish(MlirOperation yield, MlirValue value) {
  mlirOperationSetOperands(yield, 1, &value);
  return mlirOperationGetResult(mlirBlockGetParentOperation(mlirOperationGetBlock(yield)), 0);
}

static MlirValue argument(MlirOperation yield, int i) {
  return mlirBlockGetArgument(mlirOperationGetBlock(yield), i);
}

/* ---- computations ---- */

/* round(a + bias + residual), in that order. */
MlirValue tp__build_sum(const tp__body *b, MlirValue a, MlirValue bias, MlirValue residual) {
  input inputs[3] = {{a, whole_map(b)}};
  int n = 1;
  if (!mlirValueIsNull(bias))
    inputs[n++] = (input){bias, row_map(b, bias)};
  if (!mlirValueIsNull(residual))
    inputs[n++] = (input){residual, whole_map(b)};
  if (n == 1)
    return a;
  MlirOperation yield = generic(b, n, inputs, tp__empty(b->end, b->tensor), whole_map(b));
  MlirValue sum = wide(b, yield, argument(yield, 0));
  for (int i = 1; i < n; i++)
    sum = tp__binary(yield, "arith.addf", sum, wide(b, yield, argument(yield, i)));
  return finish(yield, narrow(b, yield, sum));
}

/* Returns x - sum / hidden, or x if there is no sum. */
static MlirValue centerd(const tp__body *b, MlirOperation yield, MlirValue x, MlirValue sum) {
  x = wide(b, yield, x);
  if (mlirValueIsNull(sum))
    return x;
  MlirValue mean =
      tp__binary(yield, "arith.divf", sum, number(b, yield, (double)b->shape[b->rank - 1]));
  return tp__binary(yield, "arith.subf", x, mean);
}

/* Computes the sum of each row of r. With `squares`, it sums the squares of the row, centered on
 * its mean if `sum` is not null. */
static MlirValue build_row_sum(const tp__body *b, MlirValue r, MlirValue sum, bool squares) {
  input inputs[2] = {{r, whole_map(b)}, {sum, outer_map(b)}};
  MlirType type = mlirRankedTensorTypeGet(b->rank - 1, b->shape, b->f32, (MlirAttribute){NULL});
  MlirValue zero = tp__constant(
      b->end, type,
      mlirDenseElementsAttrSplatGet(type, mlirFloatAttrDoubleGet(b->context, b->f32, 0)));
  int n = mlirValueIsNull(sum) ? 1 : 2;
  MlirOperation yield = generic(b, n, inputs, zero, outer_map(b));
  MlirValue x =
      centerd(b, yield, argument(yield, 0), n == 2 ? argument(yield, 1) : (MlirValue){NULL});
  if (squares)
    x = tp__binary(yield, "arith.mulf", x, x);
  return finish(yield, tp__binary(yield, "arith.addf", argument(yield, n), x));
}

MlirValue tp__build_norm(const tp__body *b, MlirValue r, const tp__row_norm *norm, MlirValue gamma,
                         MlirValue beta) {
  MlirValue sum = {NULL};
  input inputs[TP_FUSED_OPERANDS] = {{r, whole_map(b)}, {gamma, row_map(b, gamma)}};
  int n = 2, mean_at = -1, beta_at = -1;
  if (norm->kind == TP_LAYER_NORM)
    sum = build_row_sum(b, r, sum, false);
  int squares_at = n;
  inputs[n++] = (input){build_row_sum(b, r, sum, true), outer_map(b)};
  if (!mlirValueIsNull(sum))
    inputs[mean_at = n++] = (input){sum, outer_map(b)};
  if (!mlirValueIsNull(beta))
    inputs[beta_at = n++] = (input){beta, row_map(b, beta)};
  MlirOperation yield = generic(b, n, inputs, tp__empty(b->end, b->tensor), whole_map(b));
  MlirValue x = centerd(b, yield, argument(yield, 0),
                        mean_at < 0 ? (MlirValue){NULL} : argument(yield, mean_at));
  MlirValue spread = tp__binary(yield, "arith.divf", argument(yield, squares_at),
                                number(b, yield, (double)b->shape[b->rank - 1]));
  spread = tp__binary(yield, "arith.addf", spread, number(b, yield, norm->epsilon));
  x = tp__binary(yield, "arith.divf", x, tp__build_one(yield, "math.sqrt", 1, &spread, b->f32));
  x = tp__binary(yield, "arith.mulf", x, wide(b, yield, argument(yield, 1)));
  if (beta_at >= 0)
    x = tp__binary(yield, "arith.addf", x, wide(b, yield, argument(yield, beta_at)));
  return finish(yield, narrow(b, yield, x));
}

/* Computes one scale per row, or per group if the groups are viewed as rows: max(max(max |y|,
 * least_largest) / 448, least_scale). */
static MlirValue build_scale(const tp__body *b, MlirValue y, const tp__row_quantization *q) {
  const input row[1] = {{y, whole_map(b)}};
  MlirType type = mlirRankedTensorTypeGet(b->rank - 1, b->shape, b->f32, (MlirAttribute){NULL});
  MlirValue zero = tp__constant(
      b->end, type,
      mlirDenseElementsAttrSplatGet(type, mlirFloatAttrDoubleGet(b->context, b->f32, 0)));
  MlirOperation yield = generic(b, 1, row, zero, outer_map(b));
  MlirValue x = wide(b, yield, argument(yield, 0));
  x = tp__build_one(yield, "math.absf", 1, &x, b->f32);
  const input largest[1] = {
      {finish(yield, tp__binary(yield, "arith.maximumf", argument(yield, 1), x)), numbers_map(b)}};
  yield = generic(b, 1, largest, tp__empty(b->end, type), numbers_map(b));
  x = tp__binary(yield, "arith.maximumf", argument(yield, 0), number(b, yield, q->least_largest));
  x = tp__binary(yield, "arith.divf", x, number(b, yield, 448));
  return finish(yield, tp__binary(yield, "arith.maximumf", x, number(b, yield, q->least_scale)));
}

static MlirValue build_f8(const tp__body *b, MlirValue y, input scale) {
  const input inputs[2] = {{y, whole_map(b)}, scale};
  MlirType f8 = mlirFloat8E4M3FNTypeGet(b->context),
           type = mlirRankedTensorTypeGet(b->rank, b->shape, f8, (MlirAttribute){NULL});
  MlirOperation yield = generic(b, 2, inputs, tp__empty(b->end, type), whole_map(b));
  MlirValue x =
      tp__binary(yield, "arith.divf", wide(b, yield, argument(yield, 0)), argument(yield, 1));
  x = tp__binary(yield, "arith.maximumf", x, number(b, yield, -448));
  x = tp__binary(yield, "arith.minimumf", x, number(b, yield, 448));
  return finish(yield, tp__build_one(yield, "arith.truncf", 1, &x, f8));
}

MlirValue tp__body_view(const tp__body *b, MlirValue value, MlirType as) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(as, &rank, shape);
  return mlirValueIsNull(value) ? value : tp__view(b->end, b->location, value, rank, shape);
}

/* Returns a copy of `b` in which each group is a row. */
static tp__body in_groups(const tp__body *b) {
  tp__body parts = *b;
  parts.shape[b->rank - 1] /= TP_ROW_KERNEL_GROUP;
  parts.shape[parts.rank++] = TP_ROW_KERNEL_GROUP;
  parts.tensor =
      mlirRankedTensorTypeGet(parts.rank, parts.shape, parts.element, (MlirAttribute){NULL});
  return parts;
}

MlirValue tp__build_quantized(const tp__body *b, MlirValue y, const tp__row_quantization *q,
                              MlirValue static_scale, MlirValue *scales) {
  tp__body parts = q->kind == TP_QUANTIZED_PER_GROUP ? in_groups(b) : *b;
  y = tp__body_view(&parts, y, parts.tensor);
  if (!mlirValueIsNull(static_scale))
    return build_f8(&parts, y, (input){static_scale, row_map(&parts, static_scale)});
  *scales = build_scale(&parts, y, q);
  return build_f8(&parts, y, (input){*scales, outer_map(&parts)});
}

MlirValue tp__build_matmul(MlirOperation end, MlirValue a, MlirValue factor, bool transpose_b,
                           int64_t m, int64_t n, int64_t k) {
  MlirContext context = mlirOperationGetContext(end);
  MlirAffineExpr row = mlirAffineDimExprGet(context, 0), column = mlirAffineDimExprGet(context, 1),
                 term = mlirAffineDimExprGet(context, 2);
  MlirAffineExpr of_a[2] = {row, term}, of_b[2] = {term, column}, of_out[2] = {row, column};
  if (transpose_b) {
    of_b[0] = column;
    of_b[1] = term;
  }
  const int64_t shape_a[2] = {m, k}, shape_b[2] = {transpose_b ? n : k, transpose_b ? k : n},
                shape[2] = {m, n};
  const tp__body b = {.context = context,
                      .location = mlirOperationGetLocation(end),
                      .end = end,
                      .element = tp__element_type(mlirValueGetType(a))};
  MlirType type = mlirRankedTensorTypeGet(2, shape, b.element, (MlirAttribute){NULL});
  MlirValue zero = tp__constant(
      end, type,
      mlirDenseElementsAttrSplatGet(type, mlirFloatAttrDoubleGet(context, b.element, 0)));
  const input inputs[2] = {{tp__view(end, b.location, a, 2, shape_a),
                            mlirAffineMapAttrGet(mlirAffineMapGet(context, 3, 0, 2, of_a))},
                           {tp__view(end, b.location, factor, 2, shape_b),
                            mlirAffineMapAttrGet(mlirAffineMapGet(context, 3, 0, 2, of_b))}};
  MlirOperation yield = generic(&b, 2, inputs, zero,
                                mlirAffineMapAttrGet(mlirAffineMapGet(context, 3, 0, 2, of_out)));
  MlirValue x = tp__binary(yield, "arith.mulf", argument(yield, 0), argument(yield, 1));
  return finish(yield, tp__binary(yield, "arith.addf", argument(yield, 2), x));
}
