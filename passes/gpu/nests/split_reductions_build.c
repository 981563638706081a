/* Builds the nests into which a long reduction is cut. */
#include "passes/gpu/nests/split_reductions.h"

#include "passes/support/lower.h"

#include "ir/collectives.h"
#include "ir/diagnostics.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

bool tp__cut_dim(const tp__map_operand *o, int loop, int *dim) {
  *dim = -1;
  for (int d = 0; d < o->rank; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(o->map, d);
    if (!mlirAffineExprIsFunctionOfDim(expr, loop))
      continue;
    if (!mlirAffineExprIsADim(expr) || *dim >= 0)
      return false;
    *dim = d;
  }
  return true;
}

/* ---- buffers ---- */

static MlirValue build_part(MlirOperation where, MlirValue memref, int dim, int64_t offset,
                            int64_t size) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType type = mlirValueGetType(memref);
  int rank = (int)mlirShapedTypeGetRank(type);
  int64_t offsets[TP_MAX_RANK], sizes[TP_MAX_RANK], steps[TP_MAX_RANK], strides[TP_MAX_RANK], base;
  if (dim < 0 || size == mlirShapedTypeGetDimSize(type, dim))
    return memref;
  /* tp__map_read has checked that it succeeds */
  (void)mlirMemRefTypeGetStridesAndOffset(type, strides, &base);
  for (int d = 0; d < rank; d++) {
    offsets[d] = d == dim ? offset : 0;
    sizes[d] = d == dim ? size : mlirShapedTypeGetDimSize(type, d);
    steps[d] = 1;
  }
  if (!mlirShapedTypeIsDynamicStrideOrOffset(base))
    base += offset * strides[dim];
  MlirAttribute layout = mlirStridedLayoutAttrGet(context, base, rank, strides);
  MlirType part = mlirMemRefTypeGet(tp__element_type(type), rank, sizes, layout,
                                    mlirMemRefTypeGetMemorySpace(type));
  MlirNamedAttribute attrs[] = {
      tp__named(context, "static_offsets", tp__attr_i64s(context, rank, offsets)),
      tp__named(context, "static_sizes", tp__attr_i64s(context, rank, sizes)),
      tp__named(context, "static_strides", tp__attr_i64s(context, rank, steps)),
      tp__named(context, "operandSegmentSizes",
                mlirDenseI32ArrayGet(context, 4, (const int32_t[]){1, 0, 0, 0})),
  };
  return mlirOperationGetResult(
      tp__build(where, "memref.subview", 1, &memref, 1, &part, TP_LEN(attrs), attrs), 0);
}

MlirValue tp__split_partial(MlirOperation where, const tp__map_operand *o, const tp__cut *c) {
  MlirContext context = mlirOperationGetContext(where);
  int64_t sizes[TP_MAX_RANK + 1];
  sizes[c->rows ? o->rank : 0] = c->n_parts;
  for (int d = 0; d < o->rank; d++)
    sizes[d + !c->rows] = o->sizes[d];
  MlirType type =
      mlirMemRefTypeContiguousGet(o->element, o->rank + 1, sizes, (MlirAttribute){NULL});
  MlirNamedAttribute segments = tp__named(
      context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 2, (const int32_t[]){0, 0}));
  return mlirOperationGetResult(tp__build(where, "memref.alloc", 0, NULL, 1, &type, 1, &segments),
                                0);
}

/* ---- nests ---- */

/* Returns the position of the loop over parts in the nest of parts: first, or for rows directly
 * before the first reduction loop, so that row loops come first. */
static int place_of_parts(const tp__map_nest *n, const tp__cut *c) {
  int place = 0;
  while (c->rows && place < n->n_loops && !n->is_reduction[place])
    place++;
  return place;
}

/* Maps the loops of the original nest to those of the nest of parts. */
static MlirAffineMap renumber(const tp__map_nest *n, int place) {
  MlirAffineExpr loops[TP_MAP_LOOPS];
  for (int l = 0; l < n->n_loops; l++)
    loops[l] = mlirAffineDimExprGet(n->context, l < place ? l : l + 1);
  return mlirAffineMapGet(n->context, n->n_loops + 1, 0, n->n_loops, loops);
}

