/* f8e4m3 and f8e5m2: conversions of arrays. */
#include "float8.h"
#include "types.h"

#define DEFINE_CONVERSIONS(name)                                                                                               \
  void tprt__widen_##name(void *out, const void *in, size_t n) {                                                               \
    float *to = out;                                                                                                           \
    const uint8_t *from = in;                                                                                                  \
    for (size_t i = 0; i < n; i++)                                                                                             \
      to[i] = name##_to_f32(from[i]);                                                                                          \
  }                                                                                                                            \
  void tprt__narrow_##name(void *out, const void *in, size_t n) {                                                              \
    uint8_t *to = out;                                                                                                         \
    const float *from = in;                                                                                                    \
    for (size_t i = 0; i < n; i++)                                                                                             \
      to[i] = f32_to_##name(from[i]);                                                                                          \
  }

DEFINE_CONVERSIONS(f8e4m3)
DEFINE_CONVERSIONS(f8e5m2)
