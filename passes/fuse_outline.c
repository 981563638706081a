/* The function of a fusion. Its body is written anew from what was recognised, not moved: a program that inlines it computes what a
 * kernel will, so running it shows whether the recognition was right. */
#include "passes/fuse.h"

#include "passes/lower.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <stdio.h>

typedef struct body {
  MlirContext context;
  MlirLocation location;
  MlirOperation end; /* func.return: everything is inserted before it */
  MlirType tensor, element, f32;
  int rank;
  int64_t shape[TP_MAX_RANK];
} body;

/* ---- bodies of generics ---- */

static MlirValue wide(const body *b, MlirOperation yield, MlirValue x) {
  return mlirTypeEqual(mlirValueGetType(x), b->f32) ? x : tp__build_one(yield, "arith.extf", 1, &x, b->f32);
}

static MlirValue narrow(const body *b, MlirOperation yield, MlirValue x) {
  return mlirTypeEqual(b->element, b->f32) ? x : tp__build_one(yield, "arith.truncf", 1, &x, b->element);
}

static MlirValue number(const body *b, MlirOperation yield, double x) {
  return tp__constant(yield, b->f32, mlirFloatAttrDoubleGet(b->context, b->f32, x));
}

/* ---- generics over rows ---- */

static MlirAttribute whole_map(const body *b) {
  return mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, b->rank));
}

/* One number a row. */
static MlirAttribute outer_map(const body *b) {
  MlirAffineExpr loops[TP_MAX_RANK];
  for (int d = 0; d < b->rank - 1; d++)
    loops[d] = mlirAffineDimExprGet(b->context, d);
  return mlirAffineMapAttrGet(mlirAffineMapGet(b->context, b->rank, 0, b->rank - 1, loops));
}

/* The same in loops over the rows alone. */
static MlirAttribute numbers_map(const body *b) {
  return mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(b->context, b->rank - 1));
}

/* One row, in dimensions of which one has its elements. */
static MlirAttribute row_map(const body *b, MlirValue row) {
  MlirAffineExpr places[TP_MAX_RANK];
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(row), &rank, shape);
  for (int d = 0; d < rank; d++)
    places[d] = shape[d] == 1 ? mlirAffineConstantExprGet(b->context, 0) : mlirAffineDimExprGet(b->context, b->rank - 1);
  return mlirAffineMapAttrGet(mlirAffineMapGet(b->context, b->rank, 0, rank, places));
}

typedef struct input {
  MlirValue value;
  MlirAttribute map;
} input;

/* Its body ends with the yield that is returned. */
static MlirOperation generic(const body *b, int n, const input *inputs, MlirValue init, MlirAttribute init_map) {
  MlirValue operands[TP_FUSED_OPERANDS + 1];
  MlirAttribute maps[TP_FUSED_OPERANDS + 1];
  for (int i = 0; i < n; i++) {
    operands[i] = inputs[i].value;
    maps[i] = inputs[i].map;
  }
  operands[n] = init;
  maps[n] = init_map;
  return tp__build_generic_body(tp__build_generic(&(tp_generic){
      .where = b->end, .location = b->location, .n_inputs = n, .n_inits = 1, .operands = operands, .maps = maps}));
}

static MlirValue finish(MlirOperation yield, MlirValue value) {
  mlirOperationSetOperands(yield, 1, &value);
  return mlirOperationGetResult(mlirBlockGetParentOperation(mlirOperationGetBlock(yield)), 0);
}

static MlirValue argument(MlirOperation yield, int i) { return mlirBlockGetArgument(mlirOperationGetBlock(yield), i); }

/* ---- what is computed ---- */

