/* The gamma function and its relatives: lgamma, digamma, zeta, polygamma. */
#include "passes/import/stablehlo/hlo_real.h"

static const double pi = 3.14159265358979323846;

/* ---- Lanczos' approximation ---- */

/* C. Lanczos, "A Precision Approximation of the Gamma Function", SIAM J. Numer. Anal. B 1, 1964,
 * with g = 7 and 9 coefficients. For x >= 0.5, gamma(z + 1) with z = x - 1. */
static const double lanczos_g = 7;
static const double lanczos[] = {0.99999999999980993227684700473478,
                                 676.520368121885098567009190444019,
                                 -1259.13921672240287047156078755283,
                                 771.3234287776530788486528258894,
                                 -176.61502916214059906584551354,
                                 12.507343278686904814458936853,
                                 -0.13857109526572011689554707,
                                 9.984369578019570859563e-6,
                                 1.50563273514931155834e-7};

typedef struct series {
  MlirValue reflects; /* x < 0.5: the function is computed at 1 - x */
  MlirValue z, t;     /* z + g + 1/2 */
  MlirValue log_t;
  MlirValue sum, derivative; /* of the series: its value and its derivative at z */
} series;

static series begin(tp_hlo *hlo, MlirValue x) {
  MlirValue one = tp__hlo_real(hlo, x, 1);
  series s = {.reflects = tp__hlo_compare(hlo, "olt", x, tp__hlo_real(hlo, x, 0.5))};
  s.z = tp__hlo_select(hlo, s.reflects, tp__hlo_unary(hlo, "arith.negf", x),
                       tp__hlo_sub(hlo, x, one));
  s.sum = tp__hlo_real(hlo, x, lanczos[0]);
  s.derivative = tp__hlo_real(hlo, x, 0);
  for (int i = 1; i < TP_LEN(lanczos); i++) {
    MlirValue pole = tp__hlo_add(hlo, s.z, tp__hlo_real(hlo, x, i));
    MlirValue term = tp__hlo_div(hlo, tp__hlo_real(hlo, x, lanczos[i]), pole);
    s.sum = tp__hlo_add(hlo, s.sum, term);
    s.derivative = tp__hlo_sub(hlo, s.derivative, tp__hlo_div(hlo, term, pole));
  }
  /* log1p keeps the digits of small z */
  double shift = lanczos_g + 0.5;
  s.t = tp__hlo_add(hlo, s.z, tp__hlo_real(hlo, x, shift));
  MlirValue part = tp__hlo_div(hlo, s.z, tp__hlo_real(hlo, x, shift));
  s.log_t = tp__hlo_add(hlo, tp__hlo_unary(hlo, "math.log1p", part),
                        tp__hlo_real(hlo, x, 2.01490302054226464) /* log(7.5) */);
  return s;
}

/* lgamma(x) = log(pi / |sin(pi x)|) - lgamma(1 - x) for x < 0.5; infinite at 0, -1, -2, ... */
static MlirValue lgamma_of(tp_hlo *hlo, MlirValue x) {
  series s = begin(hlo, x);
  MlirValue half = tp__hlo_real(hlo, x, 0.5), infinity = tp__hlo_real(hlo, x, 1 / 0.0);
  /* (z + 1/2) log t - t, of which the second is taken from the factor: else digits cancel */
  MlirValue factor = tp__hlo_sub(hlo, tp__hlo_add(hlo, s.z, half), tp__hlo_div(hlo, s.t, s.log_t));
  MlirValue above = tp__hlo_add(hlo, tp__hlo_mul(hlo, factor, s.log_t),
                                tp__hlo_real(hlo, x, 0.91893853320467274178) /* log(2 pi) / 2 */);
  above = tp__hlo_add(hlo, above, tp__hlo_unary(hlo, "math.log", s.sum));
  MlirValue size = tp__hlo_unary(hlo, "math.absf", x);
  MlirValue part = tp__hlo_sub(hlo, size, tp__hlo_unary(hlo, "math.floor", size));
  MlirValue other = tp__hlo_sub(hlo, tp__hlo_real(hlo, x, 1), part);
  part = tp__hlo_select(hlo, tp__hlo_compare(hlo, "ogt", part, half), other, part);
  MlirValue sine = tp__hlo_unary(
      hlo, "math.log",
      tp__hlo_unary(hlo, "math.sin", tp__hlo_mul(hlo, part, tp__hlo_real(hlo, x, pi))));
  MlirValue below =
      tp__hlo_sub(hlo, tp__hlo_real(hlo, x, 1.14472988584940017414) /* log(pi) */, sine);
  below = tp__hlo_sub(hlo, below, above);
  MlirValue is_finite =
      tp__hlo_compare(hlo, "olt", tp__hlo_unary(hlo, "math.absf", sine), infinity);
  below = tp__hlo_select(hlo, is_finite, below, tp__hlo_unary(hlo, "arith.negf", sine));
  MlirValue y = tp__hlo_select(hlo, s.reflects, below, above);
  return tp__hlo_select(hlo, tp__hlo_compare(hlo, "oeq", size, infinity), infinity, y);
}

