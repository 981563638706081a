/* Functions that tp-expand-math expands on processors and GPUs.
 *
 * The approximations are those of S. Moshier's Cephes library; erf uses the rational approximation
 * of Eigen. The forms of log1p and expm1 are W. Kahan's. Maximum errors in ULP: f32 exp 1.0, log
 * 0.8, tanh 1.4, log1p and expm1 2.4, erf 5.6 (near 1; elsewhere 2.5); f64 on GPUs log1p 3.5, expm1
 * 3.1. */
#include "passes/math/expand_math.h"

/* x = n ln 2 + r with |r| <= ln(2)/2. An addition that leaves no fractional bits computes n. 2^n is
 * applied as two factors, because n may be out of range of one; rounding then produces overflow and
 * denormals. ln 2 is split into two parts, so that n times the first is exact. A result of 0, as
 * for masked positions of a softmax, is selected: multiplying down to 0 by way of denormals is
 * slower than all other steps on processors. */
static const char exp_formula[] =
    "is_below = x < -105.0;"
    "v = x > 90.0 ? 90.0 : is_below ? 0.0 : x;"
    "shifted = v * 1.44269504088896341 + 12582912.0;"
    "n = shifted - 12582912.0;"
    "r = v - n * 0.693359375 - n * -2.12194440e-4;"
    "w = poly(r, 1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, "
    "1.6666665459e-1, 5.0000001201e-1)"
    "  * (r * r) + r + 1.0;"
    "k = bits(shifted) - 0x4B400000;"
    "half = k >> 1;"
    "y = w * number((half + 127) << 23) * number((k - half + 127) << 23);"
    "result = is_below ? 0.0 : y;";

/* x = 2^e m with m in [sqrt(1/2), sqrt(2)). Denormals are scaled first. */
static const char log_formula[] =
    "is_small = x < 0x00800000;"
    "lifted = bits(is_small ? x * 8388608.0 : x);"
    "exponent = (lifted - 0x3F3504F3) >> 23;"
    "m = number(lifted - (exponent << 23));"
    "e = float(exponent) + (is_small ? -23.0 : 0.0);"
    "r = m - 1.0;"
    "rr = r * r;"
    "p = poly(r, 7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, "
    "1.4249322787e-1, -1.6668057665e-1, "
    "  2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1);"
    "finite = r + (p * r * rr + e * -2.12194440e-4 - rr * 0.5) + e * 0.693359375;"
    "y = x < inf ? finite : x;" /* infinity and NaN */
    "positive = x == 0.0 ? 0xFF800000 : y;"
    "result = x < 0.0 ? nan : positive;";

/* Uses a polynomial near 0, where 1 - 2/(exp(2x) + 1) suffers from cancellation. */
static const char tanh_formula[] =
    "a = abs(x);"
    "far = 1.0 - 2.0 / (exp(a + a) + 1.0);"
    "s = x * x;"
    "near = poly(s, -5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, "
    "-3.33332819422e-1) * s * a + a;"
    "y = copysign(a < 0.625 ? near : far, x);";

/* With u = 1 + x rounded: log(u) x / (u - 1). The error of u is in both factors and cancels. */
static const char log1p_formula[] = "u = x + 1.0;"
                                    "corrected = log(u) * (x / (u - 1.0));"
                                    "some = u < inf ? corrected : u;"
                                    "y = u == 1.0 ? x : some;";

/* With u = exp(x): (u - 1) x / log(u). The limit is used where u is 1, 0, or infinite. */
static const char expm1_formula[] = "u = exp(x);"
                                    "d = u - 1.0;"
                                    "some = u == 1.0 ? x : d * (x / log(u));"
                                    "finite = d == -1.0 ? -1.0 : some;"
                                    "y = u == inf ? u : finite;";

/* An odd rational function on [-4, 4]. Beyond, erf rounds to 1 in f32. */
static const char erf_formula[] =
    "v = x > 4.0 ? 4.0 : x < -4.0 ? -4.0 : x;"
    "s = v * v;"
    "top = poly(s, -2.72614225801306e-10, 2.77068142495902e-08, -2.10102402082508e-06, "
    "-5.69250639462346e-05, "
    "  -7.34990630326855e-04, -2.95459980854025e-03, -1.60960333262415e-02) * v;"
    "under = poly(s, -1.45660718464996e-05, -2.13374055278905e-04, -1.68282697438203e-03, "
    "-7.37332916720468e-03, "
    "  -1.42647390514189e-02);"
    "ratio = top / under;"
    "far = abs(ratio) > 1.0 ? copysign(1.0, x) : ratio;"
    "y = abs(x) < 2.44140625e-4 ? x * 1.12837916709551257 : far;";

static const tp__function_row rows[] = {
    {"math.exp", "tp.exp.f32", mlirTypeIsAF32, exp_formula, NULL},
    {"math.log", "tp.log.f32", mlirTypeIsAF32, log_formula, NULL},
    {"math.tanh", "tp.tanh.f32", mlirTypeIsAF32, tanh_formula, NULL},
    {"math.erf", "tp.erf.f32", mlirTypeIsAF32, erf_formula, NULL},
    {"math.log1p", "tp.log1p.f32", mlirTypeIsAF32, log1p_formula, NULL},
    {"math.expm1", "tp.expm1.f32", mlirTypeIsAF32, expm1_formula, NULL},
    {"math.log1p", "tp.log1p.f64", mlirTypeIsAF64, log1p_formula, NULL},
    {"math.expm1", "tp.expm1.f64", mlirTypeIsAF64, expm1_formula, NULL},
};

const tp__function_table tp__math_of_all = {rows, TP__COUNT(rows), false};
