/* Ops whose positions are data: dynamic slices and gather. Positions are clamped, so that what is
 * read or written lies inside of the operand. */
#include "passes/import/stablehlo/hlo.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* ---- dynamic slices ---- */

/* Reads the start along each dimension, between 0 and the last one at which the slice fits. Those
 * that are constants are static. Returns the number of the others. */
static int read_starts(tp_hlo *hlo, MlirOperation op, int first, const tp_hlo_shape *whole,
                       const int64_t *sizes, int64_t *statics, MlirValue *dynamics) {
  int n = 0;
  for (int d = 0; d < whole->rank; d++) {
    int64_t last = whole->sizes[d] - sizes[d];
    MlirValue start = tp__hlo_operand(hlo, op, first + d);
    tp_hlo_kind kind = tp__hlo_kind(tp__hlo_operand_element(op, first + d));
    MlirAttribute known = tp__hlo_splat_of(start);
    statics[d] = 0;
    if (last == 0)
      continue;
    if (!mlirAttributeIsNull(known) && kind == TP_HLO_SIGNED) {
      int64_t value = mlirIntegerAttrGetValueInt(known);
      statics[d] = value < 0 ? 0 : value > last ? last : value;
      continue;
    }
    MlirValue index = tp__hlo_index(hlo, start, kind != TP_HLO_SIGNED);
    MlirType type = mlirValueGetType(index);
    index = tp__hlo_binary(hlo, "arith.maxsi", index, tp__hlo_int_constant(hlo, type, 0));
    dynamics[n++] =
        tp__hlo_binary(hlo, "arith.minsi", index, tp__hlo_int_constant(hlo, type, last));
    statics[d] = mlirShapedTypeGetDynamicStrideOrOffset();
  }
  return n;
}

static tp_status check_starts(MlirOperation op, int first, int rank) {
  int n = (int)mlirOperationGetNumOperands(op) - first;
  if (n != rank)
    return tp__error(op, TP_INVALID_ARGUMENT, "has %d start indices for a tensor of rank %d", n,
                     rank);
  for (int d = 0; d < rank; d++) {
    MlirType type = tp__hlo_operand_type(op, first + d);
    tp_hlo_kind kind = tp__hlo_kind(tp__element_type(type));
    if (tp__hlo_shape(type).rank != 0 || (kind != TP_HLO_SIGNED && kind != TP_HLO_UNSIGNED))
      return tp__error(op, TP_INVALID_ARGUMENT,
                       "operand %d, a start index, must be an integer tensor of rank 0", first + d);
  }
  return TP_OK;
}

/* tensor.extract_slice or insert_slice with unit strides. */
static MlirValue build_slice(tp_hlo *hlo, bool inserts, MlirType type, MlirValue *operands,
                             int n_dynamic, const int64_t *offsets, const tp_hlo_shape *part) {
  int64_t ones[TP_MAX_RANK];
  for (int d = 0; d < part->rank; d++)
    ones[d] = 1;
  const int32_t segments[] = {1, 1, n_dynamic, 0, 0};
  int skip = inserts ? 0 : 1;
  MlirNamedAttribute attrs[] = {
      tp__named(hlo->context, "static_offsets", tp__attr_i64s(hlo->context, part->rank, offsets)),
      tp__named(hlo->context, "static_sizes", tp__attr_i64s(hlo->context, part->rank, part->sizes)),
      tp__named(hlo->context, "static_strides", tp__attr_i64s(hlo->context, part->rank, ones)),
      tp__named(hlo->context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(hlo->context, 5 - skip, segments + skip)),
  };
  MlirOperation op = tp__hlo_build_op(
      hlo, &(tp_build){.name = inserts ? "tensor.insert_slice" : "tensor.extract_slice",
                       .n_operands = 1 + inserts + n_dynamic,
                       .operands = operands,
                       .n_results = 1,
                       .results = &type,
                       .n_attributes = TP_LEN(attrs),
                       .attributes = attrs});
  return mlirOperationGetResult(op, 0);
}

static tp_status does_not_fit(MlirOperation op, int dim, int64_t part, int64_t whole) {
  return tp__error(op, TP_INVALID_ARGUMENT,
                   "the slice has %lld elements along dimension %d, but operand 0 has %lld",
                   (long long)part, dim, (long long)whole);
}

