/* What tp-expand-math has for GPUs, where there is no libm: f32 in f64, whose last places nobody sees, so plain series do, and f64 itself where they
 * are long enough. Within 0.51 units of the last place of f32, 2 of f64; rounding and remainders are exact. */
#include "passes/expand_math.h"

/* ln m and k of %v = 2^k m, m in [sqrt(1/2), sqrt(2)): the series in s = (m - 1) / (m + 1), long enough for f64. */
#define LN                                                                                                                     \
  "  %bits = arith.bitcast %v : f64 to i64\n"                                                                                  \
  "  %half_root = arith.constant 0x3FE6A09E667F3BCD : i64\n"                                                                   \
  "  %above = arith.subi %bits, %half_root : i64\n"                                                                            \
  "  %places = arith.constant 52 : i64\n"                                                                                      \
  "  %exponent = arith.shrsi %above, %places : i64\n"                                                                          \
  "  %shift = arith.shli %exponent, %places : i64\n"                                                                           \
  "  %m_bits = arith.subi %bits, %shift : i64\n"                                                                               \
  "  %m = arith.bitcast %m_bits : i64 to f64\n"                                                                                \
  "  %k = arith.sitofp %exponent : i64 to f64\n"                                                                               \
  "  %unit = arith.constant 1.00000000000000000e+00 : f64\n"                                                                   \
  "  %under = arith.subf %m, %unit : f64\n"                                                                                    \
  "  %over = arith.addf %m, %unit : f64\n"                                                                                     \
  "  %s = arith.divf %under, %over : f64\n"                                                                                    \
  "  %z = arith.mulf %s, %s : f64\n"                                                                                           \
  "  %s2 = arith.addf %s, %s : f64\n"                                                                                          \
  "  %lc11 = arith.constant 4.00000000000000008e-02 : f64\n"                                                                   \
  "  %lm10 = arith.mulf %lc11, %z : f64\n"                                                                                     \
  "  %lc10 = arith.constant 4.34782608695652162e-02 : f64\n"                                                                   \
  "  %la10 = arith.addf %lm10, %lc10 : f64\n"                                                                                  \
  "  %lm9 = arith.mulf %la10, %z : f64\n"                                                                                      \
  "  %lc9 = arith.constant 4.76190476190476164e-02 : f64\n"                                                                    \
  "  %la9 = arith.addf %lm9, %lc9 : f64\n"                                                                                     \
  "  %lm8 = arith.mulf %la9, %z : f64\n"                                                                                       \
  "  %lc8 = arith.constant 5.26315789473684181e-02 : f64\n"                                                                    \
  "  %la8 = arith.addf %lm8, %lc8 : f64\n"                                                                                     \
  "  %lm7 = arith.mulf %la8, %z : f64\n"                                                                                       \
  "  %lc7 = arith.constant 5.88235294117647051e-02 : f64\n"                                                                    \
  "  %la7 = arith.addf %lm7, %lc7 : f64\n"                                                                                     \
  "  %lm6 = arith.mulf %la7, %z : f64\n"                                                                                       \
  "  %lc6 = arith.constant 6.66666666666666657e-02 : f64\n"                                                                    \
  "  %la6 = arith.addf %lm6, %lc6 : f64\n"                                                                                     \
  "  %lm5 = arith.mulf %la6, %z : f64\n"                                                                                       \
  "  %lc5 = arith.constant 7.69230769230769273e-02 : f64\n"                                                                    \
  "  %la5 = arith.addf %lm5, %lc5 : f64\n"                                                                                     \
  "  %lm4 = arith.mulf %la5, %z : f64\n"                                                                                       \
  "  %lc4 = arith.constant 9.09090909090909116e-02 : f64\n"                                                                    \
  "  %la4 = arith.addf %lm4, %lc4 : f64\n"                                                                                     \
  "  %lm3 = arith.mulf %la4, %z : f64\n"                                                                                       \
  "  %lc3 = arith.constant 1.11111111111111105e-01 : f64\n"                                                                    \
  "  %la3 = arith.addf %lm3, %lc3 : f64\n"                                                                                     \
  "  %lm2 = arith.mulf %la3, %z : f64\n"                                                                                       \
  "  %lc2 = arith.constant 1.42857142857142849e-01 : f64\n"                                                                    \
  "  %la2 = arith.addf %lm2, %lc2 : f64\n"                                                                                     \
  "  %lm1 = arith.mulf %la2, %z : f64\n"                                                                                       \
  "  %lc1 = arith.constant 2.00000000000000011e-01 : f64\n"                                                                    \
  "  %la1 = arith.addf %lm1, %lc1 : f64\n"                                                                                     \
  "  %lm0 = arith.mulf %la1, %z : f64\n"                                                                                       \
  "  %lc0 = arith.constant 3.33333333333333315e-01 : f64\n"                                                                    \
  "  %la0 = arith.addf %lm0, %lc0 : f64\n"                                                                                     \
  "  %tail = arith.mulf %la0, %z : f64\n"                                                                                      \
  "  %s_tail = arith.mulf %s2, %tail : f64\n"                                                                                  \
  "  %ln_m = arith.addf %s2, %s_tail : f64\n"

