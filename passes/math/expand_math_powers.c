/* Exponentials, logarithms, powers and roots for GPUs, which have no libm. f32 is computed in f64,
 * where a plain series is accurate enough; f64 is computed in f64.
 *
 * Maximum errors in ULP: f32 0.51; f64 exp and exp2 1.0, log 2.0, log2 2.8, log10 3.2, pow 1.1,
 * cbrt 0.51. */
#include "passes/math/expand_math.h"

/* ln m: the series in s = (m - 1) / (m + 1), long enough for f64, in two parts. */
#define LOG_SERIES                                                                                 \
  TP_LOG_PARTS                                                                                     \
  "s = (m - 1.0) / (m + 1.0);"                                                                     \
  "z = s * s;"                                                                                     \
  "s2 = s + s;"                                                                                    \
  "s_tail = s2 * (z * poly(z, 0.04, 4.34782608695652162e-02, 4.76190476190476164e-02, "            \
  "5.26315789473684181e-02, "                                                                      \
  "  5.88235294117647051e-02, 6.66666666666666657e-02, 7.69230769230769273e-02, "                  \
  "9.09090909090909116e-02, "                                                                      \
  "  1.11111111111111105e-01, 1.42857142857142849e-01, 0.2, 3.33333333333333315e-01));"

/* The logarithm of zero, infinity, negative numbers and NaN. */
#define LOG_ENDS(log)                                                                              \
  "of_zero = v == 0.0 ? 0xFFF0000000000000 : " log ";"                                             \
  "good = v == inf ? inf : of_zero;"                                                               \
  "log = v >= 0.0 ? good : nan;"

#define LOG2 LOG_SERIES LOG_ENDS("k + (s2 + s_tail) * 1.44269504088896339")
#define LOG10                                                                                      \
  LOG_SERIES                                                                                       \
  LOG_ENDS("k * 3.01029995663157024e-01 + ((s2 + s_tail) * 4.34294481903251816e-01 + k * "         \
           "8.24171258602357301e-13)")

/* 2^t with t = n + r, |r| <= 1/2. Beyond +-1080 the result overflows or is 0. */
#define EXP2                                                                                       \
  "t = x > 1080.0 ? 1080.0 : x < -1080.0 ? -1080.0 : x;"                                           \
  "n = t + 6755399441055744.0 - 6755399441055744.0;"                                               \
  "u = (t - n) * 6.93147180559945286e-01;" TP_EXP_SERIES

static const char exp2_f64[] =
    EXP2 TP_SCALED("(1.0 + beyond)", "n") "y = unordered(x, x) ? x : scaled;";

/* 2^t for f32, which is always in the range of f64. */
static const char exp2_f32[] = "wide_x = wide(x);"
                               "t = wide_x > 200.0 ? 200.0 : wide_x < -200.0 ? -200.0 : wide_x;"
                               "n = t + 6755399441055744.0 - 6755399441055744.0;"
                               "u = (t - n) * 6.93147180559945286e-01;" TP_EXP_SERIES
                               "power = narrow((1.0 + beyond) * number((int(n) + 1023) << 52));"
                               "y = unordered(x, x) ? x : power;";

static const char exp_f64[] = "t = x > 710.0 ? 710.0 : x < -746.0 ? -746.0 : x;" TP_EXP_PARTS("")
    TP_SCALED("(1.0 + beyond)", "n") "y = unordered(x, x) ? x : scaled;";

static const char log_f64[] = "v = x;" LOG_SERIES LOG_ENDS(
    "k * 6.93147180369123816e-01 + (s2 + (s_tail + k * 1.90821492927058770e-10))");

static const char log2_f64[] = "v = x;" LOG2;
static const char log10_f64[] = "v = x;" LOG10;
static const char log2_f32[] = "v = wide(x);" LOG2 "y = narrow(log);";
static const char log10_f32[] = "v = wide(x);" LOG10 "y = narrow(log);";

/* `power` is |a|^b. The result has the sign of a if b is odd; a negative a allows only integral b.
 * The last statements handle zeros, ones, infinities and NaN as in C. */
