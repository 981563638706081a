/* Converts an f32 to its bit pattern and back, for conversions to narrower types. */
#ifndef TPRT_FLOAT_BITS_H
#define TPRT_FLOAT_BITS_H

#include <stdint.h>
#include <string.h>

/* GPU code uses the same conversions and defines TPRT_INLINE itself before it includes this
 * file. */
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
