/* Raises products on dimensions that were joined for them: a product of rows that are joined from
 * tokens and batch, whose result is taken apart again, becomes a product with both dimensions, and
 * so do the elementwise ops behind it. A minor one of joined dimensions has no layout: PyTorch's
 * nn.MultiheadAttention joins [tokens, batch], and could not be split over its batch. Nothing is
 * reshaped for it: all operands have the dimensions, or are made anew with them at no cost. */
#include "passes/prepare/raise/raise.h"

#include "ir/annotation.h"

#include "support/support.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>
#include <mlir-c/Dialect/Linalg.h>

enum {
  MAX_CHAIN = 8, /* ops from the join to where it is taken apart */
  MAX_MADE = 4,  /* ops in a row that are made again for an operand */
  MAX_OPERANDS = 16,
};

/* Dimensions that a reshape joins into one: how many, and their sizes. */
typedef struct parts {
  int n;
  int64_t sizes[TP_MAX_RANK];
} parts;

/* ---- reshapes ---- */

/* Reads a reshape of a tensor: how many dimensions of the longer shape each dimension of the
 * shorter one has. False for other ops, and for those whose layout is given. */
static bool read_reshape(MlirOperation op, const char *name, MlirValue *longer, int *n_groups,
                         int *n_parts) {
  if (mlirOperationIsNull(op) || !tp__op_is(op, name) || tp__is_annotated(op))
    return false;
  bool joins = tp__op_is(op, "tensor.collapse_shape");
  *longer = joins ? mlirOperationGetOperand(op, 0) : mlirOperationGetResult(op, 0);
  MlirAttribute groups = tp__inherent(op, "reassociation");
  *n_groups = (int)mlirArrayAttrGetNumElements(groups);
  for (int g = 0; g < *n_groups && g < TP_MAX_RANK; g++)
    n_parts[g] = (int)mlirArrayAttrGetNumElements(mlirArrayAttrGetElement(groups, g));
  return *n_groups <= TP_MAX_RANK;
}

/* True if the reshape joins dimension `dim` from several of more than one element, or takes it
 * apart into them. Writes their sizes. */
static bool parts_of(MlirOperation op, const char *name, int dim, parts *p) {
  MlirValue longer;
  int n_groups, n_parts[TP_MAX_RANK], rank, first = 0, n_large = 0;
  int64_t shape[TP_MAX_RANK];
  if (!read_reshape(op, name, &longer, &n_groups, n_parts) || dim >= n_groups ||
      !tp__static_tensor(mlirValueGetType(longer), &rank, shape))
    return false;
  for (int g = 0; g < dim; g++)
    first += n_parts[g];
  p->n = n_parts[dim];
  for (int i = 0; i < p->n; i++) {
    p->sizes[i] = shape[first + i];
    n_large += p->sizes[i] > 1;
  }
  return n_large > 1;
}

static bool are_equal(const parts *a, const parts *b) {
  bool same = a->n == b->n;
  for (int i = 0; i < a->n && same; i++)
    same = a->sizes[i] == b->sizes[i];
  return same;
}

static bool has_parts(MlirOperation op, const char *name, int dim, const parts *wanted) {
  parts found;
  return parts_of(op, name, dim, &found) && are_equal(&found, wanted);
}

/* The type with dimension `dim` taken apart. */
static MlirType apart_type(MlirType type, int dim, const parts *p) {
  int rank;
  int64_t shape[TP_MAX_RANK], sizes[2 * TP_MAX_RANK];
  tp__static_tensor(type, &rank, shape);
  int n = 0;
  for (int d = 0; d < rank; d++)
    for (int i = 0; i < (d == dim ? p->n : 1); i++)
      sizes[n++] = d == dim ? p->sizes[i] : shape[d];
  return tp__tensor_like(type, n, sizes);
}

/* Reshapes `value` before `where` as `longer` groups its dimensions, but leaves those of group
 * `dim` apart. `joins`: the value has the longer shape. */