#define POWER_OF_ALL                                                                               \
  "is_whole = floor(b) == b;"                                                                      \
  "is_odd = is_whole & floor(b * 0.5) != b * 0.5;"                                                 \
  "signed = is_odd ? copysign(power, a) : power;"                                                  \
  "is_bad = unordered(a, b) | a < 0.0 & abs(a) < inf & floor(b) != b;"                             \
  "good = is_bad ? nan : signed;"                                                                  \
  "is_one = a == 1.0 | b == 0.0 | abs(b) == inf & abs(a) == 1.0;"                                  \
  "y = is_one ? 1.0 : good;"

static const char pow_f32[] =
    "a = wide(x); b = wide(x1);"
    "v = abs(a);" LOG2 "e = log * b;"
    "t = e > 200.0 ? 200.0 : e < -200.0 ? -200.0 : e;"
    "n = t + 6755399441055744.0 - 6755399441055744.0;"
    "u = (t - n) * 6.93147180559945286e-01;" TP_EXP_SERIES
    "power = (1.0 + beyond) * number((int(n) + 1023) << 52);" POWER_OF_ALL "result = narrow(y);";

/* exp(b ln |a|), with the logarithm to about 100 bits. */
static const char pow_f64[] =
    "a = x; b = x1;"
    "v = abs(a);" TP_LOG_PAIR "e = v == 0.0 ? -(b * inf) : v == inf ? b * inf : b * log;"
    "t = e > 720.0 ? 720.0 : e < -760.0 ? -760.0 : e;"
    "is_same = e == t & v > 0.0 & v < inf;"
    "t_low = is_same ? product_error(b, log) + b * log_low : 0.0;" TP_EXP_PARTS("+ t_low")
        TP_SCALED("(1.0 + beyond)", "n") "power = scaled;" POWER_OF_ALL;

/* x = 2^3q m with m in [1, 8). Halley's method starts from an estimate by bit manipulation. The
 * last step is Newton's and includes the rounding error of the cube. */
static const char cbrt_formula[] =
    "a = abs(x);"
    "is_small = a < 2.2250738585072014e-308;"
    "lifted = bits(is_small ? a * 18014398509481984.0 : a);"
    "q = ((lifted >> 52) + 177) / 3 - 400;"
    "m = number(lifted - ((q * 3) << 52));"
    "t = number(bits(m) / 3 + 0x2A9F7893782DA1CE);"
    "c = t * t * t; t = t * ((c + (m + m)) / (c + c + m));"
    "c = t * t * t; t = t * ((c + (m + m)) / (c + c + m));"
    "c = t * t * t; t = t * ((c + (m + m)) / (c + c + m));"
    "tt = t * t;"
    "over = tt * t - m + (product_error(tt, t) + product_error(t, t) * t);"
    "root = (t - over / (3.0 * tt)) * number((q + 1023 - (is_small ? i64(18) : 0)) << 52);"
    "some = a == 0.0 | a == inf ? a : root;"
    "y = unordered(x, x) ? x : copysign(some, x);";

static const tp__function_row rows[] = {
    {"math.powf", "tp.pow.f32", mlirTypeIsAF32, pow_f32, NULL},
    {"math.exp2", "tp.exp2.f32", mlirTypeIsAF32, exp2_f32, NULL},
    {"math.log2", "tp.log2.f32", mlirTypeIsAF32, log2_f32, NULL},
    {"math.log10", "tp.log10.f32", mlirTypeIsAF32, log10_f32, NULL},
    {"math.cbrt", "tp.cbrt.f32", mlirTypeIsAF32, "y = narrow(cbrt(wide(x)));", NULL},
    {"math.powf", "tp.pow.f64", mlirTypeIsAF64, pow_f64, NULL},
    {"math.exp", "tp.exp.f64", mlirTypeIsAF64, exp_f64, NULL},
    {"math.exp2", "tp.exp2.f64", mlirTypeIsAF64, exp2_f64, NULL},
    {"math.log", "tp.log.f64", mlirTypeIsAF64, log_f64, NULL},
    {"math.log2", "tp.log2.f64", mlirTypeIsAF64, log2_f64, NULL},
    {"math.log10", "tp.log10.f64", mlirTypeIsAF64, log10_f64, NULL},
    {"math.cbrt", "tp.cbrt.f64", mlirTypeIsAF64, cbrt_formula, NULL},
};

const tp__function_table tp__math_powers = {rows, TP__COUNT(rows), true};
