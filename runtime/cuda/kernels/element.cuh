/* Vectors of elements as floats. Included once per element type, with ELEMENT defined as f32, f16
 * or bf16. Declares for the files included next
 *   LANES          elements of a vector
 *   NAMED(x)       x_f32, ... */
#define PASTE_(a, b) a##_##b
#define PASTE(a, b) PASTE_(a, b)
#define NAMED(name) PASTE(name, ELEMENT)
#define LANES PASTE(LANES, ELEMENT)

#ifndef TPRT_RUNTIME_CUDA_ELEMENT_H
#define TPRT_RUNTIME_CUDA_ELEMENT_H

#define LANES_f32 4
#define LANES_f16 8
#define LANES_bf16 8

TPRT_INLINE void widen_f32(float *value, vector v) {
  UNROLL for (int i = 0; i < 4; i++) value[i] = float_of(v.word[i]);
}
TPRT_INLINE vector narrow_f32(const float *value) {
  vector v;
  UNROLL for (int i = 0; i < 4; i++) v.word[i] = bits_of(value[i]);
  return v;
}

#define TWO_IN_A_WORD(type)                                                                        \
  TPRT_INLINE void widen_##type(float *value, vector v) {                                          \
    UNROLL for (int i = 0; i < 4; i++) {                                                           \
      value[2 * i] = type##_widen((uint16_t)v.word[i]);                                            \
      value[2 * i + 1] = type##_widen((uint16_t)(v.word[i] >> 16));                                \
    }                                                                                              \
  }                                                                                                \
  TPRT_INLINE vector narrow_##type(const float *value) {                                           \
    vector v;                                                                                      \
    UNROLL for (int i = 0; i < 4; i++) v.word[i] =                                                 \
        (uint32_t)type##_narrow(value[2 * i]) | (uint32_t)type##_narrow(value[2 * i + 1]) << 16;   \
    return v;                                                                                      \
  }
TWO_IN_A_WORD(f16)
TWO_IN_A_WORD(bf16)
#undef TWO_IN_A_WORD

#endif
