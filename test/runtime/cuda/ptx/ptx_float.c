/* Instructions on f32 and f64. */
#include "ptx_inside.h"

#include <fenv.h>
#include <math.h>

void ptx_round_as(uint64_t modifiers) {
  fesetround(modifiers & (PTX_M_RZ | PTX_M_RZI)   ? FE_TOWARDZERO
             : modifiers & (PTX_M_RM | PTX_M_RMI) ? FE_DOWNWARD
             : modifiers & (PTX_M_RP | PTX_M_RPI) ? FE_UPWARD
                                                  : FE_TONEAREST);
}

void ptx_round_nearest(void) { fesetround(FE_TONEAREST); }

static float f32_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static double f64_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Every operation on f32 gives the same NaN bits. For f64 they are those of the host. */
static uint32_t bits_f32(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof x);
  return x != x ? 0x7fffffff : bits;
}

static uint64_t bits_f64(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof x);
  return bits;
}

static float flushed_f32(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x; }
static double flushed_f64(double x) { return x; }
static float limited_f32(float x) { return x > 1 ? 1 : x > 0 ? x : 0; }
static double limited_f64(double x) { return x > 1 ? 1 : x > 0 ? x : 0; }

enum { BITS_f32 = 32, BITS_f64 = 64 };

/* The result is an expression of a, b, c. Instructions with a modifier that changes numbers take
 * the slow path, where operands are volatile, because the compiler assumes a single rounding
 * mode. */
static const uint64_t slow = PTX_M_RZ | PTX_M_RM | PTX_M_RP | PTX_M_FTZ | PTX_M_SAT;

#define OPERATION(name, suffix, bits, type, read, read_slowly, expression)                         \
  static void name##_##suffix(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {              \
    uint##bits##_t *to = ptx_to##bits(w, i, 0);                                                    \
    const uint##bits##_t *x = ptx_from##bits(w, i, 0),                                             \
                         *y = i->n_from > 1 ? ptx_from##bits(w, i, 1) : x,                         \
                         *z = i->n_from > 2 ? ptx_from##bits(w, i, 2) : x;                         \
    (void)y, (void)z;                                                                              \
    if (!(i->modifiers & slow)) {                                                                  \
      PTX_EACH_LANE(mask, l, {                                                                     \
        read;                                                                                      \
        to[l] = bits_##suffix(expression);                                                         \
      })                                                                                           \
      return;                                                                                      \
    }                                                                                              \
    bool flush = i->modifiers & PTX_M_FTZ;                                                         \
    ptx_round_as(i->modifiers);                                                                    \
    for (int l = 0; l < PTX_WARP; l++)                                                             \
      if (mask >> l & 1) {                                                                         \
        read_slowly;                                                                               \
        volatile type result = expression;                                                         \
        type flat = flush ? flushed_##suffix(result) : result;                                     \
        to[l] = bits_##suffix(i->modifiers & PTX_M_SAT ? limited_##suffix(flat) : flat);           \
      }                                                                                            \
    ptx_round_nearest();                                                                           \
  }
#define VALUE(suffix, v, from) v = suffix##_of(from[l])
#define SLOW_VALUE(suffix, v, from)                                                                \
  v = flush ? flushed_##suffix(suffix##_of(from[l])) : suffix##_of(from[l])
#define UNARY(name, suffix, bits, type, expression)                                                \
  OPERATION(name, suffix, bits, type, type VALUE(suffix, a, x),                                    \
            volatile type SLOW_VALUE(suffix, a, x), expression)
#define BINARY(name, suffix, bits, type, expression)                                               \
  OPERATION(name, suffix, bits, type, type VALUE(suffix, a, x);                                    \
            type VALUE(suffix, b, y), volatile type SLOW_VALUE(suffix, a, x);                      \
            volatile type SLOW_VALUE(suffix, b, y), expression)
