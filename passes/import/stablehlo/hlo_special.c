/* Special functions of CHLO that math does not have. */
#include "passes/import/stablehlo/hlo_elementwise.h"

static MlirValue constant(tp_hlo *hlo, MlirValue like, double value) {
  return tp__hlo_float_constant(hlo, mlirValueGetType(like), value);
}

static MlirValue mul(tp_hlo *hlo, MlirValue a, MlirValue b) {
  return tp__hlo_binary(hlo, "arith.mulf", a, b);
}

static MlirValue add(tp_hlo *hlo, MlirValue a, MlirValue b) {
  return tp__hlo_binary(hlo, "arith.addf", a, b);
}

static MlirValue sub(tp_hlo *hlo, MlirValue a, MlirValue b) {
  return tp__hlo_binary(hlo, "arith.subf", a, b);
}

/* A polynomial by Horner's scheme, the highest coefficient first. */
static MlirValue polynomial(tp_hlo *hlo, MlirValue x, int n, const double *coefficients) {
  MlirValue sum = constant(hlo, x, coefficients[0]);
  for (int i = 1; i < n; i++)
    sum = add(hlo, mul(hlo, sum, x), constant(hlo, x, coefficients[i]));
  return sum;
}

/* ---- the inverse of the error function ---- */

/* M. Giles, "Approximating the erfinv function", GPU Computing Gems Jade Edition, 2012: the
 * approximation in single precision, relative error below 3e-7. */
static MlirValue erf_inv_single(tp_hlo *hlo, MlirValue x) {
  static const double center[] = {2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
                                  -4.39150654e-06, 0.00021858087,  -0.00125372503,
                                  -0.00417768164,  0.246640727,    1.50140941};
  static const double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322,
                                -0.00367342844,  0.00573950773,  -0.0076224613,
                                0.00943887047,   1.00167406,     2.83297682};
  MlirValue w = tp__hlo_unary(hlo, "math.log1p", tp__hlo_unary(hlo, "arith.negf", mul(hlo, x, x)));
  w = tp__hlo_unary(hlo, "arith.negf", w);
  MlirValue in_center = tp__hlo_compare(hlo, "olt", w, constant(hlo, x, 5));
  MlirValue a = polynomial(hlo, sub(hlo, w, constant(hlo, x, 2.5)), TP_LEN(center), center);
  MlirValue root = sub(hlo, tp__hlo_unary(hlo, "math.sqrt", w), constant(hlo, x, 3));
  MlirValue b = polynomial(hlo, root, TP_LEN(tail), tail);
  return mul(hlo, tp__hlo_select(hlo, in_center, a, b), x);
}

/* A step of Halley's method for erf(y) = x. Of |x| near 1, erfc has the digits: for x of either
 * sign, erf(y) - x = sign(x) ((1 - |x|) - erfc(|y|)). */
static MlirValue halley(tp_hlo *hlo, MlirValue x, MlirValue y) {
  MlirValue one = constant(hlo, x, 1);
  MlirValue rest = sub(hlo, one, tp__hlo_unary(hlo, "math.absf", x));
  MlirValue error =
      sub(hlo, rest, tp__hlo_unary(hlo, "math.erfc", tp__hlo_unary(hlo, "math.absf", y)));
  error = mul(hlo, error, tp__hlo_binary(hlo, "math.copysign", one, x));
  MlirValue density =
      tp__hlo_unary(hlo, "math.exp", tp__hlo_unary(hlo, "arith.negf", mul(hlo, y, y)));
  density = mul(hlo, density, constant(hlo, x, 1.1283791670955125739)); /* 2 / sqrt(pi) */
  MlirValue step = tp__hlo_binary(hlo, "arith.divf", error, density);
  MlirValue damping = add(hlo, one, mul(hlo, y, step));
  return sub(hlo, y, tp__hlo_binary(hlo, "arith.divf", step, damping));
}

/* Infinity at 1 and -1, NaN beyond. Doubles begin with the approximation in single precision; two
 * steps, each of which triples the digits, give all of theirs. */
MlirValue tp__hlo_erf_inv(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  MlirType element = tp__number_type(result), f32 = mlirF32TypeGet(hlo->context);
  MlirValue x = a[0], y;
  bool is_narrow = tp__element_size(element) < 4;
  if (is_narrow)
    x = tp__hlo_cast(hlo, x, kind, kind, tp__hlo_with_element(result, f32));
  y = erf_inv_single(hlo, x);
  if (tp__element_size(element) == 8)
    y = halley(hlo, x, halley(hlo, x, y));
  MlirValue size = tp__hlo_unary(hlo, "math.absf", x), one = constant(hlo, x, 1);
  MlirValue infinity = tp__hlo_binary(hlo, "math.copysign", constant(hlo, x, 1 / 0.0), x);
  y = tp__hlo_select(hlo, tp__hlo_compare(hlo, "oeq", size, one), infinity, y);
  y = tp__hlo_select(hlo, tp__hlo_compare(hlo, "ogt", size, one), constant(hlo, x, 0.0 / 0.0), y);
  return is_narrow ? tp__hlo_cast(hlo, y, kind, kind, result) : y;
}

/* ---- the next number ---- */

/* The neighbor of x in the direction of y: the bits of its magnitude, plus or minus 1. */
MlirValue tp__hlo_next_after(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  (void)kind;
  int64_t width = 8 * tp__element_size(tp__number_type(result));
  MlirType bits = tp__hlo_with_element(result, mlirIntegerTypeGet(hlo->context, (unsigned)width));
  MlirValue highest = tp__hlo_int_constant(hlo, bits, INT64_MIN >> (64 - width));
  MlirValue rest = tp__hlo_int_constant(hlo, bits, ~(INT64_MIN >> (64 - width)));
  MlirValue one = tp__hlo_int_constant(hlo, bits, 1), number[2], size[2], sign[2];
  for (int i = 0; i < 2; i++) {
    number[i] = tp__hlo_convert_to(hlo, "arith.bitcast", bits, a[i]);
    size[i] = tp__hlo_binary(hlo, "arith.andi", number[i], rest);
    sign[i] = tp__hlo_binary(hlo, "arith.andi", number[i], highest);
  }
  MlirValue shrinks = tp__hlo_binary(hlo, "arith.ori", tp__hlo_compare(hlo, "ne", sign[0], sign[1]),
                                     tp__hlo_compare(hlo, "ugt", size[0], size[1]));
  MlirValue step = tp__hlo_select(hlo, shrinks, tp__hlo_int_constant(hlo, bits, -1), one);
  MlirValue next = tp__hlo_binary(hlo, "arith.addi", number[0], step);
  MlirValue zero = tp__hlo_int_constant(hlo, bits, 0);
  MlirValue least = tp__hlo_binary(hlo, "arith.ori", sign[1], one);
  next = tp__hlo_select(hlo, tp__hlo_compare(hlo, "eq", size[0], zero), least, next);
  MlirValue value = tp__hlo_convert_to(hlo, "arith.bitcast", result, next);
  value = tp__hlo_select(hlo, tp__hlo_compare(hlo, "oeq", a[0], a[1]), a[1], value);
  MlirValue is_nan = tp__hlo_compare(hlo, "uno", a[0], a[1]);
  return tp__hlo_select(hlo, is_nan, constant(hlo, value, 0.0 / 0.0), value);
}
