/* Functions of libm as arithmetic: what the files of tp-expand-math share. */
#ifndef TP_PASSES_EXPAND_MATH_H
#define TP_PASSES_EXPAND_MATH_H

#include "ir/ir.h"
#include "support/support.h"

/* A function of numbers of a type. What it computes is a formula: statements `name = expression;`,
 * of which the last one is the result and may use the names in front of it; the arguments are x and
 * x1. Names may be assigned again. Operators and their precedence are those of C:
 *     ?: | ^ & == != < <= > >= << >> + - * / and unary - Literals are decimal numbers, bits
 *       (0x...), inf and nan; what else there is stands in the tables of expand_math_formula.c. */
typedef struct tp__function_row {
  const char *op, *symbol;
  bool (*is_type)(MlirType type);
  const char *formula;
  const char *body; /* without a formula: ops, of arguments %v0 and %v1 */
} tp__function_row;

typedef struct tp__function_table {
  const tp__function_row *rows;
  int n;
  bool for_gpus; /* only: there is no libm */
} tp__function_table;

extern const tp__function_table tp__math_of_all, tp__math_powers, tp__math_angles, tp__math_arcs,
    tp__math_hyperbolic, tp__math_errors, tp__math_exact;

/* The body of a function of `n_arguments` numbers of f32, or of f64, named %v0 and %v1. `fuses`: a
 * step of a polynomial is one operation, with one rounding. False if the formula has a mistake. */
bool tp__write_formula(const char *text, bool is_f32, bool fuses, int n_arguments, tp__string *out);

/* ---- parts of formulas, of f64 ---- */

/* exp r - 1 of u = r, |r| <= ln(2)/2: `beyond`, by its Taylor series. */
#define TP_EXP_SERIES                                                                              \
  "beyond = u + u * u * poly(u, 1.60590438368216133e-10, 2.08767569878681002e-09, "                \
  "2.50521083854417202e-08, "                                                                      \
  "  2.75573192239858883e-07, 2.75573192239858925e-06, 2.48015873015873016e-05, "                  \
  "1.98412698412698413e-04, "                                                                      \
  "  1.38888888888888894e-03, 8.33333333333333322e-03, 4.16666666666666644e-02, "                  \
  "1.66666666666666657e-01, 0.5);"

/* t + t_low = n ln 2 + u, with ln 2 in two parts: n times the first is exact. */
#define TP_EXP_PARTS(t_low)                                                                        \
  "n = t * 1.44269504088896339 + 6755399441055744.0 - 6755399441055744.0;"                         \
  "u = t - n * 6.93147180369123816e-01 - n * 1.90821492927058770e-10" t_low ";" TP_EXP_SERIES

/* What it is times 2^k, in two factors, since k may be out of the range of one: results become
 * denormal, or overflow, by the last rounding. */
#define TP_SCALED(what, k)                                                                         \
  "whole = int(" k "); half = whole >> 1;"                                                         \
  "scaled = " what " * number((half + 1023) << 52) * number((whole - half + 1023) << 52);"

/* v = 2^k m, m in [sqrt(1/2), sqrt(2)), for v > 0; denormals are lifted by 2^54 first. */
#define TP_LOG_PARTS                                                                               \
  "is_small = v < 2.2250738585072014e-308;"                                                        \
  "lifted = bits(is_small ? v * 18014398509481984.0 : v);"                                         \
  "exponent = (lifted - 0x3FE6A09E667F3BCD) >> 52;"                                                \
  "m = number(lifted - (exponent << 52));"                                                         \
  "k = is_small ? float(exponent) - 54.0 : float(exponent);"

/* ln v = log + log_low to about 100 bits, of v > 0: the series in s = (m - 1) / (m + 1), of which
 * the quotient, its cube and the sums are pairs of numbers. */
#define TP_LOG_PAIR                                                                                \
  TP_LOG_PARTS                                                                                     \
  "over = m - 1.0; under = m + 1.0;"                                                               \
  "s = over / under; s_low = (fma(-s, under, over) - s * sum_error(m, 1.0)) / under;"              \
  "z = s * s; z_low = product_error(s, s) + 2.0 * s * s_low;"                                      \
  "rest = z * poly(z, 0.04, 4.34782608695652162e-02, 4.76190476190476164e-02, "                    \
  "5.26315789473684181e-02, "                                                                      \
  "  5.88235294117647051e-02, 6.66666666666666657e-02, 7.69230769230769273e-02, "                  \
  "9.09090909090909116e-02, "                                                                      \
  "  1.11111111111111105e-01, 1.42857142857142849e-01, 0.2);"                                      \
  "third = 3.33333333333333315e-01; g = third + rest; g_low = third - g + rest + "                 \
  "1.85037170770859413e-17;"                                                                       \
  "w = z * g; w_low = product_error(z, g) + (z * g_low + z_low * g);"                              \
  "cube = s * w; cube_low = product_error(s, w) + (s * w_low + s_low * w);"                        \
  "of_k = k * 6.93147180559662956e-01;"                                                            \
  "s2 = s + s; sum = of_k + s2; cube2 = cube + cube; all = sum + cube2;"                           \
  "low = sum_error(sum, cube2) + (sum_error(of_k, s2) + (k * 2.82352905630315774e-13 + 2.0 * "     \
  "(s_low + cube_low)));"                                                                          \
  "log = all + low; log_low = low - (log - all);"

#endif