#define TERNARY(name, suffix, bits, type, expression)                                              \
  OPERATION(name, suffix, bits, type, type VALUE(suffix, a, x); type VALUE(suffix, b, y);          \
            type VALUE(suffix, c, z), volatile type SLOW_VALUE(suffix, a, x);                      \
            volatile type SLOW_VALUE(suffix, b, y);                                                \
            volatile type SLOW_VALUE(suffix, c, z), expression)

/* -0 is less than +0; of a number and a NaN the result is the number, or with .NaN a NaN. */
#define SMALLER(a, b, nan)                                                                         \
  (a != a ? (nan ? a : b) : b != b ? (nan ? b : a) : a < b || (a == b && signbit(a)) ? a : b)
#define LARGER(a, b, nan)                                                                          \
  (a != a ? (nan ? a : b) : b != b ? (nan ? b : a) : a > b || (a == b && !signbit(a)) ? a : b)

#define BOTH(suffix, bits, type, root, multiply_add)                                               \
  BINARY(add, suffix, bits, type, a + b)                                                           \
  BINARY(sub, suffix, bits, type, a - b)                                                           \
  BINARY(mul, suffix, bits, type, a *b)                                                            \
  BINARY(div, suffix, bits, type, a / b)                                                           \
  TERNARY(fma, suffix, bits, type, multiply_add(a, b, c))                                          \
  UNARY(rcp, suffix, bits, type, 1 / a)                                                            \
  UNARY(sqrt, suffix, bits, type, root(a))                                                         \
  BINARY(min, suffix, bits, type, SMALLER(a, b, (i->modifiers & PTX_M_NANS)))                      \
  BINARY(max, suffix, bits, type, LARGER(a, b, (i->modifiers & PTX_M_NANS)))
BOTH(f32, 32, float, sqrtf, fmaf)
BOTH(f64, 64, double, sqrt, fma)

/* Rounds once a value that the host computes in f64, whose own error is negligible. */
UNARY(rsqrt, f32, 32, float, (float)(1 / sqrt((double)a)))
UNARY(rsqrt, f64, 64, double, 1 / sqrt(a))
UNARY(ex2, f32, 32, float, (float)exp2((double)a))
UNARY(lg2, f32, 32, float, (float)log2((double)a))
UNARY(sin, f32, 32, float, (float)sin((double)a))
UNARY(cos, f32, 32, float, (float)cos((double)a))
UNARY(tanh, f32, 32, float, (float)tanh((double)a))

/* Works on bits, not on numbers: a NaN keeps its payload. */
static void neg_f32(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint32_t *to = ptx_to32(w, i, 0);
  const uint32_t *x = ptx_from32(w, i, 0);
  PTX_EACH_LANE(mask, l, { to[l] = x[l] ^ 0x80000000u; })
}
static void abs_f32(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  uint32_t *to = ptx_to32(w, i, 0);
  const uint32_t *x = ptx_from32(w, i, 0);
  PTX_EACH_LANE(mask, l, { to[l] = x[l] & 0x7fffffffu; })
}
static void neg_f64(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  PTX_EACH_LANE(mask, l, { ptx_to64(w, i, 0)[l] = ptx_from64(w, i, 0)[l] ^ UINT64_C(1) << 63; })
}
static void abs_f64(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  PTX_EACH_LANE(mask, l, { ptx_to64(w, i, 0)[l] = ptx_from64(w, i, 0)[l] & ~(UINT64_C(1) << 63); })
}
static void flushed_neg_f32(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  PTX_EACH_LANE(mask, l,
                { ptx_to32(w, i, 0)[l] = bits_f32(-flushed_f32(f32_of(ptx_from32(w, i, 0)[l]))); })
}
static void flushed_abs_f32(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  PTX_EACH_LANE(mask, l, {
    ptx_to32(w, i, 0)[l] = bits_f32(fabsf(flushed_f32(f32_of(ptx_from32(w, i, 0)[l]))));
  })
}
/* Returns the magnitude of the second operand with the sign of the first. */
static void copysign_f32(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  PTX_EACH_LANE(mask, l, {
    uint32_t sign = ptx_from32(w, i, 0)[l] & 0x80000000u;
    ptx_to32(w, i, 0)[l] = sign | (ptx_from32(w, i, 1)[l] & 0x7fffffffu);
  })
}
static void copysign_f64(ptx_warp *w, const ptx_instruction *i, uint32_t mask){
    PTX_EACH_LANE(mask, l,
                  {
                    uint64_t sign = ptx_from64(w, i, 0)[l] & UINT64_C(1) << 63;
                    ptx_to64(w, i, 0)[l] = sign | (ptx_from64(w, i, 1)[l] & ~(UINT64_C(1) << 63));
                  })}