/* %log: %sum, or what a logarithm is of zero, of infinity, of what is negative or no number. */
#define LOG_ENDS                                                                                                               \
  "  %nothing = arith.constant 0.0 : f64\n"                                                                                    \
  "  %infinity = arith.constant 0x7FF0000000000000 : f64\n"                                                                    \
  "  %lowest = arith.constant 0xFFF0000000000000 : f64\n"                                                                      \
  "  %nan = arith.constant 0x7FF8000000000000 : f64\n"                                                                         \
  "  %is_zero = arith.cmpf oeq, %v, %nothing : f64\n"                                                                          \
  "  %is_high = arith.cmpf oeq, %v, %infinity : f64\n"                                                                         \
  "  %is_bad = arith.cmpf ult, %v, %nothing : f64\n"                                                                           \
  "  %w0 = arith.select %is_zero, %lowest, %sum : f64\n"                                                                       \
  "  %w1 = arith.select %is_high, %infinity, %w0 : f64\n"                                                                      \
  "  %log = arith.select %is_bad, %nan, %w1 : f64\n"

/* %power = 2^%t0: t = n + r with |r| <= 1/2, 2^r by its Taylor series. Beyond 200 the rounding to f32 overflows, or gives 0. */
#define EXP2                                                                                                                   \
  "  %least = arith.constant -2.00000000000000000e+02 : f64\n"                                                                 \
  "  %most = arith.constant 2.00000000000000000e+02 : f64\n"                                                                   \
  "  %too_low = arith.cmpf olt, %t0, %least : f64\n"                                                                           \
  "  %too_high = arith.cmpf ogt, %t0, %most : f64\n"                                                                           \
  "  %raised = arith.select %too_low, %least, %t0 : f64\n"                                                                     \
  "  %t = arith.select %too_high, %most, %raised : f64\n"                                                                      \
  "  %round = arith.constant 6.75539944105574400e+15 : f64\n"                                                                  \
  "  %lifted = arith.addf %t, %round : f64\n"                                                                                  \
  "  %n = arith.subf %lifted, %round : f64\n"                                                                                  \
  "  %r = arith.subf %t, %n : f64\n"                                                                                           \
  "  %ln2 = arith.constant 6.93147180559945286e-01 : f64\n"                                                                    \
  "  %u = arith.mulf %r, %ln2 : f64\n"                                                                                         \
  "  %ec12 = arith.constant 2.08767569878681002e-09 : f64\n"                                                                   \
  "  %em11 = arith.mulf %ec12, %u : f64\n"                                                                                     \
  "  %ec11 = arith.constant 2.50521083854417202e-08 : f64\n"                                                                   \
  "  %ea11 = arith.addf %em11, %ec11 : f64\n"                                                                                  \
  "  %em10 = arith.mulf %ea11, %u : f64\n"                                                                                     \
  "  %ec10 = arith.constant 2.75573192239858883e-07 : f64\n"                                                                   \
  "  %ea10 = arith.addf %em10, %ec10 : f64\n"                                                                                  \
  "  %em9 = arith.mulf %ea10, %u : f64\n"                                                                                      \
  "  %ec9 = arith.constant 2.75573192239858925e-06 : f64\n"                                                                    \
  "  %ea9 = arith.addf %em9, %ec9 : f64\n"                                                                                     \
  "  %em8 = arith.mulf %ea9, %u : f64\n"                                                                                       \
  "  %ec8 = arith.constant 2.48015873015873016e-05 : f64\n"                                                                    \
  "  %ea8 = arith.addf %em8, %ec8 : f64\n"                                                                                     \
  "  %em7 = arith.mulf %ea8, %u : f64\n"                                                                                       \
  "  %ec7 = arith.constant 1.98412698412698413e-04 : f64\n"                                                                    \
  "  %ea7 = arith.addf %em7, %ec7 : f64\n"                                                                                     \
  "  %em6 = arith.mulf %ea7, %u : f64\n"                                                                                       \
  "  %ec6 = arith.constant 1.38888888888888894e-03 : f64\n"                                                                    \
  "  %ea6 = arith.addf %em6, %ec6 : f64\n"                                                                                     \
  "  %em5 = arith.mulf %ea6, %u : f64\n"                                                                                       \
  "  %ec5 = arith.constant 8.33333333333333322e-03 : f64\n"                                                                    \
  "  %ea5 = arith.addf %em5, %ec5 : f64\n"                                                                                     \
  "  %em4 = arith.mulf %ea5, %u : f64\n"                                                                                       \
  "  %ec4 = arith.constant 4.16666666666666644e-02 : f64\n"                                                                    \
  "  %ea4 = arith.addf %em4, %ec4 : f64\n"                                                                                     \
  "  %em3 = arith.mulf %ea4, %u : f64\n"                                                                                       \
  "  %ec3 = arith.constant 1.66666666666666657e-01 : f64\n"                                                                    \
  "  %ea3 = arith.addf %em3, %ec3 : f64\n"                                                                                     \
  "  %em2 = arith.mulf %ea3, %u : f64\n"                                                                                       \
  "  %ec2 = arith.constant 5.00000000000000000e-01 : f64\n"                                                                    \
  "  %ea2 = arith.addf %em2, %ec2 : f64\n"                                                                                     \
  "  %em1 = arith.mulf %ea2, %u : f64\n"                                                                                       \
  "  %ec1 = arith.constant 1.00000000000000000e+00 : f64\n"                                                                    \
  "  %ea1 = arith.addf %em1, %ec1 : f64\n"                                                                                     \
  "  %em0 = arith.mulf %ea1, %u : f64\n"                                                                                       \
  "  %ec0 = arith.constant 1.00000000000000000e+00 : f64\n"                                                                    \
  "  %ea0 = arith.addf %em0, %ec0 : f64\n"                                                                                     \
  "  %n_bits = arith.fptosi %n : f64 to i64\n"                                                                                 \
  "  %bias = arith.constant 1023 : i64\n"                                                                                      \
  "  %biased = arith.addi %n_bits, %bias : i64\n"                                                                              \
  "  %fraction = arith.constant 52 : i64\n"                                                                                    \
  "  %scale_bits = arith.shli %biased, %fraction : i64\n"                                                                      \
  "  %scale = arith.bitcast %scale_bits : i64 to f64\n"                                                                        \
  "  %power = arith.mulf %ea0, %scale : f64\n"

