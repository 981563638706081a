#include "passes/row_nodes.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>
#include <string.h>

/* ---- ops ---- */

/* The maps of a structured op, by operand; false for other ops. */
static bool maps_of(MlirOperation op, MlirAttribute *maps) {
  if (!tp__op_has_dialect(op, "linalg") || tp__op_is(op, "linalg.yield") || tp__op_is(op, "linalg.index"))
    return false;
  *maps = mlirLinalgGetIndexingMapsAttribute(op);
  return !mlirAttributeIsNull(*maps) && mlirArrayAttrGetNumElements(*maps) == mlirOperationGetNumOperands(op) &&
         mlirOperationGetNumResults(op) > 0;
}

static MlirAffineMap map_at(MlirAttribute maps, intptr_t i) {
  return mlirAffineMapAttrGetValue(mlirArrayAttrGetElement(maps, i));
}

/* How often each loop of a structured op runs. False where a map is no projection, or picks an element of several. */
static bool loop_sizes(MlirOperation op, MlirAttribute maps, int64_t *sizes) {
  intptr_t n_loops = mlirAffineMapGetNumDims(map_at(maps, 0));
  if (n_loops > TP_MAX_RANK)
    return false;
  for (intptr_t i = 0; i < n_loops; i++)
    sizes[i] = 0;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    int rank;
    int64_t shape[TP_MAX_RANK];
    MlirAffineMap map = map_at(maps, i);
    if (!tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, i))))
      continue;
    if (!tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, i)), &rank, shape))
      return false;
    for (int d = 0; d < rank; d++) {
      MlirAffineExpr e = mlirAffineMapGetResult(map, d);
      if (mlirAffineExprIsADim(e))
        sizes[mlirAffineDimExprGetPosition(e)] = shape[d];
      else if (!mlirAffineExprIsAConstant(e) || shape[d] != 1)
        return false;
    }
  }
  return true;
}

/* Elementwise ops on tensors, as frontends write them. */
static bool is_elementwise(MlirOperation op) {
  if ((!tp__op_has_dialect(op, "arith") && !tp__op_has_dialect(op, "math")) || mlirOperationGetNumResults(op) != 1)
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!tp__is_tensor(mlirValueGetType(mlirOperationGetOperand(op, i))))
      return false;
  return tp__is_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)));
}

static bool is_followed(const tp__rows *rows, MlirOperation op) {
  for (int i = 0; i < rows->n_ops; i++)
    if (mlirOperationEqual(rows->ops[i], op))
      return true;
  return false;
}

/* Has the result of an op the shape of the frame, or that of one number a row, but for dimensions of size 1? */
static bool is_of_rows(const tp__rows *rows, MlirValue value) {
  int rank, at = 0;
  int64_t shape[TP_MAX_RANK];
  if (!tp__static_tensor(mlirValueGetType(value), &rank, shape))
    return false;
  for (int d = 0; d < rank; d++) {
    while (at < rows->rank && rows->shape[at] == 1)
      at++;
    if (shape[d] == 1)
      continue;
    if (at == rows->rank || rows->shape[at] != shape[d])
      return false;
    at++;
  }
  while (at < rows->rank && (rows->shape[at] == 1 || at == rows->rank - 1))
    at++;
  return at == rows->rank;
}

/* A body that asserts, or does anything else than compute numbers, has to stay. */
static tp_status is_pure(MlirOperation op, void *data) {
  (void)data;
  return tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "math") || tp__op_has_dialect(op, "linalg") ? TP_OK
                                                                                                               : TP_UNSUPPORTED;
}

