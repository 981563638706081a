/* Raises the sum of two slices of one tensor that zeros pad to complementary parts of the result:
 * it is their concatenation. This is how the gradient of a rotation (jnp.roll) is exported:
 *
 *   pad(g[k:], behind) + pad(g[:k], in front) = concat(g[k:], g[:k]) + 0
 *
 * The zero that is added to floats keeps the result bitwise equal: -0 + 0 is 0. */
#include "passes/prepare/raise/raise.h"

#include "ir/annotation.h"
#include "rules/padding.h"

#include <math.h>

typedef struct padded {
  MlirOperation pad;
  MlirValue source; /* of the slice that is padded */
  int dim;
  int64_t size, low, high; /* along the dimension; size: of the slice */
} padded;

static bool is_zero(MlirValue value) {
  MlirOperation op = tp__defined_by(value, "arith.constant");
  if (mlirOperationIsNull(op))
    return false;
  MlirAttribute number = tp__inherent(op, "value");
  if (mlirAttributeIsAInteger(number))
    return mlirIntegerAttrGetValueInt(number) == 0;
  double x = mlirAttributeIsAFloat(number) ? mlirFloatAttrGetValueDouble(number) : 1;
  return x == 0 && !signbit(x);
}

/* Reads operand i as a slice that zeros pad along one dimension, and that nothing else reads. */
static bool read_padded(MlirOperation op, int i, padded *p) {
  MlirValue value = mlirOperationGetOperand(op, i);
  tp_padding padding;
  p->pad = tp__defined_by(value, "tensor.pad");
  if (mlirOperationIsNull(p->pad) || !tp__is_used_once(value) || tp__has_decision(p->pad) ||
      !tp__padding_of(p->pad, &padding) || tp__padding_moves(p->pad) ||
      !is_zero(tp__padding_value(p->pad)))
    return false;
  MlirValue part = mlirOperationGetOperand(p->pad, 0);
  MlirOperation slice = tp__defined_by(part, "tensor.extract_slice");
  int rank;
  int64_t shape[TP_MAX_RANK];
  p->dim = tp__padded_dim(&padding);
  if (mlirOperationIsNull(slice) || p->dim < 0 ||
      !tp__static_tensor(mlirValueGetType(part), &rank, shape))
    return false;
  p->source = mlirOperationGetOperand(slice, 0);
  p->size = shape[p->dim];
  p->low = padding.low[p->dim];
  p->high = padding.high[p->dim];
  return true;
}

static MlirValue build_concat(MlirOperation where, const padded *first, const padded *second) {
  MlirValue parts[] = {mlirOperationGetOperand(first->pad, 0),
                       mlirOperationGetOperand(second->pad, 0)};
  MlirType type = mlirValueGetType(mlirOperationGetResult(where, 0));
  MlirContext context = mlirOperationGetContext(where);
  MlirNamedAttribute dim = tp__named(context, "dim", tp__attr_i64(context, first->dim));
  MlirOperation op = tp__create(&(tp_build){.name = "tensor.concat",
                                            .location = mlirOperationGetLocation(where),
                                            .n_operands = TP_LEN(parts),
                                            .operands = parts,
                                            .n_results = 1,
                                            .results = &type,
                                            .n_attributes = 1,
                                            .attributes = &dim});
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

void tp__raise_padded_sum(tp__raise *raise, MlirOperation op) {
  bool is_float = tp__op_is(op, "arith.addf");
  padded a, b;
  if ((!is_float && !tp__op_is(op, "arith.addi")) || tp__has_decision(op) ||
      !read_padded(op, 0, &a) || !read_padded(op, 1, &b) || a.dim != b.dim ||
      !mlirValueEqual(a.source, b.source))
    return;
  padded first = a.low == 0 ? a : b, second = a.low == 0 ? b : a;
  if (first.low != 0 || second.high != 0 || first.high != second.size || second.low != first.size)
    return;
  MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
  MlirValue sum = build_concat(op, &first, &second);
  if (is_float) {
    MlirAttribute zero =
        mlirFloatAttrDoubleGet(mlirOperationGetContext(op), mlirShapedTypeGetElementType(type), 0);
    sum = tp__binary(op, "arith.addf", sum,
                     tp__constant(op, type, mlirDenseElementsAttrSplatGet(type, zero)));
    tp__copy_discardable(op, tp__defining_op(sum));
  }
  mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), sum);
  tp__destroy(raise, op);
  raise->statistics[TP_RAISED_PADDED_SUM]++;
}