static MlirValue regroup_others(MlirOperation where, MlirValue value, MlirValue longer, bool joins,
                                int n_groups, const int *n_parts, int dim) {
  int rank, n_shorter = 0, kept[TP_MAX_RANK], n = 0, at = 0;
  int64_t shape[TP_MAX_RANK], shorter[TP_MAX_RANK];
  tp__static_tensor(mlirValueGetType(longer), &rank, shape);
  for (int g = 0; g < n_groups; g++) {
    int64_t size = 1;
    for (int i = 0; i < n_parts[g]; i++, at++) {
      size *= shape[at];
      if (g != dim && i + 1 < n_parts[g])
        continue;
      kept[n++] = g == dim ? 1 : n_parts[g];
      shorter[n_shorter++] = g == dim ? shape[at] : size;
    }
  }
  return tp__regroup(where, mlirOperationGetLocation(where), value, joins ? n_shorter : rank,
                     joins ? shorter : shape, n_shorter, kept);
}

/* ---- ops ---- */

/* The loop that a map has at this dimension; -1: none, or not it alone. */
static int loop_at(MlirAffineMap map, int dim) {
  MlirAffineExpr expr = mlirAffineMapGetResult(map, dim);
  return mlirAffineExprIsADim(expr) ? (int)mlirAffineDimExprGetPosition(expr) : -1;
}

/* The dimension that the loop alone indexes; -1: none. *is_odd: the loop also occurs elsewhere. */
static int dim_of(MlirAffineMap map, int loop, bool *is_odd) {
  int found = -1;
  for (int d = 0; d < (int)mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    bool uses = mlirAffineExprIsFunctionOfDim(expr, loop), alone = loop_at(map, d) == loop;
    *is_odd |= uses && (!alone || found >= 0);
    found = alone ? d : found;
  }
  return found;
}

/* True for a product or a generic with one result whose loops may be renumbered: each operand map
 * has loops and constants alone, and the body does not ask for the numbers of loops. */
static bool is_plain(MlirOperation op, MlirAttribute *maps) {
  bool is_product = tp__op_is(op, "linalg.matmul") || tp__op_is(op, "linalg.batch_matmul");
  if ((!is_product && !tp__op_is(op, "linalg.generic")) || mlirOperationGetNumResults(op) != 1 ||
      !tp__is_tensor(mlirValueGetType(mlirOperationGetResult(op, 0))) || tp__is_annotated(op) ||
      !mlirAttributeIsNull(tp__get(op, "tp.rule")))
    return false;
  *maps = mlirLinalgGetIndexingMapsAttribute(op);
  if (mlirAttributeIsNull(*maps) ||
      mlirArrayAttrGetNumElements(*maps) != mlirOperationGetNumOperands(op))
    return false;
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++)
    for (intptr_t d = 0; d < mlirAffineMapGetNumResults(tp__map_at(*maps, i)); d++) {
      MlirAffineExpr expr = mlirAffineMapGetResult(tp__map_at(*maps, i), d);
      if (!mlirAffineExprIsADim(expr) && !mlirAffineExprIsAConstant(expr))
        return false;
    }
  return !tp__asks_index(op);
}

/* True for an op of arith or math that computes each element of its result from those at the same
 * place. */
static bool is_elementwise(MlirOperation op) {
  intptr_t n = mlirOperationGetNumOperands(op);
  int rank, other;
  int64_t shape[TP_MAX_RANK], sizes[TP_MAX_RANK];
  bool is = (tp__op_has_dialect(op, "arith") || tp__op_has_dialect(op, "math")) && n > 0 &&
            mlirOperationGetNumResults(op) == 1 && mlirOperationGetNumRegions(op) == 0 &&
            !tp__is_annotated(op) &&
            tp__static_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)), &rank, shape);
  for (intptr_t i = 0; i < n && is; i++)
    is = tp__static_tensor(mlirValueGetType(mlirOperationGetOperand(op, i)), &other, sizes) &&
         other == rank;
  return is && n <= MAX_OPERANDS;
}

