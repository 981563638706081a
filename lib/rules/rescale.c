/* Recognizes reductions that rescale, and builds the combination of their parts. */
#include "rules/rescale.h"

#include <math.h>

static MlirValue accumulator(const tp_rescale *r, int k) {
  return mlirBlockGetArgument(r->body.block, r->body.n_inputs + k);
}

/* ---- reading ---- */

/* Matches m' = max(m, x) with an input x. */
static bool read_max(tp_rescale *r, int m) {
  MlirValue value = mlirOperationGetOperand(r->body.yield, m);
  MlirOperation op = tp__defined_by(value, "arith.maximumf");
  if (mlirOperationIsNull(op))
    op = tp__defined_by(value, "arith.maxnumf");
  for (int side = 0; side < 2 && !mlirOperationIsNull(op); side++) {
    MlirValue x = mlirOperationGetOperand(op, side);
    if (!mlirValueEqual(mlirOperationGetOperand(op, 1 - side), accumulator(r, m)) ||
        !mlirValueIsABlockArgument(x) || mlirBlockArgumentGetArgNumber(x) >= r->body.n_inputs)
      continue;
    r->m = m;
    r->x = (int)mlirBlockArgumentGetArgNumber(x);
    r->max = value;
    return true;
  }
  return false;
}

static bool is_number(MlirValue value, double number) {
  MlirOperation op = tp__defined_by(value, "arith.constant");
  MlirAttribute attr = mlirOperationIsNull(op) ? (MlirAttribute){NULL} : tp__inherent(op, "value");
  return !mlirAttributeIsNull(attr) && mlirAttributeIsAFloat(attr) &&
         mlirFloatAttrGetValueDouble(attr) == number;
}

/* Matches m', or m' == -inf ? 0 : m', which avoids the NaN of exp(-inf - -inf). */
static bool is_anchor(const tp_rescale *r, MlirValue value) {
  enum { OEQ = 1, UEQ = 8 };
  MlirOperation choice = tp__defined_by(value, "arith.select");
  if (mlirValueEqual(value, r->max))
    return true;
  MlirOperation compare = mlirOperationIsNull(choice)
                              ? choice
                              : tp__defined_by(mlirOperationGetOperand(choice, 0), "arith.cmpf");
  if (mlirOperationIsNull(compare))
    return false;
  int64_t predicate = mlirIntegerAttrGetValueInt(tp__inherent(compare, "predicate"));
  return (predicate == OEQ || predicate == UEQ) &&
         mlirValueEqual(mlirOperationGetOperand(compare, 0), r->max) &&
         is_number(mlirOperationGetOperand(compare, 1), -INFINITY) &&
         is_number(mlirOperationGetOperand(choice, 1), 0) &&
         mlirValueEqual(mlirOperationGetOperand(choice, 2), r->max);
}

/* Matches exp(m - anchor). The product of such factors over several iterations has the same
 * form. */
static bool is_factor(const tp_rescale *r, MlirValue value) {
  MlirOperation exp = tp__defined_by(value, "math.exp");
  if (mlirOperationIsNull(exp))
    exp = tp__defined_by(value, "math.exp2");
  MlirOperation difference = mlirOperationIsNull(exp)
                                 ? exp
                                 : tp__defined_by(mlirOperationGetOperand(exp, 0), "arith.subf");
  return !mlirOperationIsNull(difference) &&
         mlirValueEqual(mlirOperationGetOperand(difference, 0), accumulator(r, r->m)) &&
         is_anchor(r, mlirOperationGetOperand(difference, 1));
}

/* Matches s * factor, in either order. */
static bool read_factor(tp_rescale *r, int k, MlirValue value) {
  MlirOperation product = tp__defined_by(value, "arith.mulf");
  for (int side = 0; side < 2 && !mlirOperationIsNull(product); side++)
    if (mlirValueEqual(mlirOperationGetOperand(product, side), accumulator(r, k)) &&
        is_factor(r, mlirOperationGetOperand(product, 1 - side))) {
      r->factors[k] = mlirOperationGetOperand(product, 1 - side);
      return true;
    }
  return false;
}

