/* Ops of StableHLO that take several ops of arith. The import spells them out; here they are found
 * again, among exported ops, because compilers have kernels for them and count less work. */
#include "passes/export/export.h"

#include <math.h>

static MlirValue operand_of(MlirOperation op, int i) { return mlirOperationGetOperand(op, i); }

static bool is_int(MlirValue value, int64_t wanted) {
  MlirAttribute element = tp__export_splat_of(value);
  return !mlirAttributeIsNull(element) && mlirAttributeIsAInteger(element) &&
         mlirIntegerAttrGetValueInt(element) == wanted;
}

static bool is_float(MlirValue value, double wanted) {
  MlirAttribute element = tp__export_splat_of(value);
  return !mlirAttributeIsNull(element) && mlirAttributeIsAFloat(element) &&
         mlirFloatAttrGetValueDouble(element) == wanted;
}

/* ---- comparisons by IEEE 754 totalOrder ---- */

/* Its bits, those below the sign inverted if it is negative. */
MlirValue tp__export_total_order_of(MlirValue value) {
  MlirOperation flipped = tp__defined_by(value, "stablehlo.xor"), from, mask, sign;
  if (mlirOperationIsNull(flipped))
    return (MlirValue){NULL};
  MlirValue bits = operand_of(flipped, 0);
  from = tp__defined_by(bits, "stablehlo.bitcast_convert");
  mask = tp__defined_by(operand_of(flipped, 1), "stablehlo.shift_right_logical");
  if (mlirOperationIsNull(from) || mlirOperationIsNull(mask))
    return (MlirValue){NULL};
  sign = tp__defined_by(operand_of(mask, 0), "stablehlo.shift_right_arithmetic");
  MlirValue number = operand_of(from, 0);
  int64_t width = mlirIntegerTypeGetWidth(tp__element_type(mlirValueGetType(value)));
  return mlirTypeIsAFloat(tp__element_type(mlirValueGetType(number))) &&
                 !mlirOperationIsNull(sign) && mlirValueEqual(operand_of(sign, 0), bits) &&
                 is_int(operand_of(sign, 1), width - 1) && is_int(operand_of(mask, 1), 1)
             ? number
             : (MlirValue){NULL};
}

/* ---- conversions of floats to integers ---- */

/* One of the selects around a conversion: where `number` compares so with a bound, the result is
 * `chosen`. */
typedef struct clamp {
  const char *direction;
  double bound; /* NaN: `number` itself */
  int64_t chosen;
} clamp;

/* Returns the third operand of the select, its value where the comparison is false; null if `value`
 * is not this select. */
static MlirValue look_through(tp_export *x, MlirValue value, MlirValue number, const clamp *c) {
  MlirOperation select = tp__defined_by(value, "stablehlo.select");
  MlirOperation compare = mlirOperationIsNull(select)
                              ? select
                              : tp__defined_by(operand_of(select, 0), "stablehlo.compare");
  if (mlirOperationIsNull(compare))
    return (MlirValue){NULL};
  MlirValue bound = operand_of(compare, 1);
  MlirAttribute direction = tp__export_attr(x, "#stablehlo<comparison_direction %s>", c->direction);
  return mlirValueEqual(operand_of(compare, 0), number) &&
                 mlirAttributeEqual(tp__get(compare, "comparison_direction"), direction) &&
                 (isnan(c->bound) ? mlirValueEqual(bound, number) : is_float(bound, c->bound)) &&
                 is_int(operand_of(select, 1), c->chosen)
             ? operand_of(select, 2)
             : (MlirValue){NULL};
}

/* Returns the stablehlo.convert that gives an integer, also if its sign is cast away. */
static MlirOperation conversion_of(MlirValue value) {
  MlirOperation cast = tp__defined_by(value, "stablehlo.bitcast_convert");
  return tp__defined_by(mlirOperationIsNull(cast) ? value : operand_of(cast, 0),
                        "stablehlo.convert");
}

/* stablehlo.convert saturates, and gives 0 for NaN, as the selects around it do. */
MlirValue tp__export_saturated(tp_export *x, MlirValue value) {
  enum { SELECTS = 3 };
  MlirValue inner = value;
  for (int i = 0; i < SELECTS; i++) {
    MlirOperation select = tp__defined_by(inner, "stablehlo.select");
    if (mlirOperationIsNull(select))
      return value;
    inner = operand_of(select, 2);
  }
  MlirOperation convert = conversion_of(inner);
  if (mlirOperationIsNull(convert))
    return value;
  MlirValue number = operand_of(convert, 0);
  MlirType to = tp__element_type(mlirValueGetType(mlirOperationGetResult(convert, 0)));
  if (!mlirTypeIsAFloat(tp__element_type(mlirValueGetType(number))) || !mlirTypeIsAInteger(to))
    return value;
  bool is_signed = !mlirIntegerTypeIsUnsigned(to);
  int width = (int)mlirIntegerTypeGetWidth(to);
  clamp clamps[SELECTS] = {
      {"NE", NAN, 0},
      {"LE", is_signed ? -ldexp(1, width - 1) : 0, is_signed ? INT64_MIN >> (64 - width) : 0},
      {"GE", ldexp(1, width - is_signed), is_signed ? (int64_t)(UINT64_MAX >> (65 - width)) : -1},
  };
  MlirValue rest = value;
  for (int i = 0; i < SELECTS && !mlirValueIsNull(rest); i++)
    rest = look_through(x, rest, number, &clamps[i]);
  return mlirValueIsNull(rest) ? value : inner;
}
