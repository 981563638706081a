/* Raises concatenations: a generic that selects one of several captured tensors by a loop index
 * becomes a tensor.concat. */
#include "passes/prepare/raise/raise.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { MAX_PIECES = 64, MAX_DEPTH = 128 };

typedef struct piece {
  MlirValue tensor;
  int64_t offsets[TP_MAX_RANK], sizes[TP_MAX_RANK]; /* the part that is read */
} piece;

typedef struct concat {
  tp__generic range; /* the generic, with loop ranges narrowed to the current branch */
  int rank;
  int dims[TP_RAISE_MAX_LOOPS]; /* result dimension of each loop */
  int loop;                     /* the loop that the branches compare; -1 before the first */
  int depth;                    /* nesting depth of branches */
  int n_pieces;
  piece pieces[MAX_PIECES];
} concat;

/* ---- reading the body ---- */

static const char *const scalar_ops[] = {"scf.if", "scf.yield", "linalg.index", "linalg.yield",
                                         "tensor.extract"};

/* Accepts only index arithmetic, branches and reads: ops that cannot fail and have no side
 * effects. */
static tp_status check_op(MlirOperation op, void *data) {
  (void)data;
  bool ok = tp__op_has_dialect(op, "arith");
  for (int i = 0; i < TP_LEN(scalar_ops); i++)
    ok |= tp__op_is(op, scalar_ops[i]);
  return ok ? TP_OK : TP_UNSUPPORTED;
}

/* Predicates of arith.cmpi `loop ? constant`. The branches switch at constant + add. */
static const struct {
  bool is_order, then_is_below, is_unsigned;
  int add;
} predicates[] = {
    [0] = {false, false, false, 0}, /* eq */
    [2] = {true, true, false, 0},   /* slt */
    [3] = {true, true, false, 1},   /* sle */
    [4] = {true, false, false, 1},  /* sgt */
    [5] = {true, false, false, 0},  /* sge */
    [6] = {true, true, true, 0},    /* ult */
    [7] = {true, true, true, 1},    /* ule */
    [8] = {true, false, true, 1},   /* ugt */
    [9] = {true, false, true, 0},   /* uge */
};

/* Reads the condition of a branch. *first_above is the first iteration of the loop that takes the
 * upper branch. */
static bool read_condition(concat *c, MlirOperation op, int64_t *first_above, bool *then_is_below) {
  tp__index loop, bound;
  int64_t lo, hi;
  if (mlirOperationIsNull(op) || !tp__op_is(op, "arith.cmpi"))
    return false;
  int64_t predicate = mlirIntegerAttrGetValueInt(tp__inherent(op, "predicate"));
  if (!predicates[predicate].is_order ||
      !tp__index_of(&c->range, mlirOperationGetOperand(op, 0), &loop) ||
      !tp__index_of(&c->range, mlirOperationGetOperand(op, 1), &bound) || loop.loop < 0 ||
      bound.loop >= 0)
    return false;
  tp__index_bounds(&c->range, loop, &lo, &hi);
  if ((predicates[predicate].is_unsigned && (lo < 0 || bound.offset < 0)) ||
      (c->loop >= 0 && loop.loop != c->loop))
    return false;
  c->loop = loop.loop;
  *first_above = bound.offset - loop.offset + predicates[predicate].add;
  *then_is_below = predicates[predicate].then_is_below;
  return true;
}

/* Reads a tensor.extract whose index in each dimension is a loop plus a constant. Appends the part
 * of the tensor that the current range reads. */
static bool read_piece(concat *c, MlirOperation op) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (!tp__op_is(op, "tensor.extract") || c->n_pieces == MAX_PIECES)
    return false; /* also checked before operand 0 is read: a constant has no operands */
  MlirValue tensor = mlirOperationGetOperand(op, 0);
  if (!tp__is_captured(c->range.op, tensor) ||
      !tp__static_tensor(mlirValueGetType(tensor), &rank, shape) || rank != c->rank)
    return false;
  piece *p = &c->pieces[c->n_pieces];
  p->tensor = tensor;
  for (int d = 0; d < rank; d++) {
    tp__index index;
    int64_t lo, hi;
    if (!tp__index_of(&c->range, mlirOperationGetOperand(op, d + 1), &index) || index.loop < 0 ||
        c->dims[index.loop] != d)
      return false;
    tp__index_bounds(&c->range, index, &lo, &hi);
    if (lo < 0 || hi >= shape[d])
      return false;
    p->offsets[d] = lo;
    p->sizes[d] = hi - lo + 1;
  }
  c->n_pieces++;
  return true;
}