/* True if dimension `dim` of the value is taken apart behind, perhaps behind elementwise ops. */
static bool is_taken_apart(MlirValue value, int dim, const parts *p, int depth) {
  for (MlirOpOperand use = mlirValueGetFirstUse(value); !mlirOpOperandIsNull(use);
       use = mlirOpOperandGetNextUse(use)) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    MlirAttribute maps;
    bool is_odd = false;
    if (has_parts(user, "tensor.expand_shape", dim, p))
      return true;
    if (depth < MAX_CHAIN && is_elementwise(user) &&
        is_taken_apart(mlirOperationGetResult(user, 0), dim, p, depth + 1))
      return true;
    if (depth == MAX_CHAIN || !is_plain(user, &maps))
      continue;
    intptr_t n = mlirOperationGetNumOperands(user);
    int loop = loop_at(tp__map_at(maps, (intptr_t)mlirOpOperandGetOperandNumber(use)), dim);
    int behind = loop < 0 ? -1 : dim_of(tp__map_at(maps, n - 1), loop, &is_odd);
    if (behind >= 0 && is_taken_apart(mlirOperationGetResult(user, 0), behind, p, depth + 1))
      return true;
  }
  return false;
}

/* ---- rewriting ---- */

/* The map with the loop replaced by as many as there are parts. */
static MlirAttribute map_apart(MlirAffineMap map, int loop, const parts *p) {
  MlirContext context = mlirAffineMapGetContext(map);
  MlirAffineExpr exprs[2 * TP_MAX_RANK];
  int n = 0;
  for (int d = 0; d < (int)mlirAffineMapGetNumResults(map); d++) {
    int at = loop_at(map, d);
    if (at < 0)
      exprs[n++] = mlirAffineMapGetResult(map, d);
    for (int i = 0; i < (at == loop ? p->n : at >= 0); i++)
      exprs[n++] = mlirAffineDimExprGet(context, at + (at > loop ? p->n - 1 : i));
  }
  return mlirAffineMapAttrGet(
      mlirAffineMapGet(context, mlirAffineMapGetNumDims(map) + p->n - 1, 0, n, exprs));
}

/* Builds the op with the loop apart, on these operands, before `where`. Takes the body of `from`.
 * */
static MlirOperation build_apart(MlirOperation where, MlirOperation from, MlirAttribute maps,
                                 int loop, const parts *p, const MlirValue *operands) {
  MlirAttribute apart[MAX_OPERANDS];
  int n = (int)mlirOperationGetNumOperands(from);
  for (int i = 0; i < n; i++)
    apart[i] = map_apart(tp__map_at(maps, i), loop, p);
  MlirOperation now = tp__build_generic(&(tp_generic){.where = where,
                                                      .location = mlirOperationGetLocation(from),
                                                      .n_inputs = n - 1,
                                                      .n_inits = 1,
                                                      .operands = operands,
                                                      .maps = apart,
                                                      .iterators = mlirAttributeGetNull()});
  mlirRegionTakeBody(mlirOperationGetRegion(now, 0), mlirOperationGetRegion(from, 0));
  return now;
}

/* Clones an elementwise op on operands with dimension `dim` apart. */
static MlirValue clone_apart(MlirOperation where, MlirOperation op, int dim, const parts *p,
                             const MlirValue *operands) {
  MlirOperation now = mlirOperationClone(op);
  MlirValue result = mlirOperationGetResult(now, 0);
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(now); i++)
    mlirOperationSetOperand(now, i, operands[i]);
  mlirValueSetType(result, apart_type(mlirValueGetType(result), dim, p));
  tp__insert_before(where, now);
  return result;
}

static MlirValue make_apart(MlirOperation where, MlirValue value, int dim, const parts *p,
                            int depth);