static const char log2_text[] =
    "  %v = arith.extf %x : f32 to f64\n" LN "  %per_m = arith.constant 1.44269504088896339e+00 : f64\n"
    "  %of_m = arith.mulf %ln_m, %per_m : f64\n"
    "  %sum = arith.addf %k, %of_m : f64\n" LOG_ENDS "  %y = arith.truncf %log : f64 to f32\n";

static const char log10_text[] =
    "  %v = arith.extf %x : f32 to f64\n" LN "  %per_m = arith.constant 4.34294481903251761e-01 : f64\n"
    "  %per_k = arith.constant 3.01029995663981198e-01 : f64\n"
    "  %of_m = arith.mulf %ln_m, %per_m : f64\n"
    "  %of_k = arith.mulf %k, %per_k : f64\n"
    "  %sum = arith.addf %of_k, %of_m : f64\n" LOG_ENDS "  %y = arith.truncf %log : f64 to f32\n";

static const char exp2_text[] = "  %t0 = arith.extf %x : f32 to f64\n" EXP2 "  %y0 = arith.truncf %power : f64 to f32\n"
                                "  %is_nan = arith.cmpf uno, %x, %x : f32\n"
                                "  %y = arith.select %is_nan, %x, %y0 : f32\n";

/* Denormals are scaled first. ln 2 in two parts: k times the first is exact. */
static const char log_f64_text[] =
    "  %least_normal = arith.constant 2.2250738585072014e-308 : f64\n"
    "  %small = arith.cmpf olt, %x, %least_normal : f64\n"
    "  %two54 = arith.constant 18014398509481984.0 : f64\n"
    "  %lifted_x = arith.mulf %x, %two54 : f64\n"
    "  %v = arith.select %small, %lifted_x, %x : f64\n" LN "  %minus54 = arith.constant -54.0 : f64\n"
    "  %none = arith.constant 0.0 : f64\n"
    "  %by = arith.select %small, %minus54, %none : f64\n"
    "  %e = arith.addf %k, %by : f64\n"
    "  %ln2_high = arith.constant 6.93147180369123816e-01 : f64\n"
    "  %ln2_low = arith.constant 1.90821492927058770e-10 : f64\n"
    "  %high = arith.mulf %e, %ln2_high : f64\n"
    "  %low = arith.mulf %e, %ln2_low : f64\n"
    "  %rest = arith.addf %s_tail, %low : f64\n"
    "  %near = arith.addf %s2, %rest : f64\n"
    "  %sum = arith.addf %high, %near : f64\n" LOG_ENDS "  %y = arith.addf %log, %none : f64\n";