static bool read_value(concat *c, MlirValue value);

static bool read_branch(concat *c, MlirOperation op, int region, int64_t lo, int64_t hi) {
  if (lo > hi)
    return true; /* never taken */
  int64_t old_lo = c->range.lo[c->loop], old_hi = c->range.hi[c->loop];
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
  c->range.lo[c->loop] = lo;
  c->range.hi[c->loop] = hi;
  c->depth++;
  bool ok = read_value(c, mlirOperationGetOperand(mlirBlockGetTerminator(block), 0));
  c->depth--;
  c->range.lo[c->loop] = old_lo;
  c->range.hi[c->loop] = old_hi;
  return ok;
}

/* Appends the pieces of `value` in the order of the loop. */
static bool read_value(concat *c, MlirValue value) {
  MlirOperation op = tp__defining_op(value);
  int64_t above;
  bool then_is_below;
  if (mlirOperationIsNull(op) || c->depth == MAX_DEPTH)
    return false;
  if (!tp__op_is(op, "scf.if"))
    return read_piece(c, op);
  if (mlirOperationGetNumResults(op) != 1 ||
      !read_condition(c, tp__defining_op(mlirOperationGetOperand(op, 0)), &above, &then_is_below))
    return false;
  int64_t lo = c->range.lo[c->loop], hi = c->range.hi[c->loop];
  int below = then_is_below ? 0 : 1;
  return read_branch(c, op, below, lo, above - 1 < hi ? above - 1 : hi) &&
         read_branch(c, op, 1 - below, above > lo ? above : lo, hi);
}

/* ---- building the result ---- */

static bool read_result(concat *c, const tp__generic *generic) {
  int64_t shape[TP_MAX_RANK];
  MlirType type = mlirValueGetType(mlirOperationGetResult(generic->op, 0));
  MlirAffineMap map = tp__generic_map(generic, 0);
  if (!tp__static_tensor(type, &c->rank, shape) ||
      !mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)) ||
      !tp__generic_is_static(generic) || !tp__map_covers(map, type) || c->rank != generic->n_loops)
    return false;
  for (int d = 0; d < c->rank; d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    if (!mlirAffineExprIsADim(expr))
      return false;
    c->dims[mlirAffineDimExprGetPosition(expr)] = d;
  }
  return true;
}

/* Builds the result. A single piece is returned as it is, without a concat. */
static MlirValue build(const concat *c, const tp__generic *generic) {
  MlirValue parts[MAX_PIECES];
  MlirType type = mlirValueGetType(mlirOperationGetResult(generic->op, 0));
  for (int i = 0; i < c->n_pieces; i++)
    parts[i] =
        tp__slice(generic->op, c->pieces[i].tensor, c->pieces[i].offsets, c->pieces[i].sizes);
  if (c->n_pieces == 1)
    return parts[0];
  MlirContext context = mlirOperationGetContext(generic->op);
  MlirNamedAttribute dim = tp__named(context, "dim", tp__attr_i64(context, c->dims[c->loop]));
  MlirOperation op = tp__create(&(tp_build){.name = "tensor.concat",
                                            .location = mlirOperationGetLocation(generic->op),
                                            .n_operands = c->n_pieces,
                                            .operands = parts,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = 1,
                                            .attributes = &dim});
  tp__insert_before(generic->op, op);
  tp__copy_discardable(generic->op, op);
  return mlirOperationGetResult(op, 0);
}

bool tp__raise_concat(tp__raise *raise, const tp__generic *generic) {
  if (generic->n_inputs != 0 || generic->n_inits != 1)
    return false;
  concat c = {.range = *generic, .loop = -1};
  if (!read_result(&c, generic) || tp__walk(generic->op, check_op, NULL) != TP_OK ||
      !read_value(&c, mlirOperationGetOperand(generic->yield, 0)) || c.loop < 0)
    return false;
  if (c.n_pieces == 1 && mlirOperationGetNumDiscardableAttributes(generic->op) > 0)
    return false; /* the annotation would have no op to go on */
  for (int i = 0; i < c.n_pieces; i++)
    if (!mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(mlirValueGetType(c.pieces[i].tensor))))
      return false;
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(generic->op, 0), build(&c, generic));
  tp__destroy(raise, generic->op);
  raise->statistics[TP_RAISED_CONCAT]++;
  return true;
}
