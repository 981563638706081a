/* Raises reads at computed indices: a body that further processes a value read from a captured
 * tensor is split. The read becomes a linalg.generic of its own (a lookup), and the body takes its
 * result as an operand.
 *
 * Sharding rules can split the rows of a lookup's table. The planner treats the remaining body like
 * any other op: a mask, a scale, a sum over a bag of rows, or two reads of one table. */
#include "passes/prepare/raise/raise.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

enum { MAX_SLICE = 64 };

/* The backward slice of a read: the part of the body that the read needs. */
typedef struct slice {
  const tp__generic *generic;
  int n_ops;
  MlirOperation ops[MAX_SLICE]; /* in dependency order, without the read */
  uint64_t inputs;              /* inputs of the generic, as bits */
  uint32_t loops;
  int depth;
} slice;

/* ---- collecting the slice ---- */

static bool holds(const slice *s, MlirOperation op) {
  for (int i = 0; i < s->n_ops; i++)
    if (mlirOperationEqual(s->ops[i], op))
      return true;
  return false;
}

static bool take_value(slice *s, MlirValue value);

static bool take_op(slice *s, MlirOperation op) {
  bool known = tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "math") ||
               tp__op_is(op, "linalg.index") || tp__op_is(op, "cf.assert");
  if (holds(s, op))
    return true;
  if (!known || mlirOperationGetNumRegions(op) > 0 ||
      !mlirBlockEqual(mlirOperationGetBlock(op), s->generic->body) || s->depth == MAX_SLICE)
    return false;
  s->depth++;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    if (!take_value(s, mlirOperationGetOperand(op, i)))
      return false;
  s->depth--;
  if (tp__op_is(op, "linalg.index"))
    s->loops |= UINT32_C(1) << mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
  if (s->n_ops == MAX_SLICE)
    return false;
  s->ops[s->n_ops++] = op;
  return true;
}

static bool take_value(slice *s, MlirValue value) {
  if (tp__is_captured(s->generic->op, value))
    return true;
  if (!mlirValueIsABlockArgument(value))
    return take_op(s, mlirOpResultGetOwner(value));
  int i = (int)mlirBlockArgumentGetArgNumber(value);
  if (i >= s->generic->n_inputs)
    return false; /* an accumulator */
  MlirAffineMap map = tp__generic_map(s->generic, i);
  if (mlirAffineMapGetNumResults(map) > TP_MAX_RANK)
    return false;
  s->inputs |= UINT64_C(1) << i;
  for (intptr_t d = 0; d < mlirAffineMapGetNumResults(map); d++)
    for (int l = 0; l < s->generic->n_loops; l++)
      if (mlirAffineExprIsFunctionOfDim(mlirAffineMapGetResult(map, d), l))
        s->loops |= UINT32_C(1) << l;
  return true;
}

/* Adds the indices of the read, and the assertions before it, which may guard its bounds. */
static bool take_read(slice *s, MlirOperation read) {
  for (MlirOperation op = mlirBlockGetFirstOperation(s->generic->body);
       !mlirOperationEqual(op, read); op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "cf.assert") && !take_op(s, op))
      return false;
  for (intptr_t i = 1; i < mlirOperationGetNumOperands(read); i++)
    if (!take_value(s, mlirOperationGetOperand(read, i)))
      return false;
  return true;
}

/* ---- choosing reads ---- */

static tp_status count_reads(MlirOperation op, void *data) {
  *(int *)data += tp__op_is(op, "tensor.extract");
  return TP_OK;
}

/* True if the generic is a lookup already: it only yields the one value that it reads. */
static bool is_lookup(const tp__generic *generic, MlirOperation read) {
  MlirAttribute iterators = tp__inherent(generic->op, "iterator_types");
  MlirAttribute parallel =
      tp__parse_attr(mlirOperationGetContext(read), "#linalg.iterator_type<parallel>");
  int n_reads = 0;
  for (int l = 0; l < generic->n_loops; l++)
    if (!mlirAttributeEqual(mlirArrayAttrGetElement(iterators, l), parallel))
      return false;
  (void)tp__walk(generic->op, count_reads, &n_reads); /* the visitor does not fail */
  return n_reads == 1 && generic->n_inits == 1 &&
         mlirValueEqual(mlirOperationGetOperand(generic->yield, 0),
                        mlirOperationGetResult(read, 0));
}

