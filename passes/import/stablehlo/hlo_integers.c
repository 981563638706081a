/* Ops on integers. StableHLO defines them for all operands: division by 0, the quotient of the
 * smallest integer and -1, and shifts by the width and more, which arith leaves undefined. */
#include "passes/import/stablehlo/hlo_elementwise.h"

static unsigned width_of(MlirType type) { return mlirIntegerTypeGetWidth(tp__number_type(type)); }

static MlirValue number(tp_hlo *hlo, MlirType type, int64_t value) {
  return tp__hlo_int_constant(hlo, type, value);
}

/* True if the value is a constant other than 0 and -1, all of whose elements are equal. */
static bool is_safe_divisor(MlirValue value) {
  MlirAttribute splat = tp__hlo_splat_of(value);
  int64_t divisor = mlirAttributeIsNull(splat) ? 0 : mlirIntegerAttrGetValueInt(splat);
  return divisor != 0 && divisor != -1;
}

/* Which divisors are 0; replaces those that are not allowed by 1. */
static MlirValue guard(tp_hlo *hlo, tp_hlo_kind kind, MlirValue dividend, MlirValue *divisor) {
  MlirType type = mlirValueGetType(dividend);
  MlirValue is_zero = tp__hlo_compare(hlo, "eq", *divisor, number(hlo, type, 0)), bad = is_zero;
  if (kind == TP_HLO_SIGNED) {
    MlirValue least = number(hlo, type, INT64_MIN >> (64 - width_of(type)));
    MlirValue overflows =
        tp__hlo_binary(hlo, "arith.andi", tp__hlo_compare(hlo, "eq", dividend, least),
                       tp__hlo_compare(hlo, "eq", *divisor, number(hlo, type, -1)));
    bad = tp__hlo_binary(hlo, "arith.ori", is_zero, overflows);
  }
  *divisor = tp__hlo_select(hlo, bad, number(hlo, type, 1), *divisor);
  return is_zero;
}

/* x / 0 is -1, all bits. The smallest integer divided by -1 is itself, as divided by 1. */
MlirValue tp__hlo_divide(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  const char *name = kind == TP_HLO_SIGNED ? "arith.divsi" : "arith.divui";
  MlirValue divisor = a[1];
  if (is_safe_divisor(divisor))
    return tp__hlo_binary(hlo, name, a[0], divisor);
  MlirValue is_zero = guard(hlo, kind, a[0], &divisor);
  MlirValue quotient = tp__hlo_binary(hlo, name, a[0], divisor);
  return tp__hlo_select(hlo, is_zero, number(hlo, result, -1), quotient);
}

MlirValue tp__hlo_remainder(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)result;
  const char *name = kind == TP_HLO_SIGNED ? "arith.remsi" : "arith.remui";
  MlirValue divisor = a[1];
  if (is_safe_divisor(divisor))
    return tp__hlo_binary(hlo, name, a[0], divisor);
  MlirValue is_zero = guard(hlo, kind, a[0], &divisor);
  return tp__hlo_select(hlo, is_zero, a[0], tp__hlo_binary(hlo, name, a[0], divisor));
}

MlirValue tp__hlo_negate(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)kind;
  return tp__hlo_binary(hlo, "arith.subi", number(hlo, result, 0), a[0]);
}

MlirValue tp__hlo_not(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)kind;
  return tp__hlo_binary(hlo, "arith.xori", a[0], number(hlo, result, -1));
}

/* ---- shifts ---- */

static MlirValue shift(tp_hlo *hlo, const char *name, const MlirValue *a, bool keeps_sign) {
  MlirType type = mlirValueGetType(a[0]);
  int64_t width = width_of(type);
  MlirAttribute splat = tp__hlo_splat_of(a[1]);
  int64_t amount = mlirAttributeIsNull(splat) ? -1 : mlirIntegerAttrGetValueInt(splat);
  if (amount >= 0 && amount < width)
    return tp__hlo_binary(hlo, name, a[0], a[1]);
  MlirValue fits = tp__hlo_compare(hlo, "ult", a[1], number(hlo, type, width));
  if (keeps_sign) /* a larger amount shifts out all but the sign, like width - 1 */
    return tp__hlo_binary(hlo, name, a[0],
                          tp__hlo_select(hlo, fits, a[1], number(hlo, type, width - 1)));
  MlirValue zero = number(hlo, type, 0);
  MlirValue shifted = tp__hlo_binary(hlo, name, a[0], tp__hlo_select(hlo, fits, a[1], zero));
  return tp__hlo_select(hlo, fits, shifted, zero);
}