/* n and exp r - 1 of %t = n ln 2 + r, with ln 2 in two parts, by its Taylor series. */
#define EXP_REST                                                                                                               \
  "  %log2e = arith.constant 1.44269504088896339e+00 : f64\n"                                                                  \
  "  %scaled = arith.mulf %t, %log2e : f64\n"                                                                                  \
  "  %round = arith.constant 6.75539944105574400e+15 : f64\n"                                                                  \
  "  %lifted = arith.addf %scaled, %round : f64\n"                                                                             \
  "  %n = arith.subf %lifted, %round : f64\n"                                                                                  \
  "  %ln2_high = arith.constant 6.93147180369123816e-01 : f64\n"                                                               \
  "  %ln2_low = arith.constant 1.90821492927058770e-10 : f64\n"                                                                \
  "  %high = arith.mulf %n, %ln2_high : f64\n"                                                                                 \
  "  %low = arith.mulf %n, %ln2_low : f64\n"                                                                                   \
  "  %r0 = arith.subf %t, %high : f64\n"                                                                                       \
  "  %u = arith.subf %r0, %low : f64\n"                                                                                        \
  "  %ec11 = arith.constant 1.60590438368216133e-10 : f64\n"                                                                   \
  "  %em10 = arith.mulf %ec11, %u : f64\n"                                                                                     \
  "  %ec10 = arith.constant 2.08767569878681002e-09 : f64\n"                                                                   \
  "  %ea10 = arith.addf %em10, %ec10 : f64\n"                                                                                  \
  "  %em9 = arith.mulf %ea10, %u : f64\n"                                                                                      \
  "  %ec9 = arith.constant 2.50521083854417202e-08 : f64\n"                                                                    \
  "  %ea9 = arith.addf %em9, %ec9 : f64\n"                                                                                     \
  "  %em8 = arith.mulf %ea9, %u : f64\n"                                                                                       \
  "  %ec8 = arith.constant 2.75573192239858883e-07 : f64\n"                                                                    \
  "  %ea8 = arith.addf %em8, %ec8 : f64\n"                                                                                     \
  "  %em7 = arith.mulf %ea8, %u : f64\n"                                                                                       \
  "  %ec7 = arith.constant 2.75573192239858925e-06 : f64\n"                                                                    \
  "  %ea7 = arith.addf %em7, %ec7 : f64\n"                                                                                     \
  "  %em6 = arith.mulf %ea7, %u : f64\n"                                                                                       \
  "  %ec6 = arith.constant 2.48015873015873016e-05 : f64\n"                                                                    \
  "  %ea6 = arith.addf %em6, %ec6 : f64\n"                                                                                     \
  "  %em5 = arith.mulf %ea6, %u : f64\n"                                                                                       \
  "  %ec5 = arith.constant 1.98412698412698413e-04 : f64\n"                                                                    \
  "  %ea5 = arith.addf %em5, %ec5 : f64\n"                                                                                     \
  "  %em4 = arith.mulf %ea5, %u : f64\n"                                                                                       \
  "  %ec4 = arith.constant 1.38888888888888894e-03 : f64\n"                                                                    \
  "  %ea4 = arith.addf %em4, %ec4 : f64\n"                                                                                     \
  "  %em3 = arith.mulf %ea4, %u : f64\n"                                                                                       \
  "  %ec3 = arith.constant 8.33333333333333322e-03 : f64\n"                                                                    \
  "  %ea3 = arith.addf %em3, %ec3 : f64\n"                                                                                     \
  "  %em2 = arith.mulf %ea3, %u : f64\n"                                                                                       \
  "  %ec2 = arith.constant 4.16666666666666644e-02 : f64\n"                                                                    \
  "  %ea2 = arith.addf %em2, %ec2 : f64\n"                                                                                     \
  "  %em1 = arith.mulf %ea2, %u : f64\n"                                                                                       \
  "  %ec1 = arith.constant 1.66666666666666657e-01 : f64\n"                                                                    \
  "  %ea1 = arith.addf %em1, %ec1 : f64\n"                                                                                     \
  "  %em0 = arith.mulf %ea1, %u : f64\n"                                                                                       \
  "  %ec0 = arith.constant 5.00000000000000000e-01 : f64\n"                                                                    \
  "  %ea0 = arith.addf %em0, %ec0 : f64\n"                                                                                     \
  "  %uu = arith.mulf %u, %u : f64\n"                                                                                          \
  "  %square = arith.mulf %uu, %ea0 : f64\n"                                                                                   \
  "  %beyond = arith.addf %u, %square : f64\n"

