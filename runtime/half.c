/* f16 and bf16: the public conversions and those of arrays. */
#include "half.h"
#include "types.h"

#include <string.h>

float tprt_f16_to_f32(uint16_t bits) { return f16_to_f32(bits); }
uint16_t tprt_f32_to_f16(float value) { return f32_to_f16(value); }
float tprt_bf16_to_f32(uint16_t bits) { return bf16_to_f32(bits); }
uint16_t tprt_f32_to_bf16(float value) { return f32_to_bf16(value); }

#define DEFINE_WIDEN(name)                                                                                                     \
  void tprt__widen_##name(void *out, const void *in, size_t n) {                                                               \
    float *to = out;                                                                                                           \
    const unsigned char *from = in;                                                                                            \
    for (size_t i = 0; i < n; i++) {                                                                                           \
      uint16_t half;                                                                                                           \
      memcpy(&half, from + 2 * i, 2);                                                                                          \
      to[i] = name##_to_f32(half);                                                                                             \
    }                                                                                                                          \
  }

#define DEFINE_NARROW(name)                                                                                                    \
  void tprt__narrow_##name(void *out, const void *in, size_t n) {                                                              \
    unsigned char *to = out;                                                                                                   \
    const float *from = in;                                                                                                    \
    for (size_t i = 0; i < n; i++) {                                                                                           \
      uint16_t half = f32_to_##name(from[i]);                                                                                  \
      memcpy(to + 2 * i, &half, 2);                                                                                            \
    }                                                                                                                          \
  }

DEFINE_WIDEN(f16)
DEFINE_WIDEN(bf16)
DEFINE_NARROW(f16)
DEFINE_NARROW(bf16)
