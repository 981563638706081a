/* Shared declarations of tp-expand-math, which expands libm functions to arithmetic. */
#ifndef TP_PASSES_EXPAND_MATH_H
#define TP_PASSES_EXPAND_MATH_H

#include "ir/ir.h"
#include "support/support.h"

/* A function of one or two numbers of a type, written as a formula. A formula consists of
 * statements `name = expression;`. The last statement is the result; it may use earlier names. The
 * arguments are x and x1. Names may be reassigned. Operators and their precedence are those of C:
 *     ?:  |  ^  &  == !=  < <= > >=  << >>  + -  *  /  and unary -
 * Literals are decimal numbers, bit patterns (0x...), inf and nan. The tables of
 * expand_math_formula.c list the available functions. */
typedef struct tp__function_row {
  const char *op, *symbol;
  bool (*is_type)(MlirType type);
  const char *formula;
  const char *body; /* ops with arguments %v0 and %v1, if there is no formula */
} tp__function_row;

typedef struct tp__function_table {
  const tp__function_row *rows;
  int n;
  bool for_gpus; /* only for GPUs, which have no libm */
} tp__function_table;

extern const tp__function_table tp__math_of_all, tp__math_powers, tp__math_angles, tp__math_arcs,
    tp__math_hyperbolic, tp__math_errors, tp__math_exact;

/* Writes the body of a function with `n_arguments` arguments %v0 and %v1 of type f32 or f64.
 * `fuses`: polynomials are evaluated with fma. Returns false if the formula cannot be parsed. */
bool tp__write_formula(const char *text, bool is_f32, bool fuses, int n_arguments, tp__string *out);

/* ---- building blocks of f64 formulas ---- */

/* exp r - 1 for r = u, |r| <= ln(2)/2, by its Taylor series. Sets `beyond`. */
#define TP_EXP_SERIES                                                                              \
  "beyond = u + u * u * poly(u, 1.60590438368216133e-10, 2.08767569878681002e-09, "                \
  "2.50521083854417202e-08, "                                                                      \
  "  2.75573192239858883e-07, 2.75573192239858925e-06, 2.48015873015873016e-05, "                  \
  "1.98412698412698413e-04, "                                                                      \
  "  1.38888888888888894e-03, 8.33333333333333322e-03, 4.16666666666666644e-02, "                  \
  "1.66666666666666657e-01, 0.5);"

/* Splits t + t_low = n ln 2 + u. ln 2 is split into two parts, so that n times the first is
 * exact. */
#define TP_EXP_PARTS(t_low)                                                                        \
  "n = t * 1.44269504088896339 + 6755399441055744.0 - 6755399441055744.0;"                         \
  "u = t - n * 6.93147180369123816e-01 - n * 1.90821492927058770e-10" t_low ";" TP_EXP_SERIES

/* Computes `what` times 2^k with two factors, because 2^k may be out of range. The last rounding
 * then produces denormals and overflow. */
#define TP_SCALED(what, k)                                                                         \
  "whole = int(" k "); half = whole >> 1;"                                                         \
  "scaled = " what " * number((half + 1023) << 52) * number((whole - half + 1023) << 52);"

/* Splits v = 2^k m with m in [sqrt(1/2), sqrt(2)), for v > 0. Denormals are scaled by 2^54
 * first. */
#define TP_LOG_PARTS                                                                               \
  "is_small = v < 2.2250738585072014e-308;"                                                        \
  "lifted = bits(is_small ? v * 18014398509481984.0 : v);"                                         \
  "exponent = (lifted - 0x3FE6A09E667F3BCD) >> 52;"                                                \
  "m = number(lifted - (exponent << 52));"                                                         \
  "k = is_small ? float(exponent) - 54.0 : float(exponent);"

/* ln v = log + log_low to about 100 bits, for v > 0: the series in s = (m - 1) / (m + 1). The
 * quotient, its cube and the sums are unevaluated pairs, high + low. */
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
