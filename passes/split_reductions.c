/* tp-split-reductions: long reductions with few results become two, which keep a GPU busy.
 *
 * A block of threads combines all that goes into one result, or into some results side by side. The loss of a batch is one number: one block would read all
 * of it, and a softmax over a vocabulary of a few tokens would have a block for each. So one of the loops is cut into parts. A nest combines each part, from the
 * identity on, into an element of its own; another one combines the parts, and goes on from what the results were. How it is cut is a function of the shape
 * alone, so the same program gives the same bits. What no number of parts divides is left for a third nest. */
#include "passes/fuse_nests.h"
#include "passes/lower.h"
#include "passes/table.h"

#include "ir/collectives.h"
#include "ir/diagnostics.h"
#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum {
  STAT_SPLIT,
  MANY_BLOCKS = 256,      /* two for each multiprocessor of the largest GPUs, nearly */
  ROW_PART = 8 * 1024,    /* less is not worth a block, and another launch */
  LONG_COLUMN = 2 * 1024, /* of neighbours that a few threads each combine */
  COLUMN_PART = 256,
};

typedef struct splitting {
  tp_pass *pass;
  tp__memory_classes classes; /* of the function */
  tp_op_list nests;
} splitting;

/* How a nest is cut: `loop` into n_parts parts of `size`, and a rest. */
typedef struct cut {
  int loop;
  int64_t n_parts, size;
  bool rows; /* of results that do not lie side by side: their parts do */
} cut;

/* ---- choosing ---- */