/* Returns the map of an operand in the nest of parts. In an expanded operand, the part precedes
 * `dim`. A result has a separate dimension for the part. */
static MlirAttribute map_of_part(const tp__map_nest *n, int operand, bool is_result,
                                 const tp__cut *c, int place) {
  const tp__map_operand *o = n->operands + operand;
  MlirAffineMap loops = renumber(n, place);
  MlirAffineExpr exprs[2 * TP_MAX_RANK], part = mlirAffineDimExprGet(n->context, place);
  int count = 0, dim = -1;
  if (!o->is_scalar)
    (void)tp__cut_dim(o, c->loop, &dim);
  if (is_result && !c->rows)
    exprs[count++] = part;
  for (int d = 0; d < (int)mlirAffineMapGetNumResults(o->map); d++) {
    if (d == dim)
      exprs[count++] = part;
    exprs[count++] = mlirAffineExprCompose(mlirAffineMapGetResult(o->map, d), loops);
  }
  if (is_result && c->rows)
    exprs[count++] = part;
  return mlirAffineMapAttrGet(mlirAffineMapGet(n->context, n->n_loops + 1, 0, count, exprs));
}

typedef struct indices {
  const tp__cut *cut;
  int place;      /* position of the loop over parts; -1: none */
  int64_t offset; /* offset of the loop that is cut */
  tp_op_list ops;
} indices;

static tp_status note_index(MlirOperation op, void *data) {
  indices *in = data;
  return tp__op_is(op, "linalg.index") ? tp__op_list_add(&in->ops, op) : TP_OK;
}

static MlirValue build_index(MlirOperation where, int64_t loop) {
  MlirContext context = mlirOperationGetContext(where);
  MlirNamedAttribute dim = tp__named(context, "dim", tp__attr_i64(context, loop));
  MlirType index = mlirIndexTypeGet(context);
  return mlirOperationGetResult(tp__build(where, "linalg.index", 0, NULL, 1, &index, 1, &dim), 0);
}

/* Rewrites linalg.index ops so that they give the indices of the original nest. */
static tp_status correct_indices(MlirOperation nest, indices *in) {
  tp_status status = tp__walk(nest, note_index, in);
  for (size_t i = 0; i < in->ops.n && status == TP_OK; i++) {
    MlirOperation op = in->ops.items[i];
    int64_t loop = mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
    MlirValue index = build_index(op, loop + (in->place >= 0 && loop >= in->place));
    if (loop == in->cut->loop) {
      MlirValue first = tp__index_constant(op, in->place >= 0 ? in->cut->size : in->offset);
      if (in->place >= 0)
        first = tp__binary(op, "arith.muli", build_index(op, in->place), first);
      index = tp__binary(op, "arith.addi", index, first);
    }
    tp__replace_op(op, index);
  }
  tp__free(in->ops.items);
  return status;
}

void tp__split_identity(const tp__map_nest *n, int output, tp_combiner combiner,
                        MlirOperation where, MlirValue partial) {
  MlirType type = n->operands[n->n_inputs + output].element;
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(partial));
  MlirAttribute map = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(n->context, rank));
  MlirOperation end = tp__build_generic_body(
      tp__build_generic(&(tp_generic){.where = where,
                                      .location = mlirOperationGetLocation(n->op),
                                      .n_inits = 1,
                                      .operands = &partial,
                                      .maps = &map}));
  MlirValue identity = tp__constant(end, type, tp__identity_attr(type, combiner));
  mlirOperationSetOperands(end, 1, &identity);
}

static MlirAttribute iterators_of_parts(const tp__map_nest *n, int place) {
  MlirAttribute given = tp__inherent(n->op, "iterator_types"), kinds[TP_MAP_LOOPS + 1];
  kinds[place] = tp__parse_attr(n->context, "#linalg.iterator_type<parallel>");
  for (int l = 0; l < n->n_loops; l++)
    kinds[l < place ? l : l + 1] = mlirArrayAttrGetElement(given, l);
  return mlirArrayAttrGet(n->context, n->n_loops + 1, kinds);
}

