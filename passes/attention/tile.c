/* Builds tiles of the values of an attention for one block: slices of its inputs, and its ops
 * applied to tiles. */
#include "passes/attention/tile.h"

#include "ir/diagnostics.h"
#include "passes/support/from_text.h"
#include "rules/attention_loops.h"

#include <string.h>

tp_loop_list tp__flat_loops(const tp_score_dim *dims, int n) {
  tp_loop_list list = {0};
  for (int d = 0; d < n; d++)
    for (int k = 0; k < dims[d].n; k++)
      list.loops[list.n++] = dims[d].loops[k];
  return list;
}

tp_loop_list tp__result_loops(const tp_attention_op *op) {
  tp_score_dim dims[TP_MAX_RANK];
  tp__attention_result_dims(op, dims);
  return tp__flat_loops(dims, tp__value_rank(mlirOperationGetResult(op->op, 0)));
}

/* ---- types ---- */

static MlirType tensor_of(MlirType element, int rank, const int64_t *shape) {
  return mlirRankedTensorTypeGet(rank, shape, element, (MlirAttribute){NULL});
}

MlirType tp__loops_type(const tp_tiler *t, const tp_loop_list *list, MlirType element, bool whole) {
  int64_t shape[TP_MAX_SCORE_LOOPS];
  for (int i = 0; i < list->n; i++)
    shape[i] = whole ? t->a->sizes[list->loops[i]] : t->now[list->loops[i]];
  return tensor_of(element, list->n, shape);
}

/* The shape of a tile. A dimension without loops stays whole. */
static int tile_shape(const tp_tiler *t, MlirType type, const tp_score_dim *dims, int64_t *shape) {
  int rank = 0;
  tp__static_tensor(type, &rank, shape);
  for (int d = 0; d < rank; d++)
    for (int k = 0; k < dims[d].n; k++)
      shape[d] = (k ? shape[d] : 1) * t->now[dims[d].loops[k]];
  return rank;
}

static MlirType tile_type(const tp_tiler *t, MlirType type, const tp_score_dim *dims) {
  int64_t shape[TP_MAX_RANK];
  int rank = tile_shape(t, type, dims, shape);
  return tp__tensor_like(type, rank, shape);
}

MlirType tp__tile_type(const tp_tiler *t, int i) {
  tp_score_dim dims[TP_MAX_RANK];
  tp__attention_result_dims(&t->a->ops[i], dims);
  return tile_type(t, mlirValueGetType(mlirOperationGetResult(t->a->ops[i].op, 0)), dims);
}

/* ---- slicing ---- */

/* The offset of the block in a dimension of these loops; null: 0. */
static MlirValue offset_of(const tp_tiler *t, tp_score_dim dim) {
  MlirValue offset = {NULL};
  for (int k = 0; k < dim.n; k++) {
    MlirValue next = t->offset[dim.loops[k]];
    if (!mlirValueIsNull(offset))
      offset = tp__binary(t->where, "arith.muli", offset,
                          tp__index_constant(t->where, t->a->sizes[dim.loops[k]]));
    if (!mlirValueIsNull(next))
      offset = mlirValueIsNull(offset) ? next : tp__binary(t->where, "arith.addi", offset, next);
  }
  return offset;
}

static MlirValue cut(tp_tiler *t, MlirValue value, const tp_score_dim *dims) {
  int64_t to[TP_MAX_RANK], shape[TP_MAX_RANK];
  int rank = tile_shape(t, mlirValueGetType(value), dims, to);
  const tp_ring_value *ring_values = NULL;
  for (int i = 0; i < t->n_ring_values; i++)
    if (mlirValueEqual(value, t->ring_values[i].whole))
      ring_values = &t->ring_values[i];
  value = ring_values ? ring_values->part : value;
  tp__static_tensor(mlirValueGetType(value), &rank, shape);
  for (int d = 0; d < rank; d++) {
    /* the part covers its whole dimension */
    bool is_part = ring_values && dims[d].n > 0 && dims[d].loops[0] == t->a->column;
    MlirValue offset = is_part ? t->within : offset_of(t, dims[d]);
    shape[d] = to[d];
    if (!mlirValueIsNull(offset))
      value = tp__extract_slice_at(t->where, value, d, offset, shape);
  }
  return value;
}