/* round(a + bias + residual), in that order. */
static MlirValue build_sum(const body *b, MlirValue a, MlirValue bias, MlirValue residual) {
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

/* x, or x - mean where there is one. */
static MlirValue centred(const body *b, MlirOperation yield, MlirValue x, MlirValue sum) {
  x = wide(b, yield, x);
  if (mlirValueIsNull(sum))
    return x;
  MlirValue mean = tp__binary(yield, "arith.divf", sum, number(b, yield, (double)b->shape[b->rank - 1]));
  return tp__binary(yield, "arith.subf", x, mean);
}

/* The sum along each row of r, or of the squares of what it is without its mean. */
static MlirValue build_row_sum(const body *b, MlirValue r, MlirValue sum, bool squares) {
  input inputs[2] = {{r, whole_map(b)}, {sum, outer_map(b)}};
  MlirType type = mlirRankedTensorTypeGet(b->rank - 1, b->shape, b->f32, (MlirAttribute){NULL});
  MlirValue zero =
      tp__constant(b->end, type, mlirDenseElementsAttrSplatGet(type, mlirFloatAttrDoubleGet(b->context, b->f32, 0)));
  int n = mlirValueIsNull(sum) ? 1 : 2;
  MlirOperation yield = generic(b, n, inputs, zero, outer_map(b));
  MlirValue x = centred(b, yield, argument(yield, 0), n == 2 ? argument(yield, 1) : (MlirValue){NULL});
  if (squares)
    x = tp__binary(yield, "arith.mulf", x, x);
  return finish(yield, tp__binary(yield, "arith.addf", argument(yield, n), x));
}

static MlirValue build_norm(const body *b, MlirValue r, const tp__row_norm *norm, MlirValue gamma, MlirValue beta) {
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
  MlirValue x = centred(b, yield, argument(yield, 0), mean_at < 0 ? (MlirValue){NULL} : argument(yield, mean_at));
  MlirValue spread =
      tp__binary(yield, "arith.divf", argument(yield, squares_at), number(b, yield, (double)b->shape[b->rank - 1]));
  spread = tp__binary(yield, "arith.addf", spread, number(b, yield, norm->epsilon));
  x = tp__binary(yield, "arith.divf", x, tp__build_one(yield, "math.sqrt", 1, &spread, b->f32));
  x = tp__binary(yield, "arith.mulf", x, wide(b, yield, argument(yield, 1)));
  if (beta_at >= 0)
    x = tp__binary(yield, "arith.addf", x, wide(b, yield, argument(yield, beta_at)));
  return finish(yield, narrow(b, yield, x));
}

/* Of each row, or group where these are the rows, max(max(largest |y|, least_largest) / 448, least_scale). */
static MlirValue build_scale(const body *b, MlirValue y, const tp__row_quantisation *q) {
  const input row[1] = {{y, whole_map(b)}};
  MlirType type = mlirRankedTensorTypeGet(b->rank - 1, b->shape, b->f32, (MlirAttribute){NULL});
  MlirValue zero =
      tp__constant(b->end, type, mlirDenseElementsAttrSplatGet(type, mlirFloatAttrDoubleGet(b->context, b->f32, 0)));
  MlirOperation yield = generic(b, 1, row, zero, outer_map(b));
  MlirValue x = wide(b, yield, argument(yield, 0));
  x = tp__build_one(yield, "math.absf", 1, &x, b->f32);
  const input largest[1] = {{finish(yield, tp__binary(yield, "arith.maximumf", argument(yield, 1), x)), numbers_map(b)}};
  yield = generic(b, 1, largest, tp__empty(b->end, type), numbers_map(b));
  x = tp__binary(yield, "arith.maximumf", argument(yield, 0), number(b, yield, q->least_largest));
  x = tp__binary(yield, "arith.divf", x, number(b, yield, 448));
  return finish(yield, tp__binary(yield, "arith.maximumf", x, number(b, yield, q->least_scale)));
}

static MlirValue build_quantised(const body *b, MlirValue y, input scale) {
  const input inputs[2] = {{y, whole_map(b)}, scale};
  MlirType f8 = mlirFloat8E4M3FNTypeGet(b->context),
           type = mlirRankedTensorTypeGet(b->rank, b->shape, f8, (MlirAttribute){NULL});
  MlirOperation yield = generic(b, 2, inputs, tp__empty(b->end, type), whole_map(b));
  MlirValue x = tp__binary(yield, "arith.divf", wide(b, yield, argument(yield, 0)), argument(yield, 1));
  x = tp__binary(yield, "arith.maximumf", x, number(b, yield, -448));
  x = tp__binary(yield, "arith.minimumf", x, number(b, yield, 448));
  return finish(yield, tp__build_one(yield, "arith.truncf", 1, &x, f8));
}

static MlirValue viewed(const body *b, MlirValue value, MlirType as) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  tp__static_tensor(as, &rank, shape);
  return mlirValueIsNull(value) ? value : tp__view(b->end, b->location, value, rank, shape);
}

