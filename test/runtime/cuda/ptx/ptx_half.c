/* Instructions on f16 and bf16, one or two per register. */
#include "ptx_inside.h"

#include <math.h>

/* Bits of the significand, and the exponents of the smallest and largest normal numbers. */
typedef struct format {
  int digits, least, largest;
} format;
static const format f16 = {11, -14, 15}, bf16 = {8, -126, 127};

/* Rounds to odd: an inexact f64 gets an odd last bit, so that the second rounding is correct. */
static double rounded_to_odd(double x, double tail) {
  uint64_t bits;
  if (tail == 0 || !isfinite(x) || x == 0)
    return x;
  memcpy(&bits, &x, sizeof x);
  bits -= (tail < 0) != (x < 0);
  bits |= 1;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Returns true if a magnitude of n units plus the fraction `part` rounds to n + 1. */
static bool goes_up(double n, double part, bool negative, uint64_t modifiers) {
  if (modifiers & PTX_M_RZ)
    return false;
  if (modifiers & (PTX_M_RM | PTX_M_RP))
    return part > 0 && negative == ((modifiers & PTX_M_RM) != 0);
  return part > 0.5 || (part == 0.5 && fmod(n, 2) == 1);
}

uint32_t ptx_to_half(int type, double x, double tail, uint64_t modifiers) {
  const format *f = ptx_is_f16(type) ? &f16 : &bf16;
  uint32_t sign = signbit(x) ? 0x8000 : 0, infinity = ptx_is_f16(type) ? 0x7c00 : 0x7f80;
  if (isnan(x))
    return 0x7fff;
  if (isinf(x))
    return sign | infinity;
  double magnitude = fabs(rounded_to_odd(x, tail));
  if (magnitude == 0)
    return sign;
  int exponent = ilogb(magnitude) > f->least ? ilogb(magnitude) : f->least;
  double units = ldexp(magnitude, f->digits - 1 - exponent), whole = floor(units);
  whole += goes_up(whole, units - whole, sign != 0, modifiers);
  /* Units continue from one exponent to the next, as bits do. */
  uint32_t bits = (uint32_t)((exponent - f->least) << (f->digits - 1)) + (uint32_t)whole;
  if (bits >= infinity) {
    bool stays =
        modifiers & PTX_M_RZ || (modifiers & PTX_M_RM && !sign) || (modifiers & PTX_M_RP && sign);
    bits = stays ? infinity - 1 : infinity;
  }
  return sign | bits;
}

/* ---- Operations on exact numbers; tail is the rounding error of the f64 result ---- */

static double sum(double a, double b, double *tail) {
  double s = a + b, of_b = s - a;
  *tail = isfinite(s) ? (a - (s - of_b)) + (b - of_b) : 0;
  return s;
}

static double add(double a, double b, double c, double *tail) {
  (void)c;
  return sum(a, b, tail);
}
static double sub(double a, double b, double c, double *tail) {
  (void)c;
  return sum(a, -b, tail);
}
static double mul(double a, double b, double c, double *tail) {
  (void)c, (void)tail;
  return a * b; /* exact */
}
static double fused(double a, double b, double c, double *tail) { return sum(a * b, c, tail); }
static double smaller(double a, double b, double c, double *tail) {
  (void)c, (void)tail;
  return isnan(a) ? b : isnan(b) ? a : a < b || (a == b && signbit(a)) ? a : b;
}
static double larger(double a, double b, double c, double *tail) {
  (void)c, (void)tail;
  return isnan(a) ? b : isnan(b) ? a : a > b || (a == b && !signbit(a)) ? a : b;
}
static double power_of_two(double a, double b, double c, double *tail) {
  (void)b, (void)c, (void)tail;
  return exp2(a);
}
static double hyperbolic(double a, double b, double c, double *tail) {
  (void)b, (void)c, (void)tail;
  return tanh(a);
}

static double flushed(int type, double x) {
  return fabs(x) < ldexp(1, ptx_is_f16(type) ? -14 : -126) ? copysign(0, x) : x;
}

static uint32_t one(const ptx_instruction *i, double (*operation)(double, double, double, double *),
                    const uint32_t *from) {
  double x[3] = {0}, tail = 0;
  bool flush = i->modifiers & PTX_M_FTZ;
  for (int k = 0; k < i->n_from; k++) {
    x[k] = ptx_of_half(i->type, from[k]);
    x[k] = flush ? flushed(i->type, x[k]) : x[k];
    if (i->modifiers & PTX_M_NANS && isnan(x[k]))
      return 0x7fff;
  }
  double result = operation(x[0], x[1], x[2], &tail);
  if (i->modifiers & PTX_M_SAT) {
    tail = result > 0 && result < 1 ? tail : 0;
    result = result > 1 ? 1 : result > 0 ? result : 0;
  }
  uint32_t bits = ptx_to_half(i->type, result, tail, 0);
  return flush && flushed(i->type, ptx_of_half(i->type, bits)) == 0 ? bits & 0x8000 : bits;
}

static void halves(ptx_warp *w, const ptx_instruction *i, uint32_t mask,
                   double (*operation)(double, double, double, double *)) {
  int n_parts = ptx_types[i->type].bits / 16;
  PTX_EACH_LANE(mask, l, {
    uint32_t result = 0;
    for (int part = 0; part < n_parts; part++) {
      uint32_t from[3] = {0};
      for (int k = 0; k < i->n_from; k++)
        from[k] = ptx_from32(w, i, k)[l] >> (16 * part) & 0xffff;
      result |= one(i, operation, from) << (16 * part);
    }
    ptx_to32(w, i, 0)[l] = result;
  })
}

#define HANDLER(name, operation)                                                                   \
  static void name(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {                         \
    halves(w, i, mask, operation);                                                                 \
  }
HANDLER(add_half, add)
HANDLER(sub_half, sub)
HANDLER(mul_half, mul)
HANDLER(fma_half, fused)
HANDLER(min_half, smaller)
HANDLER(max_half, larger)
HANDLER(ex2_half, power_of_two)
HANDLER(tanh_half, hyperbolic)

static uint32_t signs(const ptx_instruction *i) {
  return ptx_types[i->type].bits == 32 ? 0x80008000u : 0x8000u;
}

static void neg_half(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  PTX_EACH_LANE(mask, l, { ptx_to32(w, i, 0)[l] = ptx_from32(w, i, 0)[l] ^ signs(i); })
}
static void abs_half(ptx_warp *w, const ptx_instruction *i, uint32_t mask){
    PTX_EACH_LANE(mask, l, { ptx_to32(w, i, 0)[l] = ptx_from32(w, i, 0)[l] & ~signs(i); })}

#define HALVES "f16 bf16 f16x2 bf16x2"
#define ROW(operation, allowed, operands, run)                                                     \
  {operation, HALVES, 0, PTX_M_FTZ | (allowed), operands, run, PTX_PLAIN}
/* clang-format off */
PTX_TABLE(half,
  ROW("add", PTX_M_RN | PTX_M_SAT, "daa", add_half), ROW("sub", PTX_M_RN | PTX_M_SAT, "daa", sub_half),
  ROW("mul", PTX_M_RN | PTX_M_SAT, "daa", mul_half), ROW("fma", PTX_M_RN | PTX_M_SAT, "daaa", fma_half),
  ROW("min", PTX_M_NANS, "daa", min_half), ROW("max", PTX_M_NANS, "daa", max_half),
  ROW("ex2", PTX_M_APPROX, "da", ex2_half), ROW("tanh", PTX_M_APPROX, "da", tanh_half),
  {"neg", HALVES, 0, 0, "da", neg_half, PTX_PLAIN}, {"abs", HALVES, 0, 0, "da", abs_half, PTX_PLAIN})
    /* clang-format on */