static MlirValue splat_of(tp_tiler *t, MlirOperation constant, MlirType type) {
  MlirAttribute dense = tp__inherent(constant, "value");
  if (!mlirAttributeIsADenseElements(dense) || !mlirDenseElementsAttrIsSplat(dense))
    return (MlirValue){NULL};
  return tp__constant(
      t->where, type,
      mlirDenseElementsAttrSplatGet(type, mlirDenseElementsAttrGetSplatValue(dense)));
}

/* Slices out a tile. Values without inputs (empty, fill, splat) are rebuilt at tile size. */
static MlirValue cut_out(tp_tiler *t, MlirValue value, const tp_score_dim *dims) {
  MlirOperation op = tp__defining_op(value);
  MlirValue tile = {NULL};
  MlirType type = tile_type(t, mlirValueGetType(value), dims);
  if (!mlirOperationIsNull(op) && tp__op_is(op, "tensor.empty"))
    tile = tp__empty(t->where, type);
  if (!mlirOperationIsNull(op) && tp__op_is(op, "arith.constant"))
    tile = splat_of(t, op, type);
  if (!mlirOperationIsNull(op) && tp__op_is(op, "linalg.fill")) {
    MlirOperation fill = mlirOperationClone(op);
    mlirOperationSetOperand(fill, 1, tp__empty(t->where, type));
    tile = mlirOperationGetResult(fill, 0);
    mlirValueSetType(tile, type);
    tp__insert_before(t->where, fill);
  }
  return mlirValueIsNull(tile) ? cut(t, value, dims) : tile;
}

MlirValue tp__tile(tp_tiler *t, MlirValue value, const tp_score_dim *dims) {
  if (!mlirTypeIsARankedTensor(mlirValueGetType(value)))
    return value;
  int maker = tp__attention_producer(t->a, value);
  return maker < 0 ? cut_out(t, value, dims) : tp__tile_op(t, maker, (MlirValue){NULL});
}

MlirValue tp__take_tile(tp_tiler *t, MlirValue from, const tp_loop_list *list) {
  tp_score_dim dims[TP_MAX_SCORE_LOOPS];
  for (int i = 0; i < list->n; i++)
    dims[i] = (tp_score_dim){1, {list->loops[i]}};
  return cut(t, from, dims);
}

