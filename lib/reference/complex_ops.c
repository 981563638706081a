/* Table of the operations on complex numbers. Functions beyond arithmetic are those of C's
 * <complex.h>, in binary64. */
#include "reference/scalar_ops.h"

#include <complex.h>
#include <string.h>

typedef double complex (*unary_fn)(double complex);

/* As C11's CMPLX, which clang does not have with every C library. */
static double complex complex_of(double real, double imaginary) {
  const double parts[2] = {real, imaginary};
  double complex z;
  memcpy(&z, parts, sizeof z);
  return z;
}
static double complex value_of(const number *z) { return complex_of(z[0].value, z[1].value); }
static bool are_known(const number *z) { return is_known(z) && is_known(z + 1); }
static bool are_certain(const number *z) { return is_certain(z) && is_certain(z + 1); }
static double error_of(const number *z) { return hypot(z[0].error, z[1].error); }
static double reach_of(const number *z) { return hypot(z[0].reach, z[1].reach); }

/* Stores a value whose two parts each round relative to the magnitude of the whole. */
static void put(const kind *k, double complex value, double error, number *out) {
  const double parts[2] = {creal(value), cimag(value)};
  for (int i = 0; i < 2; i++) {
    out[i] = tp__rounded(k, parts[i], fabs(parts[i]), error, 1);
    if (is_known(out + i) && isfinite(parts[i]) && isfinite(cabs(value)))
      out[i].error += 16 * k->unit * cabs(value);
  }
}

static void put_unknown(const kind *k, number *out) {
  for (int i = 0; i < k->parts; i++)
    out[i] = tp__unknown();
}

/* Applies a function to exact operands. The error that it inherits from inexact ones depends on its
 * derivative, which this file does not compute: such a result is unknown. */
static void apply_unary(const scalar_types *t, const number *z, number *out, unary_fn f) {
  if (are_certain(z))
    put(t->to, f(value_of(z)), 0, out);
  else
    put_unknown(t->to, out);
}

#define UNARY(name, f)                                                                             \
  static void name(const scalar_types *t, const number *const *in, number *out) {                  \
    apply_unary(t, in[0], out, f);                                                                 \
  }

static double complex log1p_of(double complex z) {
  return complex_of(0.5 * log1p(creal(z) * (2 + creal(z)) + cimag(z) * cimag(z)),
                    atan2(cimag(z), 1 + creal(z)));
}
/* exp(x) cos(y) - 1 as expm1(x) cos(y) - 2 sin(y/2)^2, which cancels nothing near 0. */
static double complex expm1_of(double complex z) {
  double half = sin(cimag(z) / 2);
  return complex_of(expm1(creal(z)) * cos(cimag(z)) - 2 * half * half,
                    exp(creal(z)) * sin(cimag(z)));
}
static double complex rsqrt_of(double complex z) { return 1 / csqrt(z); }
static double complex sign_of(double complex z) { return z == 0 ? z : z / cabs(z); }

UNARY(apply_exp, cexp)
UNARY(apply_expm1, expm1_of)
UNARY(apply_log, clog)
UNARY(apply_log1p, log1p_of)
UNARY(apply_sqrt, csqrt)
UNARY(apply_rsqrt, rsqrt_of)
UNARY(apply_sin, csin)
UNARY(apply_cos, ccos)
UNARY(apply_tan, ctan)
UNARY(apply_tanh, ctanh)
UNARY(apply_sign, sign_of)

/* 0 to the power 0 is 1, though cpow may return NaN, and 0 to a positive real power is 0. Libraries
 * disagree about all other powers of 0, so these are unknown. */
static void apply_pow(const scalar_types *t, const number *const *in, number *out) {
  double complex base = value_of(in[0]), power = value_of(in[1]);
  bool differs = base == 0 && !(cimag(power) == 0 && creal(power) >= 0);
  if (!are_certain(in[0]) || !are_certain(in[1]) || differs)
    put_unknown(t->to, out);
  else
    put(t->to, base == 0 ? power == 0 : cpow(base, power), 0, out);
}
static void apply_powi(const scalar_types *t, const number *const *in, number *out) {
  if (!are_certain(in[0]) || !is_certain(in[1])) {
    put_unknown(t->to, out);
    return;
  }
  double complex value = 1, factor = value_of(in[0]);
  int64_t n = in[1]->integer;
  for (uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n; left; left >>= 1, factor *= factor)
    if (left & 1)
      value *= factor;
  put(t->to, n < 0 ? 1 / value : value, 0, out);
}
/* complex.atan2(y, x) = -i log((x + i y) / sqrt(x^2 + y^2)). */
static void apply_atan2(const scalar_types *t, const number *const *in, number *out) {
  if (!are_certain(in[0]) || !are_certain(in[1])) {
    put_unknown(t->to, out);
    return;
  }
  double complex y = value_of(in[0]), x = value_of(in[1]), above = x + I * y, below = x * x + y * y;
  /* The parts of the quotient round; the logarithm makes their relative errors absolute ones. */
  double size = cabs(x) + cabs(y),
         error = 8 * t->to->unit * (1 + size / cabs(above) + size * size / cabs(below));
  put(t->to, -I * clog(above / csqrt(below)), error, out);
}

