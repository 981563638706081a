/* Raises iota operands: an input whose elements count up along one dimension becomes a loop
 * index. */
#include "passes/prepare/raise/raise.h"

#include <mlir-c/AffineExpr.h>
#include <mlir-c/AffineMap.h>

/* Describes a tensor: element [i0, i1, ...] is i_dim + offset, or the constant `offset` if dim is
 * -1. */
typedef struct iota {
  int dim;
  int64_t offset;
} iota;

enum { MAX_CHAIN = 32 }; /* reshapes and slices between an iota and its use */

static bool find_iota(MlirValue value, int depth, iota *result);

/* ---- sources of iotas ---- */

/* Matches a generic without inputs that yields a loop index. */
static bool from_generic(MlirOperation op, int depth, iota *result) {
  (void)depth;
  tp__generic generic;
  tp__index index;
  if (mlirOperationGetNumOperands(op) != 1 || !tp__generic_read(op, &generic) ||
      generic.n_inputs != 0 || generic.n_inits != 1 || !tp__generic_is_static(&generic) ||
      !tp__index_of(&generic, mlirOperationGetOperand(generic.yield, 0), &index))
    return false;
  MlirAffineMap map = tp__generic_map(&generic, 0);
  if (!tp__map_covers(map, mlirValueGetType(mlirOperationGetResult(op, 0))))
    return false;
  *result = (iota){-1, index.offset};
  for (intptr_t d = 0; index.loop >= 0 && d < mlirAffineMapGetNumResults(map); d++) {
    MlirAffineExpr expr = mlirAffineMapGetResult(map, d);
    if (mlirAffineExprIsADim(expr) && mlirAffineDimExprGetPosition(expr) == index.loop)
      result->dim = (int)d;
  }
  /* a loop that is no dimension of the result would leave its last iteration */
  return index.loop < 0 || result->dim >= 0;
}

/* Matches constants such as dense<[3, 4, 5]> and dense<[[0, 0], [1, 1]]>. */
static bool from_constant(MlirOperation op, int depth, iota *result) {
  (void)depth;
  return tp__counts_along(tp__inherent(op, "value"),
                          mlirValueGetType(mlirOperationGetResult(op, 0)), &result->dim,
                          &result->offset);
}

/* Follows reshapes, which keep an iota if they only move its dimension and add or drop dimensions
 * of size 1. `groups` lists, for each dimension of the shorter shape, those of the longer shape. */
static bool through_reshape(MlirOperation op, int depth, iota *result) {
  bool expands = tp__op_is(op, "tensor.expand_shape");
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirAttribute groups = tp__inherent(op, "reassociation");
  MlirValue source = mlirOperationGetOperand(op, 0);
  MlirType longer = expands ? type : mlirValueGetType(source);
  int rank, n_longer = 0;
  int64_t shape[TP_MAX_RANK], members[TP_MAX_RANK];
  if (!tp__static_tensor(longer, &rank, shape) || !find_iota(source, depth + 1, result))
    return false;
  int dim = result->dim;
  for (intptr_t g = 0; dim >= 0 && g < mlirArrayAttrGetNumElements(groups); g++) {
    int n = tp__int_list(mlirArrayAttrGetElement(groups, g), TP_MAX_RANK, members), at = -1;
    bool is_mine = expands && g == dim;
    n_longer = 0;
    for (int i = 0; i < n; i++) {
      is_mine |= !expands && members[i] == dim;
      n_longer += shape[members[i]] != 1;
      at = shape[members[i]] != 1 ? (int)members[i] : at;
    }
    if (!is_mine)
      continue;
    if (n_longer > 1)
      return false;
    result->dim = n_longer == 0 ? -1 : expands ? at : (int)g;
    /* if another dimension of its group is the longer one, the iota repeats */
    return n_longer == 0 || expands || at == dim;
  }
  return dim < 0;
}

static bool through_slice(MlirOperation op, int depth, iota *result) {
  int64_t offsets[TP_MAX_RANK], strides[TP_MAX_RANK];
  MlirValue source = mlirOperationGetOperand(op, 0);
  int rank, source_rank;
  int64_t shape[TP_MAX_RANK];
  if (mlirOperationGetNumOperands(op) != 1 ||
      !tp__static_tensor(mlirValueGetType(source), &source_rank, shape) ||
      !tp__static_tensor(mlirValueGetType(mlirOperationGetResult(op, 0)), &rank, shape) ||
      rank != source_rank ||
      tp__int_list(tp__inherent(op, "static_offsets"), TP_MAX_RANK, offsets) != rank ||
      tp__int_list(tp__inherent(op, "static_strides"), TP_MAX_RANK, strides) != rank ||
      !find_iota(source, depth + 1, result))
    return false;
  if (result->dim < 0)
    return true;
  result->offset += offsets[result->dim];
  return strides[result->dim] == 1;
}

