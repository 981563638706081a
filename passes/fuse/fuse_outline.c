/* Outlines a fusion to a function. The body is generated from the match instead of being moved. A
 * program that inlines it computes what the kernel computes, so running it verifies the match. */
#include "passes/fuse/fuse_bodies.h"

#include "passes/support/lower.h"

/* Builds the matmul that produces the summed rows, in the shape of the collective's operand. */
static MlirValue build_rows(const tp__body *b, const tp__fusion *f, MlirValue a, MlirValue factor) {
  MlirType type = mlirValueGetType(mlirOperationGetOperand(f->collective, 0));
  int64_t n = b->shape[b->rank - 1], m = 1;
  for (int d = 0; d < mlirShapedTypeGetRank(type) - 1; d++)
    m *= mlirShapedTypeGetDimSize(type, d);
  return tp__body_view(
      b, tp__build_matmul(b->end, a, factor, f->matmul.transpose_b, m, n, f->matmul.k), type);
}

/* Clones a collective with another operand. */
static MlirValue copy_on(const tp__body *b, MlirOperation op, MlirValue operand) {
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

/* A result of the function and the program's value that it replaces, or null. */
typedef struct result {
  const char *name;
  MlirValue value;
  MlirType type;
} result;

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

static MlirAttribute describe(const tp__fusion *f, int n, const operand *operands, int n_results,
                              const result *made) {
  static const char *const quantizations[] = {[TP_QUANTIZED_STATIC] = "static",
                                              [TP_QUANTIZED_PER_TOKEN] = "per_token",
                                              [TP_QUANTIZED_PER_GROUP] = "per_group"};
  static const char *const norms[] = {
      [TP_NO_NORM] = "none", [TP_RMS_NORM] = "rms_norm", [TP_LAYER_NORM] = "layer_norm"};
  static const char *const kinds[2][2] = {{"reduce_rows", "quantize_rows"},
                                          {"multiply_rows", "multiply_quantize_rows"}};
  MlirContext context = mlirOperationGetContext(f->collective);
  const char *inputs[TP_FUSED_OPERANDS], *results[TP_FUSED_RESULTS];
  bool quantizes = f->quantize.kind != TP_NOT_QUANTIZED;
  bool gathers = false;
  for (int i = 0; i < TP_FUSED_RESULTS; i++)
    gathers = gathers || (f->made[i].is_made && !mlirOperationIsNull(f->made[i].gather));
  const char *layout = f->dim < 0 ? "whole" : gathers ? "gathered" : "scattered";
  for (int i = 0; i < n; i++)
    inputs[i] = operands[i].name;
  for (int i = 0; i < n_results; i++)
    results[i] = made[i].name;
  MlirType rows = mlirValueGetType(mlirOperationGetOperand(f->collective, 0));
  int64_t shape[TP_MAX_RANK];
  int rank, n_entries = 8;
  tp__static_tensor(rows, &rank, shape);
  MlirNamedAttribute entries[14] = {
      tp__named(context, "kind", tp__attr_string(context, kinds[f->matmul.is_fused][quantizes])),
      tp__named(context, "algorithm", tp__attr_string(context, tp_fused_name(f->price.algorithm))),
      tp__named(context, "axes", tp__fused_axes(context, f->mesh, f->n_axes, f->axes)),
      tp__named(context, "layout", tp__attr_string(context, layout)),
      tp__named(context, "dim",
                mlirIntegerAttrGet(mlirIntegerTypeGet(context, 64), f->dim < 0 ? 0 : f->dim)),
      tp__named(context, "operands", tp__fused_names(context, n, inputs)),
      tp__named(context, "results", tp__fused_names(context, n_results, results)),
      tp__named(context, "norm", tp__attr_string(context, norms[f->norm.kind])),
  };
  if (f->norm.kind != TP_NO_NORM)
    entries[n_entries++] = tp__named(context, "epsilon", f32_attr(context, f->norm.epsilon));
  if (quantizes) {
    entries[n_entries++] =
        tp__named(context, "quantize", tp__attr_string(context, quantizations[f->quantize.kind]));
    entries[n_entries++] =
        tp__named(context, "least_largest", f32_attr(context, f->quantize.least_largest));
    entries[n_entries++] =
        tp__named(context, "least_scale", f32_attr(context, f->quantize.least_scale));
  }
  if (f->matmul.is_fused) {
    entries[n_entries++] = tp__named(context, "shape", tp__attr_i64s(context, rank, shape));
    entries[n_entries++] =
        tp__named(context, "transpose_b", mlirBoolAttrGet(context, f->matmul.transpose_b));
  }
  return mlirDictionaryAttrGet(context, n_entries, entries);
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

/* Returns the type of scales for which the program has no tensor. */
static MlirType type_of_scales(const tp__fusion *f) {
  int64_t shape[TP_MAX_RANK];
  int rank;
  tp__static_tensor(mlirValueGetType(f->root), &rank, shape);
  bool in_groups = f->quantize.kind == TP_QUANTIZED_PER_GROUP;
  if (in_groups)
    shape[rank - 1] /= TP_ROW_KERNEL_GROUP;
  MlirType f32 = mlirF32TypeGet(mlirOperationGetContext(f->collective));
  return mlirRankedTensorTypeGet(in_groups ? rank : rank - 1, shape, f32, (MlirAttribute){NULL});
}

/* Fills the body. Everything is computed in the shape of the root; operands and results may have
 * more or fewer dimensions of size 1. */
static void fill_func(const tp__fusion *f, MlirBlock block, const operand *all,
                      const result *made) {
  MlirLocation location = mlirOperationGetLocation(f->collective);
  MlirContext context = mlirOperationGetContext(f->collective);
  MlirType tensor = mlirValueGetType(f->root);
  tp__body b = {.context = context,
                .location = location,
                .end = tp__create(&(tp_build){.name = "func.return", .location = location}),
                .tensor = tensor,
                .element = tp__element_type(tensor),
                .f32 = mlirF32TypeGet(context)};
  MlirValue args[TP_FUSED_OPERANDS] = {{NULL}}, results[TP_FUSED_RESULTS],
            values[TP_FUSED_RESULTS] = {{NULL}};
  int at = 0;
  tp__static_tensor(tensor, &b.rank, b.shape);
  mlirBlockAppendOwnedOperation(block, b.end);
  for (int i = 0; i < TP_FUSED_OPERANDS; i++)
    if (!mlirValueIsNull(all[i].value))
      args[i] = mlirBlockGetArgument(block, at++);
  MlirValue rows = f->matmul.is_fused ? build_rows(&b, f, args[1], args[2]) : args[0];
  MlirValue a = tp__body_view(&b, copy_on(&b, f->collective, rows), tensor);
  MlirValue r = tp__build_sum(&b, a, args[4], tp__body_view(&b, args[3], tensor)), y = r;
  if (f->norm.kind != TP_NO_NORM)
    y = tp__build_norm(&b, r, &f->norm, args[5], args[6]);
  values[TP_RESULT_SUM] = r;
  values[TP_RESULT_OUT] = y;
  if (f->quantize.kind != TP_NOT_QUANTIZED)
    values[TP_RESULT_QUANTIZED] =
        tp__build_quantized(&b, y, &f->quantize, args[7], &values[TP_RESULT_SCALE]);
  for (int i = at = 0; i < TP_FUSED_RESULTS; i++) {
    MlirOperation gather = f->made[i].gather;
    if (!made[i].name)
      continue;
    if (!mlirOperationIsNull(gather))
      values[i] =
          copy_on(&b, gather, tp__body_view(&b, values[i], mlirValueGetType(f->made[i].value)));
    results[at++] = tp__body_view(&b, values[i], made[i].type);
  }
  mlirOperationSetOperands(b.end, at, results);
}

/* Fills the results by tp__fused_result. Results that are not computed have no name. */
static void find_results(const tp__fusion *f, result *results) {
  static const char *const names[TP_FUSED_RESULTS] = {[TP_RESULT_SUM] = "residual_out",
                                                      [TP_RESULT_OUT] = "out",
                                                      [TP_RESULT_QUANTIZED] = "quantized",
                                                      [TP_RESULT_SCALE] = "scale"};
  for (int i = 0; i < TP_FUSED_RESULTS; i++) {
    const tp__fusion_output *made = &f->made[i];
    MlirValue value =
        mlirOperationIsNull(made->gather) ? made->value : mlirOperationGetResult(made->gather, 0);
    results[i] = (result){.name = NULL};
    if (made->is_made)
      results[i] = (result){names[i], value,
                            mlirValueIsNull(value) ? type_of_scales(f) : mlirValueGetType(value)};
  }
}

void tp__outline_fusion(MlirOperation module, const char *name, MlirOperation where,
                        const tp__fusion *f) {
  MlirContext context = mlirOperationGetContext(module);
  bool multiplies = f->matmul.is_fused;
  const MlirValue none = {NULL};
  const operand all[TP_FUSED_OPERANDS] = {
      {"input", multiplies ? none : mlirOperationGetOperand(f->collective, 0)},
      {"a", multiplies ? f->matmul.a : none},
      {"b", multiplies ? f->matmul.b : none},
      {"residual", f->sum.residual},
      {"bias", f->sum.bias},
      {"gamma", f->norm.gamma},
      {"beta", f->norm.beta},
      {"static_scale", f->quantize.static_scale}};
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
  tp__build_fused_func(module, name, mlirOperationGetLocation(f->collective),
                       describe(f, n, given, n_results, made), n, inputs, n_results, types, &block);
  fill_func(f, block, all, all_made);
  MlirNamedAttribute callee =
      tp__named(context, "callee", mlirFlatSymbolRefAttrGet(context, tp__ref(name)));
  MlirOperation call = tp__build(where, "func.call", n, values, n_results, types, 1, &callee);
  for (int i = n_results; i-- > 0;)
    if (!mlirValueIsNull(made[i].value))
      mlirValueReplaceAllUsesOfWith(made[i].value, mlirOperationGetResult(call, i));
}