/* digamma(x) = digamma(1 - x) - pi / tan(pi x) for x < 0.5; NaN at 0, -1, -2, ... */
static MlirValue digamma_of(tp_hlo *hlo, MlirValue x) {
  series s = begin(hlo, x);
  MlirValue above = tp__hlo_add(hlo, s.log_t, tp__hlo_div(hlo, s.derivative, s.sum));
  above = tp__hlo_sub(hlo, above, tp__hlo_div(hlo, tp__hlo_real(hlo, x, lanczos_g), s.t));
  MlirValue nearest =
      tp__hlo_unary(hlo, "math.floor", tp__hlo_add(hlo, x, tp__hlo_real(hlo, x, 0.5)));
  MlirValue angle = tp__hlo_mul(hlo, tp__hlo_sub(hlo, x, nearest), tp__hlo_real(hlo, x, pi));
  MlirValue cosine =
      tp__hlo_mul(hlo, tp__hlo_unary(hlo, "math.cos", angle), tp__hlo_real(hlo, x, pi));
  MlirValue below =
      tp__hlo_sub(hlo, above, tp__hlo_div(hlo, cosine, tp__hlo_unary(hlo, "math.sin", angle)));
  MlirValue y = tp__hlo_select(hlo, s.reflects, below, above);
  MlirValue is_pole =
      tp__hlo_binary(hlo, "arith.andi", tp__hlo_compare(hlo, "ole", x, tp__hlo_real(hlo, x, 0)),
                     tp__hlo_compare(hlo, "oeq", x, tp__hlo_unary(hlo, "math.floor", x)));
  return tp__hlo_select(hlo, is_pole, tp__hlo_real(hlo, x, 0.0 / 0.0), y);
}

/* ---- zeta ---- */

static MlirValue power(tp_hlo *hlo, MlirValue base, MlirValue exponent) {
  return tp__hlo_binary(hlo, "math.powf", base, exponent);
}

static MlirValue is_whole(tp_hlo *hlo, MlirValue x) {
  return tp__hlo_compare(hlo, "oeq", x, tp__hlo_unary(hlo, "math.floor", x));
}

/* Hurwitz' zeta function, the sum of (q + k)^-x over k >= 0, by the formula of Euler and Maclaurin
 * (DLMF 2.10.1): N terms, and the rest as an integral with corrections by Bernoulli numbers. */
static MlirValue euler_maclaurin(tp_hlo *hlo, MlirValue x, MlirValue q) {
  enum { N = 9 };
  /* the Bernoulli number B(2j), divided by (2j)! */
  static const double bernoulli[] = {1.0 / 12,
                                     -1.0 / 720,
                                     1.0 / 30240,
                                     -1.0 / 1209600,
                                     1.0 / 47900160,
                                     -691.0 / 1307674368000,
                                     1.0 / 74724249600,
                                     -3617.0 / 10670622842880000,
                                     43867.0 / 5109094217170944000};
  MlirValue one = tp__hlo_real(hlo, x, 1), minus = tp__hlo_unary(hlo, "arith.negf", x);
  MlirValue sum = power(hlo, q, minus), last = sum, at = q;
  for (int i = 1; i <= N; i++) {
    at = tp__hlo_add(hlo, q, tp__hlo_real(hlo, x, i));
    last = power(hlo, at, minus);
    sum = tp__hlo_add(hlo, sum, last);
  }
  MlirValue integral = tp__hlo_div(hlo, tp__hlo_mul(hlo, last, at), tp__hlo_sub(hlo, x, one));
  sum = tp__hlo_add(hlo, sum, integral);
  sum = tp__hlo_sub(hlo, sum, tp__hlo_mul(hlo, last, tp__hlo_real(hlo, x, 0.5)));
  MlirValue square = tp__hlo_mul(hlo, at, at);
  /* x (x + 1) ... (x + 2j - 2) / at^(2j - 1) */
  MlirValue factor = tp__hlo_div(hlo, x, at);
  for (int j = 0; j < TP_LEN(bernoulli); j++) {
    MlirValue term = tp__hlo_mul(hlo, factor, tp__hlo_real(hlo, x, bernoulli[j]));
    sum = tp__hlo_add(hlo, sum, tp__hlo_mul(hlo, last, term));
    MlirValue next = tp__hlo_mul(hlo, tp__hlo_add(hlo, x, tp__hlo_real(hlo, x, 2 * j + 1)),
                                 tp__hlo_add(hlo, x, tp__hlo_real(hlo, x, 2 * j + 2)));
    factor = tp__hlo_mul(hlo, factor, tp__hlo_div(hlo, next, square));
  }
  return sum;
}