static const struct {
  const char *name;
  bool (*find)(MlirOperation op, int depth, iota *result);
} sources[] = {
    {"linalg.generic", from_generic},         {"arith.constant", from_constant},
    {"tensor.expand_shape", through_reshape}, {"tensor.collapse_shape", through_reshape},
    {"tensor.extract_slice", through_slice},
};

static bool find_iota(MlirValue value, int depth, iota *result) {
  MlirOperation op = tp__defining_op(value);
  for (int i = 0; !mlirOperationIsNull(op) && depth < MAX_CHAIN && i < TP_LEN(sources); i++)
    if (tp__op_is(op, sources[i].name))
      return sources[i].find(op, depth, result);
  return false;
}

/* ---- replacing iotas ---- */

/* Finds the loop or constant that the generic reads as the element of this operand. */
static bool find_index(const tp__generic *generic, int operand, iota source, tp__index *index) {
  *index = (tp__index){-1, source.offset};
  if (source.dim < 0)
    return true;
  MlirAffineExpr expr = mlirAffineMapGetResult(tp__generic_map(generic, operand), source.dim);
  if (mlirAffineExprIsADim(expr)) {
    index->loop = (int)mlirAffineDimExprGetPosition(expr);
    /* the addition is done in index type, which may have 32 bits */
    return source.offset > -INT32_MAX / 2 && source.offset < INT32_MAX / 2;
  }
  if (!mlirAffineExprIsAConstant(expr))
    return false;
  index->offset += mlirAffineConstantExprGetValue(expr);
  return true;
}

/* Builds index_cast(linalg.index + offset) at the top of the body. */
static MlirValue build_index(const tp__generic *generic, tp__index index, MlirType type) {
  MlirContext context = mlirOperationGetContext(generic->op);
  MlirOperation first = mlirBlockGetFirstOperation(generic->body);
  if (index.loop < 0)
    return tp__scalar_constant(generic->op, type, index.offset);
  MlirType index_type = mlirIndexTypeGet(context);
  MlirNamedAttribute dim = tp__named(context, "dim", tp__attr_i64(context, index.loop));
  MlirOperation loop = tp__create(&(tp_build){.name = "linalg.index",
                                              .location = mlirOperationGetLocation(generic->op),
                                              .n_results = 1,
                                              .results = &index_type,
                                              .n_attributes = 1,
                                              .attributes = &dim});
  tp__insert_before(first, loop);
  MlirValue value = mlirOperationGetResult(loop, 0);
  if (index.offset != 0)
    value = tp__binary(first, "arith.addi", value, tp__index_constant(generic->op, index.offset));
  if (mlirTypeIsAIndex(type))
    return value;
  MlirOperation cast = tp__create(&(tp_build){.name = "arith.index_cast",
                                              .location = mlirOperationGetLocation(generic->op),
                                              .n_operands = 1,
                                              .operands = &value,
                                              .n_results = 1,
                                              .results = &type});
  tp__insert_before(first, cast);
  return mlirOperationGetResult(cast, 0);
}

static bool raise_input(tp__raise *raise, tp__generic *generic, int i) {
  MlirValue value = mlirOperationGetOperand(generic->op, i),
            argument = mlirBlockGetArgument(generic->body, i);
  iota source;
  tp__index index;
  if (!tp__is_tensor(mlirValueGetType(value)) || !find_iota(value, 0, &source) ||
      !find_index(generic, i, source, &index) || !tp__generic_has_ranges(generic, UINT64_C(1) << i))
    return false;
  if (tp__is_used(argument))
    mlirValueReplaceAllUsesOfWith(argument,
                                  build_index(generic, index, mlirValueGetType(argument)));
  tp__generic_drop_input(generic, i);
  tp__erase_unused(raise, value);
  raise->statistics[TP_RAISED_IOTA]++;
  return true;
}

bool tp__raise_iota(tp__raise *raise, tp__generic *generic) {
  bool changed = false;
  for (int i = generic->n_inputs - 1; i >= 0; i--)
    changed |= raise_input(raise, generic, i);
  return changed;
}
