/* Conversions of 16-bit floats on a GPU. The including file defines TPRT_INLINE. */
#ifndef TPRT_RUNTIME_CUDA_NUMBERS_H
#define TPRT_RUNTIME_CUDA_NUMBERS_H

#include <stdint.h>

TPRT_INLINE float f16_widen(uint16_t half) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(half));
  return value;
}
TPRT_INLINE uint16_t f16_narrow(float value) {
  uint16_t half;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}
TPRT_INLINE float bf16_widen(uint16_t half) { return __uint_as_float((uint32_t)half << 16); }
TPRT_INLINE uint16_t bf16_narrow(float value) {
  uint16_t half;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(half) : "f"(value));
  return half;
}

#endif