tp_status tp__split_parts(const tp__map_nest *n, const tp__cut *c, MlirOperation where,
                          const MlirValue *partial, int replaced, MlirValue by,
                          MlirOperation *made) {
  MlirValue operands[TP_MAP_OPERANDS];
  MlirAttribute maps[TP_MAP_OPERANDS];
  int place = place_of_parts(n, c);
  for (int i = 0; i < n->n_operands; i++) {
    int dim = -1;
    bool is_partial = i >= n->n_inputs || i == replaced;
    operands[i] = i == replaced     ? by
                  : i < n->n_inputs ? n->operands[i].memref
                                    : partial[i - n->n_inputs];
    maps[i] = map_of_part(n, i, is_partial, c, place);
    if (is_partial || n->operands[i].is_scalar)
      continue;
    (void)tp__cut_dim(n->operands + i, c->loop, &dim);
    MlirValue whole = build_part(where, operands[i], dim, 0, c->n_parts * c->size);
    operands[i] = tp__build_parts(where, whole, dim, c->n_parts);
  }
  MlirOperation parts = tp__build_generic(&(tp_generic){.where = where,
                                                        .location = mlirOperationGetLocation(n->op),
                                                        .n_inputs = n->n_inputs,
                                                        .n_inits = tp__map_n_outputs(n),
                                                        .operands = operands,
                                                        .maps = maps,
                                                        .iterators = iterators_of_parts(n, place)});
  MlirOperation copy = mlirOperationClone(n->op);
  MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(copy, 0));
  mlirBlockDetach(body);
  mlirRegionAppendOwnedBlock(mlirOperationGetRegion(parts, 0), body);
  mlirOperationDestroy(copy);
  indices in = {.cut = c, .place = place};
  *made = parts;
  return correct_indices(parts, &in);
}

void tp__split_combine(const tp__map_nest *n, const tp__cut *c, const tp_combiner *combiners,
                       const MlirValue *partial) {
  tp__map_sharing sharing = {.n = n};
  for (int k = 0; k < tp__map_n_outputs(n); k++) {
    const tp__map_operand *o = n->operands + n->n_inputs + k;
    int rank = o->rank, part = c->rows ? rank : 0;
    MlirAffineExpr exprs[TP_MAX_RANK + 1];
    MlirAttribute kinds[TP_MAX_RANK + 1];
    MlirValue operands[] = {partial[k], o->memref};
    for (int d = 0; d <= rank; d++) {
      exprs[d] = mlirAffineDimExprGet(n->context, d);
      kinds[d] = tp__parse_attr(n->context, d == part ? "#linalg.iterator_type<reduction>"
                                                      : "#linalg.iterator_type<parallel>");
    }
    MlirAttribute maps[] = {
        mlirAffineMapAttrGet(mlirAffineMapGet(n->context, rank + 1, 0, rank + 1, exprs)),
        mlirAffineMapAttrGet(mlirAffineMapGet(n->context, rank + 1, 0, rank, exprs + !c->rows))};
    MlirOperation op = tp__build_generic(
        &(tp_generic){.where = n->op,
                      .location = mlirOperationGetLocation(n->op),
                      .n_inputs = 1,
                      .n_inits = 1,
                      .operands = operands,
                      .maps = maps,
                      .iterators = mlirArrayAttrGet(n->context, rank + 1, kinds)});
    MlirOperation end = tp__build_generic_body(op);
    MlirBlock block = mlirOperationGetBlock(end);
    sharing.combiners[k] = combiners[k];
    MlirValue sum = tp__map_combine(&sharing, end, k, mlirBlockGetArgument(block, 1),
                                    mlirBlockGetArgument(block, 0));
    mlirOperationSetOperands(end, 1, &sum);
  }
}

tp_status tp__split_rest(const tp__map_nest *n, const tp__cut *c) {
  int64_t done = c->n_parts * c->size, rest = n->size[c->loop] - done;
  if (rest == 0) {
    mlirOperationDestroy(n->op);
    return TP_OK;
  }
  for (int i = 0; i < n->n_inputs; i++) {
    int dim = -1;
    if (!n->operands[i].is_scalar)
      (void)tp__cut_dim(n->operands + i, c->loop, &dim);
    mlirOperationSetOperand(n->op, i, build_part(n->op, n->operands[i].memref, dim, done, rest));
  }
  indices in = {.cut = c, .place = -1, .offset = done};
  return correct_indices(n->op, &in);
}