/* Matches s * factor + p, where p depends on no sum. */
static bool read_sum(tp_rescale *r, int k) {
  MlirOperation sum = tp__defined_by(mlirOperationGetOperand(r->body.yield, k), "arith.addf");
  uint64_t sums = 0;
  for (int i = 0; i < r->n; i++)
    if (i != r->m)
      sums |= UINT64_C(1) << (r->body.n_inputs + i);
  for (int side = 0; side < 2 && !mlirOperationIsNull(sum); side++)
    if (read_factor(r, k, mlirOperationGetOperand(sum, side)))
      return !tp__body_depends(&r->body, mlirOperationGetOperand(sum, 1 - side), sums);
  return false;
}

bool tp__rescale_read(MlirOperation op, int n_inputs, tp_rescale *r) {
  *r = (tp_rescale){.n = (int)mlirOperationGetNumResults(op)};
  if (r->n < 2 || r->n > TP_MAX_RESCALED || !tp__body_of(op, n_inputs, &r->body) ||
      r->body.n_args != n_inputs + r->n || r->body.n_args > 64)
    return false;
  for (int k = 0; k < r->n;
       k++) /* parts start from -infinity, which f8E4M3FN lacks; no sums in f8 */
    if (tp__is_f8(tp__element_type(mlirValueGetType(mlirOperationGetResult(op, k)))))
      return false;
  int m = 0;
  while (m < r->n && !read_max(r, m))
    m++;
  for (int k = 0; k < r->n; k++)
    if (k != m && (m == r->n || !read_sum(r, k)))
      return false;
  return true;
}

/* ---- building ---- */

static MlirValue copy(MlirOperation where, MlirValue value, int n, const MlirValue *operands) {
  MlirOperation op = mlirOperationClone(tp__defining_op(value));
  for (int i = 0; i < n; i++)
    mlirOperationSetOperand(op, i, operands[i]);
  tp__insert_before(where, op);
  return mlirOperationGetResult(op, 0);
}

MlirValue tp__rescale_max(const tp_rescale *r, MlirOperation where, MlirValue held,
                          MlirValue offered) {
  return copy(where, r->max, 2, (MlirValue[]){held, offered});
}

static MlirValue copy_anchor(const tp_rescale *r, MlirOperation where, MlirValue anchor,
                             MlirValue max) {
  if (mlirValueEqual(anchor, r->max))
    return max;
  MlirOperation choice = tp__defining_op(anchor);
  MlirType type = mlirValueGetType(max);
  MlirContext context = mlirTypeGetContext(type);
  MlirValue least = tp__constant(where, type, mlirFloatAttrDoubleGet(context, type, -INFINITY));
  MlirValue zero = tp__constant(where, type, mlirFloatAttrDoubleGet(context, type, 0));
  MlirValue is_least =
      copy(where, mlirOperationGetOperand(choice, 0), 2, (MlirValue[]){max, least});
  return tp__select(where, is_least, zero, max);
}

MlirValue tp__rescale_combine(const tp_rescale *r, int k, MlirOperation where,
                              const MlirValue *held, const MlirValue *offered) {
  MlirValue max = tp__rescale_max(r, where, held[r->m], offered[r->m]);
  if (k == r->m)
    return max;
  MlirValue difference = mlirOperationGetOperand(tp__defining_op(r->factors[k]), 0);
  MlirValue anchor =
      copy_anchor(r, where, mlirOperationGetOperand(tp__defining_op(difference), 1), max);
  difference = copy(where, difference, 2, (MlirValue[]){held[r->m], anchor});
  MlirValue factor = copy(where, r->factors[k], 1, &difference);
  return tp__binary(where, "arith.addf", tp__binary(where, "arith.mulf", held[k], factor),
                    offered[k]);
}
