/* Conversions between f32 and f8e4m3 or f8e5m2, with the method of half.h: bit operations and exact
 * float arithmetic without branches. */
#ifndef TPRT_FLOAT8_H
#define TPRT_FLOAT8_H

#include "base/float_bits.h"

/* The fields move to the positions of the f32 fields. The exponent is then 120 (f8e4m3) or 112
 * (f8e5m2) too small; one exact multiplication corrects normal and subnormal numbers alike. */
TPRT_INLINE float f8e4m3_to_f32(uint8_t byte) {
  uint32_t sign = (uint32_t)(byte & 0x80u) << 24, magnitude = byte & 0x7fu;
  uint32_t finite = bits_of(float_of(magnitude << 20) * 0x1p120f);
  return float_of(sign | (magnitude == 0x7fu ? 0x7fc00000u : finite));
}

TPRT_INLINE float f8e5m2_to_f32(uint8_t byte) {
  uint32_t sign = (uint32_t)(byte & 0x80u) << 24, magnitude = byte & 0x7fu;
  uint32_t finite = bits_of(float_of(magnitude << 21) * 0x1p112f);
  uint32_t special = 0x7f800000u | (magnitude > 0x7cu ? 0x400000u : 0) | (magnitude & 3u) << 21;
  return float_of(sign | (magnitude >= 0x7cu ? special : finite));
}

/* Narrows to an f8 with `mantissa_bits`, rounding to nearest even. Normal results: add half a unit
 * in the last place (one less if the result is even) and drop the rest of the mantissa. Subnormal
 * results are multiples of the unit in the last place of `anchor`, so adding `anchor` rounds to
 * such a multiple. */
TPRT_INLINE uint32_t f8_narrow(uint32_t magnitude, int mantissa_bits, uint32_t rebias,
                               float anchor) {
  int drop = 23 - mantissa_bits;
  uint32_t half = (1u << (drop - 1)) - 1u;
  uint32_t normal = (magnitude - (rebias << 23) + half + ((magnitude >> drop) & 1u)) >> drop;
  uint32_t subnormal = bits_of(float_of(magnitude) + anchor) - bits_of(anchor);
  return magnitude < ((rebias + 1u) << 23) ? subnormal : normal;
}

TPRT_INLINE uint8_t f32_to_f8e4m3(float value) {
  uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffffu;
  uint32_t result = f8_narrow(magnitude, 3, 120u, 0x1p14f);
  /* Above 464, which is halfway between 448 and 480. 480 would be the next value, but NaN has its
   * code. */
  result = magnitude > 0x43e80000u ? 0x7fu : result;
  return (uint8_t)((bits >> 24 & 0x80u) | result);
}

TPRT_INLINE uint8_t f32_to_f8e5m2(float value) {
  uint32_t bits = bits_of(value), magnitude = bits & 0x7fffffffu;
  uint32_t result = f8_narrow(magnitude, 2, 112u, 0x1p7f);
  result = magnitude >= 0x47700000u ? 0x7cu : result; /* values from 61440 on round to infinity */
  result = magnitude > 0x7f800000u ? 0x7eu | (magnitude >> 21 & 1u) : result;
  return (uint8_t)((bits >> 24 & 0x80u) | result);
}

#endif
