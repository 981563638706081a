/* Builds row expressions: follows the producers of a tensor and expresses its elements as nodes. */
#include "passes/fuse/rows/row_nodes.h"
#include "passes/fuse/rows/row_places.h"

#include <string.h>

/* ---- bodies ---- */

/* The op whose elements are being expressed. */
typedef struct body_of {
  tp__rows *rows;
  MlirBlock block;  /* null: a scalar outside of bodies */
  int nodes[64];    /* nodes of the operands; the node of an init is its initial value */
  const int *loops; /* frame dimension of each loop */
  int depth;
} body_of;

static int scalar_node(body_of *b, MlirValue value);

static int scalar_op_node(body_of *b, MlirOperation op) {
  int n = tp__row_op_operands(op),
      nodes[TP_ROW_OPERANDS] = {TP_ROW_UNKNOWN, TP_ROW_UNKNOWN, TP_ROW_UNKNOWN};
  for (int k = 0; k < n; k++)
    nodes[k] = scalar_node(b, mlirOperationGetOperand(op, k));
  if (n > 0)
    return tp__row_apply(b->rows, op, nodes);
  if (tp__op_is(op, "linalg.index")) {
    int64_t loop = mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
    return b->loops && b->loops[loop] == b->rows->rank - 1 ? tp__row_column_node(b->rows)
                                                           : TP_ROW_UNKNOWN;
  }
  return tp__op_is(op, "arith.constant") ? tp__row_number_node(b->rows, tp__inherent(op, "value"))
                                         : TP_ROW_UNKNOWN;
}

/* Returns the node of a scalar in a body. The number of visited ops is limited, because a body need
 * not be a tree. */
static int scalar_node(body_of *b, MlirValue value) {
  enum { MOST = 256 };
  static const int nowhere[TP_MAX_RANK] = {0};
  if (mlirValueIsABlockArgument(value))
    return !mlirBlockIsNull(b->block) && mlirBlockEqual(mlirBlockArgumentGetOwner(value), b->block)
               ? b->nodes[mlirBlockArgumentGetArgNumber(value)]
               : TP_ROW_UNKNOWN;
  int node = b->depth++ < MOST ? scalar_op_node(b, mlirOpResultGetOwner(value)) : TP_ROW_UNKNOWN;
  bool is_outside = !mlirBlockIsNull(b->block) &&
                    !mlirBlockEqual(mlirOperationGetBlock(mlirOpResultGetOwner(value)), b->block);
  return node < 0 && is_outside && mlirTypeIsAIndex(mlirValueGetType(value))
             ? tp__row_value_node(b->rows, value, 0, nowhere)
             : node;
}

/* ---- tensors ---- */

static bool same_dims(int rank, const int *a, const int *b) {
  return memcmp(a, b, (size_t)rank * sizeof *a) == 0;
}

/* Range of elements that an op combines for each result element. */
typedef enum extent { OF_ELEMENT, OF_GROUP, OF_ROW } extent;

/* Finds the frame dimension of each loop that result `k` has. Other loops are reductions. Only
 * these reductions of more than one iteration are supported: one loop along the last dimension of
 * the frame, one along the members of a group, or two along both groups and members. */
static bool loops_of(const tp__rows *rows, MlirOperation op, MlirAttribute maps, int n_inputs,
                     int k, const int *dims, int *loops, extent *combined) {
  MlirAffineMap out = tp__map_at(maps, n_inputs + k);
  intptr_t n_loops = mlirAffineMapGetNumDims(out);
  int last = rows->rank - 1, n_missing = 0, missing[2];
  int64_t sizes[TP_MAX_RANK], hidden = rows->shape[last];
  bool has[TP_MAX_RANK] = {false}, has_last = false, has_group = false, has_member = false;
  *combined = OF_ELEMENT;
  if (!tp__row_loop_sizes(rows, op, maps, sizes))
    return false;
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(out); d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(out, d);
    if (mlirAffineExprIsAConstant(e))
      continue;
    if (!mlirAffineExprIsADim(e))
      return false;
    intptr_t loop = mlirAffineDimExprGetPosition(e);
    loops[loop] = dims[d];
    has[loop] = true;
    has_last = has_last || dims[d] == last;
    has_group = has_group || dims[d] == TP_ROW_GROUP;
    has_member = has_member || dims[d] == TP_ROW_MEMBER;
  }
  for (int i = 0; i < n_loops; i++) {
    if (has[i])
      continue;
    loops[i] = TP_ROW_UNIT;
    if (sizes[i] == 1)
      continue;
    if (n_missing == TP_LEN(missing))
      return false;
    missing[n_missing++] = i;
  }
  if (n_missing == 0)
    return true;
  if (has_last || has_member) /* a reduction must cover elements of one row */
    return false;
  if (n_missing == 1 && !has_group && sizes[missing[0]] == hidden) {
    loops[missing[0]] = last;
    *combined = OF_ROW;
  } else if (n_missing == 1 && has_group && sizes[missing[0]] == rows->group) {
    loops[missing[0]] = TP_ROW_MEMBER;
    *combined = OF_GROUP;
  } else if (n_missing == 2 && !has_group && rows->group &&
             sizes[missing[0]] == hidden / rows->group && sizes[missing[1]] == rows->group) {
    loops[missing[0]] = TP_ROW_GROUP;
    loops[missing[1]] = TP_ROW_MEMBER;
    *combined = OF_ROW;
  }
  return *combined != OF_ELEMENT;
}