static tp_status dynamic_slice(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  MlirValue operands[1 + TP_MAX_RANK];
  int64_t offsets[TP_MAX_RANK], ones[TP_MAX_RANK];
  if (mlirOperationGetNumOperands(op) < 1)
    return tp__error(op, TP_INVALID_ARGUMENT, "needs an operand");
  tp_hlo_shape from = tp__hlo_shape(tp__hlo_operand_type(op, 0)), to = {.rank = from.rank};
  TP_TRY(check_starts(op, 1, from.rank));
  TP_TRY(tp__hlo_ints(op, "slice_sizes", from.rank, -1, to.sizes));
  for (int d = 0; d < from.rank; d++) {
    if (to.sizes[d] < 0 || to.sizes[d] > from.sizes[d])
      return does_not_fit(op, d, to.sizes[d], from.sizes[d]);
    ones[d] = 1;
  }
  MlirType type = tp__hlo_result_type(hlo, op, 0);
  operands[0] = tp__hlo_operand(hlo, op, 0);
  if (!mlirTypeEqual(type, tp__tensor_like(mlirValueGetType(operands[0]), to.rank, to.sizes)))
    return tp__error(op, TP_INVALID_ARGUMENT, "the result does not have the sizes slice_sizes");
  int n = read_starts(hlo, op, 1, &from, to.sizes, offsets, operands + 1);
  return tp__hlo_replace(hlo, op,
                         n == 0 || tp__hlo_elements(&to) == 0
                             ? tp__hlo_slice(hlo, operands[0], offsets, to.sizes, ones)
                             : build_slice(hlo, false, type, operands, n, offsets, &to));
}

static tp_status dynamic_update_slice(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  MlirValue operands[2 + TP_MAX_RANK];
  int64_t offsets[TP_MAX_RANK];
  if (mlirOperationGetNumOperands(op) < 2)
    return tp__error(op, TP_INVALID_ARGUMENT, "needs an operand and an update");
  tp_hlo_shape into = tp__hlo_shape(tp__hlo_operand_type(op, 0));
  tp_hlo_shape part = tp__hlo_shape(tp__hlo_operand_type(op, 1));
  TP_TRY(check_starts(op, 2, into.rank));
  if (part.rank != into.rank || !mlirTypeEqual(tp__hlo_operand_type(op, 0), tp__result_type(op)) ||
      !mlirTypeEqual(tp__hlo_operand_element(op, 0), tp__hlo_operand_element(op, 1)))
    return tp__error(op, TP_INVALID_ARGUMENT,
                     "operand 0 and the result must have one type, and the update its elements and "
                     "rank");
  for (int d = 0; d < into.rank; d++)
    if (part.sizes[d] > into.sizes[d])
      return does_not_fit(op, d, part.sizes[d], into.sizes[d]);
  MlirType type = tp__hlo_result_type(hlo, op, 0);
  operands[0] = tp__hlo_operand(hlo, op, 1);
  operands[1] = tp__hlo_operand(hlo, op, 0);
  if (tp__hlo_elements(&part) == 0)
    return tp__hlo_replace(hlo, op, operands[1]);
  if (mlirTypeEqual(mlirValueGetType(operands[0]), type))
    return tp__hlo_replace(hlo, op, operands[0]);
  int n = read_starts(hlo, op, 2, &into, part.sizes, offsets, operands + 2);
  return tp__hlo_replace(hlo, op, build_slice(hlo, true, type, operands, n, offsets, &part));
}

/* ---- gather ---- */

typedef struct gather {
  int n_offset, n_collapsed, n_batching, n_mapped;
  int64_t offset[TP_MAX_RANK], collapsed[TP_MAX_RANK];        /* dimensions of result, operand */
  int64_t batching[TP_MAX_RANK], index_batching[TP_MAX_RANK]; /* of operand and indices */
  int64_t mapped[TP_MAX_RANK];                                /* operand's, per component */
  int64_t vector_dim, sizes[TP_MAX_RANK];
  tp_hlo_shape operand, indices, result;
  int index_loops[TP_MAX_RANK]; /* result's dimension of each of the indices; -1: the components */
} gather;