/* The dimension of the operand that runs along the loop; -1: none. False if it depends on the loop in another way. */
static bool find_dim(const tp__map_operand *o, int loop, int *dim) {
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

static bool can_cut(const tp__map_nest *n, int loop) {
  int unused;
  for (int i = 0; i < n->n_operands; i++)
    if (!n->operands[i].is_scalar &&
        (!find_dim(n->operands + i, loop, &unused) || (unused >= 0 && n->operands[i].rank == TP_MAX_RANK)))
      return false;
  return n->is_reduction[loop] && n->size[loop] > 1;
}

/* The number of parts next to `wanted` by which the loop is divided, into multiples of `unit`; 0: none from half as many to twice as many. */
static int64_t divide(int64_t size, int64_t unit, int64_t wanted) {
  for (int64_t away = 0; away <= wanted; away++) {
    int64_t more = wanted + away, less = wanted - away;
    if (more <= 2 * wanted && size % (more * unit) == 0)
      return more;
    if (2 * less >= wanted && less > 1 && size % (less * unit) == 0)
      return less;
  }
  return 0;
}

/* Into about `wanted` parts: an outer loop, where it can be; else the inner one, in vectors, with a rest. */
static bool choose_loop(const tp__map_nest *n, int64_t wanted, cut *c) {
  int inner = tp__map_inner(n);
  c->rows = n->is_reduction[inner];
  for (c->loop = 0; c->loop < n->n_loops; c->loop++) {
    if (!can_cut(n, c->loop))
      continue;
    c->n_parts = divide(n->size[c->loop], c->loop == inner ? TP_MAP_LANES : 1, wanted);
    c->size = c->n_parts > 0 ? n->size[c->loop] / c->n_parts : 0;
    if (c->n_parts > 0)
      return true;
  }
  for (c->loop = n->n_loops - 1; c->loop >= 0; c->loop--) {
    c->n_parts = wanted;
    c->size = n->size[c->loop] / (wanted * TP_MAP_LANES) * TP_MAP_LANES;
    if (can_cut(n, c->loop) && c->size > 0)
      return true;
  }
  return false;
}

/* Parts of buffers have strides that follow from theirs. */
static bool has_unknown_strides(const tp__map_nest *n) {
  for (int i = 0; i < n->n_operands; i++)
    if (n->operands[i].has_unknown_strides)
      return true;
  return false;
}

static bool choose(const tp__map_nest *n, cut *c) {
  tp_combiner combiners[TP_MAP_OPERANDS];
  int64_t n_steps = tp__map_iterations(n, true), n_results = tp__map_iterations(n, false);
  if (n_results == 0 || n->n_loops == TP_MAP_LOOPS || has_unknown_strides(n) || !tp__map_combiners(n, combiners))
    return false;
  bool rows = n->is_reduction[tp__map_inner(n)];
  int64_t n_blocks = tp__map_reduction_blocks(n), part = rows ? ROW_PART : COLUMN_PART;
  int64_t wanted = MANY_BLOCKS / n_blocks < n_steps / part ? MANY_BLOCKS / n_blocks : n_steps / part;
  return n_steps > (rows ? TP_GROUP_ROW : LONG_COLUMN) && wanted > 1 && choose_loop(n, wanted, c);
}

/* Parts are combined before the results are looked at, so what is reduced must not be where these are. */
static bool is_apart(splitting *s, const tp__map_nest *n) {
  for (int k = n->n_inputs; k < n->n_operands; k++)
    for (int i = 0; i < n->n_operands; i++) {
      if (i == k || n->operands[i].is_scalar)
        continue;
      MlirValue result = n->operands[k].memref, other = n->operands[i].memref;
      int64_t class = tp__memory_class(&s->classes, result);
      if (mlirValueEqual(result, other) || (class >= 0 && class == tp__memory_class(&s->classes, other)))
        return false;
    }
  return true;
}

/* ---- buffers ---- */

static MlirValue build_part(MlirOperation where, MlirValue memref, int dim, int64_t offset, int64_t size) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType type = mlirValueGetType(memref);
  int rank = (int)mlirShapedTypeGetRank(type);
  int64_t offsets[TP_MAX_RANK], sizes[TP_MAX_RANK], steps[TP_MAX_RANK], strides[TP_MAX_RANK], base;
  if (dim < 0 || size == mlirShapedTypeGetDimSize(type, dim))
    return memref;
  (void)mlirMemRefTypeGetStridesAndOffset(type, strides, &base); /* the nest was read */
  for (int d = 0; d < rank; d++) {
    offsets[d] = d == dim ? offset : 0;
    sizes[d] = d == dim ? size : mlirShapedTypeGetDimSize(type, d);
    steps[d] = 1;
  }
  if (!mlirShapedTypeIsDynamicStrideOrOffset(base))
    base += offset * strides[dim];
  MlirAttribute layout = mlirStridedLayoutAttrGet(context, base, rank, strides);
  MlirType part = mlirMemRefTypeGet(tp__element_type(type), rank, sizes, layout, mlirMemRefTypeGetMemorySpace(type));
  MlirNamedAttribute attrs[] = {
      tp__named(context, "static_offsets", tp__attr_i64s(context, rank, offsets)),
      tp__named(context, "static_sizes", tp__attr_i64s(context, rank, sizes)),
      tp__named(context, "static_strides", tp__attr_i64s(context, rank, steps)),
      tp__named(context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 4, (const int32_t[]){1, 0, 0, 0})),
  };
  return mlirOperationGetResult(tp__build(where, "memref.subview", 1, &memref, 1, &part, TP_LEN(attrs), attrs), 0);
}

