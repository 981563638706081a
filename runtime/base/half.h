/* Conversions between f32 and f16 or bf16 in portable C. They use bit operations and exact float
 * arithmetic without branches, so that loops vectorize. */
#ifndef TPRT_HALF_H
#define TPRT_HALF_H

#include "base/float_bits.h"

/* After a left shift by 13, the fields of the f16 are at the positions of the f32 fields, but the
 * exponent is 112 too small. One exact multiplication by 2^112 corrects normal and subnormal
 * numbers alike. */
TPRT_INLINE float f16_to_f32(uint16_t half) {
  uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
  uint32_t magnitude = half & 0x7fffu;
  uint32_t finite = bits_of(float_of(magnitude << 13) * 0x1p112f);
  uint32_t quiet = magnitude > 0x7c00u ? 0x400000u : 0;
  uint32_t special = 0x7f800000u | (magnitude << 13) | quiet;
  return float_of(sign | (magnitude >= 0x7c00u ? special : finite));
}

/* Rounds to nearest even. Normal results: add half a unit in the last place (one less if the result
 * is even) and drop 13 bits; the carry goes into the exponent. Subnormal results are multiples of
 * 2^-24, which is the unit in the last place of 0.5, so adding 0.5 rounds to such a multiple. */
TPRT_INLINE uint16_t f32_to_f16(float value) {
  uint32_t bits = bits_of(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  uint32_t normal = (magnitude - (112u << 23) + 0xfffu + ((magnitude >> 13) & 1u)) >> 13;
  uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t nan = 0x7e00u | ((magnitude >> 13) & 0x3ffu);
  uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result; /* values from 65520 on round to infinity */
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