MlirValue tp__hlo_shift_left(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)kind, (void)result;
  return shift(hlo, "arith.shli", a, false);
}

MlirValue tp__hlo_shift_right_logical(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a,
                                      MlirType result) {
  (void)kind, (void)result;
  return shift(hlo, "arith.shrui", a, false);
}

MlirValue tp__hlo_shift_right_arithmetic(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a,
                                         MlirType result) {
  (void)kind, (void)result;
  return shift(hlo, "arith.shrsi", a, true);
}

/* ---- sign and power ---- */

/* -1, 0 or 1. Of floats: zeros and NaN stay as they are. */
MlirValue tp__hlo_sign(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  if (kind == TP_HLO_FLOAT) {
    MlirValue zero = tp__hlo_float_constant(hlo, result, 0);
    MlirValue unit =
        tp__hlo_binary(hlo, "math.copysign", tp__hlo_float_constant(hlo, result, 1), a[0]);
    return tp__hlo_select(hlo, tp__hlo_compare(hlo, "one", a[0], zero), unit, a[0]);
  }
  MlirValue zero = number(hlo, result, 0), unit = number(hlo, result, 1);
  if (kind == TP_HLO_SIGNED)
    unit =
        tp__hlo_select(hlo, tp__hlo_compare(hlo, "slt", a[0], zero), number(hlo, result, -1), unit);
  return tp__hlo_select(hlo, tp__hlo_compare(hlo, "eq", a[0], zero), zero, unit);
}

/* Products by the bits of the exponent, from the lowest on (binary exponentiation). A negative
 * exponent gives 1 and -1 for bases 1 and -1, and 0 for others. */
MlirValue tp__hlo_power(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  MlirValue zero = number(hlo, result, 0), unit = number(hlo, result, 1);
  MlirValue base = a[0], exponent = a[1], product = unit;
  for (unsigned bit = 0, width = width_of(result); bit < width; bit++) {
    MlirValue is_odd = tp__hlo_compare(
        hlo, "ne", tp__hlo_binary(hlo, "arith.andi", exponent, number(hlo, result, 1)), zero);
    product = tp__hlo_binary(hlo, "arith.muli", product, tp__hlo_select(hlo, is_odd, base, unit));
    base = tp__hlo_binary(hlo, "arith.muli", base, base);
    exponent = tp__hlo_binary(hlo, "arith.shrui", exponent, unit);
  }
  if (kind == TP_HLO_UNSIGNED)
    return product;
  MlirValue minus = number(hlo, result, -1);
  MlirValue is_negative = tp__hlo_compare(hlo, "slt", a[1], zero);
  MlirValue is_unit = tp__hlo_binary(hlo, "arith.ori", tp__hlo_compare(hlo, "eq", a[0], unit),
                                     tp__hlo_compare(hlo, "eq", a[0], minus));
  /* of 1 and -1 the bits of a negative exponent give the right sign */
  return tp__hlo_select(hlo, is_negative, tp__hlo_select(hlo, is_unit, product, zero), product);
}

/* The upper half of a product of twice the width. */
MlirValue tp__hlo_mulhi(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  MlirOperation op =
      tp__hlo_build_op(hlo, &(tp_build){.name = kind == TP_HLO_SIGNED ? "arith.mulsi_extended"
                                                                      : "arith.mului_extended",
                                        .n_operands = 2,
                                        .operands = a,
                                        .n_results = 2,
                                        .results = (MlirType[]){result, result}});
  return mlirOperationGetResult(op, 1);
}