/* May the op be looked into? Loops that the frame does not have are those of a contraction. */
static bool is_understood(const tp__rows *rows, MlirOperation op) {
  MlirAttribute maps;
  int64_t sizes[TP_MAX_RANK];
  if (maps_of(op, &maps)) {
    int n_loops = 0, n_dims = 0;
    if (!loop_sizes(op, maps, sizes) || tp__walk(op, is_pure, NULL) != TP_OK)
      return false;
    for (intptr_t i = 0; i < mlirAffineMapGetNumDims(map_at(maps, 0)); i++)
      n_loops += sizes[i] != 1;
    for (int d = 0; d < rows->rank; d++)
      n_dims += rows->shape[d] != 1;
    if (n_loops > n_dims)
      return false;
  } else if (!tp__is_reshape(op) && !is_elementwise(op)) {
    return false;
  }
  for (intptr_t k = 0; k < mlirOperationGetNumResults(op); k++)
    if (!is_of_rows(rows, mlirOperationGetResult(op, k)))
      return false;
  return true;
}

static void follow_users(tp__rows *rows, MlirBlock block, MlirValue value) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    if (rows->n_ops < TP_ROW_OPS && mlirBlockEqual(mlirOperationGetBlock(user), block) && !is_followed(rows, user) &&
        is_understood(rows, user))
      rows->ops[rows->n_ops++] = user;
  }
}

static MlirBlock block_of(MlirValue value) {
  return mlirValueIsABlockArgument(value) ? mlirBlockArgumentGetOwner(value)
                                          : mlirOperationGetBlock(mlirOpResultGetOwner(value));
}

void tp__rows_follow(tp__rows *rows, MlirValue value) {
  MlirBlock block = block_of(value);
  int first = rows->n_ops;
  rows->n_known = 0;
  follow_users(rows, block, value);
  for (int i = first; i < rows->n_ops; i++)
    for (intptr_t k = 0; k < mlirOperationGetNumResults(rows->ops[i]); k++)
      follow_users(rows, block, mlirOperationGetResult(rows->ops[i], k));
  for (int i = 1; i < rows->n_ops; i++) {
    MlirOperation op = rows->ops[i];
    int at = i;
    for (; at > 0 && mlirOperationIsBeforeInBlock(op, rows->ops[at - 1]); at--)
      rows->ops[at] = rows->ops[at - 1];
    rows->ops[at] = op;
  }
}

MlirValue tp__rows_root(MlirOperation op) {
  MlirValue root = mlirOperationGetResult(op, 0);
  for (;;) {
    MlirOperation user = tp__is_used_once(root) ? mlirOpOperandGetOwner(mlirValueGetFirstUse(root)) : (MlirOperation){NULL};
    int rank, next_rank;
    int64_t shape[TP_MAX_RANK], next_shape[TP_MAX_RANK];
    if (mlirOperationIsNull(user) || !tp__is_reshape(user) ||
        !mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(op)) ||
        !tp__static_tensor(mlirValueGetType(root), &rank, shape) ||
        !tp__static_tensor(mlirValueGetType(mlirOperationGetResult(user, 0)), &next_rank, next_shape) || next_rank == 0 ||
        next_shape[next_rank - 1] != shape[rank - 1])
      return root;
    root = mlirOperationGetResult(user, 0);
  }
}

void tp__rows_begin(tp__rows *rows, MlirValue root) {
  rows->n = rows->n_ops = rows->depth = 0;
  rows->root = root;
  tp__static_tensor(mlirValueGetType(root), &rows->rank, rows->shape);
  tp__rows_follow(rows, root);
}

/* ---- bodies ---- */

/* An op whose elements are being expressed. */
typedef struct body_of {
  tp__rows *rows;
  MlirBlock block;  /* null: a number outside of bodies */
  int nodes[64];    /* of the operands; of inits those of what they start from */
  const int *loops; /* along which dimension of the frame they go */
  int depth;
} body_of;

static int scalar_node(body_of *b, MlirValue value);