/* exp x of n and r; 2^n in two factors, since n may be out of the range of one. */
static const char exp_f64_text[] =
    "  %least = arith.constant -7.46000000000000000e+02 : f64\n"
    "  %most = arith.constant 7.10000000000000000e+02 : f64\n"
    "  %too_low = arith.cmpf olt, %x, %least : f64\n"
    "  %too_high = arith.cmpf ogt, %x, %most : f64\n"
    "  %raised = arith.select %too_low, %least, %x : f64\n"
    "  %t = arith.select %too_high, %most, %raised : f64\n" EXP_REST "  %unit = arith.constant 1.00000000000000000e+00 : f64\n"
    "  %grown = arith.addf %unit, %beyond : f64\n"
    "  %k = arith.fptosi %n : f64 to i64\n"
    "  %i1 = arith.constant 1 : i64\n"
    "  %k0 = arith.shrsi %k, %i1 : i64\n"
    "  %k1 = arith.subi %k, %k0 : i64\n"
    "  %bias = arith.constant 1023 : i64\n"
    "  %places = arith.constant 52 : i64\n"
    "  %e0 = arith.addi %k0, %bias : i64\n"
    "  %e1 = arith.addi %k1, %bias : i64\n"
    "  %b0 = arith.shli %e0, %places : i64\n"
    "  %b1 = arith.shli %e1, %places : i64\n"
    "  %f0 = arith.bitcast %b0 : i64 to f64\n"
    "  %f1 = arith.bitcast %b1 : i64 to f64\n"
    "  %y0 = arith.mulf %grown, %f0 : f64\n"
    "  %y1 = arith.mulf %y0, %f1 : f64\n"
    "  %is_nan = arith.cmpf uno, %x, %x : f64\n"
    "  %y = arith.select %is_nan, %x, %y1 : f64\n";

