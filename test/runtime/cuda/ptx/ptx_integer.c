/* Instructions on integers and bits. */
#include "ptx_inside.h"

#define HI_U64(a, b) (uint64_t)((unsigned __int128)(a) * (b) >> 64)
#define HI_S64(a, b) (uint64_t)((__int128)(a) * (b) >> 64)

/* NAME_type: to[0] = expression of a, b, c, which are operands as `type`. 16-bit values are in
 * 32-bit words, zero-extended. */
#define UNARY(name, bits, type, result_bits, result, expression)                                   \
  static void name(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {                         \
    uint##result_bits##_t *to = ptx_to##result_bits(w, i, 0);                                      \
    const uint##bits##_t *x = ptx_from##bits(w, i, 0);                                             \
    PTX_EACH_LANE(mask, l, {                                                                       \
      type a = (type)x[l];                                                                         \
      to[l] = (uint##result_bits##_t)(result)(expression);                                         \
    })                                                                                             \
  }
#define BINARY(name, bits, type, result_bits, result, expression)                                  \
  static void name(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {                         \
    uint##result_bits##_t *to = ptx_to##result_bits(w, i, 0);                                      \
    const uint##bits##_t *x = ptx_from##bits(w, i, 0), *y = ptx_from##bits(w, i, 1);               \
    PTX_EACH_LANE(mask, l, {                                                                       \
      type a = (type)x[l], b = (type)y[l];                                                         \
      to[l] = (uint##result_bits##_t)(result)(expression);                                         \
    })                                                                                             \
  }
/* The second operand has 32 bits: the shift amount. */
#define SHIFT(name, bits, type, result, expression)                                                \
  static void name(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {                         \
    uint##bits##_t *to = ptx_to##bits(w, i, 0);                                                    \
    const uint##bits##_t *x = ptx_from##bits(w, i, 0);                                             \
    const uint32_t *y = ptx_from32(w, i, 1);                                                       \
    PTX_EACH_LANE(mask, l, {                                                                       \
      type a = (type)x[l];                                                                         \
      uint32_t b = y[l];                                                                           \
      to[l] = (uint##bits##_t)(result)(expression);                                                \
    })                                                                                             \
  }
#define TERNARY(name, bits, type, third_bits, result, expression)                                  \
  static void name(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {                         \
    uint##third_bits##_t *to = ptx_to##third_bits(w, i, 0);                                        \
    const uint##bits##_t *x = ptx_from##bits(w, i, 0), *y = ptx_from##bits(w, i, 1);               \
    const uint##third_bits##_t *z = ptx_from##third_bits(w, i, 2);                                 \
    PTX_EACH_LANE(mask, l, {                                                                       \
      type a = (type)x[l], b = (type)y[l];                                                         \
      uint##third_bits##_t c = z[l];                                                               \
      to[l] = (uint##third_bits##_t)(result)(expression);                                          \
    })                                                                                             \
  }

/* Arithmetic modulo 2^bits uses unsigned numbers. Products of 16 bits are computed in 64 bits,
 * which cannot overflow. */
#define MODULAR(bits, width, type)                                                                 \
  BINARY(add_##bits, width, type, width, type, a + b)                                              \
  BINARY(sub_##bits, width, type, width, type, a - b)                                              \
  BINARY(mul_lo_##bits, width, type, width, type, (uint64_t)a *b)                                  \
  TERNARY(mad_lo_##bits, width, type, width, type, (uint64_t)a *b + c)                             \
  UNARY(neg_##bits, width, type, width, type, -(uint64_t)a)                                        \
  BINARY(and_##bits, width, type, width, type, a &b)                                               \
  BINARY(or_##bits, width, type, width, type, a | b)                                               \
  BINARY(xor_##bits, width, type, width, type, a ^ b)                                              \
  UNARY(not_##bits, width, type, width, type, ~a)                                                  \
  UNARY(cnot_##bits, width, type, width, type, a == 0)                                             \
  SHIFT(shl_##bits, width, type, type, b < bits ? (uint64_t)a << b : 0)
MODULAR(16, 32, uint16_t)
MODULAR(32, 32, uint32_t)
MODULAR(64, 64, uint64_t)

/* Division by zero gives all ones, and the remainder the dividend, like the hardware's sequence;
 * the manual leaves it unspecified. The smallest number divided by -1 overflows. */
#define SIGNED(suffix, bits, width, type)                                                          \
  BINARY(div_##suffix, width, type, width, type,                                                   \
         b == 0    ? -1                                                                            \
         : b == -1 ? (type)(0 - (uint64_t)a)                                                       \
                   : a / b)                                                                        \
  BINARY(rem_##suffix, width, type, width, type, b == 0 ? a : b == -1 ? 0 : a % b)                 \
  UNARY(abs_##suffix, width, type, width, type, a < 0 ? (type)(0 - (uint64_t)a) : a)               \
  BINARY(min_##suffix, width, type, width, type, a < b ? a : b)                                    \
  BINARY(max_##suffix, width, type, width, type, a > b ? a : b)                                    \
  SHIFT(shr_##suffix, width, type, type, a >> (b < bits ? b : bits - 1))
SIGNED(s16, 16, 32, int16_t)
SIGNED(s32, 32, 32, int32_t)
SIGNED(s64, 64, 64, int64_t)

#define UNSIGNED(suffix, bits, width, type)                                                        \
  BINARY(div_##suffix, width, type, width, type, b == 0 ? (type) - 1 : (type)(a / b))              \
  BINARY(rem_##suffix, width, type, width, type, b == 0 ? a : (type)(a % b))                       \
  BINARY(min_##suffix, width, type, width, type, a < b ? a : b)                                    \
  BINARY(max_##suffix, width, type, width, type, a > b ? a : b)                                    \
  SHIFT(shr_##suffix, width, type, type, b < bits ? a >> b : 0)
UNSIGNED(u16, 16, 32, uint16_t)
UNSIGNED(u32, 32, 32, uint32_t)
UNSIGNED(u64, 64, 64, uint64_t)

BINARY(mul_hi_u16, 32, uint16_t, 32, uint16_t, (uint32_t)a *b >> 16)
BINARY(mul_hi_s16, 32, int16_t, 32, uint16_t, (int32_t)a *b >> 16)
BINARY(mul_hi_u32, 32, uint32_t, 32, uint32_t, (uint64_t)a *b >> 32)
BINARY(mul_hi_s32, 32, int32_t, 32, uint32_t, (int64_t)a *b >> 32)
BINARY(mul_hi_u64, 64, uint64_t, 64, uint64_t, HI_U64(a, b))
BINARY(mul_hi_s64, 64, int64_t, 64, uint64_t, HI_S64(a, b))
BINARY(mul_wide_u16, 32, uint16_t, 32, uint32_t, (uint32_t)a *b)
BINARY(mul_wide_s16, 32, int16_t, 32, int32_t, (int32_t)a *b)
BINARY(mul_wide_u32, 32, uint32_t, 64, uint64_t, (uint64_t)a *b)
BINARY(mul_wide_s32, 32, int32_t, 64, int64_t, (int64_t)a *b)
TERNARY(mad_hi_u32, 32, uint32_t, 32, uint32_t, ((uint64_t)a * b >> 32) + c)
TERNARY(mad_hi_s32, 32, int32_t, 32, uint32_t, (uint32_t)((int64_t)a * b >> 32) + c)
TERNARY(mad_wide_u16, 32, uint16_t, 32, uint32_t, (uint32_t)a *b + c)
TERNARY(mad_wide_s16, 32, int16_t, 32, uint32_t, (uint32_t)((int32_t)a * b) + c)
TERNARY(mad_wide_u32, 32, uint32_t, 64, uint64_t, (uint64_t)a *b + c)
TERNARY(mad_wide_s32, 32, int32_t, 64, uint64_t, (uint64_t)((int64_t)a * b) + c)

static int32_t saturated(int64_t x) {
  return x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x;
}
BINARY(add_sat_s32, 32, int32_t, 32, int32_t, saturated((int64_t)a + b))
BINARY(sub_sat_s32, 32, int32_t, 32, int32_t, saturated((int64_t)a - b))

/* ---- Bits ---- */

static uint32_t reversed(uint32_t x) {
  uint32_t y = 0;
  for (int bit = 0; bit < 32; bit++)
    y |= (x >> bit & 1) << (31 - bit);
  return y;
}
UNARY(popc_32, 32, uint32_t, 32, uint32_t, __builtin_popcount(a))
UNARY(popc_64, 64, uint64_t, 32, uint32_t, __builtin_popcountll(a))
UNARY(clz_32, 32, uint32_t, 32, uint32_t, a ? __builtin_clz(a) : 32)
UNARY(clz_64, 64, uint64_t, 32, uint32_t, a ? __builtin_clzll(a) : 64)
UNARY(brev_32, 32, uint32_t, 32, uint32_t, reversed(a))
UNARY(brev_64, 64, uint64_t, 64, uint64_t,
      (uint64_t)reversed((uint32_t)a) << 32 | reversed((uint32_t)(a >> 32)))
/* Position of the highest set bit; for negative numbers, of the highest clear bit. -1: none. */
UNARY(bfind_u32, 32, uint32_t, 32, uint32_t, a ? 31 - __builtin_clz(a) : -1)
UNARY(bfind_u64, 64, uint64_t, 32, uint32_t, a ? 63 - __builtin_clzll(a) : -1)
UNARY(bfind_s32, 32, int32_t, 32, uint32_t,
      (a < 0 ? ~a : a) ? 31 - __builtin_clz((uint32_t)(a < 0 ? ~a : a)) : -1)
UNARY(bfind_s64, 64, int64_t, 32, uint32_t,
      (a < 0 ? ~a : a) ? 63 - __builtin_clzll((uint64_t)(a < 0 ? ~a : a)) : -1)

/* Extracts the field of `n` bits from bit `from` on; signed fields are extended by their highest
 * bit, or the number's if it ends first. */
static uint64_t extracted(uint64_t x, uint32_t from, uint32_t n, int bits, bool is_signed) {
  from &= 255, n &= 255;
  if (n == 0)
    return 0;
  int last = (int)(from + n) - 1 < bits - 1 ? (int)(from + n) - 1 : bits - 1;
  uint64_t sign = is_signed ? x >> last & 1 : 0, field = 0;
  for (uint32_t k = 0; k < n && k < 64; k++)
    field |= (from + k < (uint32_t)bits ? x >> (from + k) & 1 : sign) << k;
  return n < 64 && sign ? field | UINT64_MAX << n : field;
}

static uint64_t inserted(uint64_t field, uint64_t x, uint32_t at, uint32_t n, int bits) {
  at &= 255, n &= 255;
  for (uint32_t k = 0; k < n && at + k < (uint32_t)bits; k++)
    x = (x & ~(UINT64_C(1) << (at + k))) | (field >> k & 1) << (at + k);
  return x;
}

static void bfe(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  int bits = ptx_types[i->type].bits;
  bool is_signed = i->type == PTX_S32 || i->type == PTX_S64;
  PTX_EACH_LANE(mask, l, {
    uint32_t from = ptx_from32(w, i, 1)[l], n = ptx_from32(w, i, 2)[l];
    ptx_write(w, i, 0, l, extracted(ptx_read(w, i, 0, l), from, n, bits, is_signed));
  })
}

static void bfi(ptx_warp *w, const ptx_instruction *i, uint32_t mask) {
  int bits = ptx_types[i->type].bits;
  PTX_EACH_LANE(mask, l, {
    uint32_t at = ptx_from32(w, i, 2)[l], n = ptx_from32(w, i, 3)[l];
    ptx_write(w, i, 0, l, inserted(ptx_read(w, i, 0, l), ptx_read(w, i, 1, l), at, n, bits));
  })
}

/* Selects bytes of b:a by the selectors in c; bit 3 of a selector replicates the byte's sign
 * instead. */
static uint32_t permuted(uint64_t bytes, uint32_t selectors) {
  uint32_t result = 0;
  for (int k = 0; k < 4; k++) {
    uint32_t selector = selectors >> (4 * k) & 15,
             byte = (uint32_t)(bytes >> (8 * (selector & 7))) & 255;
    result |= (selector & 8 ? (byte >> 7) * 255 : byte) << (8 * k);
  }
  return result;
}
TERNARY(prmt, 32, uint32_t, 32, uint32_t, permuted((uint64_t)b << 32 | a, c))

static uint32_t funnel(uint64_t both, uint32_t amount, uint64_t modifiers) {
  amount = modifiers & PTX_M_CLAMP ? (amount < 32 ? amount : 32) : amount & 31;
  return (uint32_t)(modifiers & PTX_M_LEFT ? both << amount >> 32 : both >> amount);
}
TERNARY(shf, 32, uint32_t, 32, uint32_t, funnel((uint64_t)b << 32 | a, c, i->modifiers))

/* Bitwise lookup of the bits of a, b, c in a table. */
static void lop3(ptx_warp *w, const ptx_instruction *i, uint32_t mask){
    PTX_EACH_LANE(mask, l,
                  {
                    uint32_t a = ptx_from32(w, i, 0)[l], b = ptx_from32(w, i, 1)[l],
                             c = ptx_from32(w, i, 2)[l];
                    uint32_t table = ptx_from32(w, i, 3)[l], result = 0;
                    for (int k = 0; k < 8; k++)
                      result |= table >> k & 1
                                    ? (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c)
                                    : 0;
                    ptx_to32(w, i, 0)[l] = result;
                  })}

#define SAME(operation, types, allowed, operands, run)                                             \
  {operation, types, 0, allowed, operands, run, PTX_PLAIN}
#define WITH(operation, types, modifier, operands, run)                                            \
  {operation, types, PTX_M_##modifier, 0, operands, run, PTX_PLAIN}
#define MODULAR_ROWS(bits)                                                                         \
  SAME("add", "u" #bits " s" #bits, 0, "daa", add_##bits),                                         \
      SAME("sub", "u" #bits " s" #bits, 0, "daa", sub_##bits),                                     \
      WITH("mul", "u" #bits " s" #bits, LO, "daa", mul_lo_##bits),                                 \
      WITH("mad", "u" #bits " s" #bits, LO, "daaa", mad_lo_##bits),                                \
      SAME("neg", "s" #bits, 0, "da", neg_##bits), SAME("and", "b" #bits, 0, "daa", and_##bits),   \
      SAME("or", "b" #bits, 0, "daa", or_##bits), SAME("xor", "b" #bits, 0, "daa", xor_##bits),    \
      SAME("not", "b" #bits, 0, "da", not_##bits), SAME("cnot", "b" #bits, 0, "da", cnot_##bits),  \
      SAME("shl", "b" #bits, 0, "daw", shl_##bits),                                                \
      SAME("shr", "u" #bits " b" #bits, 0, "daw", shr_u##bits),                                    \
      SAME("shr", "s" #bits, 0, "daw", shr_s##bits),                                               \
      SAME("div", "u" #bits, 0, "daa", div_u##bits),                                               \
      SAME("div", "s" #bits, 0, "daa", div_s##bits),                                               \
      SAME("rem", "u" #bits, 0, "daa", rem_u##bits),                                               \
      SAME("rem", "s" #bits, 0, "daa", rem_s##bits), SAME("abs", "s" #bits, 0, "da", abs_s##bits), \
      SAME("min", "u" #bits, 0, "daa", min_u##bits),                                               \
      SAME("min", "s" #bits, 0, "daa", min_s##bits),                                               \
      SAME("max", "u" #bits, 0, "daa", max_u##bits),                                               \
      SAME("max", "s" #bits, 0, "daa", max_s##bits),                                               \
      WITH("mul", "u" #bits, HI, "daa", mul_hi_u##bits),                                           \
      WITH("mul", "s" #bits, HI, "daa", mul_hi_s##bits)
/* clang-format off */
PTX_TABLE(integer,
  MODULAR_ROWS(16), MODULAR_ROWS(32), MODULAR_ROWS(64),
  WITH("add", "s32", SAT, "daa", add_sat_s32), WITH("sub", "s32", SAT, "daa", sub_sat_s32),
  WITH("mul", "u16", WIDE, "Daa", mul_wide_u16), WITH("mul", "s16", WIDE, "Daa", mul_wide_s16),
  WITH("mul", "u32", WIDE, "Daa", mul_wide_u32), WITH("mul", "s32", WIDE, "Daa", mul_wide_s32),
  WITH("mad", "u16", WIDE, "DaaA", mad_wide_u16), WITH("mad", "s16", WIDE, "DaaA", mad_wide_s16),
  WITH("mad", "u32", WIDE, "DaaA", mad_wide_u32), WITH("mad", "s32", WIDE, "DaaA", mad_wide_s32),
  WITH("mad", "u32", HI, "daaa", mad_hi_u32), WITH("mad", "s32", HI, "daaa", mad_hi_s32),
  SAME("popc", "b32", 0, "xa", popc_32), SAME("popc", "b64", 0, "xa", popc_64),
  SAME("clz", "b32", 0, "xa", clz_32), SAME("clz", "b64", 0, "xa", clz_64),
  SAME("brev", "b32", 0, "da", brev_32), SAME("brev", "b64", 0, "da", brev_64),
  SAME("bfind", "u32", 0, "xa", bfind_u32), SAME("bfind", "u64", 0, "xa", bfind_u64),
  SAME("bfind", "s32", 0, "xa", bfind_s32), SAME("bfind", "s64", 0, "xa", bfind_s64),
  SAME("bfe", "u32 s32 u64 s64", 0, "daww", bfe), SAME("bfi", "b32 b64", 0, "daaww", bfi),
  SAME("prmt", "b32", 0, "daaw", prmt), SAME("lop3", "b32", 0, "daaaw", lop3),
  {"shf", "b32", PTX_M_LEFT, PTX_M_WRAP | PTX_M_CLAMP, "daaw", shf, PTX_PLAIN},
  {"shf", "b32", PTX_M_RIGHT, PTX_M_WRAP | PTX_M_CLAMP, "daaw", shf, PTX_PLAIN})
    /* clang-format on */