MlirValue tp__build_product(MlirOperation end, MlirValue a, MlirValue factor, bool transpose_b, int64_t m, int64_t n,
                            int64_t k) {
  MlirContext context = mlirOperationGetContext(end);
  MlirAffineExpr row = mlirAffineDimExprGet(context, 0), column = mlirAffineDimExprGet(context, 1),
                 term = mlirAffineDimExprGet(context, 2);
  MlirAffineExpr of_a[2] = {row, term}, of_b[2] = {term, column}, of_out[2] = {row, column};
  if (transpose_b) {
    of_b[0] = column;
    of_b[1] = term;
  }
  const int64_t shape_a[2] = {m, k}, shape_b[2] = {transpose_b ? n : k, transpose_b ? k : n}, shape[2] = {m, n};
  const body b = {.context = context,
                  .location = mlirOperationGetLocation(end),
                  .end = end,
                  .element = tp__element_type(mlirValueGetType(a))};
  MlirType type = mlirRankedTensorTypeGet(2, shape, b.element, (MlirAttribute){NULL});
  MlirValue zero = tp__constant(end, type, mlirDenseElementsAttrSplatGet(type, mlirFloatAttrDoubleGet(context, b.element, 0)));
  const input inputs[2] = {
      {tp__view(end, b.location, a, 2, shape_a), mlirAffineMapAttrGet(mlirAffineMapGet(context, 3, 0, 2, of_a))},
      {tp__view(end, b.location, factor, 2, shape_b), mlirAffineMapAttrGet(mlirAffineMapGet(context, 3, 0, 2, of_b))}};
  MlirOperation yield = generic(&b, 2, inputs, zero, mlirAffineMapAttrGet(mlirAffineMapGet(context, 3, 0, 2, of_out)));
  MlirValue x = tp__binary(yield, "arith.mulf", argument(yield, 0), argument(yield, 1));
  return finish(yield, tp__binary(yield, "arith.addf", argument(yield, 2), x));
}

/* The rows that are summed, as the collective takes them. */
static MlirValue build_rows(const body *b, const tp__fusion *f, MlirValue a, MlirValue factor) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(f->collective, 0));
  int64_t n = b->shape[b->rank - 1], m = 1;
  for (int d = 0; d < mlirShapedTypeGetRank(type) - 1; d++)
    m *= mlirShapedTypeGetDimSize(type, d);
  return viewed(b, tp__build_product(b->end, a, factor, f->product.transpose_b, m, n, f->product.k), type);
}

/* A copy of a collective on another operand. */
static MlirValue copy_on(const body *b, MlirOperation op, MlirValue operand) {
  MlirOperation copy = mlirOperationClone(op);
  mlirOperationSetOperand(copy, 0, operand);
  tp__insert_before(b->end, copy);
  return mlirOperationGetResult(copy, 0);
}

/* ---- the function ---- */

typedef struct operand {
  const char *name;
  MlirValue value;
} operand;

/* Of the function; the program's value that it becomes, or null. */
typedef struct result {
  const char *name;
  MlirValue value;
  MlirType type;
} result;

MlirAttribute tp__fused_names(MlirContext context, int n, const char *const *names) {
  MlirAttribute texts[TP_FUSED_OPERANDS];
  for (int i = 0; i < n; i++)
    texts[i] = tp__attr_string(context, names[i]);
  return mlirArrayAttrGet(context, n, texts);
}

MlirAttribute tp__fused_axes(MlirContext context, const tp_mesh *mesh, int n, const int *axes) {
  MlirAttribute texts[TP_MAX_AXES];
  for (int i = 0; i < n; i++) {
    char text[2 * TP_MAX_AXIS_NAME];
    tp_mesh_axis_text(mesh, axes[i], 1, text, sizeof text);
    texts[i] = tp__attr_string(context, text);
  }
  return mlirArrayAttrGet(context, n, texts);
}