/* Returns the node of a sum or max reduction of `term` from the initial value `start`. Sums of
 * groups are not supported. */
static int combined_node(tp__rows *rows, bool adds, extent combined, int start, int term) {
  if (adds && combined == OF_GROUP)
    return TP_ROW_UNKNOWN;
  tp__row_kind kind = adds                   ? TP_ROW_SUM
                      : combined == OF_GROUP ? TP_ROW_GROUP_REDUCE_MAX
                                             : TP_ROW_REDUCE_MAX;
  return tp__row_op_node(rows, adds ? TP_ROW_ADD : TP_ROW_MAXIMUM, start,
                         tp__row_op_node(rows, kind, term, -1));
}

static int structured_node(tp__rows *rows, MlirOperation op, MlirAttribute maps, int k,
                           const int *dims) {
  int n_operands = (int)mlirOperationGetNumOperands(op),
      n_inputs = n_operands - (int)mlirOperationGetNumResults(op);
  int loops[TP_MAX_RANK];
  extent combined;
  MlirBlock block = mlirOperationGetNumRegions(op) == 1
                        ? mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0))
                        : (MlirBlock){NULL};
  body_of b = {.rows = rows, .block = block, .loops = loops};
  if (mlirBlockIsNull(block) || n_operands > TP_LEN(b.nodes) ||
      mlirBlockGetNumArguments(block) > n_operands ||
      !loops_of(rows, op, maps, n_inputs, k, dims, loops, &combined))
    return TP_ROW_UNKNOWN;
  for (int i = 0; i < n_operands; i++) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    MlirAffineMap map = tp__map_at(maps, i);
    int of[TP_MAX_RANK] = {0};
    bool known = true;
    b.nodes[i] = TP_ROW_UNKNOWN;
    if (i < mlirBlockGetNumArguments(block) &&
        mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(block, i))))
      continue;
    for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map) && known; d++) {
      of[d] = tp__row_place(rows, mlirAffineMapGetResult(map, d), loops);
      known = of[d] != TP_ROW_NO_DIM;
    }
    if (!known)
      continue;
    if (tp__is_tensor(mlirValueGetType(operand)))
      b.nodes[i] = tp__row_of(rows, operand, of);
    else
      b.nodes[i] = scalar_node(&(body_of){.rows = rows}, operand);
  }
  MlirValue yielded = mlirOperationGetOperand(mlirBlockGetTerminator(block), k);
  if (combined == OF_ELEMENT)
    return scalar_node(&b, yielded);
  /* accumulator + x or max(accumulator, x) */
  MlirValue accumulator = mlirBlockGetArgument(block, n_inputs + k);
  MlirOperation add = tp__defining_op(yielded);
  bool adds = !mlirOperationIsNull(add) && tp__op_is(add, "arith.addf"),
       compares = !mlirOperationIsNull(add) &&
                  (tp__op_is(add, "arith.maximumf") || tp__op_is(add, "arith.maxnumf"));
  if (!adds && !compares)
    return TP_ROW_UNKNOWN;
  int side = mlirValueEqual(mlirOperationGetOperand(add, 0), accumulator)   ? 1
             : mlirValueEqual(mlirOperationGetOperand(add, 1), accumulator) ? 0
                                                                            : -1;
  if (side < 0 || !tp__is_used_once(accumulator))
    return TP_ROW_UNKNOWN;
  int start = b.nodes[n_inputs + k], term = scalar_node(&b, mlirOperationGetOperand(add, side));
  return combined_node(rows, adds, combined, start, term);
}

static int reshape_node(tp__rows *rows, MlirOperation op, const int *dims) {
  int of[TP_MAX_RANK];
  return tp__row_reshape(rows, op, dims, of) ? tp__row_of(rows, mlirOperationGetOperand(op, 0), of)
                                             : TP_ROW_UNKNOWN;
}

static int elementwise_node(tp__rows *rows, MlirOperation op, const int *dims) {
  int n = tp__row_op_operands(op),
      nodes[TP_ROW_OPERANDS] = {TP_ROW_UNKNOWN, TP_ROW_UNKNOWN, TP_ROW_UNKNOWN};
  for (int k = 0; k < n; k++)
    nodes[k] = tp__row_of(rows, mlirOperationGetOperand(op, k), dims);
  return n > 0 ? tp__row_apply(rows, op, nodes) : TP_ROW_UNKNOWN;
}