/* Makes a broadcast again, with the dimension apart that it adds. Null for other ops. */
static MlirValue broadcast_apart(MlirOperation where, MlirOperation op, int dim, const parts *p,
                                 int depth) {
  MlirAttribute maps;
  bool is_odd = false;
  intptr_t n = mlirOperationGetNumOperands(op);
  MlirValue operands[MAX_OPERANDS], none = {NULL};
  if (!is_plain(op, &maps) || n > MAX_OPERANDS)
    return none;
  int loop = loop_at(tp__map_at(maps, n - 1), dim);
  for (intptr_t i = 0; i + 1 < n && loop >= 0; i++) {
    operands[i] = mlirOperationGetOperand(op, i);
    if (dim_of(tp__map_at(maps, i), loop, &is_odd) >= 0 || is_odd)
      return none;
  }
  if (loop < 0 || dim_of(tp__map_at(maps, n - 1), loop, &is_odd) != dim || is_odd)
    return none;
  operands[n - 1] = make_apart(where, mlirOperationGetOperand(op, n - 1), dim, p, depth + 1);
  if (mlirValueIsNull(operands[n - 1]))
    return none;
  MlirOperation copy = mlirOperationClone(op);
  MlirOperation now = build_apart(where, copy, maps, loop, p, operands);
  mlirOperationDestroy(copy);
  return mlirOperationGetResult(now, 0);
}

static MlirValue elements_apart(MlirOperation where, MlirOperation op, int dim, const parts *p,
                                int depth) {
  MlirValue operands[MAX_OPERANDS];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    operands[i] = make_apart(where, mlirOperationGetOperand(op, i), dim, p, depth + 1);
    if (mlirValueIsNull(operands[i]))
      return operands[i]; /* what was made is unused; cse erases it */
  }
  return clone_apart(where, op, dim, p, operands);
}

/* Makes the value with dimension `dim` apart: what it was joined from, or anew what costs nothing
 * (fills, broadcasts, and elementwise ops on these). Null for other values. */
static MlirValue make_apart(MlirOperation where, MlirValue value, int dim, const parts *p,
                            int depth) {
  MlirOperation maker = tp__defining_op(value);
  MlirType type = apart_type(mlirValueGetType(value), dim, p);
  MlirValue longer;
  int n_groups, n_parts[TP_MAX_RANK];
  if (mlirOperationIsNull(maker) || depth > MAX_MADE)
    return (MlirValue){NULL};
  if (has_parts(maker, "tensor.collapse_shape", dim, p) &&
      read_reshape(maker, "tensor.collapse_shape", &longer, &n_groups, n_parts))
    return regroup_others(where, longer, longer, true, n_groups, n_parts, dim);
  if (tp__op_is(maker, "tensor.empty"))
    return tp__empty(where, type);
  if (tp__op_is(maker, "linalg.fill"))
    return mlirOperationGetResult(tp__build_fill(where, mlirOperationGetOperand(maker, 0), type),
                                  0);
  return is_elementwise(maker) ? elements_apart(where, maker, dim, p, depth)
                               : broadcast_apart(where, maker, dim, p, depth);
}

/* Replaces the uses of `old`: reshapes that take its dimension apart by the value that is apart,
 * the others by it joined again. */
static void replace_uses(tp__raise *raise, MlirOperation op, MlirValue apart, int dim,
                         const parts *p) {
  MlirValue old = mlirOperationGetResult(op, 0), longer;
  int n_groups, n_parts[TP_MAX_RANK], rank = tp__value_rank(old);
  int64_t sizes[TP_MAX_RANK];
  for (MlirOpOperand use = mlirValueGetFirstUse(old), next; !mlirOpOperandIsNull(use); use = next) {
    MlirOperation user = mlirOpOperandGetOwner(use);
    next = mlirOpOperandGetNextUse(use);
    if (!has_parts(user, "tensor.expand_shape", dim, p) ||
        !read_reshape(user, "tensor.expand_shape", &longer, &n_groups, n_parts))
      continue;
    MlirValue now = regroup_others(user, apart, longer, false, n_groups, n_parts, dim);
    mlirValueReplaceAllUsesOfWith(longer, now);
    mlirOperationDestroy(user);
  }
  if (mlirOpOperandIsNull(mlirValueGetFirstUse(old)))
    return;
  for (int g = 0; g < rank; g++)
    n_parts[g] = g == dim ? p->n : 1;
  tp__static_tensor(mlirValueGetType(old), &rank, sizes);
  MlirValue joined =
      tp__regroup(op, mlirOperationGetLocation(op), apart, rank, sizes, rank, n_parts);
  mlirValueReplaceAllUsesOfWith(old, joined);
  if (tp__table_put(&raise->joined, tp__defining_op(joined).ptr, 1) != TP_OK)
    raise->status = TP_NO_MEMORY;
}