static MlirAttribute f32_attr(MlirContext context, double number) {
  return mlirFloatAttrDoubleGet(context, mlirF32TypeGet(context), number);
}

static MlirAttribute describe(const tp__fusion *f, int n, const operand *operands, int n_results, const result *made) {
  static const char *const quantisations[] = {
      [TP_QUANTISED_STATIC] = "static", [TP_QUANTISED_PER_TOKEN] = "per_token", [TP_QUANTISED_PER_GROUP] = "per_group"};
  static const char *const norms[] = {[TP_NO_NORM] = "none", [TP_RMS_NORM] = "rms_norm", [TP_LAYER_NORM] = "layer_norm"};
  MlirContext context = mlirOperationGetContext(f->collective);
  const char *inputs[TP_FUSED_OPERANDS], *results[TP_FUSED_RESULTS];
  bool quantises = f->quantise.kind != TP_NOT_QUANTISED;
  const char *layout = f->dim < 0 ? "whole" : mlirOperationIsNull(f->gather) ? "scattered" : "gathered";
  for (int i = 0; i < n; i++)
    inputs[i] = operands[i].name;
  for (int i = 0; i < n_results; i++)
    results[i] = made[i].name;
  MlirType rows = mlirValueGetType(mlirOperationGetOperand(f->collective, 0));
  int64_t shape[TP_MAX_RANK];
  int rank, n_entries = 8;
  tp__static_tensor(rows, &rank, shape);
  MlirNamedAttribute entries[12] = {
      tp__named(context, "kind",
                tp__attr_string(context, quantises             ? "quantise_rows"
                                         : f->product.is_fused ? "multiply_rows"
                                                               : "reduce_rows")),
      tp__named(context, "algorithm", tp__attr_string(context, tp_fused_name(f->price.algorithm))),
      tp__named(context, "axes", tp__fused_axes(context, f->mesh, f->n_axes, f->axes)),
      tp__named(context, "layout", tp__attr_string(context, layout)),
      tp__named(context, "dim", mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), f->dim < 0 ? 0 : f->dim)),
      tp__named(context, "operands", tp__fused_names(context, n, inputs)),
      tp__named(context, "results", tp__fused_names(context, n_results, results)),
      tp__named(context, "norm", tp__attr_string(context, norms[f->norm.kind])),
  };
  if (f->norm.kind != TP_NO_NORM)
    entries[n_entries++] = tp__named(context, "epsilon", f32_attr(context, f->norm.epsilon));
  if (quantises) {
    entries[n_entries++] = tp__named(context, "quantise", tp__attr_string(context, quantisations[f->quantise.kind]));
    entries[n_entries++] = tp__named(context, "least_largest", f32_attr(context, f->quantise.least_largest));
    entries[n_entries++] = tp__named(context, "least_scale", f32_attr(context, f->quantise.least_scale));
  }
  if (f->product.is_fused) {
    entries[n_entries++] = tp__named(context, "shape", tp__attr_i64s(context, rank, shape));
    entries[n_entries++] = tp__named(context, "transpose_b", mlirBoolAttrGet(context, f->product.transpose_b));
  }
  return mlirDictionaryAttrGet(context, n_entries, entries);
}

bool tp__makes_scales(const tp__fusion *f) {
  return f->quantise.kind == TP_QUANTISED_PER_TOKEN || f->quantise.kind == TP_QUANTISED_PER_GROUP;
}

int64_t tp__fusion_devices(const tp__fusion *f) {
  int64_t n = 1;
  for (int i = 0; i < f->n_axes; i++)
    n *= f->mesh->axes[f->axes[i]].size;
  return n;
}

int64_t tp__n_pieces(MlirValue value, int dim) {
  int rank;
  int64_t shape[TP_MAX_RANK], n = 1;
  tp__static_tensor(mlirValueGetType(value), &rank, shape);
  for (int d = 0; d < dim; d++)
    n *= shape[d];
  return n;
}

