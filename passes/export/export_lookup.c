/* Lookups in the body of structured ops: reads of captured tensors, as stablehlo.gather. A
 * dimension that a loop runs over is part of the slice, or a batching dimension; for the others
 * there is a position at each point of the other loops. */
#include "passes/export/export_nest.h"

static MlirValue component(tp_export *x, const tp_nest *n, MlirValue value) {
  int64_t sizes[TP_NEST_MAX_LOOPS + 1];
  MlirType type = tp__nest_space(n, tp__element_type(mlirValueGetType(value)));
  if (tp__value_rank(value) == 0)
    value = tp__export_broadcast(x, value, type, NULL);
  memcpy(sizes, n->sizes, (size_t)n->n_loops * sizeof *sizes);
  sizes[n->n_loops] = 1;
  return tp__export_reshape(x, value, n->n_loops + 1, sizes);
}

/* ---- how each dimension of the source is indexed ---- */

typedef struct lookup {
  MlirOperation op;
  int rank, n_indexed, n_slices, n_batches;
  int64_t indexed[TP_MAX_RANK]; /* dimensions with a position of their own; their slices: 1 */
  int64_t slice_sizes[TP_MAX_RANK];
  int64_t slices[TP_MAX_RANK];     /* loops that run over a whole dimension */
  int64_t slice_dims[TP_MAX_RANK]; /* those dimensions */
  int64_t batches[TP_MAX_RANK];    /* the same, of loops that positions depend on, too */
  int64_t batch_dims[TP_MAX_RANK];
  uint32_t without; /* the set of loops in `slices` */
} lookup;

/* The loops, as numbered in the nest, that a value of the body depends on. */
static uint32_t depends(const tp_nest *n, MlirValue value) {
  uint32_t set = 0;
  if (!mlirBlockEqual(tp__block_of(value), n->body.block))
    return 0;
  if (mlirValueIsABlockArgument(value)) {
    int i = (int)mlirBlockArgumentGetArgNumber(value);
    if (i >= n->body.n_inputs) /* what was accumulated */
      return UINT32_MAX;
    for (int d = 0; tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(n->op, i))) &&
                    d < tp__value_rank(n->operands[i]);
         d++)
      set |= UINT32_C(1) << n->loops[i][d];
    return set;
  }
  MlirOperation op = tp__defining_op(value);
  if (tp__op_is(op, "linalg.index")) {
    int number = n->number[mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"))];
    return number < 0 ? 0 : UINT32_C(1) << number;
  }
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    set |= depends(n, mlirOperationGetOperand(op, i));
  return set;
}

/* The loop whose iteration is the position along dimension d, if it runs over all of it;
 * else -1. */
static int whole_loop(const tp_nest *n, const lookup *l, int d) {
  MlirOperation index = tp__defined_by(mlirOperationGetOperand(l->op, 1 + d), "linalg.index");
  if (mlirOperationIsNull(index))
    return -1;
  int number = n->number[mlirIntegerAttrGetValueInt(tp__inherent(index, "dim"))];
  MlirType source = mlirValueGetType(mlirOperationGetOperand(l->op, 0));
  return number >= 0 && n->sizes[number] == mlirShapedTypeGetDimSize(source, d) ? number : -1;
}

static lookup read_lookup(const tp_nest *n, MlirOperation op, int rank) {
  lookup l = {.op = op, .rank = rank};
  for (int d = 0; d < rank; d++) {
    int loop = whole_loop(n, &l, d);
    uint32_t others = 0;
    for (int other = 0; other < rank; other++)
      others |= other == d ? 0 : depends(n, mlirOperationGetOperand(op, 1 + other));
    bool is_batch = loop >= 0 && (others >> loop & 1);
    /* dimensions of slices keep their order */
    bool is_slice = loop >= 0 && !is_batch && (l.n_slices == 0 || l.slices[l.n_slices - 1] < loop);
    for (int i = 0; i < l.n_batches; i++)
      is_batch &= l.batches[i] != loop;
    l.slice_sizes[d] = is_slice ? n->sizes[loop] : 1;
    if (is_slice) {
      l.slice_dims[l.n_slices] = d;
      l.slices[l.n_slices++] = loop;
    } else if (is_batch) {
      l.batch_dims[l.n_batches] = d;
      l.batches[l.n_batches++] = loop;
    } else {
      l.indexed[l.n_indexed++] = d;
    }
  }
  for (int i = 0; i < l.n_slices; i++)
    l.without |= UINT32_C(1) << l.slices[i];
  return l;
}

/* ---- stablehlo.gather ---- */

/* The positions, with a dimension per loop that they depend on or that is a loop of the batch. */
static tp_status positions(tp_export *x, tp_nest *part, const lookup *l, MlirValue *now) {
  MlirValue parts[TP_MAX_RANK];
  for (int i = 0; i < l->n_indexed; i++) {
    TP_TRY(
        tp__nest_evaluate(x, part, mlirOperationGetOperand(l->op, 1 + l->indexed[i]), &parts[i]));
    parts[i] = component(x, part, parts[i]);
  }
  *now = tp__export_concat(x, l->n_indexed, parts, part->n_loops);
  return TP_OK;
}

tp_status tp__nest_gather(tp_export *x, tp_nest *n, MlirOperation op, MlirValue *now) {
  MlirValue source = tp__export_operand(x, op, 0), indices;
  MlirType type = tp__nest_space(n, tp__element_type(mlirValueGetType(source)));
  int rank = tp__value_rank(source);
  int64_t batches[TP_MAX_RANK];
  lookup l = read_lookup(n, op, rank);
  if (l.n_indexed == 0) { /* all elements, in order */
    *now = rank == 0 ? source : tp__export_broadcast(x, source, type, l.slices);
    return TP_OK;
  }
  tp_nest part = tp__nest_part(x, n, l.without, NULL);
  tp_status status = positions(x, &part, &l, &indices);
  tp__value_map_destroy(&part.memo);
  TP_TRY(status);
  for (int i = 0; i < l.n_batches; i++) {
    batches[i] = l.batches[i];
    for (int k = 0; k < l.n_slices; k++)
      batches[i] -= l.slices[k] < l.batches[i];
  }
  MlirNamedAttribute attrs[] = {
      tp__named(x->context, "dimension_numbers",
                tp__export_gather_dims(x, &(tp_export_gather){.n_slices = l.n_slices,
                                                              .slices = l.slices,
                                                              .n_indexed = l.n_indexed,
                                                              .indexed = l.indexed,
                                                              .n_batches = l.n_batches,
                                                              .batch_dims = l.batch_dims,
                                                              .batches = batches,
                                                              .index_dim = part.n_loops})),
      tp__export_list(x, "slice_sizes", rank, l.slice_sizes),
      tp__named(x->context, "indices_are_sorted", mlirBoolAttrGet(x->context, false)),
  };
  *now = tp__export_build(x, "stablehlo.gather", type, 2, (MlirValue[]){source, indices},
                          TP_LEN(attrs), attrs);
  return TP_OK;
}
