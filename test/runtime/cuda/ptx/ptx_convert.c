/* The instruction cvt, from every type to every other. */
#include "ptx_inside.h"

#include <math.h>

#include "base/half.h"

/* The exact value: a whole number or a float. */
typedef struct number {
  bool is_float;
  double real;
  __int128 whole;
} number;

static bool is_signed(int type) {
  return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
}
static bool is_float(int type) {
  return type == PTX_F16 || type == PTX_BF16 || type == PTX_F32 || type == PTX_F64;
}

static uint64_t low(uint64_t value, int bits) {
  return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

static int64_t extended(uint64_t value, int bits) {
  return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static double flushed(double x) { return fabs(x) < 0x1p-126 ? copysign(0, x) : x; }

static number read_number(int type, uint64_t bits) {
  float single;
  double real;
  uint32_t word = (uint32_t)bits;
  memcpy(&single, &word, sizeof single);
  memcpy(&real, &bits, sizeof real);
  switch (type) {
  case PTX_F16:
  case PTX_BF16:
    return (number){.is_float = true, .real = ptx_of_half(type, word)};
  case PTX_F32:
    return (number){.is_float = true, .real = (double)single};
  case PTX_F64:
    return (number){.is_float = true, .real = real};
  default:
    bits = low(bits, ptx_types[type].bits);
    return (number){.whole = is_signed(type) ? (__int128)extended(bits, ptx_types[type].bits)
                                             : (__int128)bits};
  }
}

/* Rounds to a whole number, by .rni, .rzi, .rmi, .rpi. */
static double integral(double x, uint64_t modifiers) {
  return modifiers & PTX_M_RZI   ? trunc(x)
         : modifiers & PTX_M_RMI ? floor(x)
         : modifiers & PTX_M_RPI ? ceil(x)
                                 : nearbyint(x);
}

/* Converts to an integer. Floats saturate at the limits of the type, and NaN becomes 0. Whole
 * numbers saturate with .sat, otherwise their upper bits are dropped. */
static uint64_t to_integer(int type, number n, uint64_t modifiers) {
  int bits = ptx_types[type].bits;
  __int128 least = is_signed(type) ? -((__int128)1 << (bits - 1)) : 0;
  __int128 most = ((__int128)1 << (is_signed(type) ? bits - 1 : bits)) - 1;
  if (n.is_float) {
    double whole = integral(n.real, modifiers);
    n.whole = isnan(whole)       ? 0
              : whole >= 0x1p64  ? most
              : whole <= -0x1p63 ? least
                                 : (__int128)whole;
  } else if (!(modifiers & PTX_M_SAT)) {
    return (uint64_t)n.whole;
  }
  return (uint64_t)(n.whole < least ? least : n.whole > most ? most : n.whole);
}

static uint64_t to_float(int type, number n, uint64_t modifiers) {
  double tail = 0;
  uint64_t bits = 0;
  if (n.is_float && modifiers & (PTX_M_RNI | PTX_M_RZI | PTX_M_RMI | PTX_M_RPI))
    n.real = integral(n.real, modifiers);
  if (n.is_float && modifiers & PTX_M_SAT)
    n.real = n.real > 1 ? 1 : n.real > 0 ? n.real : 0;
  if (type == PTX_F16 || type == PTX_BF16) {
    if (!n.is_float) {
      n.real = (double)n.whole;
      tail = (double)(n.whole - (__int128)n.real);
    }
    return ptx_to_half(type, n.real, tail, modifiers);
  }
  ptx_round_as(modifiers);
  if (type == PTX_F64) {
    volatile double result = n.is_float            ? n.real
                             : n.whole > INT64_MAX ? (double)(uint64_t)n.whole
                                                   : (double)(int64_t)n.whole;
    double copy = result;
    memcpy(&bits, &copy, sizeof copy);
  } else {
    volatile double real = n.real;
    volatile float result = n.is_float            ? (float)real
                            : n.whole > INT64_MAX ? (float)(uint64_t)n.whole
                                                  : (float)(int64_t)n.whole;
    float copy = result;
    uint32_t word = 0x7fffffff;
    if (modifiers & PTX_M_FTZ)
      copy = (float)flushed((double)copy);
    if (copy == copy)
      memcpy(&word, &copy, sizeof copy);
    bits = word;
  }
  ptx_round_nearest();
  return bits;
}

static uint64_t converted(const ptx_instruction *i, int from, uint64_t bits) {
  number n = read_number(from, bits);
  if (i->modifiers & PTX_M_FTZ && from == PTX_F32)
    n.real = flushed(n.real);
  if (is_float(i->type))
    return to_float(i->type, n, i->modifiers);
  return to_integer(i->type, n, i->modifiers);
}

/* Extends integers that are shorter than their register. */
static uint64_t as_register(const ptx_instruction *i, uint64_t bits) {
  int n = ptx_types[i->type].bits;
  uint64_t value = is_signed(i->type) ? (uint64_t)extended(bits, n) : low(bits, n);
  return low(value, i->register_bits);
}

static void cvt(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  PTX_EACH_LANE(mask, l, {
    uint64_t bits = converted(i, i->second_type, ptx_read(w, i, 0, l));
    ptx_write(w, i, 0, l, as_register(i, bits));
  })
}

/* Converts two f32 to one register: the first operand is the upper half. */
static void cvt_pair(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  ptx_instruction half = *i;
  half.type = i->type == PTX_F16X2 ? PTX_F16 : PTX_BF16;
  PTX_EACH_LANE(mask, l, {
    uint64_t upper = converted(&half, PTX_F32, ptx_from32(w, i, 0)[l]);
    ptx_to32(w, i, 0)[l] =
        (uint32_t)(upper << 16 | converted(&half, PTX_F32, ptx_from32(w, i, 1)[l]));
  })
}

/* ---- Fast paths ---- */

#define FAST(name, from_bits, to_bits, expression)                                                 \
  static void name(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {                         \
    uint##to_bits##_t *to = ptx_to##to_bits(w, i, 0);                                              \
    const uint##from_bits##_t *from = ptx_from##from_bits(w, i, 0);                                \
    PTX_EACH_LANE(mask, l, {                                                                       \
      uint##from_bits##_t x = from[l];                                                             \
      to[l] = (uint##to_bits##_t)(expression);                                                     \
    })                                                                                             \
  }
#define IS_NAN(x) (((x) & 0x7fffffffu) > 0x7f800000u)
FAST(u64_of_u32, 32, 64, x)
FAST(s64_of_s32, 32, 64, (int64_t)(int32_t)x)
FAST(u32_of_u64, 64, 32, x)
FAST(f32_of_f16, 32, 32, (x & 0x7fff) > 0x7c00 ? 0x7fffffffu : bits_of(f16_to_f32((uint16_t)x)))
FAST(f32_of_bf16, 32, 32, (x & 0x7fff) > 0x7f80 ? 0x7fffffffu : x << 16)
FAST(f16_of_f32, 32, 32, IS_NAN(x) ? 0x7fffu : f32_to_f16(float_of(x)))
FAST(bf16_of_f32, 32, 32, IS_NAN(x) ? 0x7fffu : f32_to_bf16(float_of(x)))
FAST(f32_of_s32, 32, 32, bits_of((float)(int32_t)x))
FAST(f32_of_u32, 32, 32, bits_of((float)x))

#define PLAIN(to, from, required, run) {"cvt", to ">" from, required, 0, "da", run, PTX_PLAIN}
#define INTEGERS "u8 s8 u16 s16 u32 s32 u64 s64"
#define FLOATS "f16 bf16 f32 f64"
#define ROUNDED (PTX_M_RN | PTX_M_RZ | PTX_M_RM | PTX_M_RP)
#define WHOLE (PTX_M_RNI | PTX_M_RZI | PTX_M_RMI | PTX_M_RPI)
/* clang-format off */
PTX_TABLE(convert,
  PLAIN("u64 s64", "u32", 0, u64_of_u32), PLAIN("s64 u64", "s32", 0, s64_of_s32), PLAIN("u32 s32", "u64 s64", 0, u32_of_u64),
  PLAIN("f32", "f16", 0, f32_of_f16), PLAIN("f32", "bf16", 0, f32_of_bf16),
  PLAIN("f16", "f32", PTX_M_RN, f16_of_f32), PLAIN("bf16", "f32", PTX_M_RN, bf16_of_f32),
  PLAIN("f32", "s32", PTX_M_RN, f32_of_s32), PLAIN("f32", "u32", PTX_M_RN, f32_of_u32),
  {"cvt", INTEGERS ">" INTEGERS, 0, PTX_M_SAT, "lm", cvt, PTX_PLAIN},
  {"cvt", INTEGERS ">" FLOATS, 0, WHOLE | PTX_M_FTZ | PTX_M_SAT, "lm", cvt, PTX_PLAIN},
  {"cvt", FLOATS ">" INTEGERS, 0, ROUNDED | PTX_M_SAT, "lm", cvt, PTX_PLAIN},
  {"cvt", FLOATS ">" FLOATS, 0, ROUNDED | WHOLE | PTX_M_FTZ | PTX_M_SAT, "da", cvt, PTX_PLAIN},
  {"cvt", "f16x2 bf16x2>f32", 0, PTX_M_RN | PTX_M_RZ, "daa", cvt_pair, PTX_PLAIN})
/* clang-format on */