#define ROUNDED (PTX_M_RN | PTX_M_RZ | PTX_M_RM | PTX_M_RP)
#define F32(operation, required, allowed, operands, run)                                           \
  {operation, "f32", required, PTX_M_FTZ | (allowed), operands, run, PTX_PLAIN}
#define F64(operation, required, allowed, operands, run)                                           \
  {operation, "f64", required, allowed, operands, run, PTX_PLAIN}
/* clang-format off */
PTX_TABLE(float,
  F32("add", 0, ROUNDED | PTX_M_SAT, "daa", add_f32), F64("add", 0, ROUNDED, "daa", add_f64),
  F32("sub", 0, ROUNDED | PTX_M_SAT, "daa", sub_f32), F64("sub", 0, ROUNDED, "daa", sub_f64),
  F32("mul", 0, ROUNDED | PTX_M_SAT, "daa", mul_f32), F64("mul", 0, ROUNDED, "daa", mul_f64),
  F32("fma", 0, ROUNDED | PTX_M_SAT, "daaa", fma_f32), F64("fma", 0, ROUNDED, "daaa", fma_f64),
  F32("mad", 0, ROUNDED | PTX_M_SAT, "daaa", fma_f32), F64("mad", 0, ROUNDED, "daaa", fma_f64),
  F32("div", 0, ROUNDED | PTX_M_APPROX | PTX_M_FULL, "daa", div_f32), F64("div", 0, ROUNDED, "daa", div_f64),
  F32("rcp", 0, ROUNDED | PTX_M_APPROX, "da", rcp_f32), F64("rcp", 0, ROUNDED, "da", rcp_f64),
  F32("sqrt", 0, ROUNDED | PTX_M_APPROX, "da", sqrt_f32), F64("sqrt", 0, ROUNDED, "da", sqrt_f64),
  F32("min", 0, PTX_M_NANS, "daa", min_f32), F64("min", 0, 0, "daa", min_f64),
  F32("max", 0, PTX_M_NANS, "daa", max_f32), F64("max", 0, 0, "daa", max_f64),
  F32("rsqrt", PTX_M_APPROX, 0, "da", rsqrt_f32), F64("rsqrt", PTX_M_APPROX, 0, "da", rsqrt_f64),
  F32("ex2", PTX_M_APPROX, 0, "da", ex2_f32), F32("lg2", PTX_M_APPROX, 0, "da", lg2_f32),
  F32("sin", PTX_M_APPROX, 0, "da", sin_f32), F32("cos", PTX_M_APPROX, 0, "da", cos_f32),
  F32("tanh", PTX_M_APPROX, 0, "da", tanh_f32),
  {"neg", "f32", 0, 0, "da", neg_f32, PTX_PLAIN}, {"neg", "f32", PTX_M_FTZ, 0, "da", flushed_neg_f32, PTX_PLAIN},
  {"abs", "f32", 0, 0, "da", abs_f32, PTX_PLAIN}, {"abs", "f32", PTX_M_FTZ, 0, "da", flushed_abs_f32, PTX_PLAIN},
  F64("neg", 0, 0, "da", neg_f64), F64("abs", 0, 0, "da", abs_f64),
  {"copysign", "f32", 0, 0, "daa", copysign_f32, PTX_PLAIN}, {"copysign", "f64", 0, 0, "daa", copysign_f64, PTX_PLAIN})
    /* clang-format on */