/* (exp 2|x| - 1) / (exp 2|x| + 1) with the sign of x, where the first is 2^n (exp r - 1) + (2^n - 1); behind 22 it is 1. */
static const char tanh_f64_text[] =
    "  %size = math.absf %x : f64\n"
    "  %twice = arith.addf %size, %size : f64\n"
    "  %most = arith.constant 4.40000000000000000e+01 : f64\n"
    "  %far = arith.cmpf ogt, %twice, %most : f64\n"
    "  %t = arith.select %far, %most, %twice : f64\n" EXP_REST "  %k = arith.fptosi %n : f64 to i64\n"
    "  %bias = arith.constant 1023 : i64\n"
    "  %places = arith.constant 52 : i64\n"
    "  %e = arith.addi %k, %bias : i64\n"
    "  %bits = arith.shli %e, %places : i64\n"
    "  %power = arith.bitcast %bits : i64 to f64\n"
    "  %unit = arith.constant 1.00000000000000000e+00 : f64\n"
    "  %grown = arith.mulf %beyond, %power : f64\n"
    "  %whole = arith.subf %power, %unit : f64\n"
    "  %less = arith.addf %grown, %whole : f64\n"
    "  %two = arith.constant 2.00000000000000000e+00 : f64\n"
    "  %under = arith.addf %less, %two : f64\n"
    "  %ratio = arith.divf %less, %under : f64\n"
    "  %signed = math.copysign %ratio, %x : f64\n"
    "  %is_nan = arith.cmpf uno, %x, %x : f64\n"
    "  %y = arith.select %is_nan, %x, %signed : f64\n";

/* |x|^y = 2^(y log2 |x|). The sign is that of x where y is odd; a negative x has whole powers only. What C says of zeros, ones, infinities and NaN
 * comes last. */
static const char pow_text[] = "  %wide_x = arith.extf %x : f32 to f64\n"
                               "  %wide_y = arith.extf %x1 : f32 to f64\n"
                               "  %v = math.absf %wide_x : f64\n" LN "  %per_m = arith.constant 1.44269504088896339e+00 : f64\n"
                               "  %of_m = arith.mulf %ln_m, %per_m : f64\n"
                               "  %sum = arith.addf %k, %of_m : f64\n" LOG_ENDS "  %t0 = arith.mulf %log, %wide_y : f64\n" EXP2
                               "  %half = arith.constant 0.5 : f64\n"
                               "  %floor = math.floor %wide_y : f64\n"
                               "  %halved = arith.mulf %wide_y, %half : f64\n"
                               "  %floor_halved = math.floor %halved : f64\n"
                               "  %whole = arith.cmpf oeq, %floor, %wide_y : f64\n"
                               "  %uneven = arith.cmpf une, %floor_halved, %halved : f64\n"
                               "  %odd = arith.andi %whole, %uneven : i1\n"
                               "  %sign = math.copysign %unit, %wide_x : f64\n"
                               "  %signed = arith.mulf %power, %sign : f64\n"
                               "  %w2 = arith.select %odd, %signed, %power : f64\n"
                               "  %lower = arith.cmpf olt, %wide_x, %nothing : f64\n"
                               "  %finite = arith.cmpf olt, %v, %infinity : f64\n"
                               "  %broken = arith.cmpf une, %floor, %wide_y : f64\n"
                               "  %b0 = arith.andi %lower, %finite : i1\n"
                               "  %b1 = arith.andi %b0, %broken : i1\n"
                               "  %w3 = arith.select %b1, %nan, %w2 : f64\n"
                               "  %is_nan = arith.cmpf uno, %wide_x, %wide_y : f64\n"
                               "  %w4 = arith.select %is_nan, %nan, %w3 : f64\n"
                               "  %size_y = math.absf %wide_y : f64\n"
                               "  %y_infinite = arith.cmpf oeq, %size_y, %infinity : f64\n"
                               "  %is_one = arith.cmpf oeq, %v, %unit : f64\n"
                               "  %level = arith.andi %y_infinite, %is_one : i1\n"
                               "  %x_one = arith.cmpf oeq, %wide_x, %unit : f64\n"
                               "  %y_zero = arith.cmpf oeq, %wide_y, %nothing : f64\n"
                               "  %o0 = arith.ori %x_one, %y_zero : i1\n"
                               "  %o1 = arith.ori %o0, %level : i1\n"
                               "  %w5 = arith.select %o1, %unit, %w4 : f64\n"
                               "  %y = arith.truncf %w5 : f64 to f32\n";

