/* The error functions erf and erfc for GPUs. f32 erfc is rounded from f64.
 *
 * Polynomials interpolate the function at the zeros of a Chebyshev polynomial. The variable (a - 4)
 * / (a + 4) and the factor 1 + 2a are those of M. M. Shepherd and J. G. Laframboise. Maximum errors
 * in ULP: f32 erfc 0.51; f64 erf 1.4, erfc 2.8. */
#include "passes/math/expand_math.h"

/* For a = |x|: sets `near`, erf x for a < 1, and `scaled`, erfc a for a >= 1/2. There, exp(a^2)
 * erfc a (1 + 2a) is a polynomial. Beyond 28, erfc underflows to 0. */
#define ERROR_PARTS                                                                                \
  "a = abs(x);"                                                                                    \
  "z = x * x;"                                                                                     \
  "near = x + x * poly(z, -7.7958988270021425e-10, 1.3720064546777686e-08, "                       \
  "-1.6208483801871705e-07, 1.6447424703317362e-06, "                                              \
  "  -1.4924736907419661e-05, 0.00012055294904839707, -0.00085483259753896918, "                   \
  "0.0052239776071164225, "                                                                        \
  "  -0.02686617064323777, 0.11283791670945006, -0.37612638903183543, 0.12837916709551256);"       \
  "b = a > 28.0 ? 28.0 : a;"                                                                       \
  "q = (b - 4.0) / (b + 4.0);"                                                                     \
  "top = poly(q, -9.4559829398727425e-09, 7.3896804448339138e-08, 5.9413379551318713e-08, "        \
  "-7.8117857851751525e-07, "                                                                      \
  "  3.0842678654442027e-07, 5.6784465186773918e-06, -1.1230434994851926e-05, "                    \
  "-2.4385454299846383e-05, "                                                                      \
  "  0.00015062470265121279, -0.00019926054696722299, -0.0007577739752266992, "                    \
  "0.0050319706575057584, "                                                                        \
  "  -0.016197733962200932, 0.037167515465158091, -0.066330365819879902, 0.093732835002594342, "   \
  "-0.10103906603599298, "                                                                         \
  "  0.068097054254578113, 0.015379652102614858, -0.13962111684056161, 1.2329951186255526);"       \
  "twice = b + b; under = twice + 1.0;"                                                            \
  "ratio = top / under; ratio_low = (fma(-ratio, under, top) - ratio * sum_error(twice, 1.0)) / "  \
  "under;"                                                                                         \
  "t = -(b * b);" TP_EXP_PARTS("- product_error(b, b)")                                            \
      TP_SCALED("(ratio + (ratio * beyond + ratio_low))", "n")

static const char erf_formula[] = ERROR_PARTS "some = a < 1.0 ? near : copysign(1.0 - scaled, x);"
                                              "y = unordered(x, x) ? x : some;";

static const char erfc_formula[] = ERROR_PARTS "far = x < 0.0 ? 2.0 - scaled : scaled;"
                                               "some = a < 0.5 ? 1.0 - near : far;"
                                               "y = unordered(x, x) ? x : some;";

static const tp__function_row rows[] = {
    {"math.erfc", "tp.erfc.f32", mlirTypeIsAF32, "y = narrow(erfc(wide(x)));", NULL},
    {"math.erf", "tp.erf.f64", mlirTypeIsAF64, erf_formula, NULL},
    {"math.erfc", "tp.erfc.f64", mlirTypeIsAF64, erfc_formula, NULL},
};

const tp__function_table tp__math_errors = {rows, TP__COUNT(rows), true};
