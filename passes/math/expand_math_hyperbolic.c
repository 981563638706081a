/* Hyperbolic functions and their inverses for GPUs. f32 results are rounded from f64, except for
 * tanh.
 *
 * Maximum errors in ULP: f32 0.51; f64 sinh 1.6, cosh 1.4, tanh 2.5, asinh 1.5, acosh 2.1, atanh
 * 1.9. */
#include "passes/math/expand_math.h"

/* Sets `scaled` to exp(|x|) / 2. |x| is clamped to 712, where exp(|x|) / 2 is already infinite. */
#define HALF_EXP                                                                                   \
  "a = abs(x);"                                                                                    \
  "t = a > 712.0 ? 712.0 : a;" TP_EXP_PARTS("") TP_SCALED("(1.0 + beyond)", "n - 1.0")

static const char sinh_formula[] = HALF_EXP "far = scaled - 0.25 / scaled;"
                                            "z = a * a;"
                                            "near = a + a * z * poly(z, 8.22063524662432972e-18, "
                                            "2.81145725434552060e-15, 7.64716373181981641e-13, "
                                            "  1.60590438368216133e-10, 2.50521083854417202e-08, "
                                            "2.75573192239858925e-06, 1.98412698412698413e-04, "
                                            "  8.33333333333333322e-03, 1.66666666666666657e-01);"
                                            "some = copysign(a < 1.0 ? near : far, x);"
                                            "y = unordered(x, x) ? x : some;";

static const char cosh_formula[] = HALF_EXP "y = unordered(x, x) ? x : scaled + 0.25 / scaled;";

/* (exp 2|x| - 1) / (exp 2|x| + 1) with the sign of x. exp 2|x| - 1 is computed as 2^n (exp r - 1) +
 * (2^n - 1). Beyond 22 the result is 1. */
static const char tanh_formula[] =
    "twice = abs(x) + abs(x);"
    "t = twice > 44.0 ? 44.0 : twice;" TP_EXP_PARTS("") "power = number((int(n) + 1023) << 52);"
                                                        "less = beyond * power + (power - 1.0);"
                                                        "some = copysign(less / (less + 2.0), x);"
                                                        "y = unordered(x, x) ? x : some;";

/* Sets `some`, the logarithm of 1 + t, or of 2 t if is_big. It corrects for the rounding error of 1
 * + t. */
#define LOG_BEYOND_1                                                                               \
  "v = is_big ? t : 1.0 + t;" TP_LOG_PAIR                                                          \
  "some = log + (log_low + (is_big ? 6.93147180559945286e-01 : sum_error(t, 1.0) / "               \
  "v));"

static const char asinh_formula[] =
    "a = abs(x);"
    "is_big = a > 268435456.0;"
    "t = is_big ? a : a + a * a / (1.0 + sqrt(a * a + 1.0));" LOG_BEYOND_1
    "y = copysign(a < inf ? some : a, x);";

static const char acosh_formula[] =
    "is_big = x > 268435456.0;"
    "less = x - 1.0;"
    "t = is_big ? x : less + sqrt(less * less + (less + less));" LOG_BEYOND_1
    "good = x < inf ? some : x;"
    "y = x < 1.0 ? nan : good;";

static const char atanh_formula[] =
    "a = abs(x);"
    "is_big = a > 1.0;" /* which is no number */
    "t = (a + a) / (1.0 - a);" LOG_BEYOND_1 "good = a == 1.0 ? inf : is_big ? nan : 0.5 * some;"
    "y = unordered(x, x) ? x : copysign(good, x);";

static const tp__function_row rows[] = {
    {"math.sinh", "tp.sinh.f32", mlirTypeIsAF32, "y = narrow(sinh(wide(x)));", NULL},
    {"math.cosh", "tp.cosh.f32", mlirTypeIsAF32, "y = narrow(cosh(wide(x)));", NULL},
    {"math.asinh", "tp.asinh.f32", mlirTypeIsAF32, "y = narrow(asinh(wide(x)));", NULL},
    {"math.acosh", "tp.acosh.f32", mlirTypeIsAF32, "y = narrow(acosh(wide(x)));", NULL},
    {"math.atanh", "tp.atanh.f32", mlirTypeIsAF32, "y = narrow(atanh(wide(x)));", NULL},
    {"math.sinh", "tp.sinh.f64", mlirTypeIsAF64, sinh_formula, NULL},
    {"math.cosh", "tp.cosh.f64", mlirTypeIsAF64, cosh_formula, NULL},
    {"math.tanh", "tp.tanh.f64", mlirTypeIsAF64, tanh_formula, NULL},
    {"math.asinh", "tp.asinh.f64", mlirTypeIsAF64, asinh_formula, NULL},
    {"math.acosh", "tp.acosh.f64", mlirTypeIsAF64, acosh_formula, NULL},
    {"math.atanh", "tp.atanh.f64", mlirTypeIsAF64, atanh_formula, NULL},
};

const tp__function_table tp__math_hyperbolic = {rows, TP__COUNT(rows), true};