MlirValue tp__fused_out(const tp__fusion *f) {
  if (!mlirOperationIsNull(f->gather))
    return mlirOperationGetResult(f->gather, 0);
  return f->norm.kind == TP_NO_NORM ? f->sum_value : f->norm_value;
}

void tp__build_fused_func(MlirOperation module, const char *name, MlirLocation location, MlirAttribute fused, int n_inputs,
                          const MlirType *inputs, int n_results, const MlirType *results, MlirBlock *block) {
  enum { MOST = 16 };
  MlirContext context = mlirOperationGetContext(module);
  MlirLocation locations[MOST];
  for (int i = 0; i < n_inputs && i < MOST; i++)
    locations[i] = location;
  MlirNamedAttribute attrs[] = {
      tp__named(context, "sym_name", tp__attr_string(context, name)),
      tp__named(context, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(context, n_inputs, inputs, n_results, results))),
      tp__named(context, "sym_visibility", tp__attr_string(context, "private")),
      tp__named(context, "tp.fused", fused),
  };
  MlirOperation func = tp__create(&(tp_build){
      .name = "func.func", .location = location, .n_attributes = TP_LEN(attrs), .attributes = attrs, .n_regions = 1});
  *block = mlirBlockCreate(n_inputs, inputs, locations);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(func, 0), *block);
  mlirBlockAppendOwnedOperation(mlirModuleGetBody(mlirModuleFromOperation(module)), func);
}

/* The same with each group as a row. */
static body in_groups(const body *b) {
  body parts = *b;
  parts.shape[b->rank - 1] /= TP_ROW_KERNEL_GROUP;
  parts.shape[parts.rank++] = TP_ROW_KERNEL_GROUP;
  parts.tensor = mlirRankedTensorTypeGet(parts.rank, parts.shape, parts.element, (MlirAttribute){NULL});
  return parts;
}

/* Everything is computed in the shape of the root; others may have more or fewer dimensions of size 1. */
static void fill_func(const tp__fusion *f, MlirBlock block, const operand *all, int n_results, const result *made) {
  MlirLocation location = mlirOperationGetLocation(f->collective);
  MlirContext context = mlirOperationGetContext(f->collective);
  MlirType tensor = mlirValueGetType(f->root);
  body b = {.context = context,
            .location = location,
            .end = tp__create(&(tp_build){.name = "func.return", .location = location}),
            .tensor = tensor,
            .element = tp__element_type(tensor),
            .f32 = mlirF32TypeGet(context)};
  MlirValue args[TP_FUSED_OPERANDS] = {{NULL}}, results[TP_FUSED_RESULTS], all_results[TP_FUSED_RESULTS] = {{NULL}};
  int at = 0;
  tp__static_tensor(tensor, &b.rank, b.shape);
  mlirBlockAppendOwnedOperation(block, b.end);
  for (int i = 0; i < TP_FUSED_OPERANDS; i++)
    if (!mlirValueIsNull(all[i].value))
      args[i] = mlirBlockGetArgument(block, at++);
  MlirValue rows = f->product.is_fused ? build_rows(&b, f, args[1], args[2]) : args[0];
  MlirValue a = viewed(&b, copy_on(&b, f->collective, rows), tensor);
  MlirValue r = build_sum(&b, a, args[4], viewed(&b, args[3], tensor)), y = r;
  if (f->norm.kind != TP_NO_NORM)
    y = build_norm(&b, r, &f->norm, args[5], args[6]);
  all_results[0] = r;
  all_results[1] = y;
  if (!mlirOperationIsNull(f->gather))
    all_results[1] = copy_on(&b, f->gather, viewed(&b, y, mlirValueGetType(mlirOperationGetOperand(f->gather, 0))));
  body parts = f->quantise.kind == TP_QUANTISED_PER_GROUP ? in_groups(&b) : b;
  MlirValue divided = viewed(&parts, y, parts.tensor);
  input scale = {args[7], mlirValueIsNull(args[7]) ? outer_map(&parts) : row_map(&parts, args[7])};
  if (tp__makes_scales(f))
    scale.value = all_results[3] = build_scale(&parts, divided, &f->quantise);
  if (f->quantise.kind != TP_NOT_QUANTISED)
    all_results[2] = build_quantised(&parts, divided, scale);
  for (int i = at = 0; i < TP_FUSED_RESULTS; i++)
    if (made[i].name)
      results[at++] = viewed(&b, all_results[i], made[i].type);
  mlirOperationSetOperands(b.end, n_results, results);
}