/* Replaces a product or a generic by one with the loop apart. */
static bool take_loop_apart(tp__raise *raise, MlirOperation op, MlirAttribute maps, int loop,
                            const parts *p) {
  intptr_t n = mlirOperationGetNumOperands(op);
  MlirValue operands[MAX_OPERANDS];
  bool is_odd = false;
  int at[MAX_OPERANDS];
  for (intptr_t i = 0; i < n && n <= MAX_OPERANDS; i++)
    at[i] = dim_of(tp__map_at(maps, i), loop, &is_odd);
  if (n > MAX_OPERANDS || is_odd ||
      mlirAffineMapGetNumDims(tp__map_at(maps, 0)) + p->n > TP_RAISE_MAX_LOOPS)
    return false;
  for (intptr_t i = 0; i < n; i++) {
    MlirValue value = mlirOperationGetOperand(op, i);
    operands[i] = at[i] < 0 ? value : make_apart(op, value, at[i], p, 0);
    if (mlirValueIsNull(operands[i]))
      return false;
  }
  MlirOperation now = build_apart(op, op, maps, loop, p, operands);
  tp__copy_discardable(op, now);
  replace_uses(raise, op, mlirOperationGetResult(now, 0), at[n - 1], p);
  tp__destroy(raise, op);
  raise->statistics[TP_RAISED_JOINED]++;
  return true;
}

static bool take_elements_apart(tp__raise *raise, MlirOperation op, int dim, const parts *p) {
  MlirValue operands[MAX_OPERANDS];
  for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
    operands[i] = make_apart(op, mlirOperationGetOperand(op, i), dim, p, 0);
    if (mlirValueIsNull(operands[i]))
      return false;
  }
  replace_uses(raise, op, clone_apart(op, op, dim, p, operands), dim, p);
  tp__destroy(raise, op);
  raise->statistics[TP_RAISED_JOINED]++;
  return true;
}

/* True for a product or the like: an op of several inputs that reduces loops. */
static bool is_product(MlirOperation op, MlirAttribute maps) {
  intptr_t n = mlirOperationGetNumOperands(op);
  return n > 2 && mlirAffineMapGetNumDims(tp__map_at(maps, n - 1)) >
                      mlirAffineMapGetNumResults(tp__map_at(maps, n - 1));
}

void tp__raise_joined(tp__raise *raise, MlirOperation op) {
  MlirAttribute maps = mlirAttributeGetNull();
  bool is_map = is_elementwise(op);
  if (!is_map && !is_plain(op, &maps))
    return;
  bool begins = !is_map && is_product(op, maps);
  intptr_t n = mlirOperationGetNumOperands(op), n_inputs = is_map ? n : n - 1;
  MlirValue result = mlirOperationGetResult(op, 0);
  for (intptr_t i = 0; i < n_inputs; i++) {
    MlirValue input = mlirOperationGetOperand(op, i);
    MlirOperation maker = tp__defined_by(input, "tensor.collapse_shape");
    if (!begins && tp__table_get(&raise->joined, maker.ptr) < 0)
      continue;
    for (int d = 0; !mlirOperationIsNull(maker) && d < tp__value_rank(input); d++) {
      parts p;
      bool is_odd = false;
      int loop = is_map ? d : loop_at(tp__map_at(maps, i), d);
      int behind = is_map ? d : loop < 0 ? -1 : dim_of(tp__map_at(maps, n - 1), loop, &is_odd);
      if (behind < 0 || !parts_of(maker, "tensor.collapse_shape", d, &p) ||
          !is_taken_apart(result, behind, &p, 0))
        continue;
      if (is_map ? take_elements_apart(raise, op, d, &p)
                 : take_loop_apart(raise, op, maps, loop, &p))
        return;
    }
  }
}