static tp_status read_gather(MlirOperation op, gather *g) {
  static const char name[] = "dimension_numbers";
  int n;
  g->operand = tp__hlo_shape(tp__hlo_operand_type(op, 0));
  g->indices = tp__hlo_shape(tp__hlo_operand_type(op, 1));
  g->result = tp__hlo_shape(tp__result_type(op));
  TP_TRY(tp__hlo_field_list(op, name, "offset_dims", TP_MAX_RANK, &g->n_offset, g->offset));
  TP_TRY(tp__hlo_field_list(op, name, "collapsed_slice_dims", TP_MAX_RANK, &g->n_collapsed,
                            g->collapsed));
  TP_TRY(tp__hlo_field_list(op, name, "operand_batching_dims", TP_MAX_RANK, &g->n_batching,
                            g->batching));
  TP_TRY(tp__hlo_field_list(op, name, "start_indices_batching_dims", TP_MAX_RANK, &n,
                            g->index_batching));
  TP_TRY(tp__hlo_field_list(op, name, "start_index_map", TP_MAX_RANK, &g->n_mapped, g->mapped));
  TP_TRY(tp__hlo_field_int(op, name, "index_vector_dim", 0, &g->vector_dim));
  TP_TRY(tp__hlo_ints(op, "slice_sizes", g->operand.rank, -1, g->sizes));
  return n == g->n_batching ? TP_OK
                            : tp__error(op, TP_INVALID_ARGUMENT,
                                        "%s: operand_batching_dims and start_indices_batching_dims "
                                        "must be as many",
                                        name);
}

/* Numbers the dimensions of the result that the indices have: those that are not offsets, in
 * order. */
static bool batch_loops(gather *g) {
  int loop = 0;
  for (int d = 0; d < g->indices.rank; d++) {
    g->index_loops[d] = -1;
    if (d == g->vector_dim)
      continue;
    while (loop < g->result.rank && tp__hlo_has(g->n_offset, g->offset, loop))
      loop++;
    if (loop >= g->result.rank || g->result.sizes[loop] != g->indices.sizes[d])
      return false;
    g->index_loops[d] = loop++;
  }
  while (loop < g->result.rank && tp__hlo_has(g->n_offset, g->offset, loop))
    loop++;
  return loop == g->result.rank;
}

static tp_status check_gather(MlirOperation op, gather *g) {
  tp_hlo_kind kind = tp__hlo_kind(tp__hlo_operand_element(op, 1));
  int64_t components =
      g->vector_dim < g->indices.rank && g->vector_dim >= 0 ? g->indices.sizes[g->vector_dim] : 1;
  int rank = g->operand.rank, n_windows = 0;
  bool ok = (kind == TP_HLO_SIGNED || kind == TP_HLO_UNSIGNED) && g->vector_dim >= 0 &&
            g->vector_dim <= g->indices.rank && components == g->n_mapped &&
            tp__hlo_in_range(g->n_offset, g->offset, g->result.rank) &&
            tp__hlo_in_range(g->n_collapsed, g->collapsed, rank) &&
            tp__hlo_in_range(g->n_mapped, g->mapped, rank) &&
            tp__hlo_in_range(g->n_batching, g->batching, rank) &&
            tp__hlo_in_range(g->n_batching, g->index_batching, g->indices.rank) &&
            mlirTypeEqual(tp__hlo_operand_element(op, 0), tp__hlo_result_element(op, 0)) &&
            batch_loops(g);
  for (int d = 0; ok && d < rank; d++) {
    bool is_window = !tp__hlo_has(g->n_collapsed, g->collapsed, d) &&
                     !tp__hlo_has(g->n_batching, g->batching, d);
    ok = g->sizes[d] >= 0 && g->sizes[d] <= g->operand.sizes[d] && (is_window || g->sizes[d] <= 1);
    if (ok && is_window)
      ok = n_windows < g->n_offset && g->result.sizes[g->offset[n_windows++]] == g->sizes[d];
  }
  for (int i = 0; ok && i < g->n_batching; i++)
    ok = g->index_batching[i] != g->vector_dim &&
         g->indices.sizes[g->index_batching[i]] == g->operand.sizes[g->batching[i]];
  return ok && n_windows == g->n_offset
             ? TP_OK
             : tp__error(op, TP_INVALID_ARGUMENT,
                         "dimension_numbers and slice_sizes do not fit the types of its operands "
                         "and of its result");
}