static int scalar_op_node(body_of *b, MlirOperation op) {
  int n = tp__row_op_operands(op), nodes[TP_ROW_OPERANDS] = {TP_ROW_UNKNOWN, TP_ROW_UNKNOWN, TP_ROW_UNKNOWN};
  for (int k = 0; k < n; k++)
    nodes[k] = scalar_node(b, mlirOperationGetOperand(op, k));
  if (n > 0)
    return tp__row_apply(b->rows, op, nodes);
  if (tp__op_is(op, "linalg.index")) {
    int64_t loop = mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
    return b->loops && b->loops[loop] == b->rows->rank - 1 ? tp__row_column_node(b->rows) : TP_ROW_UNKNOWN;
  }
  return tp__op_is(op, "arith.constant") ? tp__row_number_node(b->rows, tp__inherent(op, "value")) : TP_ROW_UNKNOWN;
}

/* A number of a body. Bodies are short, but nothing says that they are trees. */
static int scalar_node(body_of *b, MlirValue value) {
  enum { MOST = 256 };
  static const int nowhere[TP_MAX_RANK] = {0};
  if (mlirValueIsABlockArgument(value))
    return !mlirBlockIsNull(b->block) && mlirBlockEqual(mlirBlockArgumentGetOwner(value), b->block)
               ? b->nodes[mlirBlockArgumentGetArgNumber(value)]
               : TP_ROW_UNKNOWN;
  int node = b->depth++ < MOST ? scalar_op_node(b, mlirOpResultGetOwner(value)) : TP_ROW_UNKNOWN;
  bool is_outside = !mlirBlockIsNull(b->block) && !mlirBlockEqual(mlirOperationGetBlock(mlirOpResultGetOwner(value)), b->block);
  return node < 0 && is_outside && mlirTypeIsAIndex(mlirValueGetType(value)) ? tp__row_value_node(b->rows, value, 0, nowhere)
                                                                             : node;
}

/* ---- tensors ---- */

static bool same_dims(int rank, const int *a, const int *b) { return memcmp(a, b, (size_t)rank * sizeof *a) == 0; }

/* Along which dimension of the frame each loop goes that result `k` has. Loops that it does not have are summed over: at most one of more than
 * one iteration, and then along the last dimension of the frame. */
static bool loops_of(const tp__rows *rows, MlirOperation op, MlirAttribute maps, int n_inputs, int k, const int *dims,
                     int *loops, bool *sums) {
  MlirAffineMap out = map_at(maps, n_inputs + k);
  intptr_t n_loops = mlirAffineMapGetNumDims(out);
  int64_t sizes[TP_MAX_RANK];
  bool has[TP_MAX_RANK] = {false};
  *sums = false;
  if (!loop_sizes(op, maps, sizes))
    return false;
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(out); d++) {
    MlirAffineExpr e = mlirAffineMapGetResult(out, d);
    if (!mlirAffineExprIsADim(e))
      continue;
    intptr_t loop = mlirAffineDimExprGetPosition(e);
    loops[loop] = dims[d];
    has[loop] = true;
  }
  for (intptr_t i = 0; i < n_loops; i++) {
    if (has[i])
      continue;
    loops[i] = sizes[i] == 1 ? TP_ROW_UNIT : rows->rank - 1;
    if (sizes[i] == 1)
      continue;
    if (*sums || sizes[i] != rows->shape[rows->rank - 1])
      return false;
    *sums = true;
  }
  for (intptr_t i = 0; i < n_loops && *sums; i++) /* the elements of one row, not of a square */
    if (has[i] && loops[i] == rows->rank - 1)
      return false;
  return true;
}