/* Halves go away from zero. */
static const char round_text[] = "  %whole = math.trunc %x : $a\n"
                                 "  %rest0 = arith.subf %x, %whole : $a\n"
                                 "  %rest = math.absf %rest0 : $a\n"
                                 "  %half = arith.constant 0.5 : $a\n"
                                 "  %up = arith.cmpf oge, %rest, %half : $a\n"
                                 "  %one = arith.constant 1.0 : $a\n"
                                 "  %step = math.copysign %one, %x : $a\n"
                                 "  %far = arith.addf %whole, %step : $a\n"
                                 "  %y0 = arith.select %up, %far, %whole : $a\n"
                                 "  %y = math.copysign %y0, %x : $a\n";

/* What is left of |x| when the largest whole multiple of |y| is taken away, exactly, with the sign of x: NVPTX itself divides once, which is wrong where the quotient
 * is rounded. Multiples by 2^20k of |y| are taken away, the largest first: the quotient by one has 21 bits at most, and what fma leaves is a number of the type, since it
 * is a multiple of the last places of both and smaller. A quotient that was rounded up is one too large, and its multiple comes back. */
#define REMAINDER(type, x, y, r)                                                                                               \
  "  %size_x = math.absf " x " : " type "\n"                                                                                   \
  "  %size_y = math.absf " y " : " type "\n"                                                                                   \
  "  %nothing = arith.constant 0.0 : " type "\n"                                                                               \
  "  %unit = arith.constant 1.0 : " type "\n"                                                                                  \
  "  %infinity = arith.divf %unit, %nothing : " type "\n"                                                                      \
  "  %nan = arith.subf %infinity, %infinity : " type "\n"                                                                      \
  "  %up = arith.constant 1048576.0 : " type "\n"                                                                              \
  "  %down = arith.divf %unit, %up : " type "\n"                                                                               \
  "  %x_ends = arith.cmpf olt, %size_x, %infinity : " type "\n"                                                                \
  "  %y_counts = arith.cmpf ogt, %size_y, %nothing : " type "\n"                                                               \
  "  %is_number = arith.andi %x_ends, %y_counts : i1\n"                                                                        \
  "  %y_ends = arith.cmpf olt, %size_y, %infinity : " type "\n"                                                                \
  "  %divides = arith.andi %is_number, %y_ends : i1\n"                                                                         \
  "  %from = arith.select %divides, %size_x, %nothing : " type "\n"                                                            \
  "  %by = arith.select %divides, %size_y, %unit : " type "\n"                                                                 \
  "  %far = arith.mulf %from, %down : " type "\n"                                                                              \
  "  %top = scf.while (%t = %by) : (" type ") -> " type " {\n"                                                                 \
  "    %is_low = arith.cmpf ole, %t, %far : " type "\n"                                                                        \
  "    scf.condition(%is_low) %t : " type "\n"                                                                                 \
  "  } do {\n"                                                                                                                 \
  "  ^bb0(%t: " type "):\n"                                                                                                    \
  "    %raised = arith.mulf %t, %up : " type "\n"                                                                              \
  "    scf.yield %raised : " type "\n"                                                                                         \
  "  }\n"                                                                                                                      \
  "  %rest:2 = scf.while (%r0 = %from, %t = %top) : (" type ", " type ") -> (" type ", " type ") {\n"                          \
  "    %quotient = arith.divf %r0, %t : " type "\n"                                                                            \
  "    %times = math.trunc %quotient : " type "\n"                                                                             \
  "    %less = arith.negf %times : " type "\n"                                                                                 \
  "    %left = math.fma %less, %t, %r0 : " type "\n"                                                                           \
  "    %is_under = arith.cmpf olt, %left, %nothing : " type "\n"                                                               \
  "    %back = arith.addf %left, %t : " type "\n"                                                                              \
  "    %kept = arith.select %is_under, %back, %left : " type "\n"                                                              \
  "    %is_more = arith.cmpf ogt, %t, %by : " type "\n"                                                                        \
  "    %lower = arith.mulf %t, %down : " type "\n"                                                                             \
  "    scf.condition(%is_more) %kept, %lower : " type ", " type "\n"                                                           \
  "  } do {\n"                                                                                                                 \
  "  ^bb0(%r1: " type ", %t: " type "):\n"                                                                                     \
  "    scf.yield %r1, %t : " type ", " type "\n"                                                                               \
  "  }\n"                                                                                                                      \
  "  %finite = arith.select %y_ends, %rest#0, %size_x : " type "\n"                                                            \
  "  %signed = math.copysign %finite, " x " : " type "\n"                                                                      \
  "  " r " = arith.select %is_number, %signed, %nan : " type "\n"