/* The position along dimension `d` of the operand: start, clamped, plus the place in the slice. */
static MlirValue position(tp_hlo *hlo, MlirOperation op, const gather *g, MlirOperation generic,
                          int d, int window_loop) {
  MlirType index = mlirIndexTypeGet(hlo->context);
  MlirValue at = {NULL};
  int64_t last = g->operand.sizes[d] - g->sizes[d];
  for (int i = 0; i < g->n_batching; i++)
    if (g->batching[i] == d)
      return tp__hlo_loop_index(hlo, g->index_loops[g->index_batching[i]]);
  for (int i = 0; i < g->n_mapped; i++)
    if (g->mapped[i] == d && last > 0) {
      bool is_signed = tp__hlo_kind(tp__hlo_operand_element(op, 1)) == TP_HLO_SIGNED;
      at = tp__hlo_index(hlo, tp__hlo_body_arg(generic, i), !is_signed);
      at = tp__hlo_binary(hlo, "arith.maxsi", at, tp__hlo_int_constant(hlo, index, 0));
      at = tp__hlo_binary(hlo, "arith.minsi", at, tp__hlo_int_constant(hlo, index, last));
    }
  MlirValue in_slice = window_loop >= 0 ? tp__hlo_loop_index(hlo, window_loop) : (MlirValue){NULL};
  if (mlirValueIsNull(at))
    return mlirValueIsNull(in_slice) ? tp__hlo_int_constant(hlo, index, 0) : in_slice;
  return mlirValueIsNull(in_slice) || g->sizes[d] == 1
             ? at
             : tp__hlo_binary(hlo, "arith.addi", at, in_slice);
}

/* Each component of the indices is an input of the generic, read at the loops that the indices
 * have; the operand is captured, and read at the position that the body computes. */
static MlirValue build_gather(tp_hlo *hlo, MlirOperation op, const gather *g) {
  MlirValue operands[TP_MAX_RANK + 1], at[TP_MAX_RANK + 1];
  MlirAttribute maps[TP_MAX_RANK + 1];
  int all[TP_MAX_RANK], windows = 0;
  MlirType type = tp__hlo_result_type(hlo, op, 0);
  MlirAffineExpr exprs[TP_MAX_RANK];
  for (int i = 0; i < g->n_mapped; i++) {
    for (int d = 0; d < g->indices.rank; d++)
      exprs[d] = d == g->vector_dim ? mlirAffineConstantExprGet(hlo->context, i)
                                    : mlirAffineDimExprGet(hlo->context, g->index_loops[d]);
    operands[i] = tp__hlo_operand(hlo, op, 1);
    maps[i] = tp__hlo_map_of(hlo, g->result.rank, g->indices.rank, exprs);
  }
  for (int d = 0; d < g->result.rank; d++)
    all[d] = d;
  operands[g->n_mapped] = tp__hlo_build(hlo, "tensor.empty", type, 0, NULL);
  maps[g->n_mapped] = tp__hlo_loop_map(hlo, g->result.rank, g->result.rank, all);
  MlirOperation yield, outer = hlo->where;
  MlirOperation generic = tp__hlo_generic(hlo, g->n_mapped, 1, operands, maps, &yield);
  hlo->where = yield;
  at[0] = tp__hlo_operand(hlo, op, 0);
  for (int d = 0; d < g->operand.rank; d++) {
    bool is_window = !tp__hlo_has(g->n_collapsed, g->collapsed, d) &&
                     !tp__hlo_has(g->n_batching, g->batching, d);
    at[1 + d] = position(hlo, op, g, generic, d, is_window ? (int)g->offset[windows++] : -1);
  }
  MlirValue element =
      tp__hlo_build(hlo, "tensor.extract", tp__element_type(type), 1 + g->operand.rank, at);
  mlirOperationSetOperands(yield, 1, &element);
  hlo->where = outer;
  return mlirOperationGetResult(generic, 0);
}

static tp_status gather_op(tp_hlo *hlo, MlirOperation op, const tp_hlo_row *row) {
  (void)row;
  gather g = {0};
  TP_TRY(read_gather(op, &g));
  TP_TRY(check_gather(op, &g));
  if (hlo->scalar)
    return tp__error(op, TP_UNSUPPORTED, "is not supported in the body of another op");
  MlirValue now = tp__hlo_elements(&g.result) == 0
                      ? tp__hlo_build(hlo, "tensor.empty", tp__hlo_result_type(hlo, op, 0), 0, NULL)
                      : build_gather(hlo, op, &g);
  return tp__hlo_replace(hlo, op, now);
}

const tp_hlo_row tp__hlo_index_rows[] = {
    {"stablehlo.dynamic_slice", TP_HLO_ANY, 1, 0, dynamic_slice, NULL, "tensor.extract_slice"},
    {"stablehlo.dynamic_update_slice", TP_HLO_ANY, 1, 0, dynamic_update_slice, NULL,
     "tensor.insert_slice"},
    {"stablehlo.gather", 2, 1, 0, gather_op, NULL,
     "linalg.generic that reads the operand by tensor.extract"},
    {NULL},
};