static int structured_node(tp__rows *rows, MlirOperation op, MlirAttribute maps, int k, const int *dims) {
  int n_operands = (int)mlirOperationGetNumOperands(op), n_inputs = n_operands - (int)mlirOperationGetNumResults(op);
  int loops[TP_MAX_RANK];
  bool sums;
  MlirBlock block =
      mlirOperationGetNumRegions(op) == 1 ? mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)) : (MlirBlock){NULL};
  body_of b = {.rows = rows, .block = block, .loops = loops};
  if (mlirBlockIsNull(block) || n_operands > TP_LEN(b.nodes) || mlirBlockGetNumArguments(block) > n_operands ||
      !loops_of(rows, op, maps, n_inputs, k, dims, loops, &sums))
    return TP_ROW_UNKNOWN;
  for (int i = 0; i < n_operands; i++) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    MlirAffineMap map = map_at(maps, i);
    int of[TP_MAX_RANK] = {0};
    b.nodes[i] = TP_ROW_UNKNOWN;
    if (i < mlirBlockGetNumArguments(block) && mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(block, i))))
      continue;
    for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++) {
      MlirAffineExpr e = mlirAffineMapGetResult(map, d);
      of[d] = mlirAffineExprIsADim(e) ? loops[mlirAffineDimExprGetPosition(e)] : TP_ROW_UNIT;
    }
    if (tp__is_tensor(mlirValueGetType(operand)))
      b.nodes[i] = tp__row_of(rows, operand, of);
    else
      b.nodes[i] = scalar_node(&(body_of){.rows = rows}, operand);
  }
  MlirValue yielded = mlirOperationGetOperand(mlirBlockGetTerminator(block), k);
  if (!sums)
    return scalar_node(&b, yielded);
  /* accumulator + x, or the larger of them */
  MlirValue accumulator = mlirBlockGetArgument(block, n_inputs + k);
  MlirOperation add = tp__defining_op(yielded);
  bool adds = !mlirOperationIsNull(add) && tp__op_is(add, "arith.addf"),
       compares = !mlirOperationIsNull(add) && (tp__op_is(add, "arith.maximumf") || tp__op_is(add, "arith.maxnumf"));
  if (!adds && !compares)
    return TP_ROW_UNKNOWN;
  int side = mlirValueEqual(mlirOperationGetOperand(add, 0), accumulator)   ? 1
             : mlirValueEqual(mlirOperationGetOperand(add, 1), accumulator) ? 0
                                                                            : -1;
  if (side < 0 || !tp__is_used_once(accumulator))
    return TP_ROW_UNKNOWN;
  int start = b.nodes[n_inputs + k], term = scalar_node(&b, mlirOperationGetOperand(add, side));
  return tp__row_op_node(rows, adds ? TP_ROW_ADD : TP_ROW_MAXIMUM, start,
                         tp__row_op_node(rows, adds ? TP_ROW_SUM : TP_ROW_LARGEST, term, -1));
}

/* A reshape that adds or drops dimensions of size 1 only. */
static int reshape_node(tp__rows *rows, MlirOperation op, const int *dims) {
  int rank, to_rank, of[TP_MAX_RANK], at = 0;
  int64_t shape[TP_MAX_RANK], to_shape[TP_MAX_RANK];
  MlirValue operand = mlirOperationGetOperand(op, 0);
  if (!tp__static_tensor(mlirValueGetType(operand), &rank, shape) ||
      !tp__static_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)), &to_rank, to_shape))
    return TP_ROW_UNKNOWN;
  for (int d = 0; d < rank; d++) {
    of[d] = TP_ROW_UNIT;
    if (shape[d] == 1)
      continue;
    while (at < to_rank && to_shape[at] == 1)
      at++;
    if (at == to_rank || to_shape[at] != shape[d])
      return TP_ROW_UNKNOWN;
    of[d] = dims[at++];
  }
  return tp__row_of(rows, operand, of);
}

static int elementwise_node(tp__rows *rows, MlirOperation op, const int *dims) {
  int n = tp__row_op_operands(op), nodes[TP_ROW_OPERANDS] = {TP_ROW_UNKNOWN, TP_ROW_UNKNOWN, TP_ROW_UNKNOWN};
  for (int k = 0; k < n; k++)
    nodes[k] = tp__row_of(rows, mlirOperationGetOperand(op, k), dims);
  return n > 0 ? tp__row_apply(rows, op, nodes) : TP_ROW_UNKNOWN;
}

