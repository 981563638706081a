/* Wrapping integer arithmetic of a given width, with detection of undefined operations. */
#include "reference/integer.h"

static uint64_t ua(const integers *x) { return unsigned_of(x->bits, x->a); }
static uint64_t ub(const integers *x) { return unsigned_of(x->bits, x->b); }

int64_t tp__int_add(const integers *x, bool *defined) {
  return (void)defined, (int64_t)((uint64_t)x->a + (uint64_t)x->b);
}
int64_t tp__int_sub(const integers *x, bool *defined) {
  return (void)defined, (int64_t)((uint64_t)x->a - (uint64_t)x->b);
}
int64_t tp__int_mul(const integers *x, bool *defined) {
  return (void)defined, (int64_t)((uint64_t)x->a * (uint64_t)x->b);
}
int64_t tp__int_xor(const integers *x, bool *defined) { return (void)defined, x->a ^ x->b; }
int64_t tp__int_maxs(const integers *x, bool *defined) {
  return (void)defined, x->a > x->b ? x->a : x->b;
}
int64_t tp__int_mins(const integers *x, bool *defined) {
  return (void)defined, x->a < x->b ? x->a : x->b;
}
int64_t tp__int_maxu(const integers *x, bool *defined) {
  return (void)defined, ua(x) > ub(x) ? x->a : x->b;
}
int64_t tp__int_minu(const integers *x, bool *defined) {
  return (void)defined, ua(x) < ub(x) ? x->a : x->b;
}
int64_t tp__int_abs(const integers *x, bool *defined) {
  return (void)defined, x->a < 0 ? (int64_t)-(uint64_t)x->a : x->a;
}

/* Signed division is undefined by zero, and for the minimum divided by -1, whose quotient
 * overflows. */
static bool divides(const integers *x, bool *defined) {
  *defined = x->b != 0 &&
             !(x->b == -1 && x->a == (int64_t)(UINT64_C(0xFFFFFFFFFFFFFFFF) << (x->bits - 1)));
  return *defined;
}

int64_t tp__int_divs(const integers *x, bool *defined) {
  return divides(x, defined) ? x->a / x->b : 0;
}
int64_t tp__int_rems(const integers *x, bool *defined) {
  return divides(x, defined) ? x->a % x->b : 0;
}
int64_t tp__int_divu(const integers *x, bool *defined) {
  return (*defined = x->b != 0) ? (int64_t)(ua(x) / ub(x)) : 0;
}
int64_t tp__int_remu(const integers *x, bool *defined) {
  return (*defined = x->b != 0) ? (int64_t)(ua(x) % ub(x)) : 0;
}

int64_t tp__int_floordiv(const integers *x, bool *defined) {
  return divides(x, defined) ? x->a / x->b - (x->a % x->b != 0 && (x->a < 0) != (x->b < 0)) : 0;
}
int64_t tp__int_ceildiv(const integers *x, bool *defined) {
  return divides(x, defined) ? x->a / x->b + (x->a % x->b != 0 && (x->a < 0) == (x->b < 0)) : 0;
}

int64_t tp__int_ceildivu(const integers *x, bool *defined) {
  return (*defined = x->b != 0) ? (int64_t)(ua(x) / ub(x) + (ua(x) % ub(x) != 0)) : 0;
}

static bool shifts(const integers *x, bool *defined) {
  return *defined = ub(x) < (uint64_t)x->bits;
}

int64_t tp__int_shl(const integers *x, bool *defined) {
  return shifts(x, defined) ? (int64_t)((uint64_t)x->a << ub(x)) : 0;
}
int64_t tp__int_shrs(const integers *x, bool *defined) {
  return shifts(x, defined) ? x->a >> ub(x) : 0;
}
int64_t tp__int_shru(const integers *x, bool *defined) {
  return shifts(x, defined) ? (int64_t)(ua(x) >> ub(x)) : 0;
}

/* The operand is read from b: with one operand, both fields hold it. */
int64_t tp__int_ctlz(const integers *x, bool *defined) {
  return (void)defined, ub(x) ? __builtin_clzll(ub(x)) - (64 - x->bits) : x->bits;
}
int64_t tp__int_cttz(const integers *x, bool *defined) {
  return (void)defined, ub(x) ? __builtin_ctzll(ub(x)) : x->bits;
}
int64_t tp__int_ctpop(const integers *x, bool *defined) {
  return (void)defined, __builtin_popcountll(ub(x));
}

/* A negative exponent means 1 / a^|b|, rounded toward zero: undefined for 0, and 0 unless a is 1 or
 * -1. */
int64_t tp__int_pow(const integers *x, bool *defined) {
  if (x->b < 0) {
    *defined = x->a != 0;
    return x->a == 1 ? 1 : x->a == -1 ? (x->b & 1 ? -1 : 1) : 0;
  }
  uint64_t power = 1, factor = (uint64_t)x->a;
  for (int64_t left = x->b; left; left >>= 1, factor *= factor)
    if (left & 1)
      power *= factor;
  return (int64_t)power;
}