static double n_elements(MlirType type) {
  int rank;
  int64_t shape[TP_MAX_RANK];
  double n = tp__static_tensor(type, &rank, shape) ? 1 : 0;
  for (int d = 0; n > 0 && d < rank; d++)
    n *= (double)shape[d];
  return n;
}

/* True if the tensor of values read is no larger than the largest operand or the table, since it
 * has to be stored. */
static bool is_worth(const slice *s, MlirOperation read) {
  const tp__generic *g = s->generic;
  double size = 1, largest = n_elements(mlirValueGetType(mlirOperationGetOperand(read, 0)));
  int rank = 0;
  for (int l = 0; l < g->n_loops; l++)
    if (s->loops >> l & 1) {
      size *= (double)(g->hi[l] - g->lo[l] + 1);
      rank++;
    }
  for (int i = 0; i < g->n_inputs + g->n_inits; i++) {
    double n = n_elements(mlirValueGetType(mlirOperationGetOperand(g->op, i)));
    largest = n > largest ? n : largest;
  }
  return largest > 0 && size <= largest && rank <= TP_MAX_RANK;
}

static bool is_candidate(const tp__generic *generic, MlirOperation read) {
  MlirValue tensor = mlirOperationGetOperand(read, 0);
  MlirType type = mlirValueGetType(tensor);
  int rank;
  int64_t shape[TP_MAX_RANK];
  return tp__is_captured(generic->op, tensor) && tp__static_tensor(type, &rank, shape) &&
         rank > 0 && mlirAttributeIsNull(mlirRankedTensorTypeGetEncoding(type)) &&
         tp__generic_is_static(generic) && !is_lookup(generic, read);
}

/* ---- building the lookup ---- */

typedef struct lookup {
  const slice *s;
  int n_loops;
  int loops[TP_RAISE_MAX_LOOPS]; /* loops of the generic, in the order of the lookup */
  int n_inputs;
  int inputs[TP_RAISE_MAX_OPERANDS];
  MlirOperation op, yield;
} lookup;

/* Rewrites a map over the generic's loops to the lookup's loops. */
static MlirAffineMap narrow(const lookup *l, MlirAffineMap map) {
  MlirContext context = mlirAffineMapGetContext(map);
  MlirAffineExpr loops[TP_RAISE_MAX_LOOPS], results[TP_MAX_RANK];
  intptr_t n = mlirAffineMapGetNumResults(map);
  for (int f = 0; f < l->s->generic->n_loops; f++)
    loops[f] = mlirAffineConstantExprGet(context, 0);
  for (int k = 0; k < l->n_loops; k++)
    loops[l->loops[k]] = mlirAffineDimExprGet(context, k);
  MlirAffineMap known = mlirAffineMapGet(context, l->n_loops, 0, l->s->generic->n_loops, loops);
  for (intptr_t d = 0; d < n; d++)
    results[d] = mlirAffineExprCompose(mlirAffineMapGetResult(map, d), known);
  return mlirAffineMapGet(context, l->n_loops, 0, n, results);
}

static void build_op(lookup *l, MlirOperation read) {
  const tp__generic *g = l->s->generic;
  MlirType element = mlirValueGetType(mlirOperationGetResult(read, 0));
  MlirAttribute maps[TP_RAISE_MAX_OPERANDS];
  MlirValue operands[TP_RAISE_MAX_OPERANDS];
  int64_t shape[TP_RAISE_MAX_LOOPS];
  int n = l->n_inputs;
  for (int k = 0; k < l->n_loops; k++)
    shape[k] = g->hi[l->loops[k]] - g->lo[l->loops[k]] + 1;
  for (int i = 0; i < n; i++) {
    operands[i] = mlirOperationGetOperand(g->op, l->inputs[i]);
    maps[i] = mlirAffineMapAttrGet(narrow(l, tp__generic_map(g, l->inputs[i])));
  }
  operands[n] =
      tp__empty(g->op, mlirRankedTensorTypeGet(l->n_loops, shape, element, mlirAttributeGetNull()));
  maps[n] = mlirAffineMapAttrGet(
      mlirAffineMapMultiDimIdentityGet(mlirOperationGetContext(read), l->n_loops));
  l->op = tp__build_generic(&(tp_generic){.where = g->op,
                                          .location = mlirOperationGetLocation(read),
                                          .n_inputs = n,
                                          .n_inits = 1,
                                          .operands = operands,
                                          .maps = maps});
  l->yield = tp__build_generic_body(l->op);
}