/* Does the op hand on elements of its only input as they are? Then it may be looked into whatever it is computed from. */
static bool is_broadcast(MlirOperation op) {
  if (mlirOperationGetNumOperands(op) != 2 || mlirOperationGetNumRegions(op) != 1)
    return false;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
  MlirOperation yield = mlirBlockGetTerminator(block);
  return mlirOperationGetNumOperands(yield) == 1 && mlirBlockGetNumArguments(block) > 0 &&
         mlirValueEqual(mlirOperationGetOperand(yield, 0), mlirBlockGetArgument(block, 0));
}

/* Is it computed from integers alone, as masks and the numbers of columns are? Then, too. */
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

/* A number is the same in every slice. */
static int slice_node(tp__rows *rows, MlirOperation op, const int *dims) {
  int node = tp__row_of(rows, mlirOperationGetOperand(op, 0), dims);
  return node >= 0 && rows->nodes[node].kind == TP_ROW_NUMBER ? node : TP_ROW_UNKNOWN;
}

static int made_node(tp__rows *rows, MlirOperation op, MlirValue value, const int *dims) {
  bool followed = is_followed(rows, op);
  MlirAttribute maps;
  if (tp__op_is(op, "arith.constant"))
    return tp__row_number_node(rows, tp__inherent(op, "value"));
  if (tp__op_is(op, "linalg.fill"))
    return scalar_node(&(body_of){.rows = rows}, mlirOperationGetOperand(op, 0));
  if (tp__is_reshape(op))
    return reshape_node(rows, op, dims);
  if (tp__op_is(op, "shard.all_slice"))
    return slice_node(rows, op, dims);
  if (maps_of(op, &maps))
    return followed || is_broadcast(op) || is_mask(op)
               ? structured_node(rows, op, maps, (int)mlirOpResultGetResultNumber(value), dims)
               : TP_ROW_UNKNOWN;
  return is_elementwise(op) && (followed || tp__op_is(op, "arith.extf") || is_mask(op)) ? elementwise_node(rows, op, dims)
                                                                                        : TP_ROW_UNKNOWN;
}

int tp__row_of(tp__rows *rows, MlirValue value, const int *dims) {
  enum { MOST_DEEP = 2 * TP_ROW_OPS };
  int rank, node = TP_ROW_UNKNOWN;
  int64_t shape[TP_MAX_RANK];
  if (!tp__static_tensor(mlirValueGetType(value), &rank, shape))
    return TP_ROW_UNKNOWN;
  for (int i = 0; i < rows->n_known; i++)
    if (mlirValueEqual(rows->known[i].value, value) && same_dims(rank, rows->known[i].dims, dims))
      return rows->known[i].node;
  MlirOperation op = tp__defining_op(value);
  if (!mlirValueEqual(value, rows->root) && !mlirOperationIsNull(op) && rows->depth < MOST_DEEP &&
      rows->n_known < TP_ROW_NODES) { /* else it would be looked into again each time */
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

/* The node of a value that goes along the first n_dims dimensions of the frame. */
static int row_of_first(tp__rows *rows, MlirValue value, int n_dims) {
  int rank, dims[TP_MAX_RANK], at = 0;
  int64_t shape[TP_MAX_RANK];
  if (!tp__static_tensor(mlirValueGetType(value), &rank, shape))
    return TP_ROW_UNKNOWN;
  for (int d = 0; d < rank; d++) {
    dims[d] = TP_ROW_UNIT;
    if (shape[d] == 1)
      continue;
    while (at < n_dims && rows->shape[at] == 1)
      at++;
    if (at == n_dims || rows->shape[at] != shape[d])
      return TP_ROW_UNKNOWN;
    dims[d] = at++;
  }
  while (at < n_dims && rows->shape[at] == 1)
    at++;
  return at == n_dims ? tp__row_of(rows, value, dims) : TP_ROW_UNKNOWN;
}

int tp__row_of_whole(tp__rows *rows, MlirValue value) { return row_of_first(rows, value, rows->rank); }

int tp__row_of_number(tp__rows *rows, MlirValue value) { return row_of_first(rows, value, rows->rank - 1); }
