/* Attention without tensor cores: any type, any strides. LANES neighboring threads share a row, or,
 * in the gradient of keys and values, a column; tiles are f32 in shared memory. */
#ifndef TPRT_RUNTIME_CUDA_ATTENTION_LANES_H
#define TPRT_RUNTIME_CUDA_ATTENTION_LANES_H

#include "cuda/kernels/attention.cuh"

enum {
  LANES = 4, /* threads of a row */
  COLUMNS_EACH = ATTENTION_COLUMNS / LANES,
  VALUES_EACH = ATTENTION_FEATURES / LANES,
  PITCH = ATTENTION_FEATURES + 1, /* rows of a column lie in different banks */
};

TPRT_INLINE float add_of_row(float x) {
  x += __shfl_xor_sync(0xffffffffu, x, 1);
  return x + __shfl_xor_sync(0xffffffffu, x, 2);
}
TPRT_INLINE float largest_of_row(float x) {
  x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 1));
  return fmaxf(x, __shfl_xor_sync(0xffffffffu, x, 2));
}

/* Loads `n - first` rows, at most as many as a tile has, as f32, with zeros behind the last one.
 * `offset_of(row)`: elements before a row. */
template <typename type, typename offset_fn>
TPRT_INLINE void load_tile(const void *from, int64_t first, int64_t n,
                           const attention_loop &feature, int x, float *to, offset_fn offset_of) {
  uint32_t n_features = (uint32_t)feature.size;
  _Pragma("unroll 1") for (uint32_t i = threadIdx.x; i < ATTENTION_ROWS * n_features;
                           i += ATTENTION_THREADS) {
    uint32_t r = i / n_features, f = i % n_features;
    int64_t row = first + r, at = offset_of(row) + f * feature.stride[x];
    to[r * PITCH + f] = row < n ? type::widen(((const typename type::stored *)from)[at]) : 0;
  }
}

/* Rows of tensor x of all members of the group. */
template <typename type>
TPRT_INLINE void load_rows(const attention_args &args, int x, const void *from, int64_t base,
                           int64_t first, int64_t n, const attention_loop &feature, float *to) {
  load_tile<type>(from, first, n, feature, x, to,
                  [&](int64_t row) { return base + row_offset(args, row, x); });
}

/* Keys or values of columns. */
template <typename type>
TPRT_INLINE void load_columns(const attention_args &args, int x, const void *from, int64_t base,
                              int64_t first, int64_t n, const attention_loop &feature, float *to) {
  load_tile<type>(from, first, n, feature, x, to,
                  [&](int64_t column) { return base + column * args.column.stride[x]; });
}

#endif