/* True if the op only copies elements of its single input. Such an op can be followed from any
 * producer. */
static bool is_broadcast(MlirOperation op) {
  if (mlirOperationGetNumOperands(op) != 2 || mlirOperationGetNumRegions(op) != 1)
    return false;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation yield = mlirBlockGetTerminator(block);
  return mlirOperationGetNumOperands(yield) == 1 && mlirBlockGetNumArguments(block) > 0 &&
         mlirValueEqual(mlirOperationGetOperand(yield, 0), mlirBlockGetArgument(block, 0));
}

/* True if the op computes from integers only, such as masks and column indices. Such an op can also
 * be followed from any producer. */
static bool is_mask(MlirOperation op) {
  intptr_t n_inputs = mlirOperationGetNumOperands(op);
  if (tp__op_has_dialect(op, "linalg"))
    n_inputs -= mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < n_inputs; i++) {
    MlirType type = mlirValueGetType(mlirOperationGetOperand(op, i));
    if (!mlirTypeIsAInteger(mlirTypeIsAShaped(type) ? tp__element_type(type) : type))
      return false;
  }
  return true;
}

/* Follows a shard.all_slice only to a constant, which is the same in every slice. */
static int slice_node(tp__rows *rows, MlirOperation op, const int *dims) {
  int node = tp__row_of(rows, mlirOperationGetOperand(op, 0), dims);
  return node >= 0 && rows->nodes[node].kind == TP_ROW_NUMBER ? node : TP_ROW_UNKNOWN;
}

static int made_node(tp__rows *rows, MlirOperation op, MlirValue value, const int *dims) {
  bool followed = tp__row_is_followed(rows, op);
  MlirAttribute maps;
  if (tp__op_is(op, "arith.constant"))
    return tp__row_number_node(rows, tp__inherent(op, "value"));
  if (tp__op_is(op, "linalg.fill"))
    return scalar_node(&(body_of){.rows = rows}, mlirOperationGetOperand(op, 0));
  if (tp__is_reshape(op))
    return reshape_node(rows, op, dims);
  if (tp__op_is(op, "shard.all_slice"))
    return slice_node(rows, op, dims);
  if (tp__row_maps(op, &maps))
    return followed || is_broadcast(op) || is_mask(op)
               ? structured_node(rows, op, maps, (int)mlirOpResultGetResultNumber(value), dims)
               : TP_ROW_UNKNOWN;
  return tp__row_is_elementwise(op) && (followed || tp__op_is(op, "arith.extf") || is_mask(op))
             ? elementwise_node(rows, op, dims)
             : TP_ROW_UNKNOWN;
}

int tp__row_of(tp__rows *rows, MlirValue value, const int *dims) {
  enum { MAX_DEPTH = 2 * TP_ROW_OPS };
  int rank, node = TP_ROW_UNKNOWN;
  int64_t shape[TP_MAX_RANK];
  if (!tp__static_tensor(mlirValueGetType(value), &rank, shape))
    return TP_ROW_UNKNOWN;
  for (int i = 0; i < rows->n_known; i++)
    if (mlirValueEqual(rows->known[i].value, value) && same_dims(rank, rows->known[i].dims, dims))
      return rows->known[i].node;
  MlirOperation op = tp__defining_op(value);
  if (!mlirValueEqual(value, rows->root) && !mlirOperationIsNull(op) && rows->depth < MAX_DEPTH &&
      /* with a full cache, values would be followed again on each use */
      rows->n_known < TP_ROW_NODES) {
    rows->depth++;
    node = made_node(rows, op, value, dims);
    rows->depth--;
  }
  if (node == TP_ROW_UNKNOWN)
    node = tp__row_value_node(rows, value, rank, dims);
  if (rows->n_known < TP_ROW_NODES) {
    rows->known[rows->n_known].value = value;
    memcpy(rows->known[rows->n_known].dims, dims, (size_t)rank * sizeof *dims);
    rows->known[rows->n_known++].node = node;
  }
  return node;
}

static int row_of_form(tp__rows *rows, MlirValue value, tp__row_form wanted) {
  int dims[TP_MAX_RANK];
  tp__row_form form = tp__row_form_of(rows, value, dims);
  /* with one column, a row is also a single number */
  bool is_both = form == TP_ROW_WHOLE && rows->shape[rows->rank - 1] == 1;
  return form == wanted || (is_both && wanted == TP_ROW_NUMBERS) ? tp__row_of(rows, value, dims)
                                                                 : TP_ROW_UNKNOWN;
}

int tp__row_of_whole(tp__rows *rows, MlirValue value) {
  return row_of_form(rows, value, TP_ROW_WHOLE);
}

int tp__row_of_number(tp__rows *rows, MlirValue value) {
  return row_of_form(rows, value, TP_ROW_NUMBERS);
}

int tp__row_of_group_number(tp__rows *rows, MlirValue value) {
  return row_of_form(rows, value, TP_ROW_GROUP_NUMBERS);
}