/* By TP_FUSED_RESULTS; without a name what there is not. */
static void find_results(const tp__fusion *f, result *results) {
  MlirValue out = tp__fused_out(f);
  int64_t shape[TP_MAX_RANK];
  int rank;
  tp__static_tensor(mlirValueGetType(f->root), &rank, shape);
  for (int i = 0; i < TP_FUSED_RESULTS; i++)
    results[i] = (result){.name = NULL};
  if (f->keeps_sum)
    results[0] = (result){"residual_out", f->sum_value, mlirValueGetType(f->sum_value)};
  if (f->keeps_out)
    results[1] = (result){"out", out, mlirValueGetType(out)};
  if (f->quantise.kind != TP_NOT_QUANTISED)
    results[2] = (result){"quantised", f->quantised_value, mlirValueGetType(f->quantised_value)};
  if (!tp__makes_scales(f))
    return;
  MlirType f32 = mlirF32TypeGet(mlirOperationGetContext(f->collective));
  bool is_kept = !mlirValueIsNull(f->scale_value), in_groups = f->quantise.kind == TP_QUANTISED_PER_GROUP;
  shape[rank - 1] /= in_groups ? TP_ROW_KERNEL_GROUP : shape[rank - 1];
  results[3] = (result){"scale", f->scale_value,
                        is_kept ? mlirValueGetType(f->scale_value)
                                : mlirRankedTensorTypeGet(rank - !in_groups, shape, f32, (MlirAttribute){NULL})};
}

void tp__outline_fusion(MlirOperation module, const char *name, MlirOperation where, const tp__fusion *f) {
  MlirContext context = mlirOperationGetContext(module);
  bool multiplies = f->product.is_fused;
  const MlirValue none = {NULL};
  const operand all[TP_FUSED_OPERANDS] = {{"input", multiplies ? none : mlirOperationGetOperand(f->collective, 0)},
                                          {"a", multiplies ? f->product.a : none},
                                          {"b", multiplies ? f->product.b : none},
                                          {"residual", f->sum.residual},
                                          {"bias", f->sum.bias},
                                          {"gamma", f->norm.gamma},
                                          {"beta", f->norm.beta},
                                          {"static_scale", f->quantise.static_scale}};
  operand given[TP_FUSED_OPERANDS];
  result all_made[TP_FUSED_RESULTS], made[TP_FUSED_RESULTS];
  MlirValue values[TP_FUSED_OPERANDS];
  MlirType inputs[TP_FUSED_OPERANDS], types[TP_FUSED_RESULTS];
  int n = 0, n_results = 0;
  MlirBlock block;
  for (int i = 0; i < TP_FUSED_OPERANDS; i++)
    if (!mlirValueIsNull(all[i].value)) {
      values[n] = all[i].value;
      inputs[n] = mlirValueGetType(all[i].value);
      given[n++] = all[i];
    }
  find_results(f, all_made);
  for (int i = 0; i < TP_FUSED_RESULTS; i++)
    if (all_made[i].name) {
      types[n_results] = all_made[i].type;
      made[n_results++] = all_made[i];
    }
  tp__build_fused_func(module, name, mlirOperationGetLocation(f->collective), describe(f, n, given, n_results, made), n, inputs,
                       n_results, types, &block);
  fill_func(f, block, all, n_results, all_made);
  MlirNamedAttribute callee = tp__named(context, "callee", mlirFlatSymbolRefAttrGet(context, tp__ref(name)));
  MlirOperation call = tp__build(where, "func.call", n, values, n_results, types, 1, &callee);
  for (int i = n_results; i-- > 0;)
    if (!mlirValueIsNull(made[i].value))
      mlirValueReplaceAllUsesOfWith(made[i].value, mlirOperationGetResult(call, i));
}
