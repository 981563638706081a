/* tp-prepare-fusion: prepares ops for upstream's elementwise fusion and avoids its miscompilations.
 *
 * Frontends broadcast every scalar to the shape of the other operand. Fusion merges such a
 * broadcast into a single user. With several users it remains a buffer that is written once and
 * read by each of them. So the pass replaces an operand with equal elements by a scalar.
 *
 * An elementwise op may read its init. Fusion merges it into a user with more loops, which then
 * reads and overwrites each element several times: x + acc becomes x + x + ... + acc. So the pass
 * turns such an init into an input and leaves an empty init. It skips ops that do not write every
 * element (a diagonal, a stride), because the other elements come from the init; fusion leaves
 * those alone.
 *
 * A sum over dimensions of one element, as JAX writes for each gradient of something that was
 * broadcast, is no sum. It becomes an elementwise op, which fusion merges into its neighbors. */
#include "passes/prepare/raise/raise.h"
#include "passes/registry.h"

#include "ir/diagnostics.h"
#include "support/support.h"

enum { STAT_INLINED, STAT_READ, STAT_UNIT };

/* ---- numbers ---- */

/* Builds the scalar of a splat constant before `where`. */
static bool find_splat(MlirAttribute value, MlirOperation where, MlirValue *scalar) {
  if (!mlirAttributeIsADenseElements(value) || !mlirDenseElementsAttrIsSplat(value))
    return false;
  MlirAttribute number = mlirDenseElementsAttrGetSplatValue(value);
  if (!mlirAttributeIsAFloat(number) && !mlirAttributeIsAInteger(number)) /* a complex number */
    return false;
  *scalar = tp__constant(where, tp__element_type(mlirAttributeGetType(value)), number);
  return true;
}

/* Finds the scalar that all elements of `value` equal, in a form usable at `where`. False if there
 * is none. */
static bool find_scalar(MlirValue value, MlirOperation where, MlirValue *scalar) {
  MlirOperation maker = tp__defining_op(value);
  tp__generic generic;
  if (mlirOperationIsNull(maker))
    return false;
  if (tp__op_is(maker, "linalg.fill")) {
    *scalar = mlirOperationGetOperand(maker, 0);
    return mlirTypeEqual(mlirValueGetType(*scalar), tp__element_type(mlirValueGetType(value)));
  }
  if (tp__op_is(maker, "arith.constant"))
    return find_splat(tp__inherent(maker, "value"), where, scalar);
  if (!tp__generic_read(maker, &generic) || generic.n_inits != 1)
    return false;
  *scalar = mlirOperationGetOperand(generic.yield, 0);
  if (generic.n_inputs > 0) /* a broadcast of a scalar */
    return generic.n_inputs == 1 &&
           mlirValueEqual(*scalar, mlirBlockGetArgument(generic.body, 0)) &&
           find_scalar(mlirOperationGetOperand(maker, 0), where, scalar);
  if (tp__is_captured(maker, *scalar))
    return true;
  MlirOperation inside = tp__defining_op(*scalar);
  if (mlirOperationIsNull(inside) || !tp__op_is(inside, "arith.constant"))
    return false;
  MlirOperation clone = mlirOperationClone(inside);
  tp__insert_before(where, clone);
  *scalar = mlirOperationGetResult(clone, 0);
  return true;
}

static int64_t inline_scalars(MlirOperation op) {
  tp__generic generic;
  int64_t n = 0;
  if (!tp__generic_read(op, &generic))
    return 0;
  for (int i = generic.n_inputs; i-- > 0;) {
    MlirValue scalar;
    if (!tp__generic_has_ranges(&generic, UINT64_C(1) << i) ||
        !find_scalar(mlirOperationGetOperand(op, i), op, &scalar))
      continue;
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(generic.body, i), scalar);
    tp__generic_drop_input(&generic, i);
    n++;
  }
  return n;
}

/* ---- sums of one element ---- */

/* Reads which loops the result has, in order: all others have one iteration. Returns their number;
 * -1: another op. */
static int kept_loops(const tp__generic *generic, bool keeps[TP_RAISE_MAX_LOOPS]) {
  MlirAffineMap in = tp__generic_map(generic, 0), out = tp__generic_map(generic, 1);
  int n = (int)mlirAffineMapGetNumResults(out), next = 0;
  if (!mlirAffineMapIsIdentity(in) || !tp__generic_is_static(generic))
    return -1;
  for (int l = 0; l < generic->n_loops; l++) {
    MlirAffineExpr at = next < n ? mlirAffineMapGetResult(out, next) : (MlirAffineExpr){NULL};
    keeps[l] = next < n && mlirAffineExprIsADim(at) && mlirAffineDimExprGetPosition(at) == l;
    next += keeps[l];
    if (!keeps[l] && generic->hi[l] != generic->lo[l])
      return -1;
  }
  return next == n && n < generic->n_loops ? n : -1;
}

static bool has_index(const tp__generic *generic) {
  for (MlirOperation op = mlirBlockGetFirstOperation(generic->body); !mlirOperationIsNull(op);
       op = mlirOperationGetNextInBlock(op))
    if (tp__op_is(op, "linalg.index"))
      return true;
  return false;
}

