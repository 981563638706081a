/* f16 and bf16 in portable C: bit operations and exact float arithmetic, no branches, so that loops
 * vectorise. */
#ifndef TPRT_HALF_H
#define TPRT_HALF_H

#include "base/float_bits.h"

/* Shifted left by 13, the fields of an f16 stand where those of an f32 stand, with an exponent that
 * is 112 too small; one exact multiplication by 2^112 corrects that for normal and subnormal
 * numbers alike. */
TPRT_INLINE float f16_to_f32(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  uint32_t magnitude = half & 0x7fffu;
  uint32_t finite = bits_of(float_of(magnitude << 13) * 0x1p112f);
  uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0;
  uint32_t special = 0x7f800000u | (magnitude << 13) | quiet;
  return float_of(sign | (magnitude >= 0x7c00u ? special : finite));
}

/* Normal results: drop 13 bits after adding half a unit (less one for even), which carries into the
 * exponent. Subnormal results are multiples of 2^-24, the unit in the last place of 0.5: adding 0.5
 * rounds to one. */
TPRT_INLINE uint16_t f32_to_f16(float value) {
  uint32_t bits = bits_of(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result; /* 65520 and more round to infinity */
  result = magnitude > 0x7f800000u ? nan : result;
  return (uint16_t)(sign | result);
}

TPRT_INLINE float bf16_to_f32(uint16_t half) {
  uint32_t quiet = (half & 0x7fffu) > 0x7f80u ? 0x400000u : 0;
  return float_of(((uint32_t)half << 16) | quiet);
}

TPRT_INLINE uint16_t f32_to_bf16(float value) {
  uint32_t bits = bits_of(value);
  uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40u;
  return (uint16_t)((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
}

#endif
