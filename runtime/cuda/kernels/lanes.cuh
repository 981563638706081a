/* Steps on one vector of a row. Included once per element type. */
#ifndef TPRT_RUNTIME_CUDA_LANES_H
#define TPRT_RUNTIME_CUDA_LANES_H
/* Destination of a row's results: the memory of n ranks from `first` on, at vector `at`. */
typedef struct row_place {
  uint32_t first, n;
  uint64_t at;
} row_place;

/* Not unrolled, because that would be most of a kernel's code. */
#define EACH_PLACE(to, p) ROLLED for (uint32_t p = (to).first; p < (to).first + (to).n; p++)
#endif

/* Rounds values to the element type, as storing them would. */
TPRT_INLINE void NAMED(round_lanes)(float *value) { NAMED(widen)(value, NAMED(narrow)(value)); }

TPRT_INLINE float NAMED(largest_lane)(const float *value) {
  float largest = 0;
  UNROLL for (int i = 0; i < LANES; i++) largest = larger(largest, fabsf(value[i]));
  return largest;
}

/* Stores a vector of LANES quantized values, as words of f8e4m3. Magnitudes above 448 become
 * 448. */
TPRT_INLINE void NAMED(store_quantized)(const fused_rows *rows, row_place to, uint32_t v,
                                        const float *value, float scale) {
  uint32_t word[LANES / 4];
  float inverse = 1.0f / scale;
  UNROLL for (int w = 0; w < LANES / 4; w++) {
    word[w] = 0;
    UNROLL for (int i = 0; i < 4; i++) {
      float x = rows->divides ? value[4 * w + i] / scale : value[4 * w + i] * inverse;
      x = x > 448.0f ? 448.0f : x < -448.0f ? -448.0f : x;
      word[w] |= (uint32_t)f32_to_f8e4m3(x) << (8 * i);
    }
  }
  EACH_PLACE(to, p)
  UNROLL for (int w = 0; w < LANES / 4;
              w++)((uint32_t *)rows->quantized[p])[(to.at + v) * (LANES / 4) + w] = word[w];
}
