/* Inverse sine, cosine and tangent for GPUs. f32 results are rounded from f64.
 *
 * Polynomials interpolate the function at the zeros of a Chebyshev polynomial. Maximum errors in
 * ULP: f32 0.51; f64 atan 0.9, atan2 1.4, asin 2.2, acos 1.2. */
#include "passes/math/expand_math.h"

/* Sets `angle`, the arc tangent of a >= 0, to the arc tangent of a nearby number b plus that of u =
 * (a - b) / (1 + a b). For large a, u is -1/a. */
#define ANGLE                                                                                      \
  "is_0 = a < 0.4375; is_1 = a < 0.6875; is_2 = a < 1.1875; is_3 = a < 2.4375;"                    \
  "b = is_0 ? 0.0 : is_1 ? 0.5 : is_2 ? 1.0 : 1.5;"                                                \
  "u = (is_3 ? a - b : -1.0) / (is_3 ? fma(b, a, 1.0) : a);"                                       \
  "of_b = is_0 ? 0.0 : is_1 ? 4.63647609000806094e-01 : is_2 ? 7.85398163397448279e-01 : is_3 ? "  \
  "9.82793723247329054e-01 : "                                                                     \
  "  1.57079632679489656;"                                                                         \
  "of_b_low = is_0 ? 0.0 : is_1 ? 2.26987774529616871e-17 : is_2 ? 3.06161699786838302e-17 : "     \
  "  is_3 ? 1.39033110312309984e-17 : 6.12323399573676604e-17;"                                    \
  "w = u * u;"                                                                                     \
  "tail = u * w * poly(w, 0.014701224923104746, -0.033055493439511044, 0.044890993850751876, "     \
  "-0.052159047327603902, "                                                                        \
  "  0.058768287280713961, -0.066662304674300912, 0.076922848412312672, -0.090909083279839722, "   \
  "0.11111111096023965, "                                                                          \
  "  -0.14285714285559675, 0.19999999999999377, -0.33333333333333331);"                            \
  "angle = of_b + (u + (tail + of_b_low));"

static const char atan_formula[] = "a = abs(x);" ANGLE "y = copysign(angle, x);";

/* The angle of x / x1. If both are 0 or both are infinite, a is 0 or 1. */
static const char atan2_formula[] =
    "rise = abs(x); run = abs(x1);"
    "a = rise == 0.0 ? 0.0 : rise == run ? 1.0 : rise / run;" ANGLE
    "turned = 3.14159265358979312 - (angle - 1.22464679914735318e-16);"
    "y = unordered(x, x1) ? nan : copysign(bits(x1) < 0 ? turned : angle, x);";

/* Sets s + s_tail, the arc sine of s, for angles up to pi/6. From a = 1/2 on, it is the arc sine
 * for half of the complementary angle. */
#define HALF_ANGLE                                                                                 \
  "a = abs(x);"                                                                                    \
  "is_far = a >= 0.5;"                                                                             \
  "z = is_far ? (1.0 - a) * 0.5 : a * a;"                                                          \
  "s = is_far ? sqrt(z) : a;"                                                                      \
  "s_tail = s * z * poly(z, 0.028757851367421566, -0.014851887071247204, 0.017400879442694021, "   \
  "0.0054575067186403581, "                                                                        \
  "  0.010322814350185779, 0.011479177415184906, 0.013971212973552933, 0.017352392720869973, "     \
  "0.022372172942149889, "                                                                         \
  "  0.030381944138531247, 0.044642857146355429, 0.074999999999984329, 0.16666666666666669);"

static const char asin_formula[] =
    HALF_ANGLE "far = 1.57079632679489656 - (2.0 * (s + s_tail) - 6.12323399573676604e-17);"
               "y = copysign(is_far ? far : s + s_tail, x);";

static const char acos_formula[] =
    HALF_ANGLE "twice = 2.0 * (s + s_tail);"
               "far = x < 0.0 ? 3.14159265358979312 - (twice - 1.22464679914735318e-16) : twice;"
               "near = 1.57079632679489656 - (x - (6.12323399573676604e-17 - copysign(s_tail, x)));"
               "y = is_far ? far : near;";

static const tp__function_row rows[] = {
    {"math.atan", "tp.atan.f32", mlirTypeIsAF32, "y = narrow(atan(wide(x)));", NULL},
    {"math.atan2", "tp.atan2.f32", mlirTypeIsAF32, "y = narrow(atan2(wide(x), wide(x1)));", NULL},
    {"math.asin", "tp.asin.f32", mlirTypeIsAF32, "y = narrow(asin(wide(x)));", NULL},
    {"math.acos", "tp.acos.f32", mlirTypeIsAF32, "y = narrow(acos(wide(x)));", NULL},
    {"math.atan", "tp.atan.f64", mlirTypeIsAF64, atan_formula, NULL},
    {"math.atan2", "tp.atan2.f64", mlirTypeIsAF64, atan2_formula, NULL},
    {"math.asin", "tp.asin.f64", mlirTypeIsAF64, asin_formula, NULL},
    {"math.acos", "tp.acos.f64", mlirTypeIsAF64, acos_formula, NULL},
};

const tp__function_table tp__math_arcs = {rows, TP__COUNT(rows), true};