/* `dim` as two dimensions, of n_parts parts and their elements. */
static MlirValue build_expanded(MlirOperation where, MlirValue memref, int dim, int64_t n_parts) {
  MlirContext context = mlirOperationGetContext(where);
  MlirType type = mlirValueGetType(memref), i64 = mlirIntegerTypeGet(context, 64);
  int rank = (int)mlirShapedTypeGetRank(type), n = 0;
  int64_t sizes[TP_MAX_RANK], strides[TP_MAX_RANK], of[TP_MAX_RANK], base;
  MlirAttribute groups[TP_MAX_RANK];
  if (dim < 0)
    return memref;
  (void)mlirMemRefTypeGetStridesAndOffset(type, of, &base);
  for (int d = 0; d < rank; d++) {
    MlirAttribute group[2];
    int64_t size = mlirShapedTypeGetDimSize(type, d), inside = d == dim ? size / n_parts : size;
    int first = n;
    if (d == dim) {
      sizes[n] = n_parts;
      strides[n++] = of[d] * inside;
    }
    sizes[n] = inside;
    strides[n++] = of[d];
    for (int i = first; i < n; i++)
      group[i - first] = mlirIntegerAttrGet(i64, i);
    groups[d] = mlirArrayAttrGet(context, n - first, group);
  }
  MlirAttribute layout = mlirAffineMapIsIdentity(mlirMemRefTypeGetAffineMap(type))
                             ? mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, n))
                             : mlirStridedLayoutAttrGet(context, base, n, strides);
  MlirType expanded = mlirMemRefTypeGet(tp__element_type(type), n, sizes, layout, mlirMemRefTypeGetMemorySpace(type));
  MlirNamedAttribute attrs[] = {
      tp__named(context, "reassociation", mlirArrayAttrGet(context, rank, groups)),
      tp__named(context, "static_output_shape", tp__attr_i64s(context, n, sizes)),
  };
  return mlirOperationGetResult(tp__build(where, "memref.expand_shape", 1, &memref, 1, &expanded, TP_LEN(attrs), attrs), 0);
}

/* The results' dimensions and one for the parts: behind them, or in front where results lie side by side. */
static MlirValue build_partial(MlirOperation where, const tp__map_operand *o, const cut *c) {
  MlirContext context = mlirOperationGetContext(where);
  int64_t sizes[TP_MAX_RANK + 1];
  sizes[c->rows ? o->rank : 0] = c->n_parts;
  for (int d = 0; d < o->rank; d++)
    sizes[d + !c->rows] = o->sizes[d];
  MlirType type = mlirMemRefTypeContiguousGet(o->element, o->rank + 1, sizes, (MlirAttribute){NULL});
  MlirNamedAttribute segments =
      tp__named(context, "operandSegmentSizes", mlirDenseI32ArrayGet(context, 2, (const int32_t[]){0, 0}));
  return mlirOperationGetResult(tp__build(where, "memref.alloc", 0, NULL, 1, &type, 1, &segments), 0);
}

/* ---- nests ---- */

/* The loop of the nest of parts that loop `l` of the original becomes; that of the parts is in front of the others, or behind those in front of the first
 * reduction, so that loops of rows come first. */
static int place_of_parts(const tp__map_nest *n, const cut *c) {
  int place = 0;
  while (c->rows && place < n->n_loops && !n->is_reduction[place])
    place++;
  return place;
}

/* What the loops of the original are in the nest of parts. */
static MlirAffineMap renumber(const tp__map_nest *n, int place) {
  MlirAffineExpr loops[TP_MAP_LOOPS];
  for (int l = 0; l < n->n_loops; l++)
    loops[l] = mlirAffineDimExprGet(n->context, l < place ? l : l + 1);
  return mlirAffineMapGet(n->context, n->n_loops + 1, 0, n->n_loops, loops);
}