/* Returns the value in the lookup's body that corresponds to `value` in the generic's body. */
static MlirValue translate(const lookup *l, const MlirOperation *copies, MlirValue value) {
  if (tp__is_captured(l->s->generic->op, value))
    return value;
  if (mlirValueIsABlockArgument(value))
    for (int i = 0; i < l->n_inputs; i++)
      if (l->inputs[i] == mlirBlockArgumentGetArgNumber(value))
        return mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(l->op, 0)), i);
  for (int i = 0; i < l->s->n_ops && !mlirValueIsABlockArgument(value); i++)
    if (mlirOperationEqual(l->s->ops[i], mlirOpResultGetOwner(value)))
      return mlirOperationGetResult(copies[i], mlirOpResultGetResultNumber(value));
  return value;
}

static MlirOperation copy_op(const lookup *l, const MlirOperation *copies, MlirOperation op) {
  MlirOperation copy = mlirOperationClone(op);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    mlirOperationSetOperand(copy, i, translate(l, copies, mlirOperationGetOperand(op, i)));
  tp__insert_before(l->yield, copy);
  if (!tp__op_is(op, "linalg.index"))
    return copy;
  int64_t loop = mlirIntegerAttrGetValueInt(tp__inherent(op, "dim"));
  for (int k = 0; k < l->n_loops; k++)
    if (l->loops[k] == loop)
      mlirOperationSetInherentAttributeByName(copy, tp__ref("dim"),
                                              tp__attr_i64(mlirOperationGetContext(op), k));
  return copy;
}

static MlirAffineMap build(lookup *l, MlirOperation read) {
  MlirContext context = mlirOperationGetContext(read);
  MlirOperation copies[MAX_SLICE];
  MlirAffineExpr loops[TP_RAISE_MAX_LOOPS];
  for (int f = 0; f < l->s->generic->n_loops; f++)
    if (l->s->loops >> f & 1) {
      loops[l->n_loops] = mlirAffineDimExprGet(context, f);
      l->loops[l->n_loops++] = f;
    }
  for (int i = 0; i < l->s->generic->n_inputs; i++)
    if (l->s->inputs >> i & 1)
      l->inputs[l->n_inputs++] = i;
  build_op(l, read);
  for (int i = 0; i < l->s->n_ops; i++)
    copies[i] = copy_op(l, copies, l->s->ops[i]);
  MlirValue value = mlirOperationGetResult(copy_op(l, copies, read), 0);
  mlirOperationSetOperands(l->yield, 1, &value);
  return mlirAffineMapGet(context, l->s->generic->n_loops, 0, l->n_loops, loops);
}

static bool raise_lookup(tp__raise *raise, tp__generic *generic, MlirOperation read) {
  slice s = {.generic = generic};
  lookup l = {.s = &s};
  MlirValue argument;
  if (generic->n_inputs + generic->n_inits + 1 >= TP_RAISE_MAX_OPERANDS ||
      !is_candidate(generic, read) || !take_read(&s, read) || !is_worth(&s, read))
    return false;
  MlirAffineMap map = build(&l, read);
  if (!tp__generic_add_input(generic, mlirOperationGetResult(l.op, 0), map, &argument))
    return false;
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(read, 0), argument);
  tp__destroy(raise, read);
  raise->statistics[TP_RAISED_LOOKUP]++;
  return true;
}

bool tp__raise_lookups(tp__raise *raise, tp__generic *generic) {
  return tp__raise_each_read(raise, generic, raise_lookup);
}
