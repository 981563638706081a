/* The bits of an f32 as a number, and back: what conversions to narrower types work on. */
#ifndef TPRT_FLOAT_BITS_H
#define TPRT_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

static inline float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static inline uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#endif