/* Of an operand of the nest of parts: where it has `dim` twice, the part comes first. Of a result, the part's own place. */
static MlirAttribute map_of_part(const tp__map_nest *n, int operand, const cut *c, int place) {
  const tp__map_operand *o = n->operands + operand;
  MlirAffineMap loops = renumber(n, place);
  MlirAffineExpr exprs[2 * TP_MAX_RANK], part = mlirAffineDimExprGet(n->context, place);
  bool is_result = operand >= n->n_inputs;
  int count = 0, dim = -1;
  if (!o->is_scalar)
    (void)find_dim(o, c->loop, &dim);
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
  const cut *cut;
  int place;      /* of the parts' loop; -1: there is none */
  int64_t offset; /* of the loop that is cut */
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

/* The body's indices are those of the original. */
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

/* Writes the identity everywhere. */
static void build_identity(const tp__map_nest *n, int output, tp_combiner combiner, MlirOperation where, MlirValue partial) {
  MlirType type = n->operands[n->n_inputs + output].element;
  int rank = (int)mlirShapedTypeGetRank(mlirValueGetType(partial));
  MlirAttribute map = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(n->context, rank));
  MlirOperation end = tp__build_generic_body(tp__build_generic(&(tp_generic){
      .where = where, .location = mlirOperationGetLocation(n->op), .n_inits = 1, .operands = &partial, .maps = &map}));
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

/* The nest of the first parts, into `partial`. */
static tp_status build_parts(const tp__map_nest *n, const cut *c, const MlirValue *partial) {
  MlirValue operands[TP_MAP_OPERANDS];
  MlirAttribute maps[TP_MAP_OPERANDS];
  int place = place_of_parts(n, c);
  for (int i = 0; i < n->n_operands; i++) {
    int dim = -1;
    operands[i] = i < n->n_inputs ? n->operands[i].memref : partial[i - n->n_inputs];
    maps[i] = map_of_part(n, i, c, place);
    if (i >= n->n_inputs || n->operands[i].is_scalar)
      continue;
    (void)find_dim(n->operands + i, c->loop, &dim);
    MlirValue whole = build_part(n->op, operands[i], dim, 0, c->n_parts * c->size);
    operands[i] = build_expanded(n->op, whole, dim, c->n_parts);
  }
  MlirOperation parts = tp__build_generic(&(tp_generic){.where = n->op,
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
  return correct_indices(parts, &in);
}

/* The results from what they were, and all their parts. */
static void combine_parts(const tp__map_nest *n, const cut *c, const tp_combiner *combiners, const MlirValue *partial) {
  tp__map_sharing sharing = {.n = n};
  for (int k = 0; k < tp__map_n_outputs(n); k++) {
    const tp__map_operand *o = n->operands + n->n_inputs + k;
    int rank = o->rank, part = c->rows ? rank : 0;
    MlirAffineExpr exprs[TP_MAX_RANK + 1];
    MlirAttribute kinds[TP_MAX_RANK + 1];
    MlirValue operands[] = {partial[k], o->memref};
    for (int d = 0; d <= rank; d++) {
      exprs[d] = mlirAffineDimExprGet(n->context, d);
      kinds[d] = tp__parse_attr(n->context, d == part ? "#linalg.iterator_type<reduction>" : "#linalg.iterator_type<parallel>");
    }
    MlirAttribute maps[] = {mlirAffineMapAttrGet(mlirAffineMapGet(n->context, rank + 1, 0, rank + 1, exprs)),
                            mlirAffineMapAttrGet(mlirAffineMapGet(n->context, rank + 1, 0, rank, exprs + !c->rows))};
    MlirOperation op = tp__build_generic(&(tp_generic){.where = n->op,
                                                       .location = mlirOperationGetLocation(n->op),
                                                       .n_inputs = 1,
                                                       .n_inits = 1,
                                                       .operands = operands,
                                                       .maps = maps,
                                                       .iterators = mlirArrayAttrGet(n->context, rank + 1, kinds)});
    MlirOperation end = tp__build_generic_body(op);
    MlirBlock block = mlirOperationGetBlock(end);
    sharing.combiners[k] = combiners[k];
    MlirValue sum = tp__map_combine(&sharing, end, k, mlirBlockGetArgument(block, 1), mlirBlockGetArgument(block, 0));
    mlirOperationSetOperands(end, 1, &sum);
  }
}

/* The nest itself becomes that of what is left behind the parts, if there is something. */
static tp_status keep_rest(const tp__map_nest *n, const cut *c) {
  int64_t done = c->n_parts * c->size, rest = n->size[c->loop] - done;
  if (rest == 0) {
    mlirOperationDestroy(n->op);
    return TP_OK;
  }
  for (int i = 0; i < n->n_inputs; i++) {
    int dim = -1;
    if (!n->operands[i].is_scalar)
      (void)find_dim(n->operands + i, c->loop, &dim);
    mlirOperationSetOperand(n->op, i, build_part(n->op, n->operands[i].memref, dim, done, rest));
  }
  indices in = {.cut = c, .place = -1, .offset = done};
  return correct_indices(n->op, &in);
}

/* What gives the results their first value, directly in front, is a kernel with what combines the parts; null: nothing does. */
static MlirOperation find_begin(const tp__map_nest *n) {
  MlirBlock block = mlirOperationGetBlock(n->op);
  MlirOperation last = {NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationEqual(op, n->op);
       op = mlirOperationGetNextInBlock(op))
    if (!tp__map_is_pure(op))
      last = op;
  if (mlirOperationIsNull(last) || !tp__map_is_nest(last) || mlirOperationGetNumOperands(last) < 1)
    return (MlirOperation){NULL};
  MlirValue written = mlirOperationGetOperand(last, mlirOperationGetNumOperands(last) - 1);
  return mlirValueEqual(written, n->operands[n->n_inputs].memref) ? last : (MlirOperation){NULL};
}

static tp_status split(splitting *s, const tp__map_nest *n, const cut *c) {
  tp_combiner combiners[TP_MAP_OPERANDS];
  MlirValue partial[TP_MAP_OPERANDS];
  MlirOperation begin = find_begin(n);
  (void)tp__map_combiners(n, combiners); /* they are known */
  for (int k = 0; k < tp__map_n_outputs(n); k++) {
    partial[k] = build_partial(n->op, n->operands + n->n_inputs + k, c);
    build_identity(n, k, combiners[k], n->op, partial[k]);
  }
  tp_status status = build_parts(n, c, partial);
  if (!mlirOperationIsNull(begin))
    mlirOperationMoveBefore(begin, n->op);
  combine_parts(n, c, combiners, partial);
  s->pass->statistics[STAT_SPLIT]++;
  return status == TP_OK ? keep_rest(n, c) : status;
}

/* ---- the pass ---- */

static tp_status note_op(MlirOperation op, void *data) {
  splitting *s = data;
  tp__memory_classes_add(&s->classes, op);
  return tp__map_is_nest(op) ? tp__op_list_add(&s->nests, op) : TP_OK;
}

static tp_status split_if_long(splitting *s, MlirOperation op) {
  cut c;
  tp__map_nest *n = tp__calloc(1, sizeof *n);
  if (!n)
    return tp__error(op, TP_NO_MEMORY, "memory ran out");
  tp_status status = tp__map_read(op, n);
  n->most_lanes = TP_MAP_LANES;
  if (status == TP_OK && tp__map_iterations(n, true) > 1 && choose(n, &c) && is_apart(s, n))
    status = split(s, n, &c);
  tp__free(n);
  return status;
}

static tp_status split_function(MlirOperation func, void *data) {
  splitting *s = data;
  tp_status status = tp__walk(func, note_op, s);
  if (status == TP_OK && s->classes.no_memory)
    status = tp__error(func, TP_NO_MEMORY, "memory ran out");
  for (size_t i = 0; i < s->nests.n && status == TP_OK; i++)
    status = split_if_long(s, s->nests.items[i]);
  tp__free(s->nests.items);
  s->nests = (tp_op_list){0};
  tp__memory_classes_destroy(&s->classes);
  s->classes = (tp__memory_classes){0};
  return status;
}

static tp_status run(tp_pass *pass) {
  splitting s = {.pass = pass};
  return tp__each_entry(pass->module, split_function, &s);
}

static const tp_statistic_row statistics[] = {
    {"split", "reductions that became those of parts and of what comes out of these"},
};

const tp_pass_row tp__split_reductions_row = {
    .name = "tp-split-reductions",
    .summary = "Cut long reductions with few results into parts that keep a GPU busy",
    .description =
        "Requires: linalg.generic on buffers that have no places yet, tp-order-loops. Establishes: a reduction of more than "
        "24,576 elements to each of a few numbers, or of more than 2048 rows to one of few columns, is one of parts, each "
        "into an element of a new buffer, and one of these; about 256 blocks of threads have work. What is combined in no "
        "known way, or "
        "reads its operands at sums of loops, stays. Breaks: nothing.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
