/* Special functions of CHLO that math does not have. */
#include "passes/import/stablehlo/hlo_real.h"

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
  MlirValue w =
      tp__hlo_unary(hlo, "math.log1p", tp__hlo_unary(hlo, "arith.negf", tp__hlo_mul(hlo, x, x)));
  w = tp__hlo_unary(hlo, "arith.negf", w);
  MlirValue in_center = tp__hlo_compare(hlo, "olt", w, tp__hlo_real(hlo, x, 5));
  MlirValue a = tp__hlo_polynomial(hlo, tp__hlo_sub(hlo, w, tp__hlo_real(hlo, x, 2.5)),
                                   TP_LEN(center), center);
  MlirValue root = tp__hlo_sub(hlo, tp__hlo_unary(hlo, "math.sqrt", w), tp__hlo_real(hlo, x, 3));
  MlirValue b = tp__hlo_polynomial(hlo, root, TP_LEN(tail), tail);
  return tp__hlo_mul(hlo, tp__hlo_select(hlo, in_center, a, b), x);
}

/* A step of Halley's method for erf(y) = x. Of |x| near 1, erfc has the digits: for x of either
 * sign, erf(y) - x = sign(x) ((1 - |x|) - erfc(|y|)). */
static MlirValue halley(tp_hlo *hlo, MlirValue x, MlirValue y) {
  MlirValue one = tp__hlo_real(hlo, x, 1);
  MlirValue rest = tp__hlo_sub(hlo, one, tp__hlo_unary(hlo, "math.absf", x));
  MlirValue error =
      tp__hlo_sub(hlo, rest, tp__hlo_unary(hlo, "math.erfc", tp__hlo_unary(hlo, "math.absf", y)));
  error = tp__hlo_mul(hlo, error, tp__hlo_binary(hlo, "math.copysign", one, x));
  MlirValue density =
      tp__hlo_unary(hlo, "math.exp", tp__hlo_unary(hlo, "arith.negf", tp__hlo_mul(hlo, y, y)));
  density =
      tp__hlo_mul(hlo, density, tp__hlo_real(hlo, x, 1.1283791670955125739)); /* 2 / sqrt(pi) */
  MlirValue step = tp__hlo_binary(hlo, "arith.divf", error, density);
  MlirValue damping = tp__hlo_add(hlo, one, tp__hlo_mul(hlo, y, step));
  return tp__hlo_sub(hlo, y, tp__hlo_binary(hlo, "arith.divf", step, damping));
}

/* Infinity at 1 and -1, NaN beyond. Doubles begin with the approximation in single precision; two
 * steps, each of which triples the digits, give all of theirs. */
MlirValue tp__hlo_erf_inv(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  MlirType element = tp__number_type(result);
  MlirValue x = tp__hlo_to_single(hlo, kind, a[0]), y = erf_inv_single(hlo, x);
  if (tp__element_size(element) == 8)
    y = halley(hlo, x, halley(hlo, x, y));
  MlirValue size = tp__hlo_unary(hlo, "math.absf", x), one = tp__hlo_real(hlo, x, 1);
  MlirValue infinity = tp__hlo_binary(hlo, "math.copysign", tp__hlo_real(hlo, x, 1 / 0.0), x);
  y = tp__hlo_select(hlo, tp__hlo_compare(hlo, "oeq", size, one), infinity, y);
  y = tp__hlo_select(hlo, tp__hlo_compare(hlo, "ogt", size, one), tp__hlo_real(hlo, x, 0.0 / 0.0),
                     y);
  return tp__hlo_from_single(hlo, kind, y, result);
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
  return tp__hlo_select(hlo, is_nan, tp__hlo_real(hlo, value, 0.0 / 0.0), value);
}

/* ---- the modified Bessel function of order 1, times exp(-|x|) ---- */