/* Infinite at x = 1, and at q = 0, -1, ... if x is even; NaN where the series has no value. */
static MlirValue zeta_of(tp_hlo *hlo, MlirValue x, MlirValue q) {
  MlirValue zero = tp__hlo_real(hlo, x, 0), one = tp__hlo_real(hlo, x, 1);
  MlirValue nan = tp__hlo_real(hlo, x, 0.0 / 0.0), infinity = tp__hlo_real(hlo, x, 1 / 0.0);
  MlirValue y = euler_maclaurin(hlo, x, q);
  MlirValue half = tp__hlo_mul(hlo, x, tp__hlo_real(hlo, x, 0.5));
  MlirValue at_pole = tp__hlo_select(hlo, is_whole(hlo, half), infinity, nan);
  MlirValue left = tp__hlo_select(hlo, is_whole(hlo, x), y, nan);
  left = tp__hlo_select(hlo, is_whole(hlo, q), at_pole, left);
  y = tp__hlo_select(hlo, tp__hlo_compare(hlo, "ole", q, zero), left, y);
  y = tp__hlo_select(hlo, tp__hlo_compare(hlo, "olt", x, one), nan, y);
  return tp__hlo_select(hlo, tp__hlo_compare(hlo, "oeq", x, one), infinity, y);
}

/* The n-th derivative of digamma: (-1)^(n + 1) n! zeta(n + 1, x). */
static MlirValue polygamma_of(tp_hlo *hlo, MlirValue n, MlirValue x) {
  MlirValue zero = tp__hlo_real(hlo, x, 0), one = tp__hlo_real(hlo, x, 1);
  MlirValue next = tp__hlo_add(hlo, n, one);
  MlirValue half = tp__hlo_mul(hlo, next, tp__hlo_real(hlo, x, 0.5));
  MlirValue sign = tp__hlo_select(hlo, is_whole(hlo, half), one, tp__hlo_real(hlo, x, -1));
  MlirValue y =
      tp__hlo_mul(hlo, tp__hlo_unary(hlo, "math.exp", lgamma_of(hlo, next)), zeta_of(hlo, next, x));
  y = tp__hlo_mul(hlo, y, sign);
  y = tp__hlo_select(hlo, tp__hlo_compare(hlo, "oeq", n, zero), digamma_of(hlo, x), y);
  MlirValue is_bad =
      tp__hlo_binary(hlo, "arith.ori", tp__hlo_compare(hlo, "olt", n, zero),
                     tp__hlo_compare(hlo, "one", n, tp__hlo_unary(hlo, "math.floor", n)));
  return tp__hlo_select(hlo, is_bad, tp__hlo_real(hlo, x, 0.0 / 0.0), y);
}

/* ---- rows ---- */

MlirValue tp__hlo_lgamma(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  MlirValue x = tp__hlo_to_single(hlo, kind, a[0]);
  return tp__hlo_from_single(hlo, kind, lgamma_of(hlo, x), result);
}

MlirValue tp__hlo_digamma(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  MlirValue x = tp__hlo_to_single(hlo, kind, a[0]);
  return tp__hlo_from_single(hlo, kind, digamma_of(hlo, x), result);
}

MlirValue tp__hlo_zeta(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  MlirValue x = tp__hlo_to_single(hlo, kind, a[0]), q = tp__hlo_to_single(hlo, kind, a[1]);
  return tp__hlo_from_single(hlo, kind, zeta_of(hlo, x, q), result);
}

MlirValue tp__hlo_polygamma(tp_hlo *hlo, tp_hlo_kind kind, const MlirValue *a, MlirType result) {
  MlirValue n = tp__hlo_to_single(hlo, kind, a[0]), x = tp__hlo_to_single(hlo, kind, a[1]);
  return tp__hlo_from_single(hlo, kind, polygamma_of(hlo, n, x), result);
}