/* The input without the dimensions of one element that the result does not have. */
static MlirValue without_units(const tp__generic *generic, const bool *keeps, int rank) {
  int64_t sizes[TP_MAX_RANK];
  int n_parts[TP_MAX_RANK] = {0}, at = 0;
  for (int l = 0; l < generic->n_loops; l++) {
    if (keeps[l])
      sizes[at++] = generic->hi[l] - generic->lo[l] + 1;
    if (rank > 0) /* those in front belong to the first dimension */
      n_parts[at > 0 ? at - 1 : 0]++;
  }
  return tp__regroup(generic->op, mlirOperationGetLocation(generic->op),
                     mlirOperationGetOperand(generic->op, 0), rank, sizes, rank, n_parts);
}

/* Replaces a reduction of one element per result by an elementwise op, which it returns; any other
 * op stays. */
static MlirOperation without_reduction(MlirOperation op) {
  tp__generic generic;
  bool keeps[TP_RAISE_MAX_LOOPS];
  if (!tp__generic_read(op, &generic) || generic.n_inputs != 1 || generic.n_inits != 1 ||
      has_index(&generic))
    return op;
  int rank = kept_loops(&generic, keeps);
  if (rank < 0)
    return op;
  MlirContext context = mlirOperationGetContext(op);
  MlirAttribute map = mlirAffineMapAttrGet(mlirAffineMapMultiDimIdentityGet(context, rank));
  MlirOperation made = tp__build_generic(
      &(tp_generic){.where = op,
                    .location = mlirOperationGetLocation(op),
                    .n_inputs = 1,
                    .n_inits = 1,
                    .operands = (MlirValue[]){without_units(&generic, keeps, rank),
                                              mlirOperationGetOperand(op, 1)},
                    .maps = (MlirAttribute[]){map, map}});
  mlirRegionTakeBody(mlirOperationGetRegion(made, 0), mlirOperationGetRegion(op, 0));
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), mlirOperationGetResult(made, 0));
  mlirOperationDestroy(op);
  return made;
}

/* ---- inits that are read ---- */

static bool is_elementwise(const tp__generic *generic) {
  MlirAttribute iterators = tp__inherent(generic->op, "iterator_types");
  MlirAttribute parallel =
      tp__parse_attr(mlirOperationGetContext(generic->op), "#linalg.iterator_type<parallel>");
  for (int l = 0; l < generic->n_loops; l++)
    if (!mlirAttributeEqual(mlirArrayAttrGetElement(iterators, l), parallel))
      return false;
  return true;
}

static int64_t read_as_inputs(MlirOperation op) {
  tp__generic generic;
  int64_t n = 0;
  int rank;
  int64_t shape[TP_MAX_RANK];
  if (!tp__generic_read(op, &generic) || !is_elementwise(&generic))
    return 0;
  for (int k = 0; k < generic.n_inits; k++) {
    int at = generic.n_inputs + k;
    MlirValue init = mlirOperationGetOperand(op, at), input;
    if (mlirOpOperandIsNull(mlirValueGetFirstUse(mlirBlockGetArgument(generic.body, at))) ||
        !tp__static_tensor(mlirValueGetType(init), &rank, shape) ||
        !tp__writes_all(op, tp__inherent(op, "indexing_maps"), at) ||
        !tp__generic_add_input(&generic, init, tp__generic_map(&generic, at), &input))
      continue;
    at = generic.n_inputs + k;
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(generic.body, at), input);
    mlirOperationSetOperand(op, at, tp__empty(op, mlirValueGetType(init)));
    n++;
  }
  return n;
}

/* ---- the pass ---- */

static tp_status run(tp_pass *pass) {
  tp_op_list list = {0};
  tp_status status = tp__walk(pass->module, tp__keep_inits, NULL);
  if (status == TP_OK)
    status = tp__walk(pass->module, tp__collect_generic, &list);
  for (size_t i = 0; i < list.n && status == TP_OK; i++) {
    MlirOperation op = without_reduction(list.items[i]);
    pass->statistics[STAT_UNIT] += !mlirOperationEqual(op, list.items[i]);
    list.items[i] = op;
    pass->statistics[STAT_READ] += read_as_inputs(list.items[i]);
    pass->statistics[STAT_INLINED] += inline_scalars(list.items[i]);
  }
  tp__free(list.items);
  return status;
}

static const tp_statistic_row statistics[] = {
    {"inlined", "operands replaced by a scalar"},
    {"read", "inits that were also read, now inputs"},
    {"unit", "reductions of one element per result, now elementwise"},
};

const tp_pass_row tp__prepare_fusion_row = {
    .name = "tp-prepare-fusion",
    .summary = "Prepare ops for linalg-fuse-elementwise-ops: splats become scalars, inits that are "
               "read become inputs",
    .description =
        "Requires: tensors. Establishes: no linalg.generic reads a linalg.fill, or another op that "
        "yields a single number, as an input; a body reads an init of which elements may stay in "
        "the result; a reduction only over dimensions of one element is elementwise. Breaks: "
        "nothing; ops without "
        "users are left to canonicalize.",
    .statistics = statistics,
    .n_statistics = TP_LEN(statistics),
    .run = run,
};