static const char remainder_text[] = REMAINDER("$a", "%x", "%x1", "%y");
static const char remainder_f16_text[] = "  %wide_x = arith.extf %x : f16 to f32\n"
                                         "  %wide_y = arith.extf %x1 : f16 to f32\n" REMAINDER(
                                             "f32", "%wide_x", "%wide_y", "%wide") "  %y = arith.truncf %wide : f32 to f16\n";

static const tp__function_row functions[] = {
    {"math.powf", "tp.pow.f32", mlirTypeIsAF32, pow_text},
    {"math.sin", "tp.sin.f32", mlirTypeIsAF32, tp__sin_text},
    {"math.cos", "tp.cos.f32", mlirTypeIsAF32, tp__cos_text},
    {"math.exp2", "tp.exp2.f32", mlirTypeIsAF32, exp2_text},
    {"math.log2", "tp.log2.f32", mlirTypeIsAF32, log2_text},
    {"math.log10", "tp.log10.f32", mlirTypeIsAF32, log10_text},
    {"math.exp", "tp.exp.f64", mlirTypeIsAF64, exp_f64_text},
    {"math.log", "tp.log.f64", mlirTypeIsAF64, log_f64_text},
    {"math.tanh", "tp.tanh.f64", mlirTypeIsAF64, tanh_f64_text},
    {"math.round", "tp.round.f32", mlirTypeIsAF32, round_text},
    {"math.round", "tp.round.f64", mlirTypeIsAF64, round_text},
    {"arith.remf", "tp.remainder.f16", mlirTypeIsAF16, remainder_f16_text},
    {"arith.remf", "tp.remainder.f32", mlirTypeIsAF32, remainder_text},
    {"arith.remf", "tp.remainder.f64", mlirTypeIsAF64, remainder_text},
};

const tp__function_row *tp__math_for_gpus(int *n) {
  *n = TP_LEN(functions);
  return functions;
}