/* Clenshaw's sum of Chebyshev polynomials of t in [-1, 1]. */
static MlirValue chebyshev(tp_hlo *hlo, MlirValue t, int n, const double *coefficients) {
  MlirValue twice = tp__hlo_add(hlo, t, t), next = tp__hlo_real(hlo, t, 0), after = next;
  for (int i = n - 1; i > 0; i--) {
    MlirValue sum = tp__hlo_sub(hlo, tp__hlo_mul(hlo, twice, next), after);
    after = next;
    next = tp__hlo_add(hlo, sum, tp__hlo_real(hlo, t, coefficients[i]));
  }
  MlirValue sum = tp__hlo_sub(hlo, tp__hlo_mul(hlo, t, next), after);
  return tp__hlo_add(hlo, sum, tp__hlo_real(hlo, t, coefficients[0]));
}

/* Interpolated at Chebyshev nodes from values in double precision: I1(x) exp(-x) / x for x in
 * [0, 8], of x / 4 - 1; and I1(x) exp(-x) sqrt(x) above, of 16 / x - 1. Relative error below
 * 4e-15. Single precision needs fewer terms. */
static MlirValue bessel_i1e(tp_hlo *hlo, MlirValue x) {
  static const double near[] = {
      1.2629359322181680e-01,  -1.7641651835783401e-01, 1.0264365868984704e-01,
      -5.2945981208094926e-02, 2.4726449030626436e-02,  -1.0564084894626118e-02,
      4.1564229443128266e-03,  -1.5135724506312174e-03, 5.1228595616855776e-04,
      -1.6176081582588441e-04, 4.7815651075479387e-05,  -1.3273163655999878e-05,
      3.4702513080901205e-06,  -8.5687202642244875e-07, 2.0032947529563276e-07,
      -4.4450591207473690e-08, 9.3815372960361511e-09,  -1.8872496660381730e-09,
      3.6255897051295021e-10,  -6.6634877397042155e-11, 1.1736192967573598e-11,
      -1.9839822475587863e-12, 3.2238976950278027e-13,  -5.0424886942552257e-14,
      7.5756317451797223e-15,  -1.0555969720018026e-15};
  static const double far[] = {
      3.8928811750914005e-01,  -9.7610974913614392e-03, -1.1058893876264892e-04,
      -3.8825648088374777e-06, -2.5122362388177984e-07, -2.6314688354560356e-08,
      -3.8353804452805233e-09, -5.5897434527189468e-10, -1.8974945194738177e-11,
      3.2526014839395074e-11,  1.4125821351388194e-11,  2.0356985324862522e-12,
      -7.1992424825403908e-13, -4.0838260616064825e-13, -2.1050643866926678e-14,
      4.2812058152069674e-14,  1.0310459083728851e-14,  -3.6897156337201145e-15,
      -1.9669324762688900e-15, 3.0293801321634729e-16};
  bool is_double = tp__element_size(tp__number_type(mlirValueGetType(x))) == 8;
  MlirValue size = tp__hlo_unary(hlo, "math.absf", x), one = tp__hlo_real(hlo, x, 1);
  MlirValue eight = tp__hlo_real(hlo, x, 8);
  MlirValue t = tp__hlo_sub(hlo, tp__hlo_mul(hlo, size, tp__hlo_real(hlo, x, 0.25)), one);
  MlirValue a = tp__hlo_mul(hlo, size, chebyshev(hlo, t, is_double ? TP_LEN(near) : 17, near));
  MlirValue large = tp__hlo_binary(hlo, "arith.maximumf", size, eight);
  t = tp__hlo_sub(hlo, tp__hlo_div(hlo, tp__hlo_real(hlo, x, 16), large), one);
  MlirValue b = tp__hlo_div(hlo, chebyshev(hlo, t, is_double ? TP_LEN(far) : 7, far),
                            tp__hlo_unary(hlo, "math.sqrt", large));
  MlirValue y = tp__hlo_select(hlo, tp__hlo_compare(hlo, "ole", size, eight), a, b);
  return tp__hlo_binary(hlo, "math.copysign", y, x);
}

MlirValue tp__hlo_bessel_i1e(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  MlirValue x = tp__hlo_to_single(hlo, kind, a[0]);
  return tp__hlo_from_single(hlo, kind, bessel_i1e(hlo, x), result);
}