MlirValue tp__put_tile(tp_tiler *t, MlirValue tile, MlirValue into, const tp_loop_list *list) {
  int64_t sizes[TP_MAX_SCORE_LOOPS], offsets[TP_MAX_SCORE_LOOPS], ones[TP_MAX_SCORE_LOOPS];
  MlirValue operands[2 + TP_MAX_SCORE_LOOPS] = {tile, into};
  int n = 2;
  for (int i = 0; i < list->n; i++) {
    MlirValue offset = t->offset[list->loops[i]];
    sizes[i] = t->now[list->loops[i]];
    ones[i] = 1;
    offsets[i] = mlirValueIsNull(offset) ? 0 : mlirShapedTypeGetDynamicStrideOrOffset();
    if (!mlirValueIsNull(offset))
      operands[n++] = offset;
  }
  MlirContext context = mlirOperationGetContext(t->where);
  MlirType type = mlirValueGetType(into);
  MlirNamedAttribute attributes[] = {
      tp__named(context, "static_offsets", tp__attr_i64s(context, list->n, offsets)),
      tp__named(context, "static_sizes", tp__attr_i64s(context, list->n, sizes)),
      tp__named(context, "static_strides", tp__attr_i64s(context, list->n, ones)),
      tp__named(context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(context, 5, (const int32_t[]){1, 1, n - 2, 0, 0})),
  };
  MlirOperation op = tp__create(&(tp_build){.name = "tensor.insert_slice",
                                            .location = mlirOperationGetLocation(t->where),
                                            .n_operands = n,
                                            .operands = operands,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = TP_LEN(attributes),
                                            .attributes = attributes});
  tp__insert_before(t->where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__tile_text(tp_tiler *t, tp__string *text, int n, const MlirValue *values,
                        MlirType type) {
  MlirOperation func = tp__parse_function(t->where, text);
  bool made;
  if (!mlirOperationIsNull(func))
    return tp__inline_text(t->where, func, n, values, &made);
  t->status = TP_INTERNAL;
  return tp__empty(t->where, type);
}

MlirValue tp__zeros(tp_tiler *t, MlirType type) {
  MlirType element = tp__element_type(type);
  tp__string text = {0};
  tp__string_append(&text, "func.func private @zeros() -> ");
  tp__append_type(&text, type);
  tp__string_append(&text, " {\n  %zero = arith.constant 0.0 : ");
  tp__append_type(&text, element);
  tp__string_append(&text, "\n  %e = tensor.empty() : ");
  tp__append_type(&text, type);
  tp__string_append(&text, "\n  %f = linalg.fill ins(%zero : ");
  tp__append_type(&text, element);
  tp__string_append(&text, ") outs(%e : ");
  tp__append_type(&text, type);
  tp__string_append(&text, ") -> ");
  tp__append_type(&text, type);
  tp__string_append(&text, "\n  return %f : ");
  tp__append_type(&text, type);
  tp__string_append(&text, "\n}\n");
  return tp__tile_text(t, &text, 0, NULL, type);
}

/* ---- ops on tiles ---- */

/* Appends value `number + 1`: value `number` reshaped by a collapse to one dimension or an
 * expansion from one (or from or to rank 0). */
static void append_reshape(tp__string *text, int number, MlirType from, MlirType to) {
  int rank_from = (int)mlirShapedTypeGetRank(from), rank_to = (int)mlirShapedTypeGetRank(to);
  bool expands = rank_to > rank_from;
  int n = expands ? rank_to : rank_from;
  int64_t dims[TP_MAX_SCORE_LOOPS + TP_MAX_RANK], shape[TP_MAX_SCORE_LOOPS + TP_MAX_RANK];
  for (int d = 0; d < n; d++) {
    dims[d] = d;
    shape[d] = mlirShapedTypeGetDimSize(expands ? to : from, d);
  }
  tp__string_printf(text, "  %%v%d = tensor.%s_shape %%v%d [", number + 1,
                    expands ? "expand" : "collapse", number);
  if (rank_from > 0 && rank_to > 0)
    tp__append_list(text, n, dims);
  tp__string_append(text, "]");
  if (expands) {
    tp__string_append(text, " output_shape ");
    tp__append_list(text, n, shape);
  }
  tp__string_append(text, " : ");
  tp__append_type(text, from);
  tp__string_append(text, " into ");
  tp__append_type(text, to);
  tp__string_append(text, "\n");
}

MlirValue tp__reshaped(tp_tiler *t, MlirValue value, MlirType to) {
  MlirType from = mlirValueGetType(value), types[3] = {from};
  int64_t elements = 1;
  int n = 1;
  if (mlirTypeEqual(from, to))
    return value;
  for (int d = 0; d < mlirShapedTypeGetRank(from); d++)
    elements *= mlirShapedTypeGetDimSize(from, d);
  /* collapse to one dimension, then expand */
  if (mlirShapedTypeGetRank(from) > 1 && mlirShapedTypeGetRank(to) > 1)
    types[n++] = tensor_of(tp__element_type(from), 1, &elements);
  types[n] = to;
  tp__string text = {0};
  tp__string_append(&text, "func.func private @reshape(%v0: ");
  tp__append_type(&text, from);
  tp__string_append(&text, ") -> ");
  tp__append_type(&text, to);
  tp__string_append(&text, " {\n");
  for (int i = 0; i < n; i++)
    append_reshape(&text, i, types[i], types[i + 1]);
  tp__string_printf(&text, "  return %%v%d : ", n);
  tp__append_type(&text, to);
  tp__string_append(&text, "\n}\n");
  return tp__tile_text(t, &text, 1, &value, to);
}

typedef struct shifting {
  tp_tiler *t;
  const tp_attention_op *op;
} shifting;

/* Adds the block's offset to linalg.index, which must count from the start of the loops. */
static tp_status shift_index(MlirOperation op, void *data) {
  const shifting *s = data;
  if (!tp__op_is(op, "linalg.index"))
    return TP_OK;
  MlirValue offset =
      offset_of(s->t, s->op->loops[mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"))]);
  if (mlirValueIsNull(offset))
    return TP_OK;
  MlirValue index = mlirOperationGetResult(op, 0);
  MlirType type = mlirValueGetType(index);
  MlirOperation sum = tp__create(&(tp_build){.name = "arith.addi",
                                             .location = mlirOperationGetLocation(op),
                                             .n_operands = 2,
                                             .operands = (MlirValue[]){index, offset},
                                             .n_results = 1,
                                             .results = &type});
  tp__insert_after(op, sum);
  tp__replace_uses_except(index, mlirOperationGetResult(sum, 0), sum);
  return TP_OK;
}

static MlirValue clone_on_tiles(tp_tiler *t, int i, MlirValue init) {
  const tp_attention_op *op = &t->a->ops[i];
  tp_score_dim dims[TP_MAX_RANK];
  tp_nest nest;
  MlirValue operands[TP_MAX_NEST_LOOPS];
  int n = (int)mlirOperationGetNumOperands(op->op);
  bool is_nest = tp__nest_of(op->op, &nest);
  for (int k = 0; k < n && k < TP_LEN(operands); k++) {
    MlirValue value = mlirOperationGetOperand(op->op, k);
    bool is_init = is_nest && nest.is_written && k == nest.n_inputs;
    if (is_init && !mlirValueIsNull(init)) {
      operands[k] = init;
    } else if (is_init && !tp__body_reads(&nest.body, k)) {
      operands[k] = tp__empty(t->where, tp__tile_type(t, i));
    } else {
      if (mlirTypeIsARankedTensor(mlirValueGetType(value)))
        tp__attention_operand_dims(op, k, dims);
      operands[k] = tp__tile(t, value, dims);
    }
  }
  if (!is_nest)
    return tp__reshaped(t, operands[0], tp__tile_type(t, i));
  MlirOperation clone = mlirOperationClone(op->op);
  mlirOperationSetOperands(clone, n, operands);
  mlirValueSetType(mlirOperationGetResult(clone, 0), tp__tile_type(t, i));
  shifting s = {t, op};
  (void)tp__walk(clone, shift_index, &s); /* the visitor cannot fail */
  tp__insert_before(t->where, clone);
  return mlirOperationGetResult(clone, 0);
}

MlirValue tp__tile_op(tp_tiler *t, int i, MlirValue init) {
  const tp_attention_op *op = &t->a->ops[i];
  tp_score_dim dims[TP_MAX_RANK];
  if (!mlirValueIsNull(t->made[i]))
    return t->made[i];
  MlirValue tile = {NULL};
  for (int k = 0;
       op->role == TP_SCALE && k < mlirOperationGetNumOperands(op->op) && mlirValueIsNull(tile);
       k++) {
    /* rows are applied later */
    int maker = tp__attention_producer(t->a, mlirOperationGetOperand(op->op, k));
    if (maker >= 0 && t->a->ops[maker].role != TP_ROW_BROADCAST &&
        tp__attention_is_inner(t->a->ops[maker].role)) {
      tp__attention_operand_dims(op, k, dims);
      tile = tp__tile(t, mlirOperationGetOperand(op->op, k), dims);
    }
  }
  if (op->role != TP_SCALE)
    tile = clone_on_tiles(t, i, init);
  t->made[i] = tile;
  return tile;
}