static void apply_abs(const scalar_types *t, const number *const *in, number *out) {
  double value = cabs(value_of(in[0]));
  *out = are_known(in[0]) ? tp__rounded(t->to, value, value, error_of(in[0]), 8) : tp__unknown();
}
static void apply_angle(const scalar_types *t, const number *const *in, number *out) {
  double value = carg(value_of(in[0]));
  *out = are_certain(in[0]) ? tp__rounded(t->to, value, fabs(value), 0, 8) : tp__unknown();
}

static void equals(const scalar_types *t, const number *a, const number *b, bool wanted,
                   number *out) {
  bool differ = false, certain = true;
  for (int i = 0; i < 2; i++) {
    differ |= is_known(a + i) && is_known(b + i) &&
              !(fabs(a[i].value - b[i].value) <= a[i].error + b[i].error);
    certain &= is_certain(a + i) && is_certain(b + i);
  }
  *out = differ || certain ? tp__whole(t->to, differ != wanted) : tp__unknown();
}
static void apply_eq(const scalar_types *t, const number *const *in, number *out) {
  equals(t, in[0], in[1], true, out);
}
static void apply_neq(const scalar_types *t, const number *const *in, number *out) {
  equals(t, in[0], in[1], false, out);
}

static void apply_create(const scalar_types *t, const number *const *in, number *out) {
  (void)t;
  out[0] = *in[0], out[1] = *in[1];
}
static void apply_re(const scalar_types *t, const number *const *in, number *out) {
  (void)t, *out = in[0][0];
}
static void apply_im(const scalar_types *t, const number *const *in, number *out) {
  (void)t, *out = in[0][1];
}
static void apply_conj(const scalar_types *t, const number *const *in, number *out) {
  out[0] = in[0][0], out[1] = tp__number_negate(t->to, in[0] + 1);
}
static void apply_neg(const scalar_types *t, const number *const *in, number *out) {
  for (int i = 0; i < 2; i++)
    out[i] = tp__number_negate(t->to, in[0] + i);
}
static void apply_add(const scalar_types *t, const number *const *in, number *out) {
  for (int i = 0; i < 2; i++)
    out[i] = tp__number_add(t->to, in[0] + i, in[1] + i);
}
static void apply_sub(const scalar_types *t, const number *const *in, number *out) {
  for (int i = 0; i < 2; i++)
    out[i] = tp__number_subtract(t->to, in[0] + i, in[1] + i);
}
static void apply_mul(const scalar_types *t, const number *const *in, number *out) {
  number p[4];
  for (int i = 0; i < 4; i++)
    p[i] = tp__number_multiply(t->to, in[0] + (i & 1), in[1] + (i >> 1));
  out[0] = tp__number_subtract(t->to, p, p + 3);
  out[1] = tp__number_add(t->to, p + 1, p + 2);
}
/* a / b is off by at most (|error of a| + |a / b| |error of b|) / least |b|. */
static void apply_div(const scalar_types *t, const number *const *in, number *out) {
  const number *a = in[0], *b = in[1];
  double complex value = value_of(a) / value_of(b);
  double least = cabs(value_of(b)) - error_of(b);
  bool is_inexact = !are_certain(a) || !are_certain(b);
  if (!are_known(a) || !are_known(b) || (is_inexact && !(least > 0)))
    put_unknown(t->to, out);
  else
    put(t->to, value,
        is_inexact || reach_of(a) > cabs(value_of(a))
            ? (error_of(a) + cabs(value) * error_of(b) + t->to->unit * reach_of(a)) / least
            : 0,
        out);
}

const scalar_op tp__complex_ops[] = {
    {.name = "complex.create", .apply = apply_create},
    {.name = "complex.re", .apply = apply_re},
    {.name = "complex.im", .apply = apply_im},
    {.name = "complex.conj", .apply = apply_conj},
    {.name = "complex.neg", .apply = apply_neg},
    {.name = "complex.add", .apply = apply_add},
    {.name = "complex.sub", .apply = apply_sub},
    {.name = "complex.mul", .apply = apply_mul},
    {.name = "complex.div", .apply = apply_div},
    {.name = "complex.abs", .apply = apply_abs},
    {.name = "complex.angle", .apply = apply_angle},
    {.name = "complex.sign", .apply = apply_sign},
    {.name = "complex.exp", .apply = apply_exp},
    {.name = "complex.expm1", .apply = apply_expm1},
    {.name = "complex.log", .apply = apply_log},
    {.name = "complex.log1p", .apply = apply_log1p},
    {.name = "complex.sqrt", .apply = apply_sqrt},
    {.name = "complex.rsqrt", .apply = apply_rsqrt},
    {.name = "complex.sin", .apply = apply_sin},
    {.name = "complex.cos", .apply = apply_cos},
    {.name = "complex.tan", .apply = apply_tan},
    {.name = "complex.tanh", .apply = apply_tanh},
    {.name = "complex.pow", .apply = apply_pow},
    {.name = "complex.powi", .apply = apply_powi},
    {.name = "complex.atan2", .apply = apply_atan2},
    {.name = "complex.eq", .apply = apply_eq},
    {.name = "complex.neq", .apply = apply_neq},
    {0},
};
