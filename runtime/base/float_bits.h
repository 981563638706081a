/* The bits of an f32 as a number, and back: what conversions to narrower types work on. */
#ifndef TPRT_FLOAT_BITS_H
#define TPRT_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

/* The same conversions run on GPUs: code for those says there what an inline function is. */
#ifndef TPRT_INLINE
#define TPRT_INLINE static inline
#endif

TPRT_INLINE float float_of(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

TPRT_INLINE uint32_t bits_of(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

#endif
